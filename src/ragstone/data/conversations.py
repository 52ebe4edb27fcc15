"""Rows that hold whole conversations, or that are turns of one: a sample for each turn, with what was said before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ragstone.data.formats import detect_format
from ragstone.data.messages import (
    ConversationTurn,
    is_conversation,
    message_to_json,
    split_turns,
    step_to_json,
)
from ragstone.data.objects import to_row_text
from ragstone.data.rows import compile_shape, get_path
from ragstone.data.strict_json import BadRow, decode_json_text, reparse_json
from ragstone.errors import DataError
from ragstone.text.content import is_small_talk
from ragstone.types import ChatMessage, Sample

Row = Mapping[str, Any]
LocatedRows = Iterable[tuple[int | str, dict[str, Any]]]
"""Rows with their locations, for errors."""

_CONVERSATION_COLUMNS = ("messages", "conversations", "conversation", "turns", "user_input")
"""Columns of a whole conversation: OpenAI, ShareGPT, our own, deepeval, Ragas."""
_TOP_COLUMNS = {
    "id": ("id", "conversation_id", "thread_id"),
    "language": ("language",),
}
_LAST_TURN_COLUMNS = {
    "reference": ("reference",),
    "contexts": ("contexts", "retrieved_contexts"),
    "relevant": ("relevant", "reference_context_ids"),
    "expected_steps": ("expected_steps", "reference_tool_calls", "expected_tools"),
}
"""Columns about the end of the conversation, by the field of its last turn."""
_GOAL_COLUMNS = ("goal", "expected_outcome")
_THREAD_NAMES = ("thread_id", "session_id", "conversation_id")
_THREAD_PATHS = (
    "conversation", "conversation_id", "thread_id", "sessionId",
    *(f"{root}.{name}" for root in ("extra.metadata", "metadata") for name in _THREAD_NAMES),
)  # fmt: skip
"""Where a row names its conversation: our own column, LangSmith, Langfuse."""
_ORDER_PATHS = ("turn", "turn_id", "turn_index", "start_time", "timestamp", "createdAt")


def has_conversation(row: Row) -> bool:
    """Whether a row is a whole conversation."""
    return "question" not in row and _find_conversation(row) is not None


def is_thread_turn(row: Row) -> bool:
    """Whether a row is one turn of a conversation: it names the conversation and its place in it."""
    return _find_text(row, _THREAD_PATHS) is not None and _find_order(row) is not None


def expand_conversations(rows: LocatedRows, notes: list[str]) -> Iterator[dict[str, Any]]:
    """A row for each turn of each conversation; greetings and thanks count as history alone."""
    skipped = 0
    for number, (location, row) in enumerate(rows, 1):
        column = _find_conversation(row)
        if column is None:
            raise DataError(
                f"{location}: no messages; give messages: [{{'role': 'user', 'content': …}}, …]"
            )
        turns = split_turns(decode_json_text(row[column]))
        name = _find_text(row, _TOP_COLUMNS["id"]) or str(number)
        asked = [at for at, turn in enumerate(turns) if not _is_chat(turn)]
        skipped += len(turns) - len(asked)
        # a turn without calls is known to have none where others have some, or calls are expected
        has_tools = any(turn.steps for turn in turns) or any(
            row.get(column) is not None for column in _LAST_TURN_COLUMNS["expected_steps"]
        )
        for at in asked:
            sample = _describe_turn(turns[at], name, at + 1, len(turns))
            if has_tools:
                sample.setdefault("steps", [])
            _add_columns(sample, row, column, is_last=at == asked[-1])
            if at == asked[-1]:  # what is said after it asks for nothing
                sample["meta"]["turn"] = len(turns)
            yield sample
    if skipped:
        notes.append(f"read {skipped} turns as history alone: greetings, thanks and the like")


def _is_chat(turn: ConversationTurn) -> bool:
    """Whether the user only greets or thanks; after a question of the system, yes and no are more than that."""
    replies_to = turn.history[-1].content if turn.history else ""
    is_open = "?" in turn.question or replies_to.rstrip().endswith("?")
    return not is_open and is_small_talk(turn.question)


def _describe_turn(turn: ConversationTurn, name: str, number: int, count: int) -> dict[str, Any]:
    sample: dict[str, Any] = {
        "id": f"{name}#{number}" if count > 1 else name,
        "question": turn.question,
        "answer": turn.answer,
        "group": name,
        "meta": {"turn": number, "turns": count},
    }
    sample["messages"] = [message_to_json(message) for message in turn.history]
    if turn.steps:
        sample["steps"] = [step_to_json(step) for step in turn.steps]
    contexts = _find_contexts(turn)
    return sample if contexts is None else {**sample, "contexts": contexts}


def _find_contexts(turn: ConversationTurn) -> list[Any] | None:
    """Contexts that stand on the messages of a turn, else what tools returned; None when it has neither."""
    contexts = [text for reply in turn.replies for text in _list_contexts(reply)]
    results: list[Any] = [{"id": s.tool, "text": s.result} for s in turn.steps if s.result]
    if not turn.steps:  # no call and no name says of which tool it is
        results = [{"text": message.get("content")} for message in turn.results]
    return contexts or results or ([] if turn.results else None)


def _list_contexts(reply: Any) -> list[Any]:
    """Contexts that stand on a message, as deepeval keeps them."""
    for key in ("retrieval_context", "contexts", "context"):
        value = reply.get(key) if isinstance(reply, Mapping) else None
        if isinstance(value, list):
            return value
    return []


def _add_columns(sample: dict[str, Any], row: Row, conversation: str, *, is_last: bool) -> None:
    """Add the other columns of a conversation's row: those about its end to the last turn, the rest to `meta`."""
    used = {conversation, "meta", *_TOP_COLUMNS["id"]}
    if isinstance(row.get("meta"), dict):
        sample["meta"] = {**row["meta"], **sample["meta"]}
    for field, columns in {**_LAST_TURN_COLUMNS, "language": _TOP_COLUMNS["language"]}.items():
        value = next((row[name] for name in columns if row.get(name) is not None), None)
        used |= set(columns)
        if value is not None and (is_last or field == "language"):
            sample[field] = decode_json_text(value)
    goal = _find_goal(row, conversation)
    others = {
        name: value
        for name, value in row.items()
        if name not in used and isinstance(value, str | int | float)
    }
    sample["meta"] = {**others, **sample["meta"], **({"goal": goal} if goal is not None else {})}


def _find_goal(row: Row, conversation: str) -> Any:
    """The goal that a row states; Ragas states the wanted outcome as the reference."""
    columns = (*_GOAL_COLUMNS, "reference") if conversation == "user_input" else _GOAL_COLUMNS
    return next((row[name] for name in columns if row.get(name)), None)


def _find_conversation(row: Row) -> str | None:
    for column in _CONVERSATION_COLUMNS:
        if is_conversation(decode_json_text(row.get(column))):
            return column
    return None


# ── turns in rows of their own ────────────────────────────────────────────────────────────


def join_threads(rows: LocatedRows, notes: list[str]) -> Iterator[dict[str, Any]]:
    """The rows with the earlier turns of their conversation as messages, in the order they were given."""
    located = [(location, row) for location, row in rows if not row.get("parent_run_id")]
    columns = {column for _, row in located[:20] for column in row}
    mapper = compile_shape({"format": detect_format(columns, "rows of conversations").name})
    threads: dict[str, list[int]] = {}
    samples: list[Sample] = []
    for index, (location, row) in enumerate(located):
        try:
            sample, has_id = mapper(row, index + 1)
        except BadRow as bad:
            raise DataError(f"{location}: {bad}") from None
        thread = _find_text(row, _THREAD_PATHS)
        samples.append(sample if has_id or thread is None else replace(sample, id=""))
        if thread is not None:
            threads.setdefault(thread, []).append(index)
    for thread, indexes in threads.items():
        indexes.sort(key=lambda index: _to_sort_key(_find_order(located[index][1])))
        _add_history(samples, indexes, thread)
    for sample in samples:
        text = to_row_text(sample)
        if not isinstance(text, str):
            raise DataError(f"sample {sample.id!r}: {text.reason}")
        yield reparse_json(text)


def _add_history(samples: list[Sample], indexes: list[int], thread: str) -> None:
    """Give each turn of a conversation the turns before it, and its place."""
    said: list[ChatMessage] = []
    for number, index in enumerate(indexes, 1):
        sample = samples[index]
        samples[index] = replace(
            sample,
            id=sample.id or f"{thread}#{number}",
            group=sample.group or thread,
            messages=sample.messages or tuple(said),
            meta={**sample.meta, "turn": number, "turns": len(indexes)},
        )
        said += [ChatMessage("user", sample.question)] if sample.question else []
        said += [ChatMessage("assistant", sample.answer)] if sample.answer else []


def _find_text(row: Row, paths: Iterable[str]) -> str | None:
    for path in paths:
        value = get_path(row, path)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return None


def _find_order(row: Row) -> Any:
    return next(
        (value for path in _ORDER_PATHS if (value := get_path(row, path)) is not None), None
    )


def _to_sort_key(value: Any) -> tuple[int, float, str]:
    """Numbers before texts, so that turn 10 comes after turn 9."""
    try:
        return 0, float(value), ""
    except (TypeError, ValueError):
        return 1, 0.0, json.dumps(value) if not isinstance(value, str) else value
