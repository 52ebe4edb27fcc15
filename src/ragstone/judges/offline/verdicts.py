"""The `support` Ask: a probability for each claim, then a verdict with its reason and its quotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from ragstone.judges.offline.alignment import Alignment
from ragstone.judges.offline.conflicts import conflict_of
from ragstone.judges.offline.features import NAMES, features
from ragstone.judges.offline.fragments import agreement, names
from ragstone.judges.offline.reading import NAME, NUMBER, STOP, Floats, Ints, Reading, read
from ragstone.judges.offline.statements import states_nothing
from ragstone.judges.offline.trees import Doubles, chance, models
from ragstone.judges.offline.view import best_units, bounds_of
from ragstone.judges.offline.wording import say

BAR, BAR_DOUBTFUL = 0.2, 0.5
"""What a claim must reach in a response that seems supported as a whole, and in one that does not."""
BAR_WEAKEST = 0.9
"""What the weakest claim of a response below it must reach."""
BAR_FRAGMENT = 0.5
"""What a short answer without a verb must share with the other text."""
BAR_COVER = 0.3
"""What a source sentence must cover of a claim for it to be supported on less than even odds."""
BAR_NAME, FEW_WORDS = 0.65, 5
"""What a claim of few words must reach when it has a name that no source has: born in France, of one born in Ulm."""
BAR_CONFLICT = 0.45
"""What a claim must reach that disagrees in a number, a name or a negation."""


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
        return [Judged(0.0, "not_found", (), say("no_source", claim.language)) for claim in claims]
    laid, probability, table = probabilities(claims, sources)
    bounds = bounds_of(laid, len(claims))
    cover, best = best_units(laid, bounds)
    whole = response_chance(probability, table)
    agreed = agreement(claims, sources)
    if agreed is not None:
        probability, whole = np.array(agreed), 1.0
    return [
        _judged(
            n,
            claim,
            sources,
            laid,
            bounds,
            cover[n],
            int(best[n]),
            probability,
            whole,
            agreed is not None,
        )
        for n, claim in enumerate(claims)
    ]


def probabilities(
    claims: Sequence[Reading], sources: Sequence[Reading]
) -> tuple[Alignment, Doubles, Floats]:
    """How likely each claim is supported, with what that was read from."""
    table, tokens, laid = features(claims, sources)
    owner = laid.claims.text[laid.claims.kinds != STOP]
    table = np.concatenate([table, tagged(tokens, owner, len(claims))], axis=1)
    model = models()["claim"]
    return laid, chance(model.logit(table.take(columns_of(model.names), axis=1))), table


TAGGED = ("tag_max", "tag_two", "tag_four", "tag_mean", "tag_sum")
"""What the tagger adds to the features of a claim."""
ALL_NAMES = (*NAMES, *TAGGED)
_OF_RESPONSE = [ALL_NAMES.index(name) for name in ("structured", "tokens", "tag_max", "tag_sum")]


@lru_cache(maxsize=8)
def columns_of(names: tuple[str, ...]) -> list[int]:
    """Columns of the full table that a model uses."""
    return [ALL_NAMES.index(name) for name in names]


def tagged(tokens: Floats, owner: Ints, count: int) -> Floats:
    """How doubtful the words of each claim are: the most doubtful one, two, four, the mean and the sum."""
    doubt = chance(models()["token"].logit(tokens)) if len(tokens) else np.zeros(0)
    return doubts(doubt, owner.searchsorted(np.arange(count + 1)).tolist())


def doubts(doubt: Doubles, bounds: list[int]) -> Floats:
    """The five figures of TAGGED from the doubt of each content word."""
    out = np.zeros((len(bounds) - 1, len(TAGGED)), np.float32)
    for claim, (a, b) in enumerate(pairwise(bounds)):
        if a < b:
            top = np.sort(doubt[a:b])[::-1]
            size = b - a
            out[claim] = (
                top[0],
                np.add.reduce(top[:2]) / min(size, 2),
                np.add.reduce(top[:4]) / min(size, 4),
                np.add.reduce(top) / size,
                -np.add.reduce(np.log1p(-top)),
            )
    return out


def response_features(probability: Doubles, table: Floats) -> Floats:
    """What a whole response looks like: its weakest claims and its shape."""
    p = np.minimum(np.maximum(probability, 1e-4), 1 - 1e-4)
    logits = np.log(p / (1 - p))
    logits.sort()
    low = [*logits[:3].tolist(), 4.0, 4.0][:3]
    mean = np.add.reduce(logits) / len(logits)
    structured, tokens, tag_max, tag_sum = table.take(_OF_RESPONSE, axis=1).T
    return np.array(
        [
            *low,
            mean,
            np.add.reduce(np.log(p)),
            np.log(len(p)),
            structured[0],
            np.log1p(np.add.reduce(tokens)),
            np.maximum.reduce(tag_max),
            np.log1p(np.add.reduce(tag_sum)),
            structured[0] * low[0],
            structured[0] * mean,
        ],
        np.float32,
    )


def response_chance(probability: Doubles, table: Floats) -> float:
    """How likely every claim of the response is supported."""
    numbers = models()["numbers"]
    row = (response_features(probability, table) - numbers["response_mean"]) / numbers[
        "response_scale"
    ]
    return float(chance(row @ numbers["response_weights"] + numbers["response_bias"]))


def _judged(
    n: int,
    claim: Reading,
    sources: Sequence[Reading],
    laid: Alignment,
    bounds: list[int],
    cover: Floats,
    best: int,
    probability: Doubles,
    whole: float,
    agreed: bool,
) -> Judged:
    p = float(probability[n])
    a, b = bounds[n], bounds[n + 1]
    if a == b or best < 0 or (states_nothing(claim.raw) and not (agreed and names(claim, sources))):
        return Judged(p, "not_found", (), say("empty", claim.language))
    conflict = conflict_of(claim, sources, laid, a, b, best)
    doubt = 0 if conflict is None else 1 + conflict.certain
    if agreed:
        supported = p >= BAR_FRAGMENT
    else:
        told = p >= BAR_DOUBTFUL or float(cover[best]) >= BAR_COVER
        told = told and (p >= BAR_NAME or not _hangs_on_unknown_name(laid, a, b))
        supported = told and accepted(n, probability, whole, doubt, response_bar())
    if supported:
        return Judged(
            p,
            "supported",
            _evidence(sources, laid, a, b, cover),
            say("supported", claim.language, p=p),
        )
    quote = ((int(laid.unit_text[best]), unit_text(sources, laid, best)),)
    if conflict is not None:
        return Judged(p, "contradicted", quote, conflict.reason)
    missing = _missing_words(claim, laid, a, b)
    reason = (
        say("missing", claim.language, words=", ".join(missing), p=p)
        if missing
        else say("unlike", claim.language, p=p)
    )
    return Judged(p, "not_found", quote if float(cover[best]) >= BAR_COVER else (), reason)


def _hangs_on_unknown_name(laid: Alignment, a: int, b: int) -> bool:
    kinds = laid.claims.kinds[a:b]
    unknown = (kinds == NAME) & (laid.most[a:b] < 0.5)
    return bool(unknown.any()) and int((kinds != STOP).sum()) <= FEW_WORDS


def conflicts_of(
    claims: Sequence[Reading], sources: Sequence[Reading], laid: Alignment
) -> list[int]:
    """For each claim 0 when nothing disagrees, 1 for a likely disagreement, 2 for a certain one."""
    bounds = bounds_of(laid, len(claims))
    _, best = best_units(laid, bounds)
    found = []
    for n, claim in enumerate(claims):
        a, b = bounds[n], bounds[n + 1]
        here = a < b and best[n] >= 0
        one = conflict_of(claim, sources, laid, a, b, int(best[n])) if here else None
        found.append(0 if one is None else 1 + one.certain)
    return found


def response_bar() -> float:
    """A response less likely than this holds a claim that is not supported; chosen in training."""
    return float(models()["numbers"]["response_bar"])


def accepted(
    n: int, probability: Doubles, whole: float, conflict: int, response_bar: float
) -> bool:
    """Whether a claim passes: the response as a whole sets how high its claims must reach."""
    if conflict == 2:
        return False
    if whole >= response_bar:
        bar = BAR
    else:
        bar = BAR_WEAKEST if n == int(np.argmin(probability)) else BAR_DOUBTFUL
    return float(probability[n]) >= (max(bar, BAR_CONFLICT) if conflict else bar)


def unit_text(sources: Sequence[Reading], laid: Alignment, unit: int) -> str:
    """A source sentence as it is written."""
    source = int(laid.unit_text[unit])
    before = sum(len(one.sentences) for one in sources[:source])
    a, b = sources[source].sentences[int(laid.units[unit]) - before]
    return sources[source].raw[a:b]


def _evidence(
    sources: Sequence[Reading], laid: Alignment, a: int, b: int, cover: Floats
) -> tuple[tuple[int, str], ...]:
    """Every source that covers the claim by itself, best first; at least the best one."""
    kinds = laid.claims.kinds[a:b]
    weight = np.where(kinds == STOP, 0.0, laid.claims.weights[a:b])
    found = []
    for source in np.unique(laid.unit_text).tolist():
        units = np.flatnonzero(laid.unit_text == source)
        inside = laid.soft[a:b][:, units].max(axis=1)
        share = float((inside * weight).sum() / max(weight.sum(), 1e-6))
        hard = (kinds == NUMBER) | (kinds == NAME)
        lacks = hard & (inside < 0.5) & laid.found[a:b]
        best = int(units[np.argmax(cover[units])])
        found.append((share - 0.5 * bool(lacks.any()), -source, source, best))
    found.sort(reverse=True)
    top = found[0][0]
    kept = [row for row in found if row[0] >= max(0.9 * top, 0.6)] or found[:1]
    return tuple((source, unit_text(sources, laid, best)) for _, _, source, best in kept)


def _missing_words(claim: Reading, laid: Alignment, a: int, b: int) -> list[str]:
    """Up to four content words of the claim that no source has, rarest first."""
    lost = ((laid.claims.kinds[a:b] != STOP) & (laid.most[a:b] < 0.5)).nonzero()[0].tolist()
    weights = laid.claims.weights[a:b].tolist()
    order = sorted(lost, key=lambda token: (-weights[token], token))[:4]
    places = claim.places if order else []
    return [claim.raw[slice(*places[token])] for token in sorted(order)]
