"""Trends: weighted linear regression through the means of consecutive buckets, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ragstone.analysis.stats import LEVEL, t_quantile
from ragstone.monitor.rollups.byte_columns import FloatArray
from ragstone.monitor.rollups.tables import IntArray, RollupTable
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

    @property
    def is_moving(self) -> bool:
        """Whether the interval excludes "no change"."""
        return self.low > 0 or self.high < 0


def compute_trends(
    points: RollupTable, starts: Sequence[int], line: IntArray, lines: int
) -> list[Trend | None]:
    """The slope of each line through bucket means, weighted by the effective number of values; None with too few buckets.

    `starts` is when each group of the points began, `line` the line of each point, `lines` their number. The interval comes from the scatter of the
    means about the line, so that variance between hours widens it."""
    # the first of COLUMNS: n, weights, weights_squared, sums
    n, mass, squared, sums = points.numbers[:, :4].T
    used = squared > 0
    line, n, mass, squared, sums = line[used], n[used], mass[used], squared[used], sums[used]
    weight = np.minimum(n, mass**2 / squared)
    mean = sums / mass
    when = (np.array(starts, np.int64) - min(starts, default=0))[points.group[used]] / DAY_MICROS

    def sum_by_line(values: FloatArray) -> FloatArray:
        return np.bincount(line, values, lines).astype(float)

    with np.errstate(divide="ignore", invalid="ignore"):
        total = sum_by_line(weight)
        when = when - (sum_by_line(weight * when) / total)[line]
        mean = mean - (sum_by_line(weight * mean) / total)[line]
        spread = sum_by_line(weight * when**2)
        slope = sum_by_line(weight * when * mean) / spread
        residual = sum_by_line(weight * (mean - slope[line] * when) ** 2)
    counts = np.bincount(line, minlength=lines)
    return [
        _build_trend(*facts)
        for facts in zip(
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
