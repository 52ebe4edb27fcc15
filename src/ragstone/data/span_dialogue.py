"""Traces as rows: what each says of a question, its tool calls, and the turns of its session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ragstone.data.messages import message_to_json, step_to_json
from ragstone.data.source_notes import SourceNote
from ragstone.data.spans import TraceSpan, describe_trace, get_span_kind, parse_messages
from ragstone.data.strict_json import decode_json_text, replace_unstorable
from ragstone.types import ChatMessage, ToolStep

_NAME_ATTRIBUTES = ("tool.name", "gen_ai.tool.name")
_ARGUMENT_ATTRIBUTES = ("gen_ai.tool.call.arguments", "tool.parameters", "input.value")
_RESULT_ATTRIBUTES = ("gen_ai.tool.call.result", "output.value")


def describe_traces(spans: list[TraceSpan], notes: list[str]) -> Iterator[dict[str, Any]]:
    """A row of ragstone columns for each trace that is about a question."""
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


def describe_dialogue(spans: Sequence[TraceSpan], row: dict[str, Any]) -> None:
    """Add the steps of a trace, and the messages before its question, to the row that describes it."""
    ordered = sorted(spans, key=lambda span: (span.start, span.end, span.id))
    steps = [_to_step(span) for span in ordered if get_span_kind(span) == "tool"]
    if steps:
        row["steps"] = [step_to_json(step) for step in steps]
    models = [span for span in ordered if get_span_kind(span) == "llm"]
    messages = _find_history(models, str(row.get("question") or ""))
    if messages:
        row["messages"] = [message_to_json(message) for message in messages]


def join_sessions(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give the traces of one session the questions and answers before them; rows have their `start`."""
    listed = list(rows)
    sessions: dict[str, list[dict[str, Any]]] = {}
    for row in listed:
        session = row["meta"].get("session")
        if session is not None:
            sessions.setdefault(str(session), []).append(row)
    for session, turns in sessions.items():
        said: list[dict[str, str]] = []
        for number, row in enumerate(sorted(turns, key=lambda row: row["start"]), 1):
            row["group"] = session
            row["meta"] |= {"turn": number, "turns": len(turns)}
            row.setdefault("messages", list(said))
            for role, text in (("user", row.get("question")), ("assistant", row.get("answer"))):
                said += [{"role": role, "content": text}] if text else []
    return listed


def _to_step(span: TraceSpan) -> ToolStep:
    attributes = span.attributes
    name = next((attributes[key] for key in _NAME_ATTRIBUTES if attributes.get(key)), span.name)
    arguments = next(
        (
            value
            for key in _ARGUMENT_ATTRIBUTES
            if isinstance(value := decode_json_text(attributes.get(key)), dict)
        ),
        None,
    )
    result = next((attributes[key] for key in _RESULT_ATTRIBUTES if attributes.get(key)), None)
    seconds = (span.end - span.start) / 1e6 if span.end > span.start else None
    text = None if result is None or span.error is not None else replace_unstorable(str(result))
    return ToolStep(str(name), arguments, text, span.error, seconds)


def _find_history(models: Sequence[TraceSpan], question: str) -> list[ChatMessage]:
    """What the user and the assistant said before the last question, by the input of the last model call."""
    messages = parse_messages(models[-1], "input") if models else []
    users = [at for at, (role, _) in enumerate(messages) if role == "user"]
    # examples in a prompt look like a conversation, but then the question stands in no message of its own
    if len(users) < 2 or question.strip() not in messages[users[-1]][1]:
        return []
    return [
        ChatMessage("user" if role == "user" else "assistant", replace_unstorable(text))
        for role, text in messages[: users[-1]]
        if text and role in ("user", "assistant", "model")
    ]
