"""The rank scale of metrics without bounds, such as latency and cost.

A value is replaced by the share of the reference period's values that are worse, from 0 to 1. However long their tail,
ranks have a variance, and one huge value counts no more than one large one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.monitor.drift.window_sums import Floats
from ragstone.monitor.rollups.cells import compute_percentiles, get_bin_centres

Ints = NDArray[np.int64]
HourBins = Mapping[int, tuple[Ints, Floats]]
"""Hour → histogram bins, ascending, and the weight of the values in each."""


@dataclass(frozen=True, slots=True)
class RankScale:
    """The distribution of the reference period's values."""

    keys: tuple[int, ...]
    """Histogram bins, ascending."""
    shares: tuple[float, ...]
    """Share of the values below the middle of each bin."""

    @classmethod
    def learn(cls, hours: Sequence[tuple[Ints, Floats]]) -> RankScale:
        """The scale of the histograms of some hours."""
        if not hours:
            return cls((), ())
        keys, place = np.unique(np.concatenate([key for key, _ in hours]), return_inverse=True)
        weight = np.bincount(place, np.concatenate([weight for _, weight in hours]))
        shares = (np.cumsum(weight) - weight / 2) / weight.sum()
        return cls(tuple(keys.tolist()), tuple(shares.tolist()))

    @property
    def median(self) -> float:
        """The median of the reference period's values, precise to a bin."""
        place = min(int(np.searchsorted(self.shares, 0.5)), len(self.keys) - 1)
        return float(get_bin_centres(np.array([self.keys[place]]))[0])

    def rank(self, keys: Ints, sign: float) -> Floats:
        """The rank of each bin; `sign` is 1 where more is better, else -1."""
        if not self.keys:
            return np.full(len(keys), 0.5)
        below = np.interp(keys, self.keys, self.shares)
        return np.asarray(below if sign > 0 else 1 - below)

    def scale_by(self, factor: float) -> float:
        """By how much the mean rank moves when every value is multiplied."""
        keys = np.array(self.keys)
        if not len(keys):
            return 0.0
        weight = np.diff(np.array(self.shares), prepend=0.0)
        centres = get_bin_centres(keys)
        moved = np.interp(centres * factor, centres, np.array(self.shares))
        return float(((moved - np.array(self.shares)) * weight).sum() / weight.sum())


def sum_ranks(bins: tuple[Ints, Floats], scale: RankScale, sign: float, n: float) -> Floats:
    """Count, sum, squares and cubes of the ranks of an hour's values, which count as `n`."""
    keys, weight = bins
    ranks = scale.rank(keys, sign)
    return np.asarray([n * np.average(ranks**power, weights=weight) for power in range(4)])


def compute_median(hours: Sequence[tuple[Ints, Floats]]) -> float | None:
    """The median of the values of some hours, precise to a bin."""
    if not hours:
        return None
    keys, place = np.unique(np.concatenate([key for key, _ in hours]), return_inverse=True)
    weight = np.bincount(place, np.concatenate([weight for _, weight in hours]))
    return compute_percentiles(keys, weight.astype(float), [0.5], (-np.inf, np.inf))[0]
