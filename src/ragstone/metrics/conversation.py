"""Conversation metrics: whether a conversation reaches its goal, keeps to what is asked and contradicts nothing.

A conversation is judged once, at its last turn: the messages before, and the question with its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.asks import Asking, Exchange, ask, goal, turns
from ragstone.errors import JudgeFailed, NotApplicable
from ragstone.metrics.replies import index_rows, read_rows
from ragstone.registry import metric
from ragstone.text.evidence import find_quote
from ragstone.types import Dialogue, Finding, Score, share


@metric(binary=True)
def goal_reached(
    question: str,
    answer: str,
    messages: Dialogue,
    meta: Mapping[str, Any],
    language: str | None = None,
) -> Asking[Score]:
    """1 if the conversation ends with what the user first asked for (or the goal that `meta` states), 0 if not.

    The turn that decides is the finding."""
    conversation = list_turns(question, answer, messages, meta)
    turn, finding = yield from _find_goal(conversation, meta, language)
    return Score(float(turn is not None), findings=(finding,))


@metric(higher_is_better=False, bounds=None)
def turns_needed(
    question: str,
    answer: str,
    messages: Dialogue,
    meta: Mapping[str, Any],
    language: str | None = None,
) -> Asking[Score]:
    """Turns until the goal of the conversation is reached; not applicable to a conversation that does not reach it."""
    conversation = list_turns(question, answer, messages, meta)
    turn, finding = yield from _find_goal(conversation, meta, language)
    if turn is None:
        raise NotApplicable("goal_missed")
    return Score(float(turn), findings=(finding,))


@metric
def knowledge_kept(
    question: str,
    answer: str,
    messages: Dialogue,
    meta: Mapping[str, Any],
    language: str | None = None,
) -> Asking[Score]:
    """Turns that contradict nothing the system said before ÷ turns.

    A contradiction needs the words of the earlier answer; without them it does not count."""
    conversation = list_turns(question, answer, messages, meta)
    if len(conversation) < 2:
        raise NotApplicable("single_turn")
    rows = yield from _judge_turns(conversation, language)
    unknown = [number for number, row in enumerate(rows, 1) if row["contradicts"] is None]
    if unknown:
        raise JudgeFailed("unsupported", "turn_not_understood", turn=unknown[0])
    findings = [
        _describe_knowledge(number, row, conversation) for number, row in enumerate(rows, 1)
    ]
    return share(findings, "consistent")


@metric
def topic_kept(
    question: str,
    answer: str,
    messages: Dialogue,
    meta: Mapping[str, Any],
    language: str | None = None,
) -> Asking[Score]:
    """Turns that address the user's last question ÷ turns.

    To say that one cannot answer, or to ask back what is needed, addresses it."""
    conversation = list_turns(question, answer, messages, meta)
    rows = yield from _judge_turns(conversation, language)
    findings = []
    for number, (row, turn) in enumerate(zip(rows, conversation, strict=True), 1):
        if row["addresses"] is None:
            raise JudgeFailed("unsupported", "turn_not_understood", turn=number)
        verdict = "on_topic" if row["addresses"] else "off_topic"
        findings.append(Finding(turn.question, verdict, row["reason"], chunk=f"turn {number}"))
    return share(findings, "on_topic")


def list_turns(
    question: str, answer: str, messages: Dialogue, meta: Mapping[str, Any]
) -> list[Exchange]:
    """The turns of a conversation that have an answer; NotApplicable unless it ends with this question."""
    number, count = meta.get("turn"), meta.get("turns")
    if isinstance(number, int) and isinstance(count, int) and number < count:
        raise NotApplicable("conversation_goes_on")
    said: list[Exchange] = []
    asked: list[str] = []
    for message in messages:
        if message.role == "user":
            asked.append(message.content)
        elif message.role == "assistant" and asked:
            said.append(Exchange("\n".join(asked), message.content))
            asked = []
    said.append(Exchange("\n".join([*asked, question]), answer))
    conversation = [turn for turn in said if turn.question.strip() and turn.answer.strip()]
    if not conversation:
        raise NotApplicable("conversation_empty")
    return conversation


def _find_goal(
    conversation: list[Exchange], meta: Mapping[str, Any], language: str | None
) -> Asking[tuple[int | None, Finding]]:
    """The number of the turn that reaches the goal, None when none does, and the finding about it."""
    stated = meta.get("goal")
    stated = stated if isinstance(stated, str) and stated.strip() else None
    reply = yield from ask(goal(conversation, stated, language=language))
    turn, reason = (
        (reply.get("turn"), reply.get("reason")) if isinstance(reply, Mapping) else (None, None)
    )
    numbers = {f"n{n}": n for n in range(1, len(conversation) + 1)}
    if not isinstance(turn, str) or not isinstance(reason, str) or turn not in {"", *numbers}:
        raise JudgeFailed("unparseable", "reply_without_turns")
    number = numbers.get(turn)
    verdict = "not_reached" if number is None else "reached"
    where = "" if number is None else f"turn {number}"
    return number, Finding(stated or conversation[0].question, verdict, reason, chunk=where)


def _judge_turns(
    conversation: list[Exchange], language: str | None
) -> Asking[list[Mapping[str, Any]]]:
    reply = yield from ask(turns(conversation, language=language))
    ids = [f"n{n}" for n in range(1, len(conversation) + 1)]
    by_id = index_rows(read_rows(reply, "turns", id=str, quote=str, reason=str), "id", ids)
    for row in by_id.values():
        fits = isinstance(row.get("addresses"), bool | None) and isinstance(
            row.get("contradicts"), str | None
        )
        if not fits:
            raise JudgeFailed("unparseable", "reply_without_turns")
    return [by_id[name] for name in ids]


def _describe_knowledge(
    number: int, row: Mapping[str, Any], conversation: list[Exchange]
) -> Finding:
    """A finding about a turn: what it contradicts, with the place of the words there."""
    text, earlier = conversation[number - 1].answer, row["contradicts"]
    if not earlier:
        return Finding(text, "consistent", chunk="")
    known = {f"n{n}": n for n in range(1, number)}
    if earlier not in known:
        raise JudgeFailed("incomplete", "turn_unknown", turn=earlier)
    span = find_quote(row["quote"], conversation[known[earlier] - 1].answer)
    return Finding(
        text,
        "contradicted" if span else "consistent",
        row["reason"],
        chunk=f"turn {known[earlier]}",
        quote=row["quote"],
        start=span[0] if span else None,
        end=span[1] if span else None,
        verified=span is not None,
    )
