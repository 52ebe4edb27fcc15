"""Rows that hold whole conversations, or that are turns of one: a sample for each turn, with what was said before."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ragstone.data.formats import detect_format
from ragstone.data.messages import (
    ConversationTurn,
    get_role,
    is_conversation,
    message_to_json,
    split_turns,
    step_to_json,
    unwrap_message,
)
from ragstone.data.objects import to_row_text
from ragstone.data.row_format import LocatedRows, Row
from ragstone.data.rows import RowMapper, get_path, is_small, list_left_over
from ragstone.data.source_notes import SourceNote, describe_left_over
from ragstone.data.strict_json import BadRow, decode_json_text, reparse_json
from ragstone.errors import DataError
from ragstone.types import ChatMessage, Sample

_CONVERSATION_COLUMNS = ("messages", "conversations", "conversation", "turns", "user_input")
"""Columns of a whole conversation: OpenAI, ShareGPT, our own, deepeval, Ragas."""
_TOP_COLUMNS = {
    "id": ("id", "conversation_id", "thread_id"),
    "language": ("language",),
}
_LAST_TURN_COLUMNS = {
    "reference": ("reference", "ground_truth", "expected_output", "expected_answer", "ideal"),
    "contexts": ("contexts", "retrieved_contexts", "retrieval_context", "documents"),
    "relevant": ("relevant", "reference_context_ids"),
    "expected_steps": ("expected_steps", "reference_tool_calls", "expected_tools"),
}
"""Columns about the end of the conversation, by the field of its last turn."""
_ANSWER_COLUMNS = ("answer", "response", "output", "completion", "choices")
"""Columns of the reply to the last message, where the messages end with a question."""
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
    left_over: dict[str, None] = {}
    for number, (location, row) in enumerate(rows, 1):
        column = _find_conversation(row)
        if column is None:
            raise DataError(
                f"{location}: no messages; give messages: [{{'role': 'user', 'content': …}}, …]"
            )
        messages = decode_json_text(row[column])
        answer = _find_reply(row, messages)
        turns = split_turns([*messages, *_list_replies(row.get(answer))] if answer else messages)
        left_over |= dict.fromkeys(_list_others(row, {column, answer}))
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
            _add_columns(sample, row, {column, answer}, is_last=at == asked[-1])
            if at == asked[-1]:  # what is said after it asks for nothing
                sample["meta"]["turn"] = len(turns)
            yield sample
    if skipped:
        notes.append(
            SourceNote(
                "read {n} {n:turn|turns} as history alone: greetings, thanks and the like",
                n=skipped,
            )
        )
    if left_over:
        notes.append(describe_left_over(left_over))


def _find_reply(row: Row, messages: list[Any]) -> str | None:
    """The column with the reply to the last message, as logs of a chat API keep it; None where it is among the messages."""
    if get_role(unwrap_message(messages[-1])) not in ("user", "tool"):
        return None
    return next((name for name in _ANSWER_COLUMNS if _list_replies(row.get(name))), None)


def _list_replies(value: Any) -> list[Any]:
    """The messages that a reply is: a text, a message, several, or the first choice of a completion."""
    value = decode_json_text(value)
    if isinstance(value, Mapping) and "choices" in value:
        value = value["choices"]
    if (
        isinstance(value, list)
        and value
        and isinstance(value[0], Mapping)
        and "message" in value[0]
    ):
        value = value[0]["message"]
    if isinstance(value, str) and value:
        return [{"role": "assistant", "content": value}]
    replies = value if isinstance(value, list) else [value]
    return replies if is_conversation(replies) else []


def _is_chat(turn: ConversationTurn) -> bool:
    """Whether the user only greets or thanks; after a question of the system, yes and no are more than that."""
    from ragstone.text.content import is_small_talk  # a slow import

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


def _list_others(row: Row, used: Collection[str | None]) -> list[str]:
    """The columns with values that no field reads, besides these."""
    known = {name for names in (_TOP_COLUMNS | _LAST_TURN_COLUMNS).values() for name in names}
    known |= {"meta", "metadata", *_GOAL_COLUMNS}
    return [
        name for name, value in row.items()
        if name not in known and name not in used and value not in (None, "", [], {})
    ]  # fmt: skip


def _add_columns(
    sample: dict[str, Any], row: Row, used: Collection[str | None], *, is_last: bool
) -> None:
    """Add the other columns of a conversation's row: those about its end to the last turn, the rest to `meta`."""
    for name in ("meta", "metadata"):
        given = decode_json_text(row.get(name))
        sample["meta"] = {**given, **sample["meta"]} if isinstance(given, dict) else sample["meta"]
    for field, columns in {**_LAST_TURN_COLUMNS, "language": _TOP_COLUMNS["language"]}.items():
        value = next((row[name] for name in columns if row.get(name) is not None), None)
        if value is not None and (is_last or field == "language"):
            sample[field] = decode_json_text(value)
    goal = _find_goal(row, used)
    others = {name: row[name] for name in _list_others(row, used) if is_small(row[name])}
    sample["meta"] = {**others, **sample["meta"], **({"goal": goal} if goal is not None else {})}


def _find_goal(row: Row, used: Collection[str | None]) -> Any:
    """The goal that a row states; Ragas states the wanted outcome as the reference."""
    columns = (*_GOAL_COLUMNS, "reference") if "user_input" in used else _GOAL_COLUMNS
    return next((row[name] for name in columns if row.get(name)), None)


def _find_conversation(row: Row) -> str | None:
    for column in _CONVERSATION_COLUMNS:
        if is_conversation(decode_json_text(row.get(column))):
            return column
    return None


# ── turns in rows of their own ────────────────────────────────────────────────────────────


def join_threads(rows: LocatedRows, notes: list[str]) -> Iterator[dict[str, Any]]:
    """The rows with the earlier turns of their conversation as messages, in the order they were given."""
    located = list(rows)
    first_rows = [row for _, row in located[:20]]
    columns = {column for row in first_rows for column in row}
    row_format = detect_format(columns, "rows of conversations")
    mapper = RowMapper({"format": row_format.name})
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
    _note_left_over(list_left_over(first_rows, row_format, None), notes)


def _note_left_over(columns: Iterable[str], notes: list[str]) -> None:
    """Add a note about the columns that neither a field nor the order of turns is read from."""
    known = {path.partition(".")[0] for path in (*_THREAD_PATHS, *_ORDER_PATHS)}
    left_over = [column for column in columns if column not in known]
    if left_over:
        notes.append(describe_left_over(left_over))


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
