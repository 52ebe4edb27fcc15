"""Grounding metrics: whether the retrieved chunks support the claims of an answer."""

from __future__ import annotations

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
from ragstone.registry import metric
from ragstone.types import Chunk, Dialogue, Finding, Ranked, Score, Steps, share


@metric
def faithfulness(
    answer: str,
    contexts: Ranked,
    language: str | None = None,
    question: str | None = None,
    messages: Dialogue | None = None,
    steps: Steps | None = None,
) -> Asking[Score]:
    """Supported claims of the answer ÷ its claims.

    Support needs a quote that stands in a retrieved chunk; with nothing retrieved no claim has any. An answer that only
    names something is read with its question."""
    findings, probability = yield from check_answer(
        answer, list_sources(contexts, steps), language, question, messages
    )
    return share(findings, "supported", probability=probability)


@metric(higher_is_better=False)
def hallucination_rate(
    answer: str,
    contexts: Ranked,
    language: str | None = None,
    question: str | None = None,
    messages: Dialogue | None = None,
    steps: Steps | None = None,
) -> Asking[Score]:
    """Claims of the answer that the contexts contradict or do not hold ÷ its claims."""
    findings, probability = yield from check_answer(
        answer, list_sources(contexts, steps), language, question, messages
    )
    return share(findings, "contradicted", "not_found", probability=probability)


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

    A claim is wrong when the reference does not support it; `noise` is a wrong claim that a chunk supports."""
    if not reference.strip():
        raise NotApplicable("empty_field", field="reference")
    sources = list_sources(contexts, steps)
    claims = yield from split_claims(answer, "answer", language, question, messages)
    references = [Chunk("reference", reference)]
    reference_checks, context_checks = yield from run_together(
        check_every_claim(claims, references, language),
        check_every_claim(claims, sources, language),
    )
    repeats = find_repeats(reference_checks, references) | find_repeats(context_checks, sources)
    findings = [
        _classify_noise(by_reference, context_checks[index], sources)
        for index, by_reference in enumerate(reference_checks)
        if index not in repeats
    ]
    return share(findings, "noise")


def check_answer(
    answer: str,
    sources: list[Chunk],
    language: str | None,
    question: str | None = None,
    messages: Dialogue | None = None,
) -> Asking[tuple[list[Finding], float | None]]:
    """Check each claim of the answer against the sources; also the chance that all of them are supported."""
    claims = yield from split_claims(answer, "answer", language, question, messages)
    checked = yield from check_claims(claims, sources, language)
    return [claim.to_finding(sources) for claim in checked], checked.probability


def _classify_noise(
    by_reference: CheckedClaim, by_contexts: CheckedClaim, sources: list[Chunk]
) -> Finding:
    if by_reference.verdict == "supported":
        return by_reference.to_finding([Chunk("reference")], "right")
    if by_contexts.verdict == "supported":
        return by_contexts.to_finding(sources, "noise")
    return by_contexts.to_finding(sources, "wrong")
