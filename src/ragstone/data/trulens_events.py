"""Events of TruLens 2 (`session.get_events`): spans in attributes of its own, which hold the contexts that its records lack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ragstone.data.spans import TraceSpan
from ragstone.data.strict_json import decode_json_text

_PREFIX = "ai.observability."
_KINDS = {
    "record_root": "chain", "retrieval": "retriever", "generation": "llm", "tool": "tool",
    "reranking": "retriever",
}  # fmt: skip
"""Kinds of OpenInference by the types of TruLens; spans of evaluations are none of these."""
_INPUTS = ("record_root.input", "retrieval.query_text", "reranking.query_text")
_OUTPUTS = ("record_root.output", "call.return")
_CONTEXTS = (
    "reranking.output_context_texts", "retrieval.retrieved_contexts", "call.return",
)  # fmt: skip


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


def parse_micros(value: Any) -> int:
    """Microseconds of a time in UTC, as pandas writes it: text in CSV, milliseconds in JSON."""
    if isinstance(value, int | float):
        return round(value * 1000)
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return 0
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1e6)
