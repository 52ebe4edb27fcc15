"""Sources whose rows are not samples but spans, events, paragraphs or turns: their rows are grouped into samples."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ragstone.data.conversations import (
    expand_conversations,
    has_conversation,
    is_thread_turn,
    join_threads,
)
from ragstone.data.formats import langfuse, openai_evals, phoenix, promptfoo, squad, trulens
from ragstone.data.formats.langsmith import is_run_in_trace, join_runs
from ragstone.data.otlp import list_spans, parse_protobuf_spans
from ragstone.data.row_format import Grouping, LocatedRows
from ragstone.data.rows import parse_cells
from ragstone.data.sources import RawRow, RejectedRow, ReopenableFile, RowSource
from ragstone.data.span_dialogue import describe_traces
from ragstone.data.spans import TraceSpan
from ragstone.data.strict_json import BadRow, parse_json
from ragstone.errors import DataError


def regroup_source(
    source: RowSource, first: dict[str, Any], format: str | None = None
) -> RowSource | None:
    """The source with its rows grouped into samples, as its first row asks for; None when each row is a sample already."""
    row = parse_cells(first) if source.cell_style else first
    groupings = [g for g in GROUPINGS if format is None or format in g.formats]
    grouping = next((g for g in groupings if g.matches(row)), None)
    if grouping is None:
        return None
    return _group(
        source.name, grouping.title, lambda notes: grouping.group(_parse_all(source), notes)
    )


def open_protobuf_traces(path: str) -> RowSource:
    """Open a file with an ExportTraceServiceRequest in protobuf."""

    def describe(notes: list[str]) -> Iterator[dict[str, Any]]:
        with ReopenableFile(path)() as stream:
            try:
                spans = parse_protobuf_spans(stream.read())
            except BadRow as bad:
                raise DataError(f"{path}: {bad}") from None
        return describe_traces(spans, notes)

    return _group(path, "OpenTelemetry traces", describe)


def _group(
    name: str, title: str, describe: Callable[[list[str]], Iterator[dict[str, Any]]]
) -> RowSource:
    notes: list[str] = []

    def rows() -> Iterator[RawRow]:
        notes.clear()
        for number, row in enumerate(describe(notes), 1):
            plain = {key: value for key, value in row.items() if value is not None}
            yield f"{name}, sample {number}", json.dumps(plain, ensure_ascii=False)

    return RowSource(name, rows, line_format=title, is_native=True, notes=notes)


def _parse_all(source: RowSource) -> Iterator[tuple[int | str, dict[str, Any]]]:
    """Every row; one that cannot be read is an error, as its spans would be missing unnoticed."""
    for at, text in source.rows():
        location = at if isinstance(at, str) else f"{source.name}:{at}"
        try:
            if isinstance(text, RejectedRow):
                raise BadRow(text.reason)
            row = parse_json(text)
        except BadRow as bad:
            raise DataError(f"{location}: {bad}") from None
        if isinstance(row, dict):
            yield location, parse_cells(row) if source.cell_style else row


def _group_otlp(rows: LocatedRows, notes: list[str]) -> Iterator[dict[str, Any]]:
    spans: list[TraceSpan] = []
    for location, row in rows:
        request = row if "resourceSpans" in row else {"resourceSpans": [row]}
        try:
            spans += list_spans(request)
        except BadRow as bad:
            raise DataError(f"{location}: {bad}") from None
    yield from describe_traces(spans, notes)


def _is_langsmith(row: Mapping[str, Any]) -> bool:
    return is_run_in_trace(row) or ("run_type" in row and is_thread_turn(row))


def _group_langsmith(rows: LocatedRows, notes: list[str]) -> Iterator[dict[str, Any]]:
    yield from join_threads(join_runs(rows, notes), notes)


GROUPINGS = (
    Grouping(
        "OpenTelemetry traces",
        lambda row: not {"resourceSpans", "scopeSpans"}.isdisjoint(row),
        _group_otlp,
    ),
    *phoenix.GROUPINGS,
    *trulens.GROUPINGS,
    *openai_evals.GROUPINGS,
    *squad.GROUPINGS,
    *promptfoo.GROUPINGS,
    *langfuse.GROUPINGS,
    Grouping("conversations", has_conversation, expand_conversations, ("ragas",)),
    Grouping("LangSmith runs", _is_langsmith, _group_langsmith, ("langsmith-runs",)),
    Grouping("turns of conversations", is_thread_turn, join_threads, ("langsmith-runs",)),
)
"""Tried in this order by the first row of a source."""
