"""The `turns` and `goal` Asks: what the embedded judge can tell of a conversation, null for what it cannot.

Each question is first made to stand alone, and the pronouns of its answer are filled in from it; two answers are only
compared where their questions are about the same things. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.errors import JudgeFailed
from ragstone.judges.offline.inquiry import compute_chance
from ragstone.judges.offline.noun_phrases import find_phrases
from ragstone.judges.offline.question_kinds import split_question
from ragstone.judges.offline.reading import read
from ragstone.judges.offline.standalone import (
    Topic,
    choose_question,
    fill_pronouns,
    make_standalone,
)
from ragstone.judges.offline.statements import asks
from ragstone.judges.offline.verdicts import judge_case
from ragstone.text.answers import is_bare_answer, to_statement
from ragstone.text.content import find_content_words
from ragstone.text.language import detect_language
from ragstone.text.refusals import is_refusal
from ragstone.text.sentences import split_sentences

ADDRESS_BAR = 0.5
"""Chance from which an answer counts as addressing a question."""


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """A turn with its question made to stand alone, and what its answer states."""

    id: str
    asked: str | None
    """The question that the answer is measured against; see `choose_question`."""
    question: str | None
    """What was asked, made to stand alone; None when the rules cannot make it stand alone."""
    answer: str
    subject: frozenset[str]
    """Content words of the things that the question is about."""
    statements: tuple[tuple[str, str], ...]
    """Sentences of the answer with their pronouns filled in, each with the original."""
    declines: bool
    """Whether the answer is a refusal or a question back."""


def answer_turns(values: Mapping[str, Any], language: str | None) -> Any:
    """Reply whether each turn keeps to its question, and which earlier answer it contradicts."""
    turns = read_turns(values["turns"], language)
    # in Spanish it was no better than a word in common (bench/conversations.py)
    is_fit = detect_language(" ".join(t["question"] for t in values["turns"]), language) == "en"
    rows = []
    for index, turn in enumerate(turns):
        earlier = _find_contradiction(turn, turns[:index], language)
        rows.append(
            {
                "id": turn.id,
                "addresses": keeps_topic(turn, language) if is_fit else None,
                "contradicts": earlier[0] if earlier else _find_unknown(turn, turns[:index]),
                "quote": earlier[1] if earlier else "",
                "reason": earlier[2] if earlier else "",
            }
        )
    return {"turns": rows}


def _find_unknown(turn: ReadTurn, earlier: Sequence[ReadTurn]) -> str | None:
    """Empty where nothing is contradicted; None where that is not known, as one question cannot be understood."""
    unread = [other for other in (turn, *earlier) if other.question is None and not other.declines]
    return None if unread and earlier and not turn.declines else ""


def answer_goal(values: Mapping[str, Any], language: str | None) -> Any:
    """Reply with the first turn that gives what was first asked for and that the user does not reject later.

    JudgeFailed for what was never measured, or was no better than the simplest rule: a stated goal, and Spanish."""
    tongue = detect_language(" ".join(turn["question"] for turn in values["turns"]), language)
    if values["goal"] or tongue != "en":
        raise JudgeFailed("unsupported", "goal_unmeasured")
    return find_goal(values, language)


def find_goal(values: Mapping[str, Any], language: str | None) -> Any:
    """The reply to a `goal` Ask in any language; see `answer_goal` for what it is fit for."""
    turns = read_turns(values["turns"], language)
    wanted = values["goal"] or values["turns"][0]["question"]
    reached = ""
    for turn, given in zip(turns, values["turns"], strict=True):
        if reached and _REJECTION.match(given["question"]):
            reached = ""
        if (
            not reached
            and not turn.declines
            and _measure(wanted, turn.answer, language) >= ADDRESS_BAR
        ):
            reached = turn.id
    return {"turn": reached, "reason": ""}


_REJECTION = re.compile(
    r"\W*(?:no\b|that'?s not|that is not|not what|i meant|i asked|wrong|eso no|no es|me refer|he preguntado|pregunté)",
    re.IGNORECASE,
)
"""How a user says that an answer does not fit."""


def read_turns(turns: Sequence[Mapping[str, str]], language: str | None) -> list[ReadTurn]:
    """Read each turn with what was said before it."""
    said: list[tuple[str, str]] = []
    read_so_far = []
    for turn in turns:
        question = make_standalone(turn["question"], said, language)
        asked = choose_question(turn["question"], said, turn["answer"], language)
        read_so_far.append(_read_turn(turn, asked, question, language))
        said += [("user", turn["question"]), ("assistant", turn["answer"])]
    return read_so_far


def _read_turn(
    turn: Mapping[str, str], asked: str | None, question: str | None, language: str | None
) -> ReadTurn:
    answer = turn["answer"]
    tongue = detect_language(f"{turn['question']} {answer}", language)
    sentences = [answer[start:end] for start, end in split_sentences(answer, language)]
    declines = is_refusal(answer, language) or all(map(asks, sentences))
    statements: list[tuple[str, str]] = []
    if question is not None and is_bare_answer(answer, language):
        statements = [(to_statement(question, answer, language), answer)]
    elif not declines:
        topic = None if question is None else Topic(question, "")
        for sentence in sentences:
            filled, is_open = fill_pronouns(sentence, topic, tongue)
            if not asks(sentence) and filled is not None:
                statements.append((filled if is_open else sentence, sentence))
    phrases = find_phrases(question, tongue) if question is not None else []
    subject = frozenset[str]().union(*(find_content_words(phrase.text) for phrase in phrases))
    return ReadTurn(turn["id"], asked, question, answer, subject, tuple(statements), declines)


def keeps_topic(turn: ReadTurn, language: str | None) -> bool | None:
    """Whether an answer keeps to the question of its turn; None when the question cannot be understood."""
    if turn.declines:
        return True
    return (
        None if turn.asked is None else _measure(turn.asked, turn.answer, language) >= ADDRESS_BAR
    )


def _measure(question: str, answer: str, language: str | None) -> float:
    """The chance that the answer addresses the part of the question that it addresses best."""
    return max(compute_chance(part, answer, language) for part in split_question(question))


def _find_contradiction(
    turn: ReadTurn, earlier: Sequence[ReadTurn], language: str | None
) -> tuple[str, str, str] | None:
    """Id of the nearest earlier turn that an answer contradicts, the sentence there, and the reason."""
    for other in reversed(earlier):
        if not turn.statements or not other.statements or not _has_same_subject(turn, other):
            continue
        claims = [read(text, language) for text, _ in turn.statements]
        sources = [read(text, language) for text, _ in other.statements]
        for verdict in judge_case(claims, sources).claims:
            if verdict.verdict == "contradicted" and verdict.evidence:
                source = verdict.evidence[0][0]
                return other.id, other.statements[source][1], verdict.reason
    return None


def _has_same_subject(turn: ReadTurn, other: ReadTurn) -> bool:
    """Whether what one question is about is all in the other question or its answer."""
    if not turn.subject or not other.subject:
        return False
    return turn.subject <= _list_words(other) or other.subject <= _list_words(turn)


def _list_words(turn: ReadTurn) -> frozenset[str]:
    return turn.subject | find_content_words(turn.answer)
