"""Trends: weighted linear regression through the means of consecutive buckets, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ragstone.analysis.stats import LEVEL, t_quantile
from ragstone.monitor.rollups import RollupCell
from ragstone.monitor.statements import DAY_MICROS

MIN_TREND_BUCKETS = 4
"""With fewer buckets no trend is given."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The slope of a mean over time."""

    slope: float
    """Change per day."""
    low: float
    """Lower end of the slope's 95 % interval."""
    high: float
    points: int
    """Number of buckets; exports know it by this name."""
    days: float = 0.0
    """From the first bucket to the last."""

    @property
    def is_moving(self) -> bool:
        """Whether the interval excludes "no change"."""
        return self.low > 0 or self.high < 0


def fit_trend(points: Mapping[int, RollupCell]) -> Trend | None:
    """The slope of bucket means (start → cell), weighted by the effective number of values; None with too few buckets.

    The interval comes from the scatter of the means about the line, so that variance between hours widens it."""
    used = {at: cell for at, cell in points.items() if cell.mean is not None}
    if len(used) < MIN_TREND_BUCKETS:
        return None
    weight = np.array([cell.effective_size for cell in used.values()])
    days = (np.array([*used]) - min(used)) / DAY_MICROS
    seen = float(days.max())
    means = np.array([cell.total / cell.weights for cell in used.values()])
    days = days - np.average(days, weights=weight)
    means = means - np.average(means, weights=weight)
    spread = float((weight * days**2).sum())
    slope = float((weight * days * means).sum()) / spread
    residual = float((weight * (means - slope * days) ** 2).sum())
    freedom = len(used) - 2
    margin = _get_t_quantile(freedom) * math.sqrt(residual / freedom / spread)
    return Trend(slope, slope - margin, slope + margin, len(used), seen)


@lru_cache(maxsize=4096)
def _get_t_quantile(freedom: int) -> float:
    return t_quantile((1 + LEVEL) / 2, freedom)
