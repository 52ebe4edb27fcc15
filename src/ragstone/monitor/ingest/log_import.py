"""Import of log files in any readable format as interactions; common column names for time and feedback are recognised."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.data import Dataset, Record
from ragstone.data.strict_json import BadRow
from ragstone.errors import BadRows
from ragstone.monitor.archive import Archive
from ragstone.monitor.ingest.redaction import RedactionHook, redact_interaction
from ragstone.monitor.interactions import (
    MAX_META_FIELDS,
    RATING_WORDS,
    Interaction,
    now_micros,
    parse_id,
    parse_interaction,
)

# Of several columns that a row has, the first named here counts.
TIME_COLUMNS = (
    "at",
    "timestamp",
    "time",
    "created_at",
    "created",
    "date",
    "datetime",
    "start_time",
    "ts",
)
FEEDBACK_COLUMNS = ("feedback", "rating", "thumbs", "thumb", "user_feedback")
COMMENT_COLUMNS = ("comment", "feedback_text", "feedback_comment")
MEASURE_COLUMNS = ("latency", "cost", "tokens")

ROWS_PER_COMMIT = 1000


@dataclass(frozen=True, slots=True)
class ImportResult:
    """Counts of one import."""

    new: int
    repeated: int
    bad: list[str]
    """Rows that were excluded, one sentence each."""


def import_log(
    dataset: Dataset,
    archive: Archive,
    hook: RedactionHook | None,
    *,
    skip_bad_rows: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
) -> ImportResult:
    """Store every row of a log in batches; a bad row stops the import unless bad rows are skipped.

    `progress` is called with the number of rows stored, and None for their unknown total."""
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

    for position, record in enumerate(dataset, 1):
        try:
            batch.append(redact_interaction(parse_record(record, has_id=record.has_id), hook))
        except BadRow as error:
            bad.append(f"{dataset.source}, row {position}: {error}")
            if not skip_bad_rows:
                write()  # the rows before it are stored; importing again stores none of them twice
                raise BadRows(bad) from None
        if len(batch) >= ROWS_PER_COMMIT:
            write()
    write()
    return ImportResult(new, repeated, bad)


def parse_record(record: Record, *, has_id: bool, now: int | None = None) -> Interaction:
    """The interaction in a row of a log; `has_id` says whether the row gives an id, or `sample.id` is only its position.

    A row without an id gets a hash of its content, so that importing the file again stores nothing twice."""
    sample = record.sample
    meta = dict(sample.meta)
    at = _pop_first(meta, TIME_COLUMNS)
    row: dict[str, Any] = {
        "id": parse_id(sample.id) if has_id else hashlib.sha256(record.row.encode("utf-8", "surrogatepass")).hexdigest()[:32],
        "at": None if at is None else _parse_time(at, now_micros() if now is None else now),
        "question": sample.question,
        "answer": sample.answer,
        "reference": sample.reference,
        "language": sample.language,
        "error": sample.error,
        "feedback": _parse_feedback(_pop_first(meta, FEEDBACK_COLUMNS)),
        "comment": _pop_first(meta, COMMENT_COLUMNS),
    }  # fmt: skip
    for name in MEASURE_COLUMNS:
        row[name] = meta.pop(name, None)
    if isinstance(row["tokens"], float):
        row["tokens"] = round(row["tokens"])
    inner = meta.pop("meta", None)
    if isinstance(inner, Mapping):
        meta = {**inner, **meta}  # a column goes before a field of the same name inside `meta`
    row["meta"] = _select_scalars(meta)
    if sample.contexts is not None:
        row["contexts"] = [
            {"text": chunk.text, **({"id": chunk.id} if chunk.id else {}),
             **({"score": chunk.score} if chunk.score is not None else {})}
            for chunk in sample.contexts
        ]  # fmt: skip
    return parse_interaction(row, now)


def _pop_first(meta: dict[str, Any], names: tuple[str, ...]) -> Any:
    """Remove the first of these columns that has a value, and return the value; None if none has."""
    column = next((name for name in names if meta.get(name) is not None), None)
    return None if column is None else meta.pop(column)


def _parse_time(value: Any, now: int) -> float | str:
    """A time in seconds, milliseconds or ISO 8601, also a number written as text."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return str(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        # the first unit in which the time is not in the future
        for scale in (1, 1e3, 1e6, 1e9):  # seconds, milli-, micro-, nanoseconds
            if value / scale <= now / 1e6 + 86_400:
                return float(value / scale)
    raise BadRow(f"the time is {str(value)[:60]!r}; give ISO 8601 or seconds since 1970")


def _parse_feedback(value: Any) -> Any:
    """Feedback as tables contain it: also a number written as text, and 1 or -1."""
    if isinstance(value, str) and value.strip().lower() not in RATING_WORDS:
        try:
            value = float(value)
        except ValueError:
            return value
    return 0.0 if value == -1 else value


def _select_scalars(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that can define slices; long texts and lists cannot."""
    scalars: dict[str, Any] = {}
    for name, value in meta.items():
        clean = "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else "_" for c in name)[
            :64
        ]
        clean = clean if clean[:1].isalpha() or clean[:1] == "_" else f"_{clean}"[:64]
        fits = isinstance(value, str) and len(value) <= 200
        fits = fits or (
            isinstance(value, int | float) and math.isfinite(value) and abs(value) < 1e15
        )
        if fits and len(scalars) < MAX_META_FIELDS:
            scalars[clean] = value
    return scalars
