"""Two independent sets of values, as of two weeks or two slices: the difference of their means, its interval, and its p."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.analysis.paired import (
    IntervalAt,
    MeanDifference,
    find_clusters,
    invert_interval,
    to_moments,
)
from ragstone.analysis.significance import ALPHA
from ragstone.analysis.stats import (
    Clusters,
    Interval,
    difference_interval,
    mean_interval,
    ratio_interval,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def compare_sets(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    groups: tuple[NDArray[np.int64] | None, NDArray[np.int64] | None] = (None, None),
    *,
    bounds: tuple[float, float] | None = None,
    binary: bool = False,
    positive: bool = False,
) -> MeanDifference:
    """Compare the means of two sets of values that share no sample.

    p is the level from which the interval of the difference leaves out 0. A group that is in both sets counts as two, which
    makes the interval rather too wide than too narrow."""
    if not len(before) or not len(after):
        return MeanDifference(len(before) + len(after))
    means = float(before.mean()), float(after.mean())
    sides: list[IntervalAt] = []
    pieces = grouped = 0
    for values, numbers in zip((before, after), groups, strict=True):
        side_interval, clusters = _find_side_interval(values, numbers, bounds, binary, positive)
        sides.append(side_interval)
        grouped += clusters is not None
        pieces += len(values) if clusters is None else clusters.count
    is_ratio = positive and min(means) > 0

    def interval_at(alpha: float) -> Interval:
        return _combine(means, (sides[0](alpha), sides[1](alpha)), is_ratio=is_ratio)

    has_interval = interval_at(ALPHA).low is not None
    return MeanDifference(
        pairs=len(before) + len(after),
        before=means[0],
        after=means[1],
        difference=means[1] - means[0],
        interval_at=interval_at,
        clusters=pieces if grouped else None,
        p=invert_interval(interval_at) if has_interval else None,
        test="interval",
    )


def _find_side_interval(
    values: NDArray[np.float64],
    groups: NDArray[np.int64] | None,
    bounds: tuple[float, float] | None,
    binary: bool,
    positive: bool,
) -> tuple[IntervalAt, Clusters | None]:
    moments = to_moments(values)
    clusters, _ = find_clusters(values, groups, moments.mean)

    def interval_at(alpha: float) -> Interval:
        return mean_interval(
            moments, bounds=bounds, binary=binary, clusters=clusters, positive=positive, level=1 - alpha
        )  # fmt: skip

    return interval_at, clusters


def _combine(
    means: tuple[float, float], intervals: tuple[Interval, Interval], *, is_ratio: bool
) -> Interval:
    """The interval of the difference; of a ratio, what it makes of the first mean: the second cannot fall below 0."""
    sides = (means[0], intervals[0]), (means[1], intervals[1])
    ends = ratio_interval(*sides) if is_ratio else difference_interval(*sides)
    warnings = tuple(dict.fromkeys((*intervals[0].warnings, *intervals[1].warnings)))
    if ends is None:
        return Interval(warnings=warnings)
    if is_ratio:
        ends = means[0] * (ends[0] - 1), means[0] * (ends[1] - 1)
    return Interval(*ends, intervals[0].method, warnings)
