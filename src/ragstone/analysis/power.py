"""How small a difference a test set can show, and how many questions a difference needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from ragstone.analysis.paired import MeanDifference
from ragstone.analysis.significance import ALPHA
from ragstone.analysis.stats import Z

POWER = 0.8
"""How often a study should notice a difference of the size it was planned for."""

ASSUMED_CORRELATION = 0.5
"""Correlation between two configurations of one system on the same questions, until two runs show it."""

WORST_SD = 0.5
"""Standard deviation of a 0/1 metric at 50 %: no metric between 0 and 1 has a larger one."""


@dataclass(frozen=True, slots=True)
class SampleSize:
    """How many questions a difference needs, and what that rests on."""

    effect: float
    """The true difference of means that is to be found; above 0."""
    questions: int
    sd: float
    """Standard deviation of the paired difference."""
    design: float
    """How many times more questions the groups cost: 1 when samples are independent."""
    power: float
    """Share of studies that find such a difference significant."""
    alpha: float
    """Share of studies that find a difference where there is none, over all comparisons together."""
    comparisons: int
    """Comparisons that share `alpha` (Bonferroni): each is tested at alpha / comparisons."""
    assumed: bool
    """Whether the deviation is an assumption and not measured on two runs."""


def plan_sample_size(
    effect: float,
    sd: float,
    *,
    design: float = 1.0,
    binary: bool = False,
    power: float = POWER,
    alpha: float = 0.05,
    comparisons: int = 1,
    assumed: bool = False,
) -> SampleSize:
    """The questions at which a true difference of this size is found significant in a share `power` of studies.

    `effect` must be above 0: no number of questions shows a difference of 0."""
    # Bonferroni: each of several comparisons is tested at its part of alpha
    test_alpha = alpha / comparisons
    # the normal approximation for the mean of paired differences, times the design effect of groups (Kish 1965)
    count = (_sum_quantiles(test_alpha, power) * sd / effect) ** 2 * design
    # the variance is estimated too, so that the test is one of Student's t (Guenther 1981)
    count += NormalDist().inv_cdf(1 - test_alpha / 2) ** 2 / 2
    # an exact test moves in steps: continuity correction of half a pair, in the form for one proportion
    # (Fleiss, Levin and Paik 2003, chapter 2)
    if binary:
        count += 1 / effect
    return SampleSize(effect, math.ceil(count), sd, design, power, alpha, comparisons, assumed)


def detectable_difference(half_width: float, alpha: float, power: float = POWER) -> float:
    """The true difference that is found significant in a share `power` of such studies, from the half width of the 95 % interval."""
    return _sum_quantiles(alpha, power) * half_width / Z


def find_needed_questions(
    difference: MeanDifference, effect: float, alpha: float = ALPHA
) -> int | None:
    """About how many questions would show a difference of this size, at the spread that was measured; None without an interval."""
    interval = difference.interval
    if interval.low is None or interval.high is None or effect <= 0:
        return None
    half_width = (interval.high - interval.low) / 2
    if difference.test != "interval" and not difference.risen + difference.fallen:
        return count_unmoved_questions(difference.pairs, half_width, effect, alpha)
    seen = detectable_difference(half_width, alpha)
    return round_up_questions(difference.pairs * (seen / effect) ** 2)


def count_unmoved_questions(
    pairs: int, half_width: float, effect: float, alpha: float, span: float = 1.0
) -> int:
    """About how many questions without a change would exclude a difference of this size, where none of `pairs` moved.

    The interval then shrinks with the number of independent questions, not with its root; `half_width` is that of the 95 %
    interval and says how many they are, `span` is the width of the metric's range."""
    z = NormalDist().inv_cdf(1 - alpha / 2)
    # half_width = Z² · span / (independent + Z²); questions of one group are fewer than they look
    independent = Z * Z * (span / half_width - 1) if half_width > 0 else float(pairs)
    share = min(max(independent / pairs, 1e-3), 1.0)
    return round_up_questions(max(z * z * (span / effect - 1) / share, 1))


def compute_paired_sd(sd: float, correlation: float = ASSUMED_CORRELATION) -> float:
    """Standard deviation of the difference of two equally spread values that correlate so."""
    return sd * math.sqrt(2 * (1 - correlation))


def round_up_questions(count: float) -> int:
    """A number of questions as one says it: two significant digits, upwards."""
    whole = math.ceil(count)
    step = int(10 ** max(0, len(str(whole)) - 2))
    return -(-whole // step) * step


def _sum_quantiles(alpha: float, power: float) -> float:
    """Standard errors that a true difference must span: up to the two-sided limit of `alpha`, and from there for `power`."""
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
