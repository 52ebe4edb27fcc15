"""The rank scale of metrics without bounds, such as latency and cost.

A value is replaced by the share of the reference period's values that are worse, from 0 to 1. However long their tail,
ranks have a variance, and one huge value counts no more than one large one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.monitor.drift.reference_period import Floats
from ragstone.monitor.rollups import compute_percentiles

Histogram = Mapping[float, float]
"""Value, the middle of its bin → weight."""
HourBins = Mapping[int, Histogram]
"""Hour → histogram."""


@dataclass(frozen=True, slots=True)
class RankScale:
    """The distribution of the reference period's values."""

    keys: tuple[float, ...]
    """Values, the middles of their bins, ascending."""
    shares: tuple[float, ...]
    """Share of the values below the middle of each bin."""

    @classmethod
    def learn(cls, hours: Sequence[Histogram]) -> RankScale:
        """The scale of the histograms of some hours."""
        total = _sum_histograms(hours)
        if not total:
            return cls((), ())
        keys = sorted(total)
        weight = np.array([total[key] for key in keys])
        shares = (np.cumsum(weight) - weight / 2) / weight.sum()
        return cls(tuple(keys), tuple(shares.tolist()))

    @property
    def median(self) -> float:
        """The median of the reference period's values, precise to a bin."""
        return self.keys[min(int(np.searchsorted(self.shares, 0.5)), len(self.keys) - 1)]

    def rank(self, values: Floats, sign: float) -> Floats:
        """The rank of each value; `sign` is 1 where more is better, else -1."""
        if not self.keys:
            return np.full(len(values), 0.5)
        below = np.interp(values, self.keys, self.shares)
        return np.asarray(below if sign > 0 else 1 - below)

    def scale_by(self, factor: float) -> float:
        """By how much the mean rank moves when every value is multiplied."""
        keys, shares = np.array(self.keys), np.array(self.shares)
        if not len(keys):
            return 0.0
        weight = np.diff(shares, prepend=0.0)
        moved = np.interp(keys * factor, keys, shares)
        return float(((moved - shares) * weight).sum() / weight.sum())


def sum_ranks(histogram: Histogram, scale: RankScale, sign: float, n: float) -> Floats:
    """Count, sum, squares and cubes of the ranks of an hour's values, which count as `n`."""
    weight = np.array([*histogram.values()])
    ranks = scale.rank(np.array([*histogram]), sign)
    return np.asarray([n * np.average(ranks**power, weights=weight) for power in range(4)])


def compute_median(hours: Sequence[Histogram]) -> float | None:
    """The median of the values of some hours, precise to a bin."""
    total = _sum_histograms(hours)
    return compute_percentiles(total, [0.5], (-np.inf, np.inf))[0] if total else None


def _sum_histograms(hours: Sequence[Histogram]) -> dict[float, float]:
    total: dict[float, float] = {}
    for hour in hours:
        for value, weight in hour.items():
            total[value] = total.get(value, 0.0) + weight
    return total
