"""Whether an answer meets its question and its reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.asks import Asking, ask, aspects, embed, questions
from ragstone.errors import JudgeFailed, NotApplicable
from ragstone.locale.messages import compose
from ragstone.metrics.claims import (
    CheckedClaim,
    check_claims,
    compute_cosines,
    read_rows,
    require_quotes,
    run_together,
    split_claims,
)
from ragstone.registry import metric
from ragstone.text.evidence import find_quote
from ragstone.types import Chunk, Finding, Score, share


def _check_count(options: Mapping[str, Any]) -> str | None:
    return None if options["count"] >= 1 else "count is the number of questions, from 1"


def _check_weight(options: Mapping[str, Any]) -> str | None:
    return None if 0 <= options["similarity_weight"] <= 1 else "similarity_weight lies in 0..1"


@metric(check=_check_count)
def answer_relevance(
    question: str, answer: str, language: str | None = None, *, count: int = 3
) -> Asking[Score]:
    """Mean cosine between the question and 3 questions generated from the answer; 0 if the answer is evasive.

    An empty answer is evasive."""
    if not question.strip():
        raise NotApplicable("empty_field", field="question")
    if not answer.strip():
        return Score(
            0.0, findings=(Finding(answer, "evasive", compose("empty_field", field="answer")),)
        )
    reply = yield from ask(questions(answer, count=count, language=language))
    evasive, asked = _read_questions(reply, count)
    if evasive:
        return Score(0.0, findings=(Finding(answer, "evasive", compose("answer_evasive")),))
    alike = compute_cosines((yield from ask(embed(question, *asked))), 1 + count)
    findings = tuple(
        Finding(text, "generated", compose("cosine_with_question", cosine=round(cosine, 3)))
        for text, cosine in zip(asked, alike, strict=True)
    )
    return Score(sum(alike) / count, findings=findings)


@metric
def answer_similarity(answer: str, reference: str) -> Asking[Score]:
    """Cosine of the embeddings of answer and reference, clipped to 0..1; an empty answer has 0."""
    if not reference.strip():
        raise NotApplicable("empty_field", field="reference")
    if not answer.strip():
        return Score(0.0)
    return Score(compute_cosines((yield from ask(embed(answer, reference))), 2)[0])


@metric
def completeness(
    question: str, answer: str, reference: str | None = None, language: str | None = None
) -> Asking[Score]:
    """Aspects of the question (with a reference: claims of the reference) that the answer covers ÷ all.

    Covered needs a quote that stands in the answer; the missing ones are listed."""
    if reference and reference.strip():
        claims = yield from split_claims(reference, "reference", language)
        checked = yield from check_claims(claims, _to_sources("answer", answer), language)
        return share([_to_coverage(one) for one in checked], "covered")
    if not question.strip():
        raise NotApplicable("empty_field", field="question")
    reply = yield from ask(aspects(question, answer, language=language))
    return share(_read_aspects(reply, answer), "covered")


@metric(check=_check_weight)
def answer_correctness(
    answer: str, reference: str, language: str | None = None, *, similarity_weight: float = 0.0
) -> Asking[Score]:
    """F1 of the claims of answer and reference; `similarity_weight` mixes in answer_similarity.

    TP = claims of the answer that the reference supports, FP = the others (`error` when contradicted, else
    `addition`), FN = claims of the reference that the answer does not support (`omission`); F1 = 2 TP ÷ (2 TP + FP + FN)."""
    f1, *alike = yield from run_together(
        _match_claims(answer, reference, language),
        *([answer_similarity(answer, reference)] if similarity_weight else []),
    )
    if not alike or alike[0].value is None or f1.value is None:
        return f1
    mixed = (1 - similarity_weight) * f1.value + similarity_weight * alike[0].value
    return Score(min(mixed, 1.0), findings=f1.findings)


def _match_claims(answer: str, reference: str, language: str | None) -> Asking[Score]:
    sources, wanted = _to_sources("answer", answer), _to_sources("reference", reference)
    if not sources:  # an empty answer says nothing wrong and leaves everything out
        claims = yield from split_claims(reference, "reference", language)
        omitted = yield from check_claims(claims, sources, language)
        return Score(0.0, findings=tuple(one.to_finding(sources, "omission") for one in omitted))
    said, meant = yield from run_together(
        split_claims(answer, "answer", language), split_claims(reference, "reference", language)
    )
    right, covered = yield from run_together(
        check_claims(said, wanted, language), check_claims(meant, sources, language)
    )
    words = {"supported": "correct", "contradicted": "error", "not_found": "addition"}
    findings = [one.to_finding(wanted, words[one.verdict]) for one in right]
    findings += [
        one.to_finding(sources, "omission") for one in covered if one.verdict != "supported"
    ]
    hits = sum(one.verdict == "supported" for one in right)
    return Score(2 * hits / (hits + len(findings)), findings=tuple(findings))


def _to_sources(name: str, text: str) -> list[Chunk]:
    """A text of the sample as what claims are checked against; an empty one is none."""
    return [Chunk(name, text)] if text.strip() else []


def _to_coverage(one: CheckedClaim) -> Finding:
    return one.to_finding([Chunk("answer")], "covered" if one.verdict == "supported" else "missing")


def _read_questions(reply: Any, count: int) -> tuple[bool, list[str]]:
    evasive = reply.get("evasive") if isinstance(reply, Mapping) else None
    asked = reply.get("questions") if isinstance(reply, Mapping) else None
    if not isinstance(evasive, bool) or not isinstance(asked, list):
        raise JudgeFailed("unparseable", "reply_without_questions")
    if evasive:
        return True, []
    if len(asked) != count or not all(isinstance(one, str) and one.strip() for one in asked):
        raise JudgeFailed("incomplete", "questions_miscounted", wanted=count, given=len(asked))
    return False, asked


def _read_aspects(reply: Any, answer: str) -> list[Finding]:
    findings = []
    rows = read_rows(reply, "aspects", aspect=str, covered=bool, quote=str)
    for row in rows:
        if not row["aspect"].strip():
            raise JudgeFailed("unparseable", "aspect_empty")
        if not row["covered"]:
            findings.append(Finding(row["aspect"], "missing"))
            continue
        at = find_quote(row["quote"], answer)
        findings.append(
            Finding(
                text=row["aspect"],
                verdict="covered" if at else "missing",
                reason="" if at else compose("covered_without_quote"),
                chunk="answer",
                quote=row["quote"],
                start=at[0] if at else None,
                end=at[1] if at else None,
                verified=at is not None,
            )
        )
    if not findings:
        raise JudgeFailed("incomplete", "no_aspects")
    said = [one for one in findings if one.verified is not None]
    require_quotes(sum(one.verified is True for one in said), len(said))
    return findings
