"""Coercion of logged values into storable ones: a log call must not fail because a value has an unexpected type."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from ragstone.data.strict_json import is_moderate_number, replace_unstorable
from ragstone.locale.tags import to_language_tag
from ragstone.monitor.interactions import (
    MAX_CHUNKS,
    MAX_ID_CHARS,
    MAX_META_CHARS,
    MAX_META_FIELDS,
    chunk_to_json,
)
from ragstone.systems.protocol import SystemFault
from ragstone.systems.replies import parse_answer, parse_contexts


def coerce_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with texts as str, framework documents as chunks, and scalar meta values."""
    coerced = {key: value for key, value in row.items() if value is not None}
    # `id` and `meta` are there in every row of `Monitor.log` and of `describe_trace`
    coerced["id"] = _INVISIBLE.sub("_", coerced["id"])[:MAX_ID_CHARS]
    for name in ("question", "answer", "reference", "comment", "error", "language"):
        if name in coerced:
            coerced[name] = replace_unstorable(_coerce_text(coerced[name]))
    if "contexts" in coerced:
        coerced["contexts"] = _coerce_chunks(coerced["contexts"])
    coerce_values(coerced)
    meta = {_NOT_NAME.sub("_", to_text(key))[:64]: value for key, value in coerced["meta"].items()}
    coerced["meta"] = {key: _coerce_scalar(meta[key]) for key in list(meta)[:MAX_META_FIELDS]}
    if "language" in coerced:
        coerced["language"] = to_language_tag(coerced["language"])
    return coerced


def coerce_values(row: dict[str, Any]) -> None:
    """Turn the time and the numbers of a row into plain ones: datetimes, durations, numpy and pandas scalars."""
    if "at" in row:
        row["at"] = _coerce_time(row["at"])
    for name in ("latency", "cost", "tokens", "feedback"):
        # texts, booleans and ints are left to `parse_interaction`: "up" is a rating, and a wrong
        # text is reported, not dropped
        if row.get(name) is not None and not isinstance(row[name], str | bool | int):
            row[name] = _coerce_number(row[name])


def _coerce_time(value: Any) -> Any:
    """A time as ISO text or seconds; a datetime without a zone is local time, as in Python."""
    if hasattr(value, "to_pydatetime"):  # of pandas
        value = value.to_pydatetime(warn=False)
    if isinstance(value, datetime):
        return value.astimezone().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        # a datetime64 of nanoseconds would become an int by `tolist`; its text is ISO 8601
        return str(value) if type(value).__name__ == "datetime64" else value.tolist()
    return value


# what `parse_id` and `parse_meta` refuse (`_VISIBLE` and `_NAME` in `monitor/interactions.py`)
_INVISIBLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffd]")
_NOT_NAME = re.compile(r"^[^A-Za-z_]|[^A-Za-z0-9_.-]")


def _coerce_text(value: Any) -> str:
    try:
        return parse_answer(value) or ""
    except SystemFault:
        return to_text(value)


def to_text(value: Any) -> str:
    """The value as text; its type name where `str` fails."""
    try:
        return str(value)
    except Exception:  # a foreign __str__ may raise, and so does an int of thousands of digits
        return f"<{type(value).__name__}>"


def _coerce_chunks(value: Any) -> list[dict[str, Any]]:
    try:
        chunks = parse_contexts(value, None, None)
    except SystemFault:
        chunks = parse_contexts([to_text(value)], None, None)
    rows = [chunk_to_json(chunk) for chunk in chunks[:MAX_CHUNKS]]
    return [{**row, "text": replace_unstorable(row["text"])} for row in rows]


def _coerce_number(value: Any) -> float | None:
    if isinstance(value, timedelta):
        value = value.total_seconds()
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _coerce_scalar(value: Any) -> Any:
    if value is None or is_moderate_number(value):
        return value
    return replace_unstorable(to_text(value))[:MAX_META_CHARS]
