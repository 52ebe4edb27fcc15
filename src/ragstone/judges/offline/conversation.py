"""The `turns` and `goal` Asks: what the embedded judge can tell of a conversation, null for what it
cannot.

Each question is first made to stand alone, and the pronouns of its answer are filled in from it;
two answers are only compared where their questions are about the same things. Versioned by VERSION
in judges/offline."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.errors import JudgeFailed
from ragstone.judges.offline.relevance import compute_chance
from ragstone.judges.offline.standalone import (
    Topic,
    choose_question,
    fill_pronouns,
    find_phrases,
    make_standalone,
)
from ragstone.judges.offline.support import judge_claims
from ragstone.text.answers import is_bare_answer, join_answer
from ragstone.text.claims import asks
from ragstone.text.content import find_content_words
from ragstone.text.language import detect_language
from ragstone.text.refusals import is_refusal
from ragstone.text.sentences import split_sentences

ADDRESS_BAR = 0.7
"""Chance from which an answer counts as addressing a question: of turns more stray than of answers
in general."""


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
    """Whether each turn keeps to its question, and which earlier answer it contradicts."""
    turns = read_turns(values["turns"], language)
    rows = []
    for index, turn in enumerate(turns):
        earlier = _find_contradiction(turn, turns[:index], language)
        rows.append(
            {
                "id": turn.id,
                "addresses": keeps_topic(turn, language),
                "contradicts": earlier[0] if earlier else _find_unknown(turn, turns[:index]),
                "quote": earlier[1] if earlier else "",
                "reason": earlier[2] if earlier else "",
            }
        )
    return {"turns": rows}


def _find_unknown(turn: ReadTurn, earlier: Sequence[ReadTurn]) -> str | None:
    """Empty where nothing is contradicted; None where that is not known, as one question cannot be
    understood."""
    unread = [other for other in (turn, *earlier) if other.question is None and not other.declines]
    return None if unread and earlier and not turn.declines else ""


def answer_goal(values: Mapping[str, Any], language: str | None) -> Any:
    """The first turn that gives what was first asked for and that the user does not reject later.

    JudgeFailed for what was never measured: a stated goal."""
    if values["goal"]:
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
        is_open = not reached and not turn.declines
        if is_open and compute_chance(wanted, turn.answer, language) >= ADDRESS_BAR:
            reached = turn.id
    return {"turn": reached, "reason": ""}


_REJECTION = re.compile(
    r"\W*(?:no\b|that'?s not|that is not|not what|i meant|i asked|wrong|eso no|no es|me refer|he preguntado|pregunté)",
    re.IGNORECASE,
)
"""How a user says that an answer does not fit."""


def read_turns(turns: Sequence[Mapping[str, str]], language: str | None) -> list[ReadTurn]:
    """Each turn with what was said before it."""
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
        statements = [(join_answer(question, answer), answer)]
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
    """Whether an answer has a word of the question of its turn; None when that cannot be told: of a
    question that cannot be understood, and of a bare answer, which need not. Anything cleverer was
    no better (`python -m bench.conversations`)."""
    if turn.declines:
        return True
    if turn.asked is None:
        return None
    if not find_content_words(turn.asked).isdisjoint(find_content_words(turn.answer)):
        return True
    return None if is_bare_answer(turn.answer, language) else False


def _find_contradiction(
    turn: ReadTurn, earlier: Sequence[ReadTurn], language: str | None
) -> tuple[str, str, str] | None:
    """Id of the nearest earlier turn that an answer contradicts, the sentence there, and the
    reason."""
    for other in reversed(earlier):
        if not turn.statements or not other.statements or not _has_same_subject(turn, other):
            continue
        claims = [(text, "") for text, _ in turn.statements]
        sources = [text for text, _ in other.statements]
        for judged in judge_claims(claims, sources, language):
            if judged.verdict == "contradicted":
                return other.id, other.statements[judged.evidence[0][0]][1], judged.reason
    return None


def _has_same_subject(turn: ReadTurn, other: ReadTurn) -> bool:
    """Whether what one question is about is all in the other question or its answer."""
    if not turn.subject or not other.subject:
        return False
    return turn.subject <= _list_words(other) or other.subject <= _list_words(turn)


def _list_words(turn: ReadTurn) -> frozenset[str]:
    return turn.subject | find_content_words(turn.answer)
