"""Constructors of Asks, one for each kind of question: they fix its values and the schema of its reply."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ragstone.asks import schemas
from ragstone.asks.types import Ask
from ragstone.text.sentences import split_cited_parts
from ragstone.types import ChatMessage, Chunk


def claims(*texts: str, question: str | None = None, language: str | None = None) -> Ask:
    """Split texts into atomic claims that stand on their own; ids are t1, t2, …

    The question goes along with a text that only names something: it is the answer that makes the statement. Where a
    text opens with yes or no and says more, its first sentence makes a statement with the question: `asked`."""
    from ragstone.text.answers import is_bare_answer, is_polar_exchange, repeats_question  # slow

    items: list[dict[str, Any]] = []
    for n, text in enumerate(texts, 1):
        parts = [text[start:end] for start, end in split_cited_parts(text, language)]
        items.append({"id": f"t{n}", "text": text, "sentences": parts})
        if not question or not question.strip() or not parts:
            continue
        if is_bare_answer(text, language) and not repeats_question(question, text):
            items[-1]["question"] = question
        elif is_polar_exchange(question, parts[0], language):
            items[-1]["asked"] = question
    return Ask("claims", {"texts": items}, schemas.CLAIMS, language)


class Case(NamedTuple):
    """Claims to be checked against sources of their own."""

    claims: tuple[str, ...]
    sources: tuple[Chunk, ...]
    answers: tuple[str, ...] = ()
    """For each claim the bare answer that it was made of with its question, empty for other claims."""
    question: str | None = None
    """The question that claims and sources answer, where one of them only names something."""


def support(*cases: Case, language: str | None = None) -> Ask:
    """Check claims against sources; claim ids are c1, c2, … and source ids k1, k2, … through all cases."""
    rows = _number_cases(((case.claims, case.sources) for case in cases), "claims", "c")
    for case, row in zip(cases, rows, strict=True):
        for claim, answer in zip(row["claims"], case.answers, strict=False):
            if answer:
                claim["answer"] = answer
        if case.question:
            row["question"] = case.question
    return Ask("support", {"cases": rows}, schemas.SUPPORT, language)


def useful(
    question: str,
    chunks: Sequence[Chunk],
    targets: Mapping[str, str | None],
    *,
    wording: int = 1,
    language: str | None = None,
) -> Ask:
    """Grade each chunk 0, 1 or 2 for each target: a text to be reached (an answer, a reference), or None for the question alone."""
    values = {
        "question": question,
        "chunks": _number_sources(chunks),
        "targets": dict(targets),
        "wording": wording,
    }
    return Ask("useful", values, schemas.build_useful_schema(tuple(targets)), language)


def aspects(question: str, answer: str, *, language: str | None = None) -> Ask:
    """List what the question asks for, and whether the answer covers each."""
    return Ask("aspects", {"question": question, "answer": answer}, schemas.ASPECTS, language)


def questions(
    answer: str,
    *,
    question: str | None = None,
    history: Sequence[ChatMessage] = (),
    count: int = 3,
    language: str | None = None,
) -> Ask:
    """Write questions that the answer would answer, and say whether it is evasive.

    `question` is the one that was asked, after the messages of `history`, for judges that write none and reply with `addresses` instead. A judge that
    writes questions must not be shown it."""
    values: dict[str, Any] = {"answer": answer, "count": count}
    if question is not None:
        values["question"] = question
    if history:
        values["history"] = _list_messages(history)
    return Ask("questions", values, schemas.QUESTIONS, language)


def standalone(
    question: str, history: Sequence[ChatMessage], *, language: str | None = None
) -> Ask:
    """Reword a question so that it can be understood without the conversation before it."""
    values = {"question": question, "history": _list_messages(history)}
    return Ask("standalone", values, schemas.STANDALONE, language)


def _list_messages(history: Sequence[ChatMessage]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in history]


class Exchange(NamedTuple):
    """What a user said and what the system answered."""

    question: str
    answer: str


def turns(conversation: Sequence[Exchange], *, language: str | None = None) -> Ask:
    """Say of each turn whether the answer addresses the question and which earlier answer it contradicts; ids are n1, n2, …"""
    return Ask("turns", {"turns": _number_turns(conversation)}, schemas.TURNS, language)


def goal(
    conversation: Sequence[Exchange], goal: str | None = None, *, language: str | None = None
) -> Ask:
    """Say at which turn a conversation reaches its goal: the stated one, else what the user first asked for."""
    values = {"turns": _number_turns(conversation), "goal": goal}
    return Ask("goal", values, schemas.GOAL, language)


def _number_turns(conversation: Sequence[Exchange]) -> list[dict[str, str]]:
    return [
        {"id": f"n{n}", "question": turn.question, "answer": turn.answer}
        for n, turn in enumerate(conversation, 1)
    ]


def rate(
    texts: Mapping[str, str],
    name: str,
    question: str,
    levels: Sequence[str],
    *,
    language: str | None = None,
) -> Ask:
    """Place named texts on a closed scale, worst level first."""
    values = {"texts": dict(texts), "name": name, "question": question, "levels": list(levels)}
    return Ask("rate", values, schemas.build_rate_schema(len(levels)), language)


def prefer(
    question: str,
    answers: tuple[str, str],
    *,
    reference: str | None = None,
    sources: Sequence[Chunk] = (),
    language: str | None = None,
) -> Ask:
    """Say which of two answers, A and B in this order, is better for the question, or that neither is."""
    values: dict[str, Any] = {"question": question, "A": answers[0], "B": answers[1]}
    if reference is not None:
        values["reference"] = reference
    if sources:
        values["sources"] = _number_sources(sources)
    return Ask("prefer", values, schemas.PREFER, language)


def embed(*texts: str) -> Ask:
    """Embed texts as vectors whose cosine is their similarity."""
    return Ask("embed", {"texts": list(texts)}, schemas.EMBED)


@dataclass(frozen=True, slots=True)
class Order:
    """A test question to be written: its kind, the style or person it is written as, and the name that it goes through."""

    kind: str
    style: str = ""
    about: str = ""


def write(sources: Sequence[Chunk], orders: Sequence[Order], *, language: str | None = None) -> Ask:
    """Write test questions about sources; order ids are q1, q2, … and source ids k1, k2, …"""
    rows = [
        {"id": f"q{n}", "kind": order.kind, "style": order.style}
        | ({"about": order.about} if order.about else {})
        for n, order in enumerate(orders, 1)
    ]
    has_follow_up = any(order.kind == "follow_up" for order in orders)
    schema = schemas.WRITE_FOLLOW_UPS if has_follow_up else schemas.WRITE
    return Ask("write", {"sources": _number_sources(sources), "orders": rows}, schema, language)


def check_passage(passage: str, question: str, *, language: str | None = None) -> Ask:
    """Say yes or no of whether a passage answers a question: what a small model can reply to."""
    values = {"passage": passage, "question": question}
    return Ask("told", values, schemas.TOLD, language)


@dataclass(frozen=True, slots=True)
class Problem:
    """Questions to be answered from sources of their own."""

    questions: tuple[str, ...]
    sources: tuple[Chunk, ...]


def solve(*problems: Problem, language: str | None = None) -> Ask:
    """Answer questions from sources alone; question ids are q1, q2, … and source ids k1, k2, … through all cases."""
    cases = _number_cases(((p.questions, p.sources) for p in problems), "questions", "q")
    return Ask("solve", {"cases": cases}, schemas.SOLVE, language)


def _number_sources(sources: Sequence[Chunk]) -> list[dict[str, str]]:
    return [{"id": f"k{n}", "text": source.text} for n, source in enumerate(sources, 1)]


def _number_cases(
    cases: Iterable[tuple[Sequence[str], Sequence[Chunk]]], name: str, prefix: str
) -> list[dict[str, Any]]:
    """Give texts and sources ids that run through all cases."""
    text_numbers, source_numbers = itertools.count(1), itertools.count(1)
    return [
        {
            name: [{"id": f"{prefix}{next(text_numbers)}", "text": text} for text in texts],
            "sources": [{"id": f"k{next(source_numbers)}", "text": s.text} for s in sources],
        }
        for texts, sources in cases
    ]
