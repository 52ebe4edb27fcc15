"""The `questions` Ask: the chance that an answer addresses each part of its question, whether or not it is right.

This judge writes no questions. It compares question and answer by their vectors, by the words of the question that the
answer takes up, and, for an answer of few words, by the kind of thing that the question asks for: a bare year addresses
a question that asks when. A logistic model weighs them; bench/judge/relevance.py fits and measures it. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ragstone.errors import JudgeFailed
from ragstone.judges.offline.alignment import align
from ragstone.judges.offline.question_kinds import (
    QuestionKind,
    classify_question,
    offers_quantity,
    split_question,
)
from ragstone.judges.offline.reading import STOP, Reading, read
from ragstone.judges.offline.standalone import choose_question
from ragstone.judges.offline.statements import asks
from ragstone.text.clause_words import to_word_set
from ragstone.text.clauses import has_clause
from ragstone.text.encoder import encode
from ragstone.text.introductions import find_statement
from ragstone.text.quantities import Quantity, find_quantities
from ragstone.text.refusals import is_refusal
from ragstone.text.sentences import split_sentences
from ragstone.text.verbs import WORD, find_verb_form

WEIGHTS: Mapping[str, float] = {
    "bias": -3.47, "cosine": 11.68, "cover": 4.39, "brief": 1.66, "brief_cosine": 4.05, "fit": 6.16, "misfit": -4.64,
}  # fmt: skip
"""Fitted by bench/judge/relevance.py on corpora of this project and RAGTruth; `measure_pair` gives the figures under the same names."""
MAX_BARE_WORDS = 3
"""Words up to which an answer is no sentence, whatever its words look like."""
MAX_BRIEF_WORDS = 12
MAX_NAME_WORDS = 6
"""Words up to which capitals make an answer a name."""
MAX_OTHER_WORDS = 2
"""Content words beside a quantity, neither of it nor of the question, with which an answer is still the bare quantity."""
QUANTITY_SHARE = 0.6
"""Share of an answer's letters from which it is nothing but a quantity."""


def answer_questions(values: Mapping[str, Any], language: str | None) -> Any:
    """Reply with the chance that each part of the question is addressed; a refusal or a question back is evasive."""
    answer, question = values["answer"], values.get("question")
    said = [(row["role"], row["content"]) for row in values.get("history", ())]
    sentences = [answer[a:b] for a, b in split_sentences(answer, language)]
    if is_refusal(answer, language) or all(asks(sentence) for sentence in sentences):
        return {"evasive": True, "addresses": []}
    if question is None:  # whether the answer is evasive was all that the Ask wanted to know
        return {"evasive": False, "addresses": []}
    if said:
        question = choose_question(question, said, answer, language)
        if question is None:
            raise JudgeFailed(
                "unsupported", "question_needs_history", question=values["question"][:80]
            )
    rows = [
        {
            "part": part.strip("¿? "),
            "probability": round(compute_chance(part, answer, language), 4),
        }
        for part in split_question(question)
    ]
    return {"evasive": False, "addresses": rows}


def compute_chance(part: str, answer: str, language: str | None) -> float:
    """Compute the chance that the answer addresses one part of a question."""
    figures = measure_pair(part, answer, language)
    logit = WEIGHTS["bias"] + sum(WEIGHTS[name] * value for name, value in figures.items())
    return 1 / (1 + math.exp(-logit))


def measure_pair(part: str, answer: str, language: str | None) -> dict[str, float]:
    """Measure what the model weighs, by the names of WEIGHTS."""
    answer = _strip_introductions(answer, language)
    asked, given = read(part, language), read(answer, language)
    vectors = encode([part, answer])
    cosine = float(vectors[0] @ vectors[1])
    brief = _is_brief(given)
    fit = _compare_kinds(classify_question(part), asked, given, brief)
    return {
        "cosine": cosine,
        "cover": _cover(asked, given),
        "brief": float(brief),
        "brief_cosine": brief * cosine,
        "fit": max(fit, 0.0),
        "misfit": max(-fit, 0.0),
    }


def _is_brief(given: Reading) -> bool:
    """Whether the answer only names something, so that it need not take up words of the question."""
    words = len(given.ids)
    return words <= MAX_BARE_WORDS or (
        words <= MAX_BRIEF_WORDS and not has_clause(given.raw, given.language)
    )


def _cover(asked: Reading, given: Reading) -> float:
    """Weighted share of the question's content words that the answer takes up."""
    laid = align([asked], [given])
    weights = np.where(laid.claims.kinds == STOP, 0.0, laid.claims.weights)
    if not len(laid.units) or not weights.sum():
        return 0.0
    return float((laid.most * weights).sum() / weights.sum())


def _compare_kinds(kind: QuestionKind, asked: Reading, given: Reading, brief: bool) -> float:
    """1 for a bare answer of the kind that is asked for, -1 for an answer without that kind, 0 when nothing tells.

    A short sentence whose subject is that of the question (it costs 8 euros) is as bare. What seldom but sometimes answers counts half: a mere figure for a thing (the fine, 60 euros), no name for a person
    (the king), as far as the question shows that capitals mark names."""
    text = given.raw.strip()
    if kind.quantities:
        return _compare_amounts(kind, asked, given, brief)
    if kind.polar and _YES_NO.match(text):
        return 1
    names_place = kind.place and _PLACE.search(text) is not None
    if kind.place and not names_place and not _CAPITAL.search(text, 1):
        return 0 if brief else -1
    if not brief:
        is_named = names_place or (kind.name and _is_name(given))
        return float(is_named and _takes_up_subject(given))
    return _compare_bare(kind, asked, given)


def _compare_amounts(kind: QuestionKind, asked: Reading, given: Reading, brief: bool) -> float:
    """The same where the question asks for a quantity."""
    text = given.raw.strip()
    if not offers_quantity(text, kind.quantities, given.language):
        return -1
    if _REPLY.match(text):
        return 1  # nothing, admission is free
    if not brief and not _takes_up_subject(given):
        return 0
    quantities = find_quantities(text, given.language)
    return float(_count_others(asked, given, quantities) <= MAX_OTHER_WORDS)


def _compare_bare(kind: QuestionKind, asked: Reading, given: Reading) -> float:
    """The same for an answer that only names something."""
    text = given.raw.strip()
    quantities = find_quantities(text, given.language)
    if sum(quantity.end - quantity.start for quantity in quantities) >= QUANTITY_SHARE * len(text):
        return -0.5 if kind.thing else -1
    if kind.name and len(given.ids) <= MAX_NAME_WORDS:
        if _is_name(given):
            return 1.0
        return -0.5 if _CAPITAL.search(asked.raw, 1) else 0.0
    # which painter – Sorolla; what is in the box – a camera, a strap and a cable
    is_list = kind.thing and len(_ITEMS.findall(text)) > 1
    return 0.5 * (is_list or (kind.sort and _is_name(given)))


def _takes_up_subject(given: Reading) -> bool:
    """Whether the answer is a short sentence about what the question is about: it costs 8 euros, se publicó en 1958."""
    words = [word.lower() for word in WORD.findall(given.raw)]
    if not words or len(given.ids) > MAX_BRIEF_WORDS or len(given.sentences) > 1:
        return False
    if given.language != "es":
        return words[0] in _PRONOUNS
    verb = words[1] if words[0] in _CLITICS and len(words) > 1 else words[0]
    return find_verb_form(verb, "es") == "finite"


def _strip_introductions(answer: str, language: str | None) -> str:
    """The answer without what it says of itself: I think; I'm not sure, but."""
    sentences = [answer[a:b] for a, b in split_sentences(answer, language)]
    if len(sentences) != 1 or _REPLY.match(answer):
        return answer
    start, end = find_statement(sentences[0])
    return sentences[0][start:end]


def _count_others(asked: Reading, given: Reading, quantities: list[Quantity]) -> int:
    """Count the content words of an answer that are neither of its quantities nor of the question."""
    known = set(asked.ids.tolist())
    tokens = zip(given.ids.tolist(), given.kinds.tolist(), given.places, strict=True)
    return sum(
        kind != STOP and word not in known and not _is_inside(span, quantities)
        for word, kind, span in tokens
    )


def _is_name(given: Reading) -> bool:
    """Whether half of the content words or more have a capital."""
    words = [given.surface(n) for n, kind in enumerate(given.kinds.tolist()) if kind != STOP]
    return 2 * sum(word[:1].isupper() for word in words) >= max(len(words), 1)


def _is_inside(span: tuple[int, int], quantities: list[Quantity]) -> bool:
    return any(quantity.start <= span[0] < quantity.end for quantity in quantities)


_CAPITAL = re.compile(r"\b[A-ZÁÉÍÓÚÑ]")
_PLACE = re.compile(
    r"\b(?:in|at|on|near|behind|beside|opposite|inside|outside|under|above|between|along|next to|from|to|here|there|everywhere|"
    r"en|junto|cerca|detrás|frente|sobre|bajo|dentro|fuera|entre|al|desde|hacia|hasta|aquí|allí)\b",
    re.IGNORECASE,
)
_ITEMS = re.compile(r"(?:^|\n)\s*[-*•]\s|,|\s(?:and|y|e)\s")
_PRONOUNS = to_word_set("it its it's he she they there this that these those")
_CLITICS = to_word_set("se lo la los las le les")
_REPLY = re.compile(r"\W*(?:yes|no|sí|nothing|nada)\s*(?:[,.;:!]|$)", re.IGNORECASE)
_YES_NO = re.compile(r"\W*(?:yes|no|sí)\b", re.IGNORECASE)
