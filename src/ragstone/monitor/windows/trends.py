"""Slopes with their intervals, from the means of consecutive buckets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ragstone.analysis.stats import LEVEL, t_quantile
from ragstone.monitor.rollups.byte_columns import Numbers
from ragstone.monitor.rollups.tables import Table, Whole

DAY = 86_400_000_000
LEAST = 4
"""Buckets under which no slope is given."""


@dataclass(frozen=True, slots=True)
class Trend:
    """How a mean moves."""

    slope: float
    """Change a day."""
    low: float
    """Lower end of the slope's 95 % interval."""
    high: float
    points: int

    @property
    def moving(self) -> bool:
        """Whether the interval leaves out "no change"."""
        return self.low > 0 or self.high < 0


def trends(points: Table, starts: Sequence[int], line: Whole, lines: int) -> list[Trend | None]:
    """The slope of each line through bucket means, each weighing as many values as it stands for; None with too few buckets.

    `starts` says when each group of the points began, `line` which line each point is on. The interval comes from how
    the means scatter about the line, so that hours which differ by more than chance widen it."""
    n, mass, squared, sums = points.numbers[:, :4].T
    used = squared > 0
    line, n, mass, squared, sums = line[used], n[used], mass[used], squared[used], sums[used]
    weight = np.minimum(n, mass**2 / squared)
    mean = sums / mass
    when = (np.array(starts, np.int64) - min(starts, default=0))[points.group[used]] / DAY

    def added(what: Numbers) -> Numbers:
        return np.bincount(line, what, lines).astype(float)

    with np.errstate(divide="ignore", invalid="ignore"):
        total = added(weight)
        when = when - (added(weight * when) / total)[line]
        mean = mean - (added(weight * mean) / total)[line]
        across = added(weight * when**2)
        slope = added(weight * when * mean) / across
        left = added(weight * (mean - slope[line] * when) ** 2)
    counts = np.bincount(line, minlength=lines)
    return [
        _trend(*facts)
        for facts in zip(
            slope.tolist(), left.tolist(), across.tolist(), counts.tolist(), strict=True
        )
    ]


def _trend(slope: float, left: float, across: float, count: int) -> Trend | None:
    if count < LEAST or across <= 0:
        return None
    reach = _quantile(count - 2) * math.sqrt(left / (count - 2) / across)
    return Trend(slope, slope - reach, slope + reach, count)


@lru_cache(maxsize=4096)
def _quantile(freedom: int) -> float:
    return t_quantile((1 + LEVEL) / 2, freedom)
