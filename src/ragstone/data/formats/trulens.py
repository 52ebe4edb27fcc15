"""TruLens: records of version 1, and events of version 2, whose spans hold the contexts that records lack."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.data.row_format import (
    Grouping,
    LocatedRows,
    Row,
    build_format,
    get_mapping,
    list_mappings,
)
from ragstone.data.span_dialogue import describe_traces
from ragstone.data.spans import TraceSpan, parse_micros
from ragstone.data.strict_json import decode_json_text, reparse_json

_STORED_AS_JSON = ("main_input", "input", "main_output", "output")
_REFERENCES = ("ground_truth", "ground_truth_output", "expected_response")
_TEXT_NAMES = ("page_content", "text", "content", "doc_uri")


def convert_trulens_record(row: Row) -> dict[str, Any]:
    """A record of TruLens: texts stored as JSON, contexts in the calls of feedback functions or of the app."""
    row = {
        name: _decode_quoted(value) if name in (*_STORED_AS_JSON, *_REFERENCES) else value
        for name, value in row.items()
    }
    if any(row.get(name) is not None for name in ("contexts", "retrieved_contexts", "context")):
        return dict(row)
    contexts = _find_feedback_contexts(row) or _find_call_contexts(
        decode_json_text(row.get("record_json"))
    )
    kept = {name: value for name, value in row.items() if not name.endswith(("_calls", "_json"))}
    return {**kept, "contexts": contexts} if contexts else kept


def _decode_quoted(value: Any) -> Any:
    """Decode a text that is stored as JSON, in quotes."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return reparse_json(value)
        except ValueError:
            return value
    return value


class _WithoutCalls(ast.NodeTransformer):
    """Takes None for what is no literal: times and NaN."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return ast.Constant(None)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(None)


def _decode_printed(value: Any) -> Any:
    """The value of a text of JSON, or of a cell of a CSV by pandas, which has lists as Python prints them."""
    value = decode_json_text(value)
    if not isinstance(value, str) or value[:1] not in ("[", "{"):
        return value
    try:
        return ast.literal_eval(_WithoutCalls().visit(ast.parse(value, mode="eval")))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return value


def _find_feedback_contexts(row: Row) -> list[str]:
    for name, value in row.items():
        calls = list_mappings(_decode_printed(value)) if name.endswith("_calls") else []
        texts: dict[str, None] = {}
        for call in calls:
            arguments = get_mapping(call, "args")
            given = next(
                (arguments[key] for key in ("context", "contexts", "source") if key in arguments),
                None,
            )
            texts |= dict.fromkeys(
                text
                for text in (given if isinstance(given, list) else [given])
                if isinstance(text, str)
            )
        if texts:
            return list(texts)
    return []


def _find_call_contexts(record: Any) -> list[Any]:
    """What the last call that returned a list of documents returned."""
    for call in reversed(list_mappings(record.get("calls")) if isinstance(record, dict) else []):
        returned = call.get("rets")
        if isinstance(returned, list) and returned and all(map(_is_document, returned)):
            return returned
    return []


def _is_document(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, dict) and any(isinstance(value.get(name), str) for name in _TEXT_NAMES)
    )


_PREFIX = "ai.observability."
_KINDS = {
    "record_root": "chain",
    "retrieval": "retriever",
    "generation": "llm",
    "tool": "tool",
    "reranking": "retriever",
}
"""Kinds of OpenInference by the types of TruLens; spans of evaluations are none of these."""
_INPUTS = ("record_root.input", "retrieval.query_text", "reranking.query_text")
_OUTPUTS = ("record_root.output", "call.return")
_CONTEXTS = (
    "reranking.output_context_texts",
    "retrieval.retrieved_contexts",
    "call.return",
)


def is_trulens_event(row: Mapping[str, Any]) -> bool:
    """Whether a row is an event of TruLens."""
    return {"event_id", "record_attributes", "trace"} <= row.keys()


def to_trace_span(row: Mapping[str, Any], location: int | str) -> TraceSpan:
    """The event as a span with attributes of OpenInference."""
    given, record, trace = (
        value if isinstance(value := decode_json_text(row.get(name)), dict) else {}
        for name in ("record_attributes", "record", "trace")
    )
    own = {n.removeprefix(_PREFIX): v for n, v in given.items() if n.startswith(_PREFIX)}
    failed = "ERROR" in str(record.get("status")) or own.get("call.error") is not None
    return TraceSpan(
        trace=str(own.get("record_id") or trace.get("trace_id") or location),
        id=str(row.get("event_id")),
        parent=str(trace.get("parent_id") or ""),
        name=str(record.get("name") or "").rpartition(".")[2],
        start=parse_micros(row.get("start_timestamp")),
        end=parse_micros(row.get("timestamp")),
        attributes=_to_openinference(own),
        error=str(own.get("call.error") or "the span failed") if failed else None,
    )


def _to_openinference(own: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes by their names in OpenInference."""
    kind = _KINDS.get(str(own.get("span_type")), "")
    is_retriever = kind == "retriever"
    attributes = {
        "openinference.span.kind": kind.upper() or None,
        "input.value": _get_first(own, _INPUTS),
        "output.value": None if is_retriever else _get_first(own, _OUTPUTS),
        "retrieval.documents": _to_documents(own) if is_retriever else None,
        "session.id": own.get("conversation_id"),
    }
    return {name: value for name, value in attributes.items() if value is not None}


def _get_first(own: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    value = next((own[name] for name in names if own.get(name) is not None), None)
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _to_documents(own: Mapping[str, Any]) -> str | None:
    texts = next((own[name] for name in _CONTEXTS if isinstance(own.get(name), list)), None)
    if texts is None:
        return None
    return json.dumps([text if isinstance(text, dict) else {"content": text} for text in texts])


def _group_trulens(rows: LocatedRows, notes: list[str]) -> Iterator[dict[str, Any]]:
    yield from describe_traces([to_trace_span(row, location) for location, row in rows], notes)


FORMATS = (
    build_format(
        "trulens",
        "TruLens records",
        ("record_id main_input", "record_id input", "main_input main_output"),
        allows_nested_text=True,
        allows_single_context=True,
        convert=convert_trulens_record,
        id="record_id",
        question="main_input input",
        answer="main_output output",
        contexts="contexts retrieved_contexts context",
        reference="ground_truth ground_truth_output expected_response",
        meta="meta",
        error="main_error error",
    ),
)

GROUPINGS = (Grouping("TruLens events", is_trulens_event, _group_trulens),)
