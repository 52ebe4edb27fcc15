"""Answer metrics: whether an answer meets its question and its reference, by a judge."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from ragstone.asks import Asking, ask, aspects, embed, questions
from ragstone.errors import JudgeFailed, NotApplicable
from ragstone.locale.messages import compose
from ragstone.metrics.claims import (
    CheckedClaim,
    check_claims,
    require_quotes,
    run_together,
    split_claims,
)
from ragstone.metrics.history import list_said, read_question
from ragstone.metrics.refusal import (
    REFUSAL_LABELS,
    REFUSED_RIGHTLY,
    REFUSED_WRONGLY,
    find_refusal,
    label_answer,
    score_refusal,
)
from ragstone.metrics.replies import compute_cosines, read_probability, read_rows
from ragstone.registry import metric
from ragstone.text.evidence import find_quote
from ragstone.text.markers import blank_markers
from ragstone.types import Chunk, Dialogue, Finding, Score, expected_share


def _check_count(options: Mapping[str, Any]) -> str | None:
    return None if options["count"] >= 1 else "count is the number of questions, from 1"


def _check_weight(options: Mapping[str, Any]) -> str | None:
    return None if 0 <= options["similarity_weight"] <= 1 else "similarity_weight lies in 0..1"


@metric(check=_check_count, labels=REFUSAL_LABELS)
def answer_relevance(
    question: str,
    answer: str,
    language: str | None = None,
    messages: Dialogue | None = None,
    reference: str | None = None,
    meta: Mapping[str, Any] | None = None,
    *,
    count: int = 3,
) -> Asking[Score]:
    """Mean cosine between the question and 3 questions generated from the answer; 0 if the answer is evasive. A judge that generates none (embedded, small) gives a calibrated chance that the answer addresses the question.

    An empty answer is evasive; so is one that declines a question that has an answer."""
    if not question.strip():
        raise NotApplicable("empty_field", field="question")
    if not answer.strip():
        return Score(
            0.0, findings=(Finding(answer, "evasive", compose("empty_field", field="answer")),)
        )
    refused = score_refusal(find_refusal(answer, question, reference, meta, language))
    if refused is not None:
        return refused
    score = yield from _score_relevance(question, answer, language, messages, count)
    return label_answer(score, reference, meta, language)


def _score_relevance(
    question: str, answer: str, language: str | None, messages: Dialogue | None, count: int
) -> Asking[Score]:
    said = list_said(messages)
    reply = yield from ask(
        questions(answer, question=question, history=said, count=count, language=language)
    )
    if not isinstance(reply, Mapping) or not isinstance(reply.get("evasive"), bool):
        raise JudgeFailed("unparseable", "reply_without_questions")
    if reply["evasive"]:
        return Score(0.0, findings=(Finding(answer, "evasive", compose("answer_evasive")),))
    if "addresses" in reply:
        return _score_parts(reply)
    generated = _read_questions(reply, count)
    question = yield from read_question(question, messages, language)
    similarities = compute_cosines((yield from ask(embed(question, *generated))), 1 + count)
    findings = tuple(
        Finding(text, "generated", compose("cosine_with_question", cosine=round(cosine, 3)))
        for text, cosine in zip(generated, similarities, strict=True)
    )
    return Score(sum(similarities) / count, findings=findings)


@metric
def answer_similarity(answer: str, reference: str) -> Asking[Score]:
    """Cosine of the embeddings of answer and reference, clipped to 0..1; an empty answer has 0."""
    if not reference.strip():
        raise NotApplicable("empty_field", field="reference")
    if not answer.strip():
        return Score(0.0)
    return Score(compute_cosines((yield from ask(embed(answer, reference))), 2)[0])


@metric(labels=REFUSAL_LABELS)
def completeness(
    question: str,
    answer: str,
    reference: str | None = None,
    language: str | None = None,
    messages: Dialogue | None = None,
    meta: Mapping[str, Any] | None = None,
) -> Asking[Score]:
    """Aspects of the question (with a reference: claims of the reference) that the answer covers ÷ all.

    Covered needs a quote that stands in the answer; the missing ones are listed. An answer that declines covers nothing."""
    answer = blank_markers(answer)
    refused = score_refusal(find_refusal(answer, question, reference, meta, language))
    if refused is not None:
        return refused
    score = yield from _score_coverage(question, answer, reference, language, messages)
    return label_answer(score, reference, meta, language)


def _score_coverage(
    question: str,
    answer: str,
    reference: str | None,
    language: str | None,
    messages: Dialogue | None,
) -> Asking[Score]:
    if reference and reference.strip():
        asked = yield from _choose_question(question, answer, reference, language, messages)
        claims = yield from split_claims(reference, "reference", language)
        checked = yield from check_claims(claims, _to_sources("answer", answer), language, asked)
        return expected_share([_to_coverage(claim) for claim in checked], "covered")
    if not question.strip():
        raise NotApplicable("empty_field", field="question")
    question = yield from read_question(question, messages, language)
    reply = yield from ask(aspects(question, answer, language=language))
    return expected_share(_read_aspects(reply, answer), "covered")


@metric(check=_check_weight, labels=REFUSAL_LABELS)
def answer_correctness(
    question: str | None,
    answer: str,
    reference: str,
    language: str | None = None,
    messages: Dialogue | None = None,
    meta: Mapping[str, Any] | None = None,
    *,
    additions: Literal["list", "count"] = "list",
    similarity_weight: float = 0.0,
) -> Asking[Score]:
    """F1 of the claims of answer and reference: matched claims, factual errors and omissions; what the answer adds without contradicting the reference does not lower it.

    F1 = 2 TP ÷ (2 TP + FP + FN). TP = matched claims, counted on the side that has more of them; FP = claims of the
    answer that cannot be true together with the reference (`error`); FN = claims of the reference that the answer does not hold
    (`omission`). Other claims of the answer are listed as `addition`; `additions=count` counts them as FP (Ragas' way).
    With probabilities the three are expected counts: a claim of the reference counts p as matched and 1 − p as omitted, an
    error 1 − p. An answer that declines has 0, and 1 where the reference declines too. A reference that is a bare name or number is read as the answer to the question. `similarity_weight` mixes
    in answer_similarity (Ragas uses 0.25)."""
    refusal = find_refusal(answer, question, reference, meta, language)
    if refusal is not None:
        return REFUSED_RIGHTLY if refusal == "right" else REFUSED_WRONGLY
    asked = yield from _choose_question(question, answer, reference, language, messages)
    f1, *similarity = yield from run_together(
        _match_claims(answer, reference, language, asked, additions == "count"),
        *([answer_similarity(answer, reference)] if similarity_weight else []),
    )
    f1 = label_answer(f1, reference, meta, language)
    if not similarity or similarity[0].value is None or f1.value is None:
        return f1
    mixed = (1 - similarity_weight) * f1.value + similarity_weight * similarity[0].value
    return replace(f1, value=min(mixed, 1.0), probability=None)


def _choose_question(
    question: str | None,
    answer: str,
    reference: str,
    language: str | None,
    messages: Dialogue | None,
) -> Asking[str | None]:
    """Return the question where answer or reference only name something; whole sentences need none."""
    if not question or not question.strip():
        return None
    from ragstone.text.answers import is_bare_answer  # a slow import

    is_bare = is_bare_answer(answer, language) or is_bare_answer(reference, language)
    return (yield from read_question(question, messages, language)) if is_bare else None


def _match_claims(
    answer: str, reference: str, language: str | None, question: str | None, counts_additions: bool
) -> Asking[Score]:
    answer_sources, reference_sources = (
        _to_sources("answer", blank_markers(answer)),
        _to_sources("reference", reference),
    )
    if not answer_sources:  # an empty answer is not wrong, it omits every claim
        claims = yield from split_claims(reference, "reference", language)
        omitted = yield from check_claims(claims, answer_sources, language)
        return Score(
            0.0, findings=tuple(claim.to_finding(answer_sources, "omission") for claim in omitted)
        )
    answer_claims, reference_claims = yield from run_together(
        split_claims(answer, "answer", language), split_claims(reference, "reference", language)
    )
    checked_answer, checked_reference = yield from run_together(
        check_claims(answer_claims, reference_sources, language, question),
        check_claims(reference_claims, answer_sources, language, question),
    )
    matched = _find_matched_sentences(checked_answer, checked_reference)
    verdicts = [_classify_claim(claim, matched, counts_additions) for claim in checked_answer]
    findings = [
        claim.to_finding(reference_sources, verdict)
        for claim, verdict in zip(checked_answer, verdicts, strict=True)
    ]
    findings += [
        claim.to_finding(answer_sources, "omission")
        for claim in checked_reference
        if claim.verdict != "supported"
    ]
    wrong_verdicts = ("error", "addition") if counts_additions else ("error",)
    wrong = hits = 0.0
    for claim, verdict in zip(checked_answer, verdicts, strict=True):
        if verdict in wrong_verdicts:
            wrong += 1 - claim.chance
        elif verdict == "correct":
            hits += max(claim.chance, matched.get(claim.claim.span, 0.0))
    held = sum(claim.chance for claim in checked_reference)
    if not counts_additions:
        hits = max(hits, held)
    missed = len(checked_reference) - held
    return Score(2 * hits / ((2 * hits + wrong + missed) or 1), findings=tuple(findings))


def _classify_claim(
    claim: CheckedClaim, matched: Collection[tuple[int, int]], counts_additions: bool
) -> str:
    """Name what a claim of the answer is to the reference; `matched` are the sentences that hold a claim of it."""
    if claim.verdict == "contradicted":
        return "error"
    # a sentence that says more than the reference is not supported by it, and yet no mere addition
    if claim.verdict == "supported" or (claim.claim.span in matched and not counts_additions):
        return "correct"
    return "addition"


def _find_matched_sentences(
    answer: Sequence[CheckedClaim], reference: Sequence[CheckedClaim]
) -> dict[tuple[int, int], float]:
    """Find the sentences of the answer that hold a claim of the reference and have no supported claim themselves, each
    with the chance that it does."""
    supported = {claim.claim.span for claim in answer if claim.verdict == "supported"}
    quotes = [
        (quote.span, claim.chance)
        for claim in reference
        if claim.verdict == "supported"
        for quote in claim.evidence
        if quote.span
    ]
    return {
        (start, end): max(chances)
        for start, end in {claim.claim.span for claim in answer} - supported
        if (chances := [p for span, p in quotes if start < span[1] and span[0] < end])
    }


def _to_sources(name: str, text: str) -> list[Chunk]:
    """Wrap a text of the sample as a list of sources; an empty text is no source."""
    return [Chunk(name, text)] if text.strip() else []


def _to_coverage(claim: CheckedClaim) -> Finding:
    return claim.to_finding(
        [Chunk("answer")], "covered" if claim.verdict == "supported" else "missing"
    )


def _score_parts(reply: Mapping[str, Any]) -> Score:
    """Score the mean chance that the parts of the question are addressed."""
    rows = read_rows(reply, "addresses", part=str, probability=float)
    if not rows:
        raise JudgeFailed("incomplete", "no_aspects")
    findings = []
    for row in rows:
        chance = read_probability(row["probability"]) or 0.0
        findings.append(
            Finding(
                row["part"],
                "covered" if chance >= 0.5 else "missing",
                compose("addresses_part", chance=round(chance, 2)),
                probability=chance,
            )
        )
    mean = sum(finding.probability or 0.0 for finding in findings) / len(findings)
    return Score(mean, findings=tuple(findings))


def _read_questions(reply: Mapping[str, Any], count: int) -> list[str]:
    texts = reply.get("questions")
    if not isinstance(texts, list):
        raise JudgeFailed("unparseable", "reply_without_questions")
    if len(texts) != count or not all(isinstance(text, str) and text.strip() for text in texts):
        raise JudgeFailed("incomplete", "questions_miscounted", wanted=count, given=len(texts))
    return texts


def _read_aspects(reply: Any, answer: str) -> list[Finding]:
    findings = []
    rows = read_rows(reply, "aspects", aspect=str, covered=bool, quote=str)
    for row in rows:
        if not row["aspect"].strip():
            raise JudgeFailed("unparseable", "aspect_empty")
        if not row["covered"]:
            chance = read_probability(row.get("probability"))
            findings.append(Finding(row["aspect"], "missing", probability=chance))
            continue
        span = find_quote(row["quote"], answer)
        findings.append(
            Finding(
                text=row["aspect"],
                verdict="covered" if span else "missing",
                reason="" if span else compose("covered_without_quote"),
                chunk="answer",
                quote=row["quote"],
                start=span[0] if span else None,
                end=span[1] if span else None,
                verified=span is not None,
                probability=read_probability(row.get("probability")) if span else None,
            )
        )
    if not findings:
        raise JudgeFailed("incomplete", "no_aspects")
    quoted = [finding for finding in findings if finding.verified is not None]
    require_quotes(sum(finding.verified is True for finding in quoted), len(quoted))
    return findings
