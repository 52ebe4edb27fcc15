"""What an answer that declines counts: right where the question has no answer, wrong where it has one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

from ragstone.errors import NotApplicable
from ragstone.locale.messages import compose
from ragstone.types import Score

Refusal = Literal["right", "wrong"]
REFUSAL_LABELS = ("correct_refusal", "missed_refusal", "false_refusal", "answered")
"""Labels of a sample: whether the system refused × whether the question has no answer."""


def find_refusal(
    answer: str,
    question: str | None,
    reference: str | None,
    meta: Mapping[str, Any] | None,
    language: str | None,
) -> Refusal | None:
    """Return whether the answer declines, and rightly or wrongly so; None for one that does not.

    Without a reference nothing says that the question has no answer, so declining is wrong unless `meta` says it."""
    from ragstone.text.refusals import declines_question  # a slow import

    if not answer.strip() or not declines_question(answer, question, language):
        return None
    return "right" if has_no_answer(reference, meta, language) else "wrong"


def has_no_answer(
    reference: str | None, meta: Mapping[str, Any] | None, language: str | None
) -> bool:
    """Return whether the question is unanswerable: by its metadata, or because its reference declines."""
    meta = meta or {}
    if meta.get("type") in ("impossible", "unanswerable") or meta.get("answerable") is False:
        return True
    return bool(reference and reference.strip()) and _declines(reference or "", language)


@lru_cache(maxsize=256)
def _declines(reference: str, language: str | None) -> bool:
    from ragstone.text.refusals import is_refusal  # a slow import

    return is_refusal(reference, language)


REFUSED_WRONGLY = Score(0.0, reason=compose("refused"), label="false_refusal")
"""The score of an answer that declines a question that has an answer."""
REFUSED_RIGHTLY = Score(1.0, reason=compose("refused_rightly"), label="correct_refusal")


def label_answer(
    score: Score, reference: str | None, meta: Mapping[str, Any] | None, language: str | None
) -> Score:
    """Return the score of an answer that does not decline, with its label."""
    is_missed = has_no_answer(reference, meta, language)
    return replace(score, label="missed_refusal" if is_missed else "answered")


def score_refusal(refusal: Refusal | None) -> Score | None:
    """Return the score of a refusal for a metric of what was asked: 0, or not applicable where it is right."""
    if refusal == "right":
        raise NotApplicable("refused_rightly", label="correct_refusal")
    return REFUSED_WRONGLY if refusal == "wrong" else None


def reject_refusal(refusal: Refusal | None) -> None:
    """Raise NotApplicable for a refusal: it claims nothing that could be checked."""
    if refusal is not None:
        raise NotApplicable("answer_declines")
