"""Two independent sets of values, as of two weeks or two slices: the difference of their means, its interval, and its p."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ragstone.analysis.paired import (
    IntervalAt,
    MeanDifference,
    find_clusters,
    invert_interval,
    to_moments,
)
from ragstone.analysis.stats import Clusters, Interval, difference_interval, mean_interval

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
        at, clusters = _find_side_interval(values, numbers, bounds, binary, positive)
        sides.append(at)
        grouped += clusters is not None
        pieces += len(values) if clusters is None else clusters.count
    is_ratio = positive and min(means) > 0
    combine = _combine_ratio if is_ratio else _combine
    interval_at: IntervalAt = lambda alpha: combine(means, (sides[0](alpha), sides[1](alpha)))  # noqa: E731
    has_interval = interval_at(0.05).low is not None
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
) -> tuple[Callable[[float], Interval], Clusters | None]:
    moments = to_moments(values)
    clusters, _ = find_clusters(values, groups, moments.mean)

    def interval_at(alpha: float) -> Interval:
        return mean_interval(
            moments, bounds=bounds, binary=binary, clusters=clusters, positive=positive, level=1 - alpha
        )  # fmt: skip

    return interval_at, clusters


def _combine(means: tuple[float, float], intervals: tuple[Interval, Interval]) -> Interval:
    ends = difference_interval((means[0], intervals[0]), (means[1], intervals[1]))
    warnings = tuple(dict.fromkeys((*intervals[0].warnings, *intervals[1].warnings)))
    if ends is None:
        return Interval(warnings=warnings)
    return Interval(*ends, intervals[0].method, warnings)


def _combine_ratio(means: tuple[float, float], intervals: tuple[Interval, Interval]) -> Interval:
    """The interval of the ratio of means, as differences to the first: the second mean cannot fall below 0."""
    logs = [
        replace(one, low=None if one.low is None else math.log(one.low), high=None if one.high is None else math.log(one.high))
        for one in intervals
    ]  # fmt: skip
    combined = _combine((math.log(means[0]), math.log(means[1])), (logs[0], logs[1]))
    if combined.low is None or combined.high is None:
        return combined
    low, high = (means[0] * math.expm1(end) for end in (combined.low, combined.high))
    return replace(combined, low=low, high=high)
