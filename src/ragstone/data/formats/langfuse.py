"""Traces of Langfuse."""

from __future__ import annotations

from typing import Any

from ragstone.data.row_format import PLAIN_COLUMNS, Row, build_format, get_mapping, list_mappings
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
