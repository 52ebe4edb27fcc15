"""Percentiles with intervals that rest on ranks, so that they stay among the values and above 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.analysis.paired import find_clusters, to_moments
from ragstone.analysis.stats import (
    Interval,
    mean_interval,
    ratio_interval,
    wilson_interval,
)
from ragstone.analysis.values import ValueSketch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LATENCY_PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
"""What is said of latency, in reports and by the monitor: the usual answer, the slow ones, and the slowest."""
MIN_BEYOND = 5
"""Values that must lie beyond a percentile for an interval: p95 takes 20 times as many samples, p99 100 times."""


@dataclass(frozen=True, slots=True)
class Percentile:
    """A percentile with its 95 % interval; None where there are too few values for one."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class PercentileChange:
    """A percentile in two sets of values, and how many times as large it became."""

    name: str
    before: float
    after: float
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None


def find_percentiles(sketch: ValueSketch, effective_size: float) -> dict[str, Percentile]:
    """The percentiles of streamed values, which count as so many independent ones."""
    percentiles = {}
    for name, share in LATENCY_PERCENTILES.items():
        value = sketch.quantile(share)
        if value is None:
            continue
        ends: tuple[float | None, float | None] = (None, None)
        if effective_size * min(share, 1 - share) >= MIN_BEYOND:
            low, high = wilson_interval(share * effective_size, effective_size)
            ends = sketch.quantile(low), sketch.quantile(high)
        percentiles[name] = Percentile(value, *ends)
    return percentiles


def compare_percentiles(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    groups: tuple[NDArray[np.int64] | None, NDArray[np.int64] | None],
    alpha: float,
) -> tuple[PercentileChange, ...]:
    """The percentiles of two sets of values that are never negative, with the interval of their ratio.

    Pairs are not made use of here: the interval is rather too wide."""
    import numpy as np

    changes = []
    for name, share in LATENCY_PERCENTILES.items() if len(before) and len(after) else ():
        old, new = (float(np.quantile(values, share)) for values in (before, after))
        if min(old, new) <= 0:
            changes.append(PercentileChange(name, old, new))
            continue
        old_interval, new_interval = (
            percentile_interval(values, share, group_numbers, alpha)
            for values, group_numbers in zip((before, after), groups, strict=True)
        )
        ends = ratio_interval((old, old_interval), (new, new_interval)) or (None, None)
        changes.append(PercentileChange(name, old, new, new / old, *ends))
    return tuple(changes)


def percentile_interval(
    values: NDArray[np.float64], share: float, groups: NDArray[np.int64] | None, alpha: float
) -> Interval:
    """The interval of a percentile: the values at the ends of the interval of its rank (Woodruff 1952)."""
    import numpy as np

    if len(values) * min(share, 1 - share) < MIN_BEYOND:
        return Interval()
    is_below = (values <= np.quantile(values, share)).astype(np.float64)
    moments = to_moments(is_below)
    clusters, _ = find_clusters(is_below, groups, moments.mean)
    ranks = mean_interval(
        moments, bounds=(0.0, 1.0), binary=True, clusters=clusters, level=1 - alpha
    )
    if ranks.low is None or ranks.high is None:
        return Interval()
    low, high = np.quantile(values, [ranks.low, min(1.0, ranks.high)])
    return Interval(float(low), float(high), "wilson" if clusters is None else "clustered t")
