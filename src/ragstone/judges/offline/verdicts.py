"""The `support` Ask: a probability for each claim, then a verdict with its reason and its quotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline.alignment import Alignment
from ragstone.judges.offline.conflicts import Conflict, conflict_of
from ragstone.judges.offline.features import features
from ragstone.judges.offline.fragments import agreement, names
from ragstone.judges.offline.reading import NAME, NUMBER, STOP, Floats, Ints, Reading, read
from ragstone.judges.offline.responses import (
    ALL_NAMES,
    TAGGED,
    passed,
    response_bar,
    response_chance,
)
from ragstone.judges.offline.spanish import second_opinion
from ragstone.judges.offline.statements import states_nothing
from ragstone.judges.offline.trees import Doubles, chance, models
from ragstone.judges.offline.view import best_units, bounds_of
from ragstone.locale.messages import compose

BAR_FRAGMENT = 0.5
"""What a short answer without a verb must share with the other text."""
BAR_COVER, BAR_UNCOVERED = 0.3, 0.2
"""What the best sentence covers of a claim as a rule, and what the claim must reach where it covers less."""
BAR_CONFLICT = 0.2
"""What a claim must reach that may disagree in a number, a name or a negation; one that surely does never passes."""
NEVER = 2.0
"""A hurdle that no claim takes."""
BAR_NAME, FEW_WORDS = 0.65, 5
"""What a claim of few words must reach when it has a name that no source has: born in France, of one born in Ulm."""


def answer_support(values: Mapping[str, Any], language: str | None) -> tuple[Any, list[Reading]]:
    """The reply to a support Ask and the claims as read."""
    rows, readings = [], []
    for case in values["cases"]:
        claims = [read(claim["text"], language) for claim in case["claims"]]
        readings.extend(claims)
        judged = judge_case(claims, [read(source["text"], language) for source in case["sources"]])
        ids = [source["id"] for source in case["sources"]]
        for claim, one in zip(case["claims"], judged, strict=True):
            evidence = [{"source": ids[source], "quote": quote} for source, quote in one.evidence]
            rows.append(
                {
                    "id": claim["id"],
                    "verdict": one.verdict,
                    "evidence": evidence,
                    "reason": one.reason,
                    "probability": round(one.probability, 4),
                }
            )
    return {"verdicts": rows}, readings


@dataclass(frozen=True, slots=True)
class Judged:
    """One claim as the judge sees it."""

    probability: float
    """How likely the sources support the claim, were both equally likely beforehand."""
    verdict: str
    evidence: tuple[tuple[int, str], ...]
    """Index of a source and a sentence of it."""
    reason: str


def judge_case(claims: Sequence[Reading], sources: Sequence[Reading]) -> list[Judged]:
    """Every claim against its sources."""
    if not claims:
        return []
    if not any(len(source.ids) for source in sources):
        return [
            Judged(0.0, "not_found", (), compose("no_source", claim.language)) for claim in claims
        ]
    laid, probability, table = probabilities(claims, sources)
    bounds = bounds_of(laid, len(claims))
    cover, best = best_units(laid, bounds)
    agreed = agreement(claims, sources)
    conflicts, hurdles = _hurdles(claims, sources, laid, bounds, cover, best)
    if agreed is not None:
        probability = np.array(agreed)
        supported = [share >= BAR_FRAGMENT for share in agreed]
    else:
        whole = response_chance(probability, table)
        supported = passed(probability, whole, hurdles, response_bar(claims[0].language))
    found = []
    for n, claim in enumerate(claims):
        one = _One(claim, sources, laid, bounds[n], bounds[n + 1], cover[n], int(best[n]))
        p = float(probability[n])
        nothing = states_nothing(claim.raw) and not (agreed is not None and names(claim, sources))
        if one.empty or nothing:
            found.append(Judged(p, "not_found", (), compose("states_nothing", claim.language)))
        elif supported[n]:
            reason = compose("found_in_source", claim.language, p=round(p, 2))
            found.append(Judged(p, "supported", _evidence(one), reason))
        else:
            found.append(_refused(one, p, conflicts[n]))
    return found


@dataclass(frozen=True, slots=True)
class _One:
    """A claim laid on its sources."""

    claim: Reading
    sources: Sequence[Reading]
    laid: Alignment
    a: int
    b: int
    """Its tokens are those from a to b."""
    cover: Floats
    """What each sentence covers of it."""
    best: int

    @property
    def empty(self) -> bool:
        return self.a == self.b or self.best < 0


def probabilities(
    claims: Sequence[Reading], sources: Sequence[Reading]
) -> tuple[Alignment, Doubles, Floats]:
    """How likely each claim is supported, with what that was read from."""
    table, tokens, laid = features(claims, sources)
    owner = laid.claims.text[laid.claims.kinds != STOP]
    table = np.concatenate([table, tagged(tokens, owner, len(claims))], axis=1)
    model = models()["claim"]
    logit = model.logit(table.take(columns_of(model.names), axis=1))
    return laid, chance(second_opinion(logit, table, claims)), table


@lru_cache(maxsize=8)
def columns_of(names: tuple[str, ...]) -> npt.NDArray[np.intp]:
    """Columns of the full table that a model uses."""
    return np.array([ALL_NAMES.index(name) for name in names], np.intp)


def tagged(tokens: Floats, owner: Ints, count: int) -> Floats:
    """How doubtful the words of each claim are: the most doubtful one, two, four, the mean and the sum."""
    doubt = chance(models()["token"].logit(tokens)) if len(tokens) else np.zeros(0)
    return doubts(doubt, owner.searchsorted(np.arange(count + 1)).tolist())


def doubts(doubt: Doubles, bounds: list[int]) -> Floats:
    """The five figures of TAGGED from the doubt of each content word."""
    out = np.zeros((len(bounds) - 1, len(TAGGED)), np.float32)
    values = doubt.tolist()
    for a, b in pairwise(bounds):
        values[a:b] = sorted(values[a:b], reverse=True)
    top = np.array(values)
    logs = np.log1p(-top)
    for claim, (a, b) in enumerate(pairwise(bounds)):
        if a < b:
            size = b - a
            out[claim] = (
                values[a],
                (values[a] + values[a + 1]) / 2 if size > 1 else values[a],
                np.add.reduce(top[a : min(a + 4, b)]) / min(size, 4),
                np.add.reduce(top[a:b]) / size,
                -np.add.reduce(logs[a:b]),
            )
    return out


def _refused(one: _One, p: float, conflict: Conflict | None) -> Judged:
    """A claim that is not supported: what contradicts it, or what of it no source has."""
    source = int(one.laid.unit_text[one.best])
    quote = ((source, unit_text(one.sources, one.laid, one.best)),)
    if conflict is not None:
        return Judged(p, "contradicted", quote, conflict.reason)
    missing = _missing_words(one.claim, one.laid, one.a, one.b)
    reason = (
        compose("words_missing", one.claim.language, words=", ".join(missing), p=round(p, 2))
        if missing
        else compose("words_apart", one.claim.language, p=round(p, 2))
    )
    near = float(one.cover[one.best]) >= BAR_COVER
    return Judged(p, "not_found", quote if near else (), reason)


def _hurdle(conflict: Conflict | None, laid: Alignment, a: int, b: int, cover: float) -> float:
    """What a claim must reach at least, whatever the response looks like: for what disagrees, for a best sentence
    that covers little of it, for a name that no source has."""
    found = [0.0]
    if conflict is not None:
        found.append(NEVER if conflict.certain else BAR_CONFLICT)
    if cover < BAR_COVER:
        found.append(BAR_UNCOVERED)
    if _hangs_on_unknown_name(laid, a, b):
        found.append(BAR_NAME)
    return max(found)


def _hangs_on_unknown_name(laid: Alignment, a: int, b: int) -> bool:
    kinds = laid.claims.kinds[a:b]
    unknown = (kinds == NAME) & (laid.most[a:b] < 0.5)
    return bool(unknown.any()) and int((kinds != STOP).sum()) <= FEW_WORDS


def hurdles_of(
    claims: Sequence[Reading], sources: Sequence[Reading], laid: Alignment
) -> list[float]:
    """For each claim what it must reach at least, whatever the response looks like."""
    bounds = bounds_of(laid, len(claims))
    return _hurdles(claims, sources, laid, bounds, *best_units(laid, bounds))[1]


def _hurdles(
    claims: Sequence[Reading],
    sources: Sequence[Reading],
    laid: Alignment,
    bounds: list[int],
    cover: Floats,
    best: Ints,
) -> tuple[list[Conflict | None], list[float]]:
    """What disagrees with each claim, and what each must reach at least."""
    conflicts: list[Conflict | None] = []
    hurdles: list[float] = []
    for n, claim in enumerate(claims):
        a, b, unit = bounds[n], bounds[n + 1], int(best[n])
        nothing = a == b or unit < 0
        conflict = None if nothing else conflict_of(claim, sources, laid, a, b, unit)
        conflicts.append(conflict)
        hurdles.append(NEVER if nothing else _hurdle(conflict, laid, a, b, float(cover[n][unit])))
    return conflicts, hurdles


def unit_text(sources: Sequence[Reading], laid: Alignment, unit: int) -> str:
    """A source sentence as it is written."""
    source = int(laid.unit_text[unit])
    before = sum(len(one.sentences) for one in sources[:source])
    a, b = sources[source].sentences[int(laid.units[unit]) - before]
    return sources[source].raw[a:b]


def _evidence(one: _One) -> tuple[tuple[int, str], ...]:
    """Every source that covers the claim by itself, best first; at least the best one."""
    kinds = one.laid.claims.kinds[one.a : one.b]
    weight = np.where(kinds == STOP, 0.0, one.laid.claims.weights[one.a : one.b])
    found = []
    for source in np.unique(one.laid.unit_text).tolist():
        units = np.flatnonzero(one.laid.unit_text == source)
        inside = one.laid.soft[one.a : one.b][:, units].max(axis=1)
        share = float((inside * weight).sum() / max(weight.sum(), 1e-6))
        hard = (kinds == NUMBER) | (kinds == NAME)
        lacks = hard & (inside < 0.5) & one.laid.found[one.a : one.b]
        best = int(units[np.argmax(one.cover[units])])
        found.append((share - 0.5 * bool(lacks.any()), -source, source, best))
    found.sort(reverse=True)
    top = found[0][0]
    kept = [row for row in found if row[0] >= max(0.9 * top, 0.6)] or found[:1]
    return tuple((source, unit_text(one.sources, one.laid, best)) for _, _, source, best in kept)


def _missing_words(claim: Reading, laid: Alignment, a: int, b: int) -> list[str]:
    """Up to four content words of the claim that no source has, rarest first."""
    lost = ((laid.claims.kinds[a:b] != STOP) & (laid.most[a:b] < 0.5)).nonzero()[0].tolist()
    weights = laid.claims.weights[a:b].tolist()
    order = sorted(lost, key=weights.__getitem__, reverse=True)[:4]
    return [claim.surface(token) for token in sorted(order)]
