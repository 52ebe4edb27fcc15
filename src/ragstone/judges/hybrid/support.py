"""The `support` Ask on the hybrid route: the embedded judge aligns and quotes, a model decides claim by claim.

A generator that yields ClaimQuestions and is sent the model's opinions, so that language models and classifiers of
pairs of texts serve alike. What the embedded judge's rules see for certain is not asked, nor what the sources do not
speak of, nor a denied claim with a number that no source has. Where a model lifts claims (calls supported what the
embedded judge denies), it is put to the test: it must deny an invented claim about the same passages, or it is
`compromised`; and it must deny the lifted claim by an invented passage, or its opinion on that claim does not count. Versioned by ROUTE_VERSION in judges/hybrid."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, NamedTuple

from ragstone.asks import Ask
from ragstone.errors import JudgeFailed
from ragstone.judges.choices import PairLabel
from ragstone.judges.hybrid.odds import combine
from ragstone.judges.hybrid.passages import Passages, find_passages
from ragstone.judges.traps import make_trap
from ragstone.locale.messages import compose
from ragstone.text.answers import is_bare_answer, to_statement
from ragstone.text.language import identify_language
from ragstone.text.quantities import Quantity, find_quantities, matches
from ragstone.types import NO_USAGE, Usage

MAX_COUNTED = 10
"""Things of which a writer may say how many there are though no source does: two friends."""


class ClaimQuestion(NamedTuple):
    """A claim to be decided by the passages."""

    passages: tuple[str, ...]
    claim: str


class ClaimOpinion(NamedTuple):
    """What a model says of a claim."""

    verdict: PairLabel
    probabilities: Mapping[PairLabel, float] | None
    """None when the model gives no probabilities."""
    usage: Usage = NO_USAGE

    @property
    def supported(self) -> float | None:
        """The chance that the claim is supported."""
        return None if self.probabilities is None else self.probabilities["supported"]


Verdicts = dict[str, Mapping[str, Any]]
"""Id of a claim → its row of the reply."""
DecidingClaims = Generator[tuple[ClaimQuestion, ...], tuple[ClaimOpinion, ...], Any]


def decide_support(
    ask: Ask, embedded: Mapping[str, Any], limit: int | None = None
) -> DecidingClaims:
    """Return the value of the reply, from the embedded judge's reply and the opinions of a model.

    `limit` is the number of claims of a case that the model is asked about: those of which the embedded judge is least
    sure."""
    rows = {row["id"]: row for row in embedded["verdicts"]}
    wholes = embedded.get("case_probabilities") or [None] * len(ask.values["cases"])
    chances: list[float | None] = []
    for case, whole in zip(ask.values["cases"], wholes, strict=True):
        chances.append((yield from _decide_case(ask, case, rows, whole, limit)))
    verdicts = list(rows.values())
    if any(chance is None for chance in chances):
        return {"verdicts": verdicts}
    return {"verdicts": verdicts, "case_probabilities": chances}


def _decide_case(
    ask: Ask, case: Mapping[str, Any], rows: Verdicts, whole: float | None, limit: int | None
) -> Generator[tuple[ClaimQuestion, ...], tuple[ClaimOpinion, ...], float | None]:
    """Put the model's verdicts into the rows, and return the chance that all claims of the case are supported.

    `whole` is that chance as the embedded judge sees it."""
    shown = _choose_least_sure(_find_open(ask, case, rows), rows, limit)
    questions = {
        claim["id"]: _state(shown[claim["id"]].texts, claim["text"], case, ask.language)
        for claim in case["claims"]
        if claim["id"] in shown
    }
    opinions: dict[str, ClaimOpinion] = {}
    if questions:
        opinions = dict(zip(questions, (yield tuple(questions.values())), strict=True))
    decided = {
        claim_id: _decide(rows[claim_id], opinion, shown[claim_id], case["sources"])
        for claim_id, opinion in opinions.items()
    }
    lifted = [
        claim_id
        for claim_id in decided
        if decided[claim_id]["verdict"] == "supported" != rows[claim_id]["verdict"]
    ]
    if lifted:
        trusted = yield from _test_model(ask, case, [questions[claim_id] for claim_id in lifted])
        for claim_id, is_trusted in zip(lifted, trusted, strict=True):
            if not is_trusted:
                del decided[claim_id], opinions[claim_id]
    rows.update(decided)
    return _combine_case([rows[c["id"]] for c in case["claims"]], opinions, whole)


def _state(
    passages: Sequence[str], claim: str, case: Mapping[str, Any], language: str | None
) -> ClaimQuestion:
    """Build the question about a claim; a bare name is put as the answer to the case's question."""
    question = case.get("question", "")
    texts = [
        to_statement(question, text, language)
        if question and is_bare_answer(text, language)
        else text
        for text in (claim, *passages)
    ]
    return ClaimQuestion(tuple(texts[1:]), texts[0])


def _find_open(ask: Ask, case: Mapping[str, Any], rows: Verdicts) -> dict[str, Passages]:
    """Return the claims that a model is to decide, with what is shown to it."""
    claims = [claim for claim in case["claims"] if not rows[claim["id"]].get("certain")]
    if not claims or not case["sources"]:
        return {}
    texts = [claim["text"] for claim in claims]
    sources = [source["text"] for source in case["sources"]]
    passages = find_passages(texts, sources, ask.language)
    known = [*sources, case.get("question", "")]
    return {
        claim["id"]: found
        for claim, found in zip(claims, passages, strict=True)
        if found.speak_of_claim
        and (
            rows[claim["id"]]["verdict"] == "supported"
            or not has_unknown_number(claim["text"], known, ask.language)
        )
    }


def _choose_least_sure(
    shown: dict[str, Passages], rows: Verdicts, limit: int | None
) -> dict[str, Passages]:
    """Return as many claims as the limit allows; all where the embedded judge gives no chance to choose by."""
    sureness = {
        claim_id: abs(chance - 0.5)
        for claim_id in shown
        if (chance := rows[claim_id].get("probability")) is not None
    }
    if limit is None or len(sureness) < len(shown):
        return shown
    least_sure = sorted(sureness, key=sureness.__getitem__)[:limit]
    return {claim_id: passages for claim_id, passages in shown.items() if claim_id in least_sure}


def has_unknown_number(claim: str, texts: Sequence[str], language: str | None) -> bool:
    """Whether a number or date of a claim stands in no text, in any writing.

    Small models overlook a changed number. A small plain one may have been counted and is no such number."""
    language = language or identify_language(claim)
    known = [quantity for text in texts for quantity in find_quantities(text, language)]
    return any(
        not (quantity.indefinite or _is_countable(quantity))
        and not any(matches(quantity, other) for other in known)
        for quantity in find_quantities(claim, language)
    )


def _is_countable(quantity: Quantity) -> bool:
    return quantity.kind in ("number", "ordinal") and quantity.high <= MAX_COUNTED


def _test_model(
    ask: Ask, case: Mapping[str, Any], lifted: Sequence[ClaimQuestion]
) -> Generator[tuple[ClaimQuestion, ...], tuple[ClaimOpinion, ...], list[bool]]:
    """Return for each lifted claim whether the model's word counts; raises when it supports an invented claim."""
    sources = [source["text"] for source in case["sources"]]
    key = f"{ask.key}:{lifted[0].claim}"
    trap = ClaimQuestion(lifted[0].passages, make_trap(f"{key}:claim", ask.language, sources))
    passage = make_trap(f"{key}:passage", ask.language, [question.claim for question in lifted])
    controls = [ClaimQuestion((passage,), question.claim) for question in lifted]
    first, *others = yield (trap, *controls)
    if first.verdict == "supported":
        raise JudgeFailed("compromised", "trap_taken")
    return [opinion.verdict != "supported" for opinion in others]


def _decide(
    row: Mapping[str, Any], opinion: ClaimOpinion, passages: Passages, sources: Sequence[Any]
) -> dict[str, Any]:
    """Return the verdict on one claim, with the sentence of the alignment as its evidence."""
    model, verdict = opinion.supported, opinion.verdict
    decided: dict[str, Any] = {"id": row["id"]}
    if model is None:
        reason = compose("model_chose", verdict=verdict)
    else:
        chance = combine(model, row.get("probability"))
        decided["probability"] = round(chance, 4)
        if chance >= 0.5:
            verdict = "supported"
        elif verdict == "supported":
            verdict = "not_found"
        reason = compose("model_chose_with_chance", verdict=opinion.verdict, p=round(chance, 2))
    if verdict == "not_found" and row["verdict"] == "contradicted":  # who says no need not say why
        verdict = "contradicted"
    evidence = list(row["evidence"])
    if not evidence and verdict != "not_found":
        evidence = [{"source": sources[passages.source]["id"], "quote": passages.sentence}]
    return decided | {"verdict": verdict, "evidence": evidence, "reason": reason}


def _combine_case(
    rows: Sequence[Mapping[str, Any]], opinions: Mapping[str, ClaimOpinion], whole: float | None
) -> float | None:
    """Return the chance that every claim is supported: no more than that of its weakest claim."""
    model = [opinion.supported for opinion in opinions.values()]
    chances = [row.get("probability") for row in rows]
    if not rows or None in model or None in chances:
        return None
    if whole is None:
        return float(min(float(chance) for chance in chances if chance is not None))
    weakest = min((chance for chance in model if chance is not None), default=None)
    combined = whole if weakest is None else combine(weakest, whole)
    settled = [float(row["probability"]) for row in rows if row["id"] not in opinions]
    return round(min([combined, *settled]), 4)
