"""Sources whose rows are not samples: spans of traces, events of a log, paragraphs with questions; grouped into samples."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ragstone.data.conversations import (
    expand_conversations,
    has_conversation,
    is_thread_turn,
    join_threads,
)
from ragstone.data.langsmith import is_run_in_trace, join_runs
from ragstone.data.left_over import SourceNote
from ragstone.data.otlp import parse_json_spans, parse_protobuf_spans
from ragstone.data.rows import parse_cells
from ragstone.data.sources import RawRow, RejectedRow, ReopenableFile, RowSource
from ragstone.data.span_dialogue import describe_dialogue, join_sessions
from ragstone.data.spans import TraceSpan, describe_trace
from ragstone.data.strict_json import BadRow, parse_json
from ragstone.data.trulens_events import is_trulens_event, parse_micros, to_trace_span
from ragstone.errors import DataError

Rows = Iterable[tuple[int | str, dict[str, Any]]]
"""Rows with their locations, for errors."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """A kind of source whose rows have to be grouped."""

    title: str
    matches: Callable[[Mapping[str, Any]], bool]
    """Whether the first row of a source is of this kind."""
    group: Callable[[Rows, list[str]], Iterator[dict[str, Any]]]
    """Yields rows of ragstone columns; a sentence about what is skipped is appended to the list."""
    formats: tuple[str, ...] = ()
    """Row formats whose rows may be of this kind: naming one of them does not prevent the grouping."""


def regroup_source(source: RowSource, format: str | None = None) -> RowSource | None:
    """The source with its rows grouped into samples; None when each row is one already, or a format of rows is named."""
    groupings = [g for g in GROUPINGS if format is None or format in g.formats]
    first = next((row for _, row in islice(_parse_rows(source), 1)), None) if groupings else None
    grouping = next((g for g in groupings if first is not None and g.matches(first)), None)
    return None if grouping is None else _group(source.name, grouping, lambda: _parse_all(source))


def open_protobuf_traces(path: str) -> RowSource:
    """Open a file with an ExportTraceServiceRequest in protobuf."""

    def load_rows() -> Rows:
        with ReopenableFile(path)() as stream:
            try:
                spans = parse_protobuf_spans(stream.read())
            except BadRow as bad:
                raise DataError(f"{path}: {bad}") from None
        return [(path, {"spans": spans})]

    def group(rows: Rows, notes: list[str]) -> Iterator[dict[str, Any]]:
        yield from _describe_traces([span for _, row in rows for span in row["spans"]], notes)

    return _group(path, Grouping("OpenTelemetry traces", lambda row: True, group), load_rows)


def _group(name: str, grouping: Grouping, load_rows: Callable[[], Rows]) -> RowSource:
    notes: list[str] = []

    def rows() -> Iterator[RawRow]:
        notes.clear()
        for number, row in enumerate(grouping.group(load_rows(), notes), 1):
            plain = {key: value for key, value in row.items() if value is not None}
            yield f"{name}, sample {number}", json.dumps(plain, ensure_ascii=False)

    return RowSource(name, rows, line_format=grouping.title, is_native=True, notes=notes)


def _parse_rows(source: RowSource) -> Iterator[tuple[int | str, dict[str, Any]]]:
    """The rows that are objects; bad ones are reported later, when the Dataset is read."""
    for at, text in source.rows():
        if isinstance(text, RejectedRow):
            continue
        try:
            row = parse_json(text)
        except BadRow:
            continue
        if isinstance(row, dict):
            yield at, parse_cells(row) if source.cell_style else row


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


# ── traces ────────────────────────────────────────────────────────────────────────────────


def _group_otlp(rows: Rows, notes: list[str]) -> Iterator[dict[str, Any]]:
    spans: list[TraceSpan] = []
    for location, row in rows:
        request = row if "resourceSpans" in row else {"resourceSpans": [row]}
        try:
            spans += parse_json_spans(json.dumps(request).encode())
        except BadRow as bad:
            raise DataError(f"{location}: {bad}") from None
    yield from _describe_traces(spans, notes)


def _group_phoenix(rows: Rows, notes: list[str]) -> Iterator[dict[str, Any]]:
    """Spans as Phoenix's `get_spans_dataframe` has them: a column for each attribute."""
    spans = []
    for location, row in rows:
        attributes = {
            name.removeprefix("attributes."): _decode(value)
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
    yield from _describe_traces(spans, notes)


def _group_trulens(rows: Rows, notes: list[str]) -> Iterator[dict[str, Any]]:
    yield from _describe_traces([to_trace_span(row, location) for location, row in rows], notes)


def _describe_traces(spans: list[TraceSpan], notes: list[str]) -> Iterator[dict[str, Any]]:
    traces: dict[str, list[TraceSpan]] = {}
    for span in spans:
        traces.setdefault(span.trace, []).append(span)
    rows = []
    for trace in traces.values():
        row = describe_trace(trace)
        if row is not None:
            describe_dialogue(trace, row)
            rows.append(row)
    for row in join_sessions(rows):
        del row["start"]  # for the monitor; a sample has no such field
        yield row
    skipped = len(traces) - len(rows)
    if skipped:
        note = SourceNote(
            "passed over {n} of {total} {total:trace|traces}: no question or answer in {n:it|them}, as when an index is built",
            n=skipped,
            total=len(traces),
        )
        notes.append(note)


def _decode(value: Any) -> Any:
    """The documents and messages that a CSV cell holds as JSON."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


# ── OpenAI-evals and SQuAD ────────────────────────────────────────────────────────────────


def _group_openai_events(rows: Rows, notes: list[str]) -> Iterator[dict[str, Any]]:
    """Events of a log of OpenAI-evals: the prompt, what was sampled, what was expected."""
    samples: dict[str, dict[str, Any]] = {}
    skipped = 0
    for _, row in rows:
        data, name = row.get("data"), row.get("sample_id")
        if name is None or not isinstance(data, dict):
            skipped += 1
            continue
        sample = samples.setdefault(str(name), {"id": str(name), "meta": {}})
        if row.get("type") == "sampling":
            sample["question"] = _get_last_user_text(data.get("prompt"))
            sampled = data.get("sampled")
            sample["answer"] = sampled[0] if isinstance(sampled, list) and sampled else sampled
        else:
            expected = data.get("expected", data.get("ideal"))
            sample.setdefault(
                "reference", expected[0] if isinstance(expected, list) and expected else expected
            )
            scalars = {k: v for k, v in data.items() if isinstance(v, bool | int | float)}
            sample["meta"] |= scalars
    yield from samples.values()
    if skipped:
        note = SourceNote(
            "passed over {n} {n:line that is|lines that are} about no sample: spec and final report",
            n=skipped,
        )
        notes.append(note)


def _get_last_user_text(prompt: Any) -> Any:
    if not isinstance(prompt, list):
        return prompt
    messages = [message for message in prompt if isinstance(message, dict)]
    users = [message for message in messages if message.get("role") == "user"] or messages
    return users[-1].get("content") if users else None


def _group_squad(rows: Rows, notes: list[str]) -> Iterator[dict[str, Any]]:
    """The questions of each paragraph; one that the paragraph does not answer has no reference."""
    for _, row in rows:
        for paragraph in row["paragraphs"]:
            for item in paragraph.get("qas") or ():
                answers = [answer["text"] for answer in item.get("answers") or ()]
                yield {
                    "id": item.get("id"),
                    "question": item.get("question"),
                    "contexts": [paragraph["context"]],
                    "reference": answers[0] if answers else None,
                    "group": row.get("title"),
                    "meta": {"answerable": not item.get("is_impossible", not answers)},
                }


def _is_event(row: Mapping[str, Any]) -> bool:
    has_event_columns = {"sample_id", "type", "data"} <= row.keys()
    return has_event_columns or ("spec" in row and "eval_name" in str(row["spec"]))


GROUPINGS = (
    Grouping("OpenTelemetry traces", lambda row: bool({"resourceSpans", "scopeSpans"} & row.keys()), _group_otlp),
    Grouping("Phoenix spans", lambda row: "context.trace_id" in row and "span_kind" in row, _group_phoenix),
    Grouping("TruLens events", is_trulens_event, _group_trulens),
    Grouping("an OpenAI-evals log", _is_event, _group_openai_events),
    Grouping("SQuAD", lambda row: isinstance(row.get("paragraphs"), list), _group_squad),
    Grouping("conversations", has_conversation, expand_conversations, formats=("ragas",)),
    Grouping("LangSmith runs", is_run_in_trace, join_runs, formats=("langsmith-runs",)),
    Grouping("turns of conversations", is_thread_turn, join_threads, formats=("langsmith-runs",)),
)  # fmt: skip
