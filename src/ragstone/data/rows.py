"""Conversion of rows to Samples by the columns of their format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from ragstone.data.field_values import (
    attach_ids,
    parse_cell,
    to_chunks,
    to_grades,
    to_id,
    to_ids,
    to_language,
    to_reference,
    to_text,
)
from ragstone.data.formats import get_format, map_fields
from ragstone.data.messages import to_dialogue, to_steps
from ragstone.data.row_format import Format
from ragstone.data.strict_json import BadRow, reparse_json
from ragstone.errors import DataError
from ragstone.types import EMPTY, Chunk, Dialogue, Ranked, Sample, ToolStep

_OUTPUT_FIELDS = ("question", "answer", "contexts", "context_ids", "reference", "relevant", "error")
"""A row without any of these is no sample."""
_LIST_FIELDS = frozenset(
    ("contexts", "context_ids", "relevant", "meta", "messages", "steps", "expected_steps")
)
"""Fields whose value a table cell holds as JSON."""

_MAX_META_CHARS = 4096
"""Longer texts of unmapped columns are not copied to `meta`."""

MEASURE_COLUMNS: Mapping[str, tuple[str, float]] = {
    "latency": ("latency", 1),
    "latency_s": ("latency", 1),
    "latency_seconds": ("latency", 1),
    "execution_time": ("latency", 1),
    "completion_time": ("latency", 1),
    "latency_ms": ("latency", 0.001),
    "latencyMs": ("latency", 0.001),
    "execution_time_ms": ("latency", 0.001),
    "first_token": ("first_token", 1),
    "time_to_first_token": ("first_token", 1),
    "ttft": ("first_token", 1),
    "ttft_ms": ("first_token", 0.001),
    "tokens": ("tokens", 1),
    "total_tokens": ("tokens", 1),
    "tokenUsage": ("tokens", 1),
    "cost": ("cost", 1),
    "cost_usd": ("cost", 1),
    "total_cost": ("cost", 1),
    "token_cost": ("cost", 1),
}
"""Columns for latency, first token, tokens and cost of the system under test: the `meta` key, and the factor to seconds."""


def to_sample(row: str, shape: Mapping[str, Any], position: int) -> Sample:
    """Convert a stored row to its sample, the same as when the row was first read."""
    try:
        return RowMapper(shape)(reparse_json(row), position)[0]
    except (BadRow, ValueError, RecursionError) as bad:
        raise DataError(f"row {position}: {bad}") from None


class RowMapper:
    """Maps the rows of one shape to Samples: `format`, and where needed `fields` (the user's columns) and `cells`.

    `cells` says how lists stand in cells: "csv" (an empty cell is nothing), "table", or nothing for JSON."""

    def __init__(self, shape: Mapping[str, Any]) -> None:
        self._format = get_format(str(shape.get("format")))
        self._cell_style = str(shape.get("cells", ""))
        paths = map_fields(self._format, shape.get("fields"))
        to_loose_text = partial(to_text, loose=self._format.allows_nested_text)
        conversions: dict[str, Callable[[Any, str], Any]] = {
            "question": partial(to_loose_text, asking=True),
            "answer": to_loose_text,
            "reference": partial(to_reference, loose=self._format.allows_nested_text),
            "contexts": self._to_contexts,
            "context_ids": to_ids,
            "relevant": to_grades,
            "language": to_language,
            "group": to_id,
            "error": _to_error,
            "meta": _to_meta,
            "messages": to_dialogue,
            "steps": to_steps,
            "expected_steps": to_steps,
            "id": to_id,
        }
        self._columns = [
            (field, path, path.partition(".")[0], convert)
            for field, convert in conversions.items()
            for path in paths.get(field, ())
        ]
        self._mapped = {name for _, path, head, _ in self._columns for name in (path, head)}
        required = [paths[f][0] for f in _OUTPUT_FIELDS if f in paths and f != "error"]
        self._empty_reason = (
            f"has none of the columns {', '.join(required)}; fill one or remove the row"
        )

    def __call__(self, row: Any, position: int) -> tuple[Sample, bool]:
        """The sample of a parsed row, and whether the row has an id; BadRow says what is wrong with it."""
        if not isinstance(row, dict):
            raise BadRow("the row is not an object; write {column: value, …}")
        if self._cell_style == "csv":  # where an empty cell is the only way to say "nothing"
            row = {column: value for column, value in row.items() if value != ""}
        if self._format.convert is not None:
            row = self._format.convert(parse_cells(row) if self._cell_style else row)
        values: dict[str, Any] = {}
        columns: dict[str, str] = {}
        for field, path, head, convert in self._columns:
            if field in columns or not (path in row or head in row):
                continue
            value = row[path] if path in row else get_path(row, path)
            if value is None:
                continue
            if self._cell_style and field in _LIST_FIELDS:
                value = parse_cell(value, path)
            columns[field], values[field] = path, convert(value, path)
        if self._format.error_only_without_answer and values.get("answer") is not None:
            values["error"] = None
        if all(values.get(field) is None for field in _OUTPUT_FIELDS):
            raise BadRow(self._empty_reason)
        if "context_ids" in values:
            ids, texts = values.pop("context_ids"), values.get("contexts")
            values["contexts"] = (
                Ranked(Chunk(name) for name in ids)
                if texts is None
                else attach_ids(texts, ids, columns["contexts"], columns["context_ids"])
            )
        if "messages" in values:
            values["messages"] = _drop_exchange(
                values["messages"], values.get("question"), values.get("answer")
            )
        if values.get("contexts") is None and values.get("steps"):
            values["contexts"] = _list_results(values["steps"])
        if not self._mapped.issuperset(row):
            values["meta"] = {**values.get("meta", EMPTY), **self._collect_others(row)}
        sample_id = values.pop("id", None)
        return Sample(sample_id or str(position), **values), sample_id is not None

    def _to_contexts(self, value: Any, column: str) -> Ranked:
        if isinstance(value, str) and self._format.context_separator:
            value = value.split(self._format.context_separator)
        elif isinstance(value, str) and self._format.allows_single_context:
            value = [value] if value.strip() else []
        elif isinstance(value, dict) and self._format.allows_single_context:
            value = [value]
        return to_chunks(value, column)

    def _collect_others(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The small values of the columns that no field is read from; measures of the system in their units."""
        others: dict[str, Any] = {}
        for column, value in row.items():
            if column in self._mapped or value is None:
                continue
            if column in MEASURE_COLUMNS:
                name, scale = MEASURE_COLUMNS[column]
                number = _to_number(value)
                if number is not None:
                    # of two columns for one measure, as latency and latency_ms, the later one counts
                    others[name] = number if scale == 1 else number * scale
                    continue
            if is_small(value):
                others[column] = value
        return others


def parse_cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """Parse the lists and objects that cells hold; a cell that only looks like one stays a text."""
    parsed: dict[str, Any] = {}
    for column, value in row.items():
        try:
            parsed[column] = parse_cell(value, column)
        except BadRow:
            parsed[column] = value
    return parsed


def get_path(row: Mapping[str, Any], path: str) -> Any:
    """Return the value at a dotted path: a column of that exact name, else nested; lists are mapped over."""
    if path in row:
        return row[path]
    value: Any = row
    for step in path.split("."):
        value = _get_step(value, step)
        if value is None:
            return None
    return value


def _get_step(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list):
        if step.isascii() and step.isdigit() and len(step) < 9:
            return value[int(step)] if int(step) < len(value) else None
        return [_get_step(item, step) for item in value]
    return None


def _drop_exchange(messages: Dialogue, question: str | None, answer: str | None) -> Dialogue:
    """The messages before the question: some logs keep the question, or the whole exchange, among them."""
    ends = [("user", question)] if question is not None else []
    for end in ([*ends, ("assistant", answer)], ends):
        tail = [(message.role, message.content) for message in messages[-len(end) :]]
        if end and tail == end:
            messages = messages[: -len(end)]
            break
    return messages


def _list_results(steps: Iterable[ToolStep]) -> Ranked | None:
    """What tools returned as contexts; None when they returned nothing."""
    results = [Chunk(step.tool, step.result) for step in steps if step.result]
    return Ranked(results) if results else None


def _to_error(value: Any, column: str) -> str | None:
    """Convert an error column to the reason of a failure; false, empty and null are no error."""
    if not value:
        return None
    if isinstance(value, str):
        return value
    return "the system failed" if value is True else json.dumps(value, ensure_ascii=False)[:1000]


def _to_meta(value: Any, column: str) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"metadata": value}


def _to_number(value: Any) -> float | None:
    if isinstance(value, dict):
        value = value.get("total")
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 1e300 else None


def is_small(value: Any) -> bool:
    """Whether a value is short enough for the metadata of a sample."""
    if isinstance(value, str):
        return len(value) <= _MAX_META_CHARS
    if isinstance(value, list | dict):
        items = value.values() if isinstance(value, dict) else value
        return len(value) <= 100 and all(
            not isinstance(item, list | dict) and is_small(item) for item in items
        )
    return True


def list_left_over(
    rows: Iterable[Mapping[str, Any]], row_format: Format, fields: Mapping[str, str] | None
) -> tuple[str, ...]:
    """The columns with values that the format does not read; small ones are still in a sample's meta."""
    known = {
        path.split(".")[0] for names in map_fields(row_format, fields).values() for path in names
    }
    known |= row_format.columns | set(MEASURE_COLUMNS)
    # a table may have a column whose name is the whole dotted path
    known |= {name for names in map_fields(row_format, fields).values() for name in names}
    found = {
        column: None for row in rows for column, value in row.items() if value not in (None, "")
    }
    return (
        ()
        if row_format.matches is not None
        else tuple(column for column in found if column not in known)
    )
