"""Phoenix: questions with their retrieved reference, and spans as `get_spans_dataframe` has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragstone.data.row_format import Grouping, LocatedRows, build_format
from ragstone.data.span_dialogue import describe_traces
from ragstone.data.spans import TraceSpan, parse_micros
from ragstone.data.strict_json import decode_json_text


def _group_phoenix(rows: LocatedRows, notes: list[str]) -> Iterator[dict[str, Any]]:
    """Spans as Phoenix's `get_spans_dataframe` has them: a column for each attribute."""
    spans = []
    for location, row in rows:
        attributes = {
            name.removeprefix("attributes."): decode_json_text(value)
            for name, value in row.items()
            if name.startswith("attributes.") and value is not None
        }
        attributes["openinference.span.kind"] = str(row.get("span_kind") or "")
        failed = row.get("status_code") == "ERROR"
        spans.append(
            TraceSpan(
                trace=str(row.get("context.trace_id") or location),
                id=str(row.get("context.span_id") or location),
                parent=str(row.get("parent_id") or ""),
                name=str(row.get("name") or ""),
                start=parse_micros(row.get("start_time")),
                end=parse_micros(row.get("end_time")),
                attributes=attributes,
                error=str(row.get("status_message") or "the span failed") if failed else None,
            )
        )
    yield from describe_traces(spans, notes)


FORMATS = (
    build_format(
        "phoenix-qa",
        "Phoenix questions with their retrieved reference",
        ("context.span_id input output reference",),
        allows_single_context=True,
        id="context.span_id",
        question="input",
        answer="output",
        contexts="reference",
    ),
)

GROUPINGS = (
    Grouping(
        "Phoenix spans",
        lambda row: "context.trace_id" in row and "span_kind" in row,
        _group_phoenix,
    ),
)
