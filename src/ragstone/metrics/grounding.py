"""Grounding metrics: whether the retrieved chunks support the claims of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragstone.asks import Asking
from ragstone.errors import NotApplicable
from ragstone.metrics.claims import (
    CheckedClaim,
    check_claims,
    check_every_claim,
    find_repeats,
    list_sources,
    run_together,
    split_claims,
)
from ragstone.metrics.refusal import find_refusal, reject_refusal
from ragstone.registry import metric
from ragstone.types import Chunk, Dialogue, Finding, Ranked, Score, Steps, expected_share

CLAIM_LABELS = ("all_supported", "some_unclear", "some_unsupported")
"""Labels of an answer: one invention among ten claims must not hide in a mean of 0.9."""


@metric(labels=CLAIM_LABELS)
def faithfulness(
    answer: str,
    contexts: Ranked,
    language: str | None = None,
    question: str | None = None,
    messages: Dialogue | None = None,
    steps: Steps | None = None,
) -> Asking[Score]:
    """Supported claims of the answer ÷ its claims, each claim counted with its probability.

    Beside the mean stands the share of answers with at least one claim that is not supported. Support needs a quote that stands in a retrieved chunk; with nothing retrieved no claim has any. An answer that only
    names something is read with its question."""
    findings = yield from check_answer(
        answer, list_sources(contexts, steps), language, question, messages
    )
    return replace(expected_share(findings, "supported"), label=_label_claims(findings))


def _label_claims(findings: Sequence[Finding]) -> str:
    shown = {finding.shown_verdict for finding in findings}
    if shown - {"supported", "unclear"}:
        return "some_unsupported"
    return "some_unclear" if "unclear" in shown else "all_supported"


@metric(higher_is_better=False)
def hallucination_rate(
    answer: str,
    contexts: Ranked,
    language: str | None = None,
    question: str | None = None,
    messages: Dialogue | None = None,
    steps: Steps | None = None,
) -> Asking[Score]:
    """Claims of the answer that the contexts contradict or do not hold ÷ its claims: 1 − faithfulness.

    What is missing from a claim's probability counts as contradicted or as not found, as its verdict says."""
    findings = yield from check_answer(
        answer, list_sources(contexts, steps), language, question, messages
    )
    score = expected_share(findings, "supported")
    assert score.value is not None  # `expected_share` always gives a value
    return replace(score, value=1 - score.value)


@metric(higher_is_better=False)
def noise_sensitivity(
    answer: str,
    contexts: Ranked,
    reference: str,
    language: str | None = None,
    question: str | None = None,
    messages: Dialogue | None = None,
    steps: Steps | None = None,
) -> Asking[Score]:
    """Wrong claims of the answer that follow from a retrieved chunk ÷ its claims.

    A claim is wrong when the reference does not support it; `noise` is a wrong claim that a chunk supports. With
    probabilities a claim counts (1 − chance that the reference supports it) × (chance that a chunk does)."""
    if not reference.strip():
        raise NotApplicable("empty_field", field="reference")
    reject_refusal(find_refusal(answer, question, None, None, language))
    sources = list_sources(contexts, steps)
    claims = yield from split_claims(answer, "answer", language, question, messages)
    references = [Chunk("reference", reference)]
    reference_checks, context_checks = yield from run_together(
        check_every_claim(claims, references, language),
        check_every_claim(claims, sources, language),
    )
    repeats = find_repeats(reference_checks, references) | find_repeats(context_checks, sources)
    pairs = [
        pair
        for index, pair in enumerate(zip(reference_checks, context_checks, strict=True))
        if index not in repeats
    ]
    noise = [(1 - by_reference.chance) * by_context.chance for by_reference, by_context in pairs]
    findings = tuple(_classify_noise(*pair, sources) for pair in pairs)
    return Score(sum(noise) / len(noise), findings=findings)


def check_answer(
    answer: str,
    sources: list[Chunk],
    language: str | None,
    question: str | None = None,
    messages: Dialogue | None = None,
) -> Asking[list[Finding]]:
    """Check each claim of the answer against the sources; one that declines makes none."""
    reject_refusal(find_refusal(answer, question, None, None, language))
    claims = yield from split_claims(answer, "answer", language, question, messages)
    checked = yield from check_claims(claims, sources, language)
    return [claim.to_finding(sources) for claim in checked]


def _classify_noise(
    by_reference: CheckedClaim, by_contexts: CheckedClaim, sources: list[Chunk]
) -> Finding:
    if by_reference.verdict == "supported":
        return by_reference.to_finding([Chunk("reference")], "right")
    if by_contexts.verdict == "supported":
        return by_contexts.to_finding(sources, "noise")
    return by_contexts.to_finding(sources, "wrong")
