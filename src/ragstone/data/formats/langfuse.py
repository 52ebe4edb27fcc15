"""Langfuse: traces, a row each, and observations, which are joined by their trace."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.data.row_format import (
    PLAIN_COLUMNS,
    Grouping,
    LocatedRows,
    Row,
    build_format,
    get_mapping,
    list_mappings,
)
from ragstone.data.span_dialogue import describe_traces
from ragstone.data.spans import TraceSpan, parse_micros
from ragstone.data.strict_json import decode_json_text


def convert_langfuse_trace(row: Row) -> dict[str, Any]:
    """A trace of Langfuse: contexts of its retriever observations, tool calls as steps, scores as meta."""
    observations = sorted(
        list_mappings(decode_json_text(row.get("observations"))),
        key=lambda item: str(item.get("startTime") or ""),
    )
    retrieved = [
        output
        for item in observations
        if _is_langfuse_kind(item, "RETRIEVER") and isinstance(output := _find_list(item), list)
    ]
    question, history = _split_messages(decode_json_text(row.get("input")))
    steps = [_to_langfuse_step(item) for item in observations if _is_langfuse_kind(item, "TOOL")]
    contexts = next((documents for documents in reversed(retrieved) if documents), None)
    converted = {
        "id": row.get("id"),
        "question": question,
        "answer": decode_json_text(row.get("output")),
        "messages": history or None,
        "contexts": [] if contexts is None and retrieved else contexts,
        "steps": steps or None,
        "group": row.get("sessionId"),
        "latency": row.get("latency"),
        "cost": row.get("totalCost"),
        "meta": {**get_mapping(row, "metadata"), **_read_langfuse_scores(row)},
    }
    return {name: value for name, value in converted.items() if value not in (None, {})}


def _read_langfuse_scores(row: Row) -> dict[str, Any]:
    scores = {}
    for score in list_mappings(decode_json_text(row.get("scores"))):
        value = score.get("value")
        scores[str(score.get("name"))] = score.get("stringValue") if value is None else value
    return scores


def _is_langfuse_kind(item: Row, kind: str) -> bool:
    """By the type of an observation; older exports only have spans, named after what they do."""
    if item.get("type") == kind:
        return True
    return item.get("type") == "SPAN" and kind.lower() in str(item.get("name")).lower().split()


def _find_list(item: Row) -> list[Any] | None:
    """The documents that an observation returned: its output, or the list inside it."""
    output = decode_json_text(item.get("output"))
    if isinstance(output, dict):
        output = next((value for value in output.values() if isinstance(value, list)), None)
    return output if isinstance(output, list) else None


def _to_langfuse_step(item: Row) -> dict[str, Any]:
    failed = item.get("level") == "ERROR"
    step = {
        "tool": item.get("name"),
        "arguments": decode_json_text(item.get("input")),
        "result": None if failed else decode_json_text(item.get("output")),
        "error": (item.get("statusMessage") or "the call failed") if failed else None,
        "seconds": item.get("latency"),
    }
    return {name: value for name, value in step.items() if value is not None}


def _split_messages(value: Any) -> tuple[Any, list[Any]]:
    """The question of an input, and the messages before it where the input is a conversation."""
    messages = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(messages, list) or not all(isinstance(item, dict) for item in messages):
        return value, []
    users = [at for at, item in enumerate(messages) if item.get("role") in ("user", "human")]
    return (messages[users[-1]], messages[: users[-1]]) if users else (value, [])


_KINDS = {"GENERATION": "llm", "RETRIEVER": "retriever", "TOOL": "tool", "EMBEDDING": "embedding"}
"""Kinds of OpenInference by the types of observations; the others are steps around these."""


def is_langfuse_observation(row: Mapping[str, Any]) -> bool:
    """Whether a row is an observation, as the API and exports of Langfuse have them."""
    return {"id", "traceId", "type", "startTime"} <= row.keys()


def _to_trace_span(row: Row, location: int | str) -> TraceSpan:
    """The observation as a span with attributes of OpenInference."""
    kind = next((k for name, k in _KINDS.items() if _is_langfuse_kind(row, name)), "chain")
    given, returned = (_unwrap_call(decode_json_text(row.get(n))) for n in ("input", "output"))
    usage, cost = get_mapping(row, "usageDetails"), get_mapping(row, "costDetails")
    attributes = {
        "openinference.span.kind": kind,
        "input.value": _to_text(given),
        "output.value": None if kind == "retriever" else _to_text(returned),
        "retrieval.documents": _to_documents(row) if kind == "retriever" else None,
        "gen_ai.input.messages": given if kind == "llm" and isinstance(given, list) else None,
        "gen_ai.output.messages": [returned] if kind == "llm" and _is_message(returned) else None,
        "llm.model_name": row.get("model"),
        "llm.token_count.total": usage.get("total"),
        "llm.cost.total": row.get("totalCost") or cost.get("total"),
        "session.id": row.get("sessionId"),
        "user.id": row.get("userId"),
        "metadata": json.dumps(get_mapping(row, "metadata")),
    }
    failed = row.get("level") == "ERROR"
    return TraceSpan(
        trace=str(row.get("traceId")),
        id=str(row.get("id") or location),
        parent=str(row.get("parentObservationId") or ""),
        name=str(row.get("name") or ""),
        start=parse_micros(row.get("startTime")),
        end=parse_micros(row.get("endTime")) if row.get("endTime") else 0,
        attributes={name: value for name, value in attributes.items() if value is not None},
        error=str(row.get("statusMessage") or "the call failed") if failed else None,
    )


def _unwrap_call(value: Any) -> Any:
    """The first argument of a call that `@observe` recorded; anything else as it is."""
    if not isinstance(value, dict) or value.keys() != {"args", "kwargs"}:
        return value
    texts = [item for item in value["args"] or () if isinstance(item, str)]
    return texts[0] if texts else value["kwargs"]


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and {"role", "content"} <= value.keys()


def _to_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _to_documents(row: Row) -> str:
    documents = _find_list(row) or ()
    return json.dumps([_to_document(item) for item in documents])


def _to_document(item: Any) -> dict[str, Any]:
    if not isinstance(item, dict):
        return {"content": str(item)}
    text = next((item[n] for n in ("content", "text", "page_content") if item.get(n)), None)
    return {**item, "content": text}


def _group_observations(rows: LocatedRows, notes: list[str]) -> Iterator[dict[str, Any]]:
    yield from describe_traces([_to_trace_span(row, location) for location, row in rows], notes)


GROUPINGS = (
    Grouping("Langfuse observations", is_langfuse_observation, _group_observations, ("langfuse",)),
)

FORMATS = (
    build_format(
        "langfuse",
        "Langfuse traces",
        (
            "input output sessionId",
            "input output observations",
            "input output userId",
            "id timestamp name input output sessionId userId metadata observations scores tags latency totalCost "
            "release version public environment htmlPath projectId createdAt updatedAt bookmarked",
        ),
        allows_nested_text=True,
        allows_single_context=True,
        convert=convert_langfuse_trace,
        **PLAIN_COLUMNS,
        steps="steps",
        group="group",
        messages="messages",
    ),
)
