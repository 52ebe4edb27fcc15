"""Trends: weighted linear regression through the means of consecutive buckets, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ragstone.analysis.stats import LEVEL, t_quantile
from ragstone.monitor.rollups.byte_columns import FloatArray
from ragstone.monitor.rollups.tables import COLUMNS, IntArray, RollupTable
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

    @property
    def is_moving(self) -> bool:
        """Whether the interval excludes "no change"."""
        return self.low > 0 or self.high < 0


def compute_trends(
    points: RollupTable, starts: Sequence[int], series: IntArray, series_count: int
) -> list[Trend | None]:
    """The slope of each series of bucket means, weighted by the effective number of values; None with too few buckets.

    `starts` is when each group of the points began, `series` the number of the series that each point belongs to. The
    interval comes from the scatter of the means about the line, so that variance between hours widens it."""
    columns = (COLUMNS.index(name) for name in ("n", "weights", "weights_squared", "sums"))
    used = points.numbers[:, COLUMNS.index("weights_squared")] > 0
    n, weights, squared, sums = (points.numbers[used, column] for column in columns)
    series = series[used]
    weight = np.minimum(n, weights**2 / squared)
    mean = sums / weights
    days = (np.array(starts, np.int64) - min(starts, default=0))[points.group[used]] / DAY_MICROS

    def sum_by_series(values: FloatArray) -> FloatArray:
        return np.bincount(series, values, series_count).astype(float)

    with np.errstate(divide="ignore", invalid="ignore"):
        total = sum_by_series(weight)
        days = days - (sum_by_series(weight * days) / total)[series]
        mean = mean - (sum_by_series(weight * mean) / total)[series]
        spread = sum_by_series(weight * days**2)
        slope = sum_by_series(weight * days * mean) / spread
        residual = sum_by_series(weight * (mean - slope[series] * days) ** 2)
    counts = np.bincount(series, minlength=series_count)
    return [
        _build_trend(*fit)
        for fit in zip(
            slope.tolist(), residual.tolist(), spread.tolist(), counts.tolist(), strict=True
        )
    ]


def _build_trend(slope: float, residual: float, spread: float, count: int) -> Trend | None:
    if count < MIN_TREND_BUCKETS or spread <= 0:
        return None
    margin = _get_t_quantile(count - 2) * math.sqrt(residual / (count - 2) / spread)
    return Trend(slope, slope - margin, slope + margin, count)


@lru_cache(maxsize=4096)
def _get_t_quantile(freedom: int) -> float:
    return t_quantile((1 + LEVEL) / 2, freedom)
