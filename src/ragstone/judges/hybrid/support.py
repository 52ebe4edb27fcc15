"""The `support` Ask on the hybrid route: the embedded judge aligns and quotes, a model decides claim by claim.

A generator that yields ClaimQuestions and is sent the model's opinions, so that language models and classifiers of
pairs of texts serve alike. What the embedded judge's rules see for certain is not asked. Where a model lifts a claim
that the embedded judge denies, it must deny an invented claim about the same passages, or it is `compromised`."""

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
from ragstone.types import NO_USAGE, Usage


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


DecidingClaims = Generator[tuple[ClaimQuestion, ...], tuple[ClaimOpinion, ...], Any]


def decide_support(ask: Ask, embedded: Mapping[str, Any]) -> DecidingClaims:
    """Return the value of the reply, from the embedded judge's reply and the opinions of a model."""
    rows = {row["id"]: row for row in embedded["verdicts"]}
    wholes = embedded.get("case_probabilities") or [None] * len(ask.values["cases"])
    verdicts: list[Any] = []
    chances: list[float | None] = []
    for case, whole in zip(ask.values["cases"], wholes, strict=True):
        decided, chance = yield from _decide_case(ask, case, rows, whole)
        verdicts += decided
        chances.append(chance)
    if any(chance is None for chance in chances):
        return {"verdicts": verdicts}
    return {"verdicts": verdicts, "case_probabilities": chances}


def _decide_case(
    ask: Ask, case: Mapping[str, Any], rows: Mapping[str, Any], whole: float | None
) -> Generator[tuple[ClaimQuestion, ...], tuple[ClaimOpinion, ...], tuple[list[Any], float | None]]:
    """Return the verdicts of one case and the chance that all its claims are supported."""
    sources = [source["text"] for source in case["sources"]]
    texts = [claim["text"] for claim in case["claims"]]
    open_ids = [c["id"] for c in case["claims"] if sources and not rows[c["id"]].get("certain")]
    passages = find_passages(texts, sources, ask.language) if open_ids else []
    shown = dict(zip((claim["id"] for claim in case["claims"]), passages, strict=bool(passages)))
    questions = tuple(
        ClaimQuestion(shown[claim["id"]].texts, claim["text"])
        for claim in case["claims"]
        if claim["id"] in open_ids
    )
    opinions = (yield questions) if questions else ()
    decided, lifted = dict(rows), []
    for name, question, opinion in zip(open_ids, questions, opinions, strict=True):
        decided[name] = _decide(rows[name], opinion, shown[name], case["sources"])
        if decided[name]["verdict"] == "supported" != rows[name]["verdict"]:
            lifted.append((opinion.supported or 0.0, question.passages))
    if lifted:
        trap = make_trap(f"{ask.key}:{open_ids[0]}", ask.language, sources)
        (control,) = yield (ClaimQuestion(max(lifted)[1], trap),)
        if control.verdict == "supported":
            raise JudgeFailed("compromised", "trap_taken")
    verdicts = [decided[claim["id"]] for claim in case["claims"]]
    model = [opinion.supported for opinion in opinions]
    certain = [rows[claim["id"]] for claim in case["claims"] if claim["id"] not in open_ids]
    return verdicts, _combine_case(model, certain, verdicts, whole)


def _decide(
    row: Mapping[str, Any], opinion: ClaimOpinion, passages: Passages, sources: Sequence[Any]
) -> dict[str, Any]:
    """Return the verdict on one claim, with the sentence of the alignment as its evidence."""
    model, embedded = opinion.supported, row.get("probability")
    verdict = opinion.verdict
    decided: dict[str, Any] = {"id": row["id"]}
    if model is None:
        reason = compose("model_chose", verdict=verdict)
    else:
        chance = combine(model, embedded)
        decided["probability"] = round(chance, 4)
        if chance >= 0.5:
            verdict = "supported"
        elif verdict == "supported":
            verdict = "contradicted" if row["verdict"] == "contradicted" else "not_found"
        reason = compose("model_chose_with_chance", verdict=opinion.verdict, p=round(chance, 2))
    evidence = list(row["evidence"])
    if not evidence and passages.best is not None and verdict != "not_found":
        source, sentence = passages.best
        evidence = [{"source": sources[source]["id"], "quote": sentence}]
    return decided | {"verdict": verdict, "evidence": evidence, "reason": reason}


def _combine_case(
    model: Sequence[float | None],
    certain: Sequence[Mapping[str, Any]],
    verdicts: Sequence[Mapping[str, Any]],
    whole: float | None,
) -> float | None:
    """Return the chance that every claim is supported: no more than that of its weakest claim."""
    chances = [row.get("probability") for row in (*certain, *verdicts)]
    known = [chance for chance in chances if chance is not None]
    if None in model or len(known) < len(chances) or not verdicts:
        return None
    opinions = [chance for chance in model if chance is not None]
    if whole is None:
        return float(min(known))
    combined = combine(min(opinions), whole) if opinions else whole
    return round(min([combined, *(float(row["probability"]) for row in certain)]), 4)
