"""The `questions` and `aspects` Asks: the chance that an answer addresses each part of its
question, right or not.

This judge writes no questions. What tells is whether the answer has the kind of thing that is asked
for, whether it is a bare answer, and whether it is near at all: among answers on one subject,
nearness alone is worse than chance. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from ragstone.errors import JudgeFailed
from ragstone.judges.offline.questions import classify_question, offers_quantity, split_question
from ragstone.judges.offline.reading import NAME, STOP, read
from ragstone.judges.offline.standalone import choose_question
from ragstone.text.answers import is_bare_answer
from ragstone.text.claims import asks
from ragstone.text.encoder import encode
from ragstone.text.refusals import is_refusal
from ragstone.text.sentences import split_sentences

WEIGHTS: Mapping[str, float] = {
    "bias": -2.31,
    "near": 3.64,
    "brief": 2.13,
    "fit": 0.38,
    "misfit": -2.49,
}
"""Fitted on questions with answers to another question, aspect or entity, and on XQuAD, with the
prior of `features` on top: most answers of real systems address their question."""
NEAR_COSINE = 0.25
"""Cosine of question and answer from which they are near; more says no more."""
MAX_BARE_WORDS = 3
"""Words up to which an answer is no sentence, whatever its words look like."""


def answer_questions(values: Mapping[str, Any], language: str | None) -> Any:
    """The chance that each part of the question is addressed; a refusal or a question back is
    evasive."""
    answer, question = values["answer"], values.get("question")
    sentences = [answer[a:b] for a, b in split_sentences(answer, language)]
    if is_refusal(answer, language) or all(map(asks, sentences)):
        return {"evasive": True, "addresses": []}
    if question is None:  # whether the answer is evasive was all that the Ask wanted to know
        return {"evasive": False, "addresses": []}
    said = [(row["role"], row["content"]) for row in values.get("history", ())]
    if said:
        question = choose_question(question, said, answer, language)
        if question is None:
            raise JudgeFailed(
                "unsupported", "question_needs_history", question=values["question"][:80]
            )
    rows = [
        {
            "part": part.strip("¿? "),
            "probability": round(_compute_part(part, answer, language), 4),
        }
        for part in split_question(question)
    ]
    return {"evasive": False, "addresses": rows}


def answer_aspects(values: Mapping[str, Any], language: str | None) -> Any:
    """The parts of the question; one that is addressed is quoted by the sentence nearest to it."""
    answer, parts = values["answer"], split_question(values["question"])
    sentences = [answer[a:b] for a, b in split_sentences(answer, language)]
    sentences = [sentence for sentence in sentences if not asks(sentence)]
    if not sentences or is_refusal(answer, language):
        return {"aspects": [{"aspect": part, "covered": False, "quote": ""} for part in parts]}
    vectors = encode([*parts, *sentences])
    nearest = (vectors[: len(parts)] @ vectors[len(parts) :].T).argmax(axis=1).tolist()
    rows = []
    for part, best in zip(parts, nearest, strict=True):
        covered = _compute_part(part, answer, language) >= 0.5
        quote = sentences[best] if covered else ""
        rows.append({"aspect": part.strip("¿? "), "covered": covered, "quote": quote})
    return {"aspects": rows}


def compute_chance(question: str, answer: str, language: str | None) -> float:
    """The chance that the answer addresses the part of the question that it addresses best."""
    return max(_compute_part(part, answer, language) for part in split_question(question))


def _compute_part(part: str, answer: str, language: str | None) -> float:
    features = measure_pair(part, answer, language)
    logit = WEIGHTS["bias"] + sum(WEIGHTS[name] * value for name, value in features.items())
    return 1 / (1 + math.exp(-logit))


def measure_pair(part: str, answer: str, language: str | None) -> dict[str, float]:
    """What the model weighs, by the names of WEIGHTS."""
    vectors = encode([part, answer])
    near = min(max(float(vectors[0] @ vectors[1]), 0.0), NEAR_COSINE) / NEAR_COSINE
    given = read(answer, language)
    brief = is_bare_answer(answer, language) or len(given.words) <= MAX_BARE_WORDS
    fit = _compare_kinds(part, answer, language)
    return {
        "near": near,
        "brief": float(brief),
        "fit": float(fit > 0),
        "misfit": float(fit < 0),
    }


def _compare_kinds(part: str, answer: str, language: str | None) -> int:
    """1 where the answer has the kind of thing that is asked for, -1 where it has not, 0 where
    nothing tells."""
    kind, given = classify_question(part), read(answer, language)
    if kind.quantities:
        return 1 if offers_quantity(answer, kind.quantities, given.language) else -1
    if kind.name:
        known = {word.key for word in read(part, language).words}
        first = given.words[0] if given.words else None
        is_named = any(word.kind == NAME and word.key not in known for word in given.words)
        starts_named = first and first.written[0].isupper() and first.kind != STOP
        return 1 if is_named or (starts_named and first and first.key not in known) else -1
    return int(bool(kind.polar and _YES_NO.match(answer)))


_YES_NO = re.compile(r"\W*(?:yes|no|sí|sorry,? no|of course|sure|claro)\b", re.IGNORECASE)
