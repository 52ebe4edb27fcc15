"""What a program hands over, made fit for storing: a log call must not fail because a value has an odd type."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from ragstone.data.strict import mend
from ragstone.monitor.interactions import (
    LONGEST_ID,
    LONGEST_META,
    MOST_CHUNKS,
    MOST_META,
    chunk_row,
    moderate,
)
from ragstone.systems.protocol import SystemFault
from ragstone.systems.reading import answer_text, ranked


def gentle_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with texts as texts, framework documents as chunks, and every meta value a single one."""
    kept = {key: value for key, value in row.items() if value is not None}
    kept["id"] = _UNSEEN.sub("_", kept["id"])[:LONGEST_ID]
    for name in ("question", "answer", "reference", "comment", "error", "language"):
        if name in kept:
            kept[name] = mend(_text(kept[name]))
    if "contexts" in kept:
        kept["contexts"] = _chunks(kept["contexts"])
    for name in ("latency", "cost", "tokens", "feedback"):
        if name in kept and not isinstance(kept[name], str | bool | int):
            kept[name] = _number(kept[name])
    meta = {_NOT_NAME.sub("_", written(key))[:64]: value for key, value in kept["meta"].items()}
    kept["meta"] = {key: _scalar(meta[key]) for key in list(meta)[:MOST_META]}
    if "language" in kept:
        kept["language"] = kept["language"][:LONGEST_META]
    return kept


_UNSEEN = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffd]")
_NOT_NAME = re.compile(r"^[^A-Za-z_]|[^A-Za-z0-9_.-]")


def _text(value: Any) -> str:
    try:
        return answer_text(value) or ""
    except SystemFault:
        return written(value)


def written(value: Any) -> str:
    """The value as text; its type where it cannot be written."""
    try:
        return str(value)
    except Exception:  # a stranger's __str__, or a number of thousands of digits
        return f"<{type(value).__name__}>"


def _chunks(value: Any) -> list[dict[str, Any]]:
    try:
        found = ranked(value, None, None)
    except SystemFault:
        found = ranked([written(value)], None, None)
    rows = [chunk_row(chunk) for chunk in found[:MOST_CHUNKS]]
    return [{**row, "text": mend(row["text"])} for row in rows]


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _scalar(value: Any) -> Any:
    if value is None or moderate(value):
        return value
    return mend(written(value))[:LONGEST_META]
