"""Two values for each sample: their mean difference, its interval, and its p."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragstone.analysis.significance import ALPHA, mcnemar, sign_flip
from ragstone.analysis.stats import Clusters, Interval, Moments, mean_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


NO_INTERVAL = Interval()

IntervalAt = Callable[[float], Interval]
"""The interval of a difference that is wrong in a given share of studies."""

SMALLEST_ALPHA = 1e-9
"""Smallest p that `invert_interval` looks for."""


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """How far two means are apart; None where there is nothing to say it of."""

    pairs: int
    """Samples with both values; of two independent sets, the samples of both together."""
    before: float | None = None
    after: float | None = None
    difference: float | None = None
    sd: float | None = None
    """Standard deviation of the differences of pairs."""
    interval_at: IntervalAt = lambda alpha: NO_INTERVAL
    """It leaves out 0 where p is at most alpha, and nowhere else."""
    clusters: int | None = None
    """Independent pieces when samples are grouped; else None."""
    p: float | None = None
    test: str = ""
    """`mcnemar`, `sign flip`, `sign flip of groups` or `interval`."""
    risen: int = 0
    fallen: int = 0

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the difference."""
        return self.interval_at(ALPHA)


def compare_pairs(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    groups: NDArray[np.int64] | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    binary: bool = False,
    positive: bool = False,
) -> MeanDifference:
    """Compare two values of each sample; `groups` numbers the group of each, −1 for none.

    Of `positive` values (seconds, tokens) the interval is that of the ratio of means, so that neither mean can fall below 0."""
    import numpy as np

    if not len(before):
        return MeanDifference(0)
    differences = after - before
    # 0.1 + 0.2 against 0.3 is no change.
    scale = max(float(np.abs(before).max()), float(np.abs(after).max()))
    differences[np.abs(differences) <= 1e-12 * scale] = 0.0
    moments = to_moments(differences)
    clusters, pieces = find_clusters(differences, groups, moments.mean)
    width = None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])

    def interval_at(alpha: float) -> Interval:
        return mean_interval(moments, bounds=width, clusters=clusters, level=1 - alpha)

    means = float(before.mean()), float(after.mean())
    if positive and min(means) > 0 and moments.squares > 0:
        raw_interval: IntervalAt = _find_ratio_interval(before, after, groups)
    else:
        raw_interval = interval_at
    risen, fallen = int((differences > 0).sum()), int((differences < 0).sum())
    # McNemar counts pairs as independent; with groups the signs of whole groups are flipped instead
    if binary and clusters is None:
        test, p = "mcnemar", mcnemar(risen, fallen)
    else:
        test = "sign flip" if clusters is None else "sign flip of groups"
        p = sign_flip(pieces)
    p = reconcile_p(p, raw_interval)
    return MeanDifference(
        pairs=len(before),
        before=means[0],
        after=means[1],
        difference=moments.mean,
        sd=moments.sd,
        interval_at=reconcile_interval(p, raw_interval),
        clusters=None if clusters is None else clusters.count,
        # one piece has one sign: there is nothing to test
        p=p if len(pieces) > 1 else None,
        test=test,
        risen=risen,
        fallen=fallen,
    )


def reconcile_p(p: float, interval_at: IntervalAt) -> float:
    """The p of a test, or where that is larger the level from which the interval leaves out 0.

    A few outliers can keep 0 in the interval although most samples moved, and the other way round. What both show is shown."""
    # above 0.05 nothing is called a difference, whatever the correction
    return p if p > ALPHA else max(p, invert_interval(interval_at))


def reconcile_interval(p: float, interval_at: IntervalAt) -> IntervalAt:
    """The interval, reaching to 0 wherever the test does not rule 0 out."""

    def reach_zero(alpha: float) -> Interval:
        interval = interval_at(alpha)
        if p <= alpha or interval.low is None or interval.high is None:
            return interval
        return replace(interval, low=min(interval.low, 0.0), high=max(interval.high, 0.0))

    return reach_zero


def invert_interval(interval_at: IntervalAt) -> float:
    """The smallest alpha at which the interval leaves out 0; 1 when it never does."""
    low, high = math.log(SMALLEST_ALPHA), 0.0
    if not _leaves_out_zero(interval_at(0.999)):
        return 1.0
    for _ in range(30):
        middle = (low + high) / 2
        if _leaves_out_zero(interval_at(math.exp(middle))):
            high = middle
        else:
            low = middle
    return math.exp(high)


def _leaves_out_zero(interval: Interval) -> bool:
    """Whether 0 is outside; also without an interval, so that the test alone decides then."""
    return interval.low is None or interval.high is None or interval.low > 0 or interval.high < 0


def _find_ratio_interval(
    before: NDArray[np.float64], after: NDArray[np.float64], groups: NDArray[np.int64] | None
) -> IntervalAt:
    """The interval of the ratio of means on the scale of logarithms, as differences to the first mean."""
    old, new = float(before.mean()), float(after.mean())
    # to first order the logarithm of the ratio of means moves by this much with each sample
    shares = after / new - before / old
    moments = to_moments(shares)
    clusters, _ = find_clusters(shares, groups, moments.mean)

    def interval_at(alpha: float) -> Interval:
        logs = mean_interval(moments, clusters=clusters, level=1 - alpha)
        if logs.low is None or logs.high is None:
            return logs
        low, high = (new * math.exp(end) - old for end in (logs.low, logs.high))
        return replace(logs, low=low, high=high)

    return interval_at


def to_moments(values: NDArray[np.float64]) -> Moments:
    """What an interval needs of some values."""
    mean = float(values.mean())
    off = values - mean
    low, high = float(values.min()), float(values.max())
    squares = float(off @ off) if low < high else 0.0
    return Moments(len(values), mean, squares, float((off**3).sum()), low, high)


def find_clusters(
    values: NDArray[np.float64], groups: NDArray[np.int64] | None, mean: float
) -> tuple[Clusters | None, NDArray[np.float64]]:
    """The groups when at least one holds two samples, and the sums of the pieces that are independent."""
    import numpy as np

    if groups is None or not (groups >= 0).any():
        return None, values
    inside = groups >= 0
    sizes = np.bincount(groups[inside])
    if int(sizes.max()) < 2:
        return None, values
    sums = np.bincount(groups[inside], values[inside]).astype(np.float64)
    used = sizes > 0
    alone = values[~inside]
    clusters = Clusters(
        sizes[used].astype(np.float64), sums[used], len(alone), float(((alone - mean) ** 2).sum())
    )
    return clusters, np.concatenate([sums[used], alone])
