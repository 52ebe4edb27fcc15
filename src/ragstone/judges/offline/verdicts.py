"""The `support` Ask: a probability for each claim, then a verdict with its reason and its quotes.

A claim's verdict depends on the claim and its sources alone, never on the other claims of the answer. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ragstone.judges.offline.alignment import Alignment
from ragstone.judges.offline.conflicts import Conflict, explain_conflict, find_conflict
from ragstone.judges.offline.copies import is_jumbled
from ragstone.judges.offline.features import NAMES, measure_claims, measure_known_share
from ragstone.judges.offline.fragments import BareMatch, bind_answer, compare_bare, is_title
from ragstone.judges.offline.model import load_models, predict_answer
from ragstone.judges.offline.reading import NAME, NUMBER, STOP, Floats, Reading, read
from ragstone.judges.offline.statements import states_nothing
from ragstone.judges.offline.view import best_units, bounds_of, find_unit_span
from ragstone.locale.messages import compose

SUPPORT_BAR = 0.5
"""Probability from which a claim counts as supported."""
NEAR_COVER = 0.3
"""Share of a claim that a sentence must hold to be shown as the nearest one."""
REFUTED = 0.02
"""Probability of a claim that a rule sees to be wrong."""
MAX_QUOTES = 3
DECIDING_WEIGHT = 4.0
"""Inverse document frequency from which a word of a claim must stand in one of its quotes, if a source has it."""
DENIAL = re.compile(
    r"\W*(?:it(?: is|'s|’s) (?:not (?:true|correct|the case)|false|untrue|incorrect|wrong)"
    r"|no es (?:cierto|verdad|correcto)|es falso) (?:that|que)\s+",
    re.IGNORECASE,
)
"""Words that deny the whole sentence after them."""
_UNKNOWN_NUMBERS = NAMES.index("unknown_numbers")


def answer_support(values: Mapping[str, Any], language: str | None) -> tuple[Any, list[Reading]]:
    """The reply to a support Ask and the claims as read."""
    rows, readings, whole = [], [], []  # `whole`: the probability of each case
    for case in values["cases"]:
        claims = [read(claim["text"], language) for claim in case["claims"]]
        readings.extend(claims)
        sources = [read(source["text"], language) for source in case["sources"]]
        answers = [
            read(claim["answer"], language) if "answer" in claim else None
            for claim in case["claims"]
        ]
        judged = judge_case(claims, sources, answers, case.get("question", ""))
        whole.append(round(judged.probability, 4))
        ids = [source["id"] for source in case["sources"]]
        for claim, verdict in zip(case["claims"], judged.claims, strict=True):
            row = {
                "id": claim["id"],
                "verdict": verdict.verdict,
                "evidence": [
                    {"source": ids[source], "quote": quote} for source, quote in verdict.evidence
                ],
                "reason": verdict.reason,
                "probability": round(verdict.probability, 4),
            }
            if verdict.share is not None:
                row["share"] = round(verdict.share, 4)
            rows.append(row | {"certain": True} if verdict.certain else row)
    return {"verdicts": rows, "case_probabilities": whole}, readings


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its verdict."""

    probability: float
    """How likely the sources support the claim, were both equally likely beforehand."""
    verdict: str
    evidence: tuple[tuple[int, str], ...]
    """Index of a source and a passage of it."""
    reason: str
    certain: bool = False
    """Whether a rule decided, which no other judge may overrule."""
    share: float | None = None
    """Weight of a bare answer that the sources hold in part."""


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """The claims of one text, and how likely all of them are supported."""

    claims: tuple[JudgedClaim, ...]
    probability: float


def judge_case(
    claims: Sequence[Reading],
    sources: Sequence[Reading],
    answers: Sequence[Reading | None] = (),
    question: str = "",
) -> JudgedCase:
    """Judge every claim against its sources; `answers` are the bare ones that claims were made of with a question,
    `question` the one that bare claims and sources answer."""
    if not claims:
        return JudgedCase((), 1.0)
    if not any(len(source.ids) for source in sources):
        return _judge_without_sources(claims)
    is_denied = [DENIAL.match(claim.raw) is not None for claim in claims]
    claims = [_read_denied(claim) for claim in claims]
    matches = [compare_bare(claim, sources, question) for claim in claims]
    # a bare name has no sentence that another could contradict; a row of a table has
    conflicts = [
        find_conflict(claim, sources) if match is None or _is_record(claim) else None
        for claim, match in zip(claims, matches, strict=True)
    ]
    table, laid = measure_claims(claims, sources, conflicts)
    # rounded, as the last bits depend on what else is in the table
    probability = load_models()["claim"].predict(table).round(4)
    judged, is_named = [], []
    for n, placed in enumerate(_place_claims(claims, sources, conflicts, laid)):
        verdict = _judge_bare(placed, answers[n] if answers else None, matches[n])
        is_named.append(verdict is not None)
        if verdict is None:
            lacks_number = bool(table[n, _UNKNOWN_NUMBERS])
            verdict = _judge_claim(
                placed, float(probability[n]), lacks_number=lacks_number, is_name=False
            )
        judged.append(_turn_round(verdict, claims[n]) if is_denied[n] else verdict)
    return _join_verdicts(judged, all(is_named), laid)


def _is_record(claim: Reading) -> bool:
    """Whether a claim without a verb is the row of a table: what it is of, and how much."""
    return claim.raw.count("|") > 1 and NUMBER in claim.kinds


def _join_verdicts(judged: Sequence[JudgedClaim], is_named: bool, laid: Alignment) -> JudgedCase:
    """The claims with the chance that all are supported; of bare names that is the lowest."""
    chances = np.array([claim.probability for claim in judged])
    if is_named:
        whole = float(chances.min())
    else:
        whole = predict_answer(load_models()["answer"], chances, measure_known_share(laid))
    refuted = any(claim.certain and claim.verdict != "supported" for claim in judged)
    return JudgedCase(tuple(judged), min(whole, REFUTED if refuted else 1.0))


def _read_denied(claim: Reading) -> Reading:
    """What a claim denies as a whole; any other claim itself."""
    denial = DENIAL.match(claim.raw)
    return read(claim.raw[denial.end() :], claim.language) if denial else claim


def _turn_round(verdict: JudgedClaim, denied: Reading) -> JudgedClaim:
    """The verdict on a claim that denies what was judged; what was not found stays so."""
    if verdict.verdict == "supported":
        reason = compose("claim_denies", denied.language, mine=denied.raw)
        return replace(
            verdict, probability=REFUTED, verdict="contradicted", reason=reason, certain=True
        )
    if verdict.verdict == "contradicted":
        return replace(verdict, probability=1 - verdict.probability, verdict="supported")
    return verdict


def _judge_without_sources(claims: Sequence[Reading]) -> JudgedCase:
    judged = (
        JudgedClaim(0.0, "not_found", (), compose("no_source", claim.language), certain=True)
        for claim in claims
    )
    return JudgedCase(tuple(judged), 0.0)


def _judge_bare(
    placed: _PlacedClaim, bare: Reading | None, match: BareMatch | None
) -> JudgedClaim | None:
    """Judge a bare name or number, or a claim that was made of one; None for any other, which the model knows."""
    bound = bind_answer(bare, placed.claim, placed.sources) if bare else None
    if bound is not None:
        return _judge_claim(placed, bound, lacks_number=False, is_name=True)
    if match is None:
        return None
    is_name = is_title(placed.claim, placed.sources)
    verdict = _judge_claim(placed, match.chance, lacks_number=False, is_name=is_name)
    return replace(verdict, share=match.share)


@dataclass(frozen=True, slots=True)
class _PlacedClaim:
    """A claim and where it lies on its sources."""

    claim: Reading
    sources: Sequence[Reading]
    conflict: Conflict | None
    """What the rules see against it."""
    laid: Alignment
    a: int
    b: int
    """Its tokens in `laid.claims` are those from a up to b, b not included."""
    cover: Floats
    """What each sentence covers of it."""
    best: int
    """The sentence that covers most of it, negative for none."""

    @property
    def empty(self) -> bool:
        return self.a == self.b or self.best < 0

    def quote_units(self, first: int, last: int) -> tuple[int, str]:
        """The source and the text from one sentence to another of the same source."""
        source, start, _ = find_unit_span(self.sources, self.laid, first)
        _, _, end = find_unit_span(self.sources, self.laid, last)
        return source, self.sources[source].raw[start:end]


def _place_claims(
    claims: Sequence[Reading],
    sources: Sequence[Reading],
    conflicts: Sequence[Conflict | None],
    laid: Alignment,
) -> Iterator[_PlacedClaim]:
    bounds = bounds_of(laid, len(claims))
    cover, best = best_units(laid, bounds)
    for n, claim in enumerate(claims):
        yield _PlacedClaim(
            claim, sources, conflicts[n], laid, bounds[n], bounds[n + 1], cover[n], int(best[n])
        )


def _judge_claim(
    placed: _PlacedClaim, p: float, *, lacks_number: bool, is_name: bool
) -> JudgedClaim:
    """The verdict on a claim of probability `p`; rules come before it. A name may state nothing and yet be found."""
    language, conflict = placed.claim.language, placed.conflict
    if placed.empty or (states_nothing(placed.claim.raw) and not is_name):
        return JudgedClaim(p, "not_found", (), compose("states_nothing", language))
    if conflict is None and is_jumbled(placed.laid, placed.a, placed.b):
        return JudgedClaim(REFUTED, "not_found", (), compose("words_out_of_order", language), True)
    if conflict is not None and conflict.certain:
        return _refuse(placed, min(p, REFUTED), conflict, certain=True)
    # a number or date that no source has in any writing cannot be supported, whatever else agrees
    if p >= SUPPORT_BAR and not lacks_number:
        reason = compose("found_in_source", language, p=round(p, 2))
        return JudgedClaim(p, "supported", _choose_evidence(placed), reason)
    return _refuse(placed, min(p, SUPPORT_BAR - 0.01), conflict, certain=False)


def _refuse(
    placed: _PlacedClaim, p: float, conflict: Conflict | None, certain: bool
) -> JudgedClaim:
    """Say of a claim that is not supported what contradicts it, or what of it no source has."""
    if conflict is not None:
        start, end = conflict.place
        against = (conflict.source, placed.sources[conflict.source].raw[start:end])
        reason = explain_conflict(conflict, placed.claim.language)
        return JudgedClaim(p, "contradicted", (against,), reason, certain)
    quote = (placed.quote_units(placed.best, placed.best),)
    missing = _list_missing(placed)
    language = placed.claim.language
    reason = (
        compose("words_missing", language, words=", ".join(missing), p=round(p, 2))
        if missing
        else compose("words_apart", language, p=round(p, 2))
    )
    near = float(placed.cover[placed.best]) >= NEAR_COVER
    return JudgedClaim(p, "not_found", quote if near else (), reason)


def _choose_evidence(placed: _PlacedClaim) -> tuple[tuple[int, str], ...]:
    """The passages that hold the claim's deciding words: numbers, names and rare words that a source has.

    The best sentence comes first, joined with a neighbour that holds what it lacks; then whatever else is needed."""
    laid = placed.laid
    kinds, weights = (
        laid.claims.kinds[placed.a : placed.b],
        laid.claims.weights[placed.a : placed.b],
    )
    hit = laid.soft[placed.a : placed.b] >= SUPPORT_BAR
    hard = (kinds == NUMBER) | (kinds == NAME)
    deciding = (hard | (weights >= DECIDING_WEIGHT)) & (kinds != STOP) & hit.any(axis=1)
    value = np.where(kinds == NUMBER, 2 * weights, weights) * (kinds != STOP)
    first = int(np.argmax(value @ hit))
    ranges = [[first, first]]
    open_words = deciding & ~hit[:, first]
    while open_words.any() and len(ranges) < MAX_QUOTES:
        gain = (value * open_words) @ hit
        unit = int(np.argmax(gain))
        _join_range(ranges, unit, laid)
        open_words &= ~hit[:, unit]
    quotes = [placed.quote_units(low, high) for low, high in ranges]
    return tuple(quotes + _find_equal_sources(placed, value @ hit, ranges))


def _join_range(ranges: list[list[int]], unit: int, laid: Alignment) -> None:
    """Widen a range that the unit is next to, or begin another."""
    for bounds in ranges:
        if laid.unit_text[bounds[0]] == laid.unit_text[unit]:
            if unit == bounds[0] - 1:
                bounds[0] = unit
                return
            if unit == bounds[1] + 1:
                bounds[1] = unit
                return
    ranges.append([unit, unit])


def _find_equal_sources(
    placed: _PlacedClaim, held: Floats, ranges: Sequence[Sequence[int]]
) -> list[tuple[int, str]]:
    """One sentence from each other source that holds as much of the claim as the first: each supports it alone."""
    if len(ranges) > 1 or len(placed.sources) == 1:
        return []
    unit_text = placed.laid.unit_text
    quoted = {int(unit_text[low]) for low, _ in ranges}
    enough = 0.9 * float(held[ranges[0][0]])
    equal = []
    for source in sorted(set(unit_text.tolist()) - quoted):
        units = (unit_text == source).nonzero()[0]
        best = int(units[np.argmax(held[units])])
        if held[best] >= enough:
            equal.append(placed.quote_units(best, best))
    return equal


def _list_missing(placed: _PlacedClaim) -> list[str]:
    """Up to four content words of the claim that no source has, rarest first chosen, in their order."""
    a, b, laid = placed.a, placed.b, placed.laid
    lost = ((laid.claims.kinds[a:b] != STOP) & (laid.most[a:b] < 0.5)).nonzero()[0].tolist()
    weights = laid.claims.weights[a:b].tolist()
    rarest = sorted(lost, key=weights.__getitem__, reverse=True)[:4]
    return [placed.claim.surface(token) for token in sorted(rarest)]
