"""Logs in any format that is read, as interactions: the usual names for time and feedback are understood."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.data import Reading, Record
from ragstone.data.rows import compile_shape
from ragstone.data.strict import BadRow, reparse
from ragstone.errors import BadRows
from ragstone.monitor.archive import Archive
from ragstone.monitor.ingest.redaction import Redact, redacted
from ragstone.monitor.interactions import (
    MOST_META,
    THUMBS,
    Interaction,
    checked_id,
    interaction_of,
    micros,
)

TIMES = ("at", "timestamp", "time", "created_at", "created", "date", "datetime", "start_time", "ts")
FEEDBACK = ("feedback", "rating", "thumbs", "thumb", "user_feedback")
COMMENTS = ("comment", "feedback_text", "feedback_comment")
MEASURES = ("latency", "cost", "tokens")


BATCH = 1000


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of a file."""

    new: int
    repeated: int
    bad: list[str]
    """Rows that were left out, one sentence each."""


def import_log(
    reading: Reading,
    archive: Archive,
    hook: Redact | None,
    *,
    skip_bad_rows: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
) -> Imported:
    """Store every row of a log, some at a time; a bad one stops it unless bad rows are skipped.

    `progress` is told how many rows are stored."""
    mapper = compile_shape(reading.shape)
    new = repeated = 0
    bad: list[str] = []
    batch: list[Interaction] = []

    def write() -> None:
        nonlocal new, repeated
        added = archive.add(batch).result()
        new, repeated = new + added.new, repeated + added.repeated
        batch.clear()
        if progress is not None:
            progress(new + repeated, None)

    for position, record in enumerate(reading, 1):
        try:
            _, given = mapper(reparse(record.row), position)
            batch.append(redacted(interaction_of_record(record, given=given), hook))
        except BadRow as wrong:
            bad.append(f"{reading.source}, row {position}: {wrong}")
            if not skip_bad_rows:
                write()
                raise BadRows(bad) from None
        if len(batch) >= BATCH:
            write()
    write()
    return Imported(new, repeated, bad)


def interaction_of_record(record: Record, *, given: bool, now: int | None = None) -> Interaction:
    """The interaction in a row of a log; `given` says whether the row names its own id.

    A row without an id is known by its content, so that reading the file again stores nothing twice."""
    sample = record.sample
    meta = dict(sample.meta)
    at = _taken(meta, TIMES)
    row: dict[str, Any] = {
        "id": checked_id(sample.id) if given else hashlib.sha256(record.row.encode("utf-8", "surrogatepass")).hexdigest()[:32],
        "at": None if at is None else _time(at, micros() if now is None else now),
        "question": sample.question,
        "answer": sample.answer,
        "reference": sample.reference,
        "language": sample.language,
        "error": sample.error,
        "feedback": _opinion(_taken(meta, FEEDBACK)),
        "comment": _taken(meta, COMMENTS),
    }  # fmt: skip
    for name in MEASURES:
        row[name] = meta.pop(name, None)
    if isinstance(row["tokens"], float):
        row["tokens"] = round(row["tokens"])
    inner = meta.pop("meta", None)
    if isinstance(inner, Mapping):
        meta = {**inner, **meta}
    row["meta"] = _scalars(meta)
    if sample.contexts is not None:
        row["contexts"] = [
            {"text": chunk.text, **({"id": chunk.id} if chunk.id else {}),
             **({"score": chunk.score} if chunk.score is not None else {})}
            for chunk in sample.contexts
        ]  # fmt: skip
    return interaction_of(row, now)


def _taken(meta: dict[str, Any], names: tuple[str, ...]) -> Any:
    found = next((name for name in names if meta.get(name) is not None), None)
    return None if found is None else meta.pop(found)


def _time(value: Any, now: int) -> float | str:
    """A time in seconds, milliseconds or ISO 8601; a number written as text too."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return str(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        for scale in (1, 1e3, 1e6, 1e9):  # seconds, milli-, micro-, nanoseconds
            if value / scale <= now / 1e6 + 86_400:
                return float(value / scale)
    raise BadRow(f"the time is {str(value)[:60]!r}; give ISO 8601 or seconds since 1970")


def _opinion(value: Any) -> Any:
    """Feedback as it stands in tables: also a number written as text, and 1 or -1."""
    if isinstance(value, str) and value.strip().lower() not in THUMBS:
        try:
            value = float(value)
        except ValueError:
            return value
    return 0.0 if value == -1 else value


def _scalars(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that can cut slices; long texts and lists cannot."""
    kept: dict[str, Any] = {}
    for name, value in meta.items():
        clean = "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else "_" for c in name)[
            :64
        ]
        clean = clean if clean[:1].isalpha() or clean[:1] == "_" else f"_{clean}"[:64]
        fits = isinstance(value, str) and len(value) <= 200
        fits = fits or (
            isinstance(value, int | float) and math.isfinite(value) and abs(value) < 1e15
        )
        if fits and len(kept) < MOST_META:
            kept[clean] = value
    return kept
