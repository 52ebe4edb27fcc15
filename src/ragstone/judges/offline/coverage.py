"""The `aspects` Ask: the parts of a question, and which of them the answer addresses. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.judges.offline.inquiry import compute_chance
from ragstone.judges.offline.question_kinds import split_question
from ragstone.judges.offline.statements import asks
from ragstone.text.encoder import encode
from ragstone.text.refusals import is_refusal
from ragstone.text.sentences import split_sentences

MIN_CHANCE = 0.5
"""Chance that the answer addresses an aspect, from which it counts as covered."""


def answer_aspects(values: Mapping[str, Any], language: str | None) -> Any:
    """Reply with the parts of the question; an aspect that is covered is quoted by the sentence nearest to it."""
    answer, parts = values["answer"], split_question(values["question"])
    sentences = [answer[a:b] for a, b in split_sentences(answer, language)]
    sentences = [sentence for sentence in sentences if not asks(sentence)]
    if not sentences or is_refusal(answer, language):
        return {"aspects": [{"aspect": part, "covered": False, "quote": ""} for part in parts]}
    vectors = encode([*parts, *sentences])
    nearest = (vectors[: len(parts)] @ vectors[len(parts) :].T).argmax(axis=1).tolist()
    rows = []
    for part, best in zip(parts, nearest, strict=True):
        covered = compute_chance(part, answer, language) >= MIN_CHANCE
        quote = sentences[best] if covered else ""
        rows.append({"aspect": part.strip("¿? "), "covered": covered, "quote": quote})
    return {"aspects": rows}
