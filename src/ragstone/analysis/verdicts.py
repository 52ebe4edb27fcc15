"""What differences are called once all of them are known: each family of tests is corrected, and its intervals with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragstone.analysis.comparison import FAMILIES, Difference, Family, Verdict
from ragstone.analysis.paired import IntervalAt
from ragstone.analysis.power import (
    POWER,
    count_unmoved_questions,
    detectable_difference,
    round_up_questions,
)
from ragstone.analysis.significance import ALPHA, Correction, adjust_p_values, find_alphas
from ragstone.analysis.stats import MIN_CLUSTERS


@dataclass(frozen=True, slots=True)
class MeasuredDifference:
    """A difference without its verdict, and its interval at any level."""

    difference: Difference
    interval_at: IntervalAt
    same_answers: bool


def decide_verdicts(
    measured: Sequence[MeasuredDifference],
    correction: Correction,
    floor: float,
    effect: float | None,
) -> tuple[list[Difference], dict[Family, int]]:
    """Each difference with its interval at the corrected level and its verdict, in the order given; and the tests of each family."""
    # a difference without a p is in neither: there is no test to correct, and its interval is one of 95 %
    adjusted: dict[int, float] = {}
    alphas: dict[int, float] = {}
    tests: dict[Family, int] = {}
    for family in FAMILIES:
        members = [at for at, one in enumerate(measured) if one.difference.family == family]
        tested = [(at, p) for at in members if (p := measured[at].difference.p) is not None]
        if tested:
            tests[family] = len(tested)
        ps = [p for _, p in tested]
        for (at, _), p, alpha in zip(
            tested, adjust_p_values(ps, correction), find_alphas(ps, correction), strict=True
        ):
            adjusted[at], alphas[at] = p, alpha
    return [
        _decide_verdict(one, adjusted.get(at), alphas.get(at, ALPHA), floor, effect)
        for at, one in enumerate(measured)
    ], tests


def _decide_verdict(
    measured: MeasuredDifference,
    adjusted: float | None,
    alpha: float,
    floor: float,
    effect: float | None,
) -> Difference:
    found = measured.difference
    wanted = found.margin
    if effect is not None and found.bounds is not None:
        wanted = effect * (found.bounds[1] - found.bounds[0])
    interval = measured.interval_at(alpha)
    found = replace(
        found, low=interval.low, high=interval.high, alpha=alpha, adjusted=adjusted, effect=wanted
    )
    detectable, needed = _find_power(found, alpha)
    verdict = _choose_verdict(found, alpha, floor, measured.same_answers)
    return replace(found, verdict=verdict, detectable=detectable, needed=needed)


def _choose_verdict(found: Difference, alpha: float, floor: float, same_answers: bool) -> Verdict:
    # The tolerance keeps 0.95 × 20 = 19 from being missed by a rounding error.
    if found.difference is None or (found.coverage or 0.0) < floor - 1e-9:
        return "withheld"
    if same_answers and found.pairs == found.unchanged:
        return "identical"
    if found.p is None:
        return "withheld"
    # the interval of this level leaves out 0 in the same cases: see `reconcile_interval`
    if found.p <= alpha:
        return "better" if (found.difference > 0) == found.higher_is_better else "worse"
    return "equivalent" if _is_within_margin(found) else "unclear"


def _is_within_margin(found: Difference) -> bool:
    """Whether the whole interval is; without one, whether no sample of many moved at all."""
    if found.low is None or found.high is None:
        return found.unchanged == found.pairs >= MIN_CLUSTERS
    return -found.margin <= found.low and found.high <= found.margin


def _find_power(found: Difference, alpha: float) -> tuple[float | None, int | None]:
    """The difference that would have been noticed, and the questions that `effect` takes."""
    if found.plain_low is None or found.plain_high is None or found.pairs < 1:
        return None, None
    half_width = (found.plain_high - found.plain_low) / 2
    detectable = detectable_difference(half_width, alpha, POWER)
    if found.effect <= 0:
        return detectable, None
    if found.unchanged == found.pairs and found.bounds is not None:
        width = found.bounds[1] - found.bounds[0]
        needed = count_unmoved_questions(found.pairs, half_width, found.effect, alpha, width)
        return detectable, needed
    return detectable, round_up_questions(found.pairs * (detectable / found.effect) ** 2)
