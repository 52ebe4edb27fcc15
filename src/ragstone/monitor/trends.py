"""A slope with its interval, from the means of consecutive buckets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.monitor.cells import Cell
from ragstone.stats import LEVEL, t_quantile

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


def trend(points: Sequence[tuple[int, Cell]]) -> Trend | None:
    """The slope through bucket means, each weighing as many values as it stands for; None with too few buckets.

    The interval comes from how the means scatter about the line, so that hours which differ by more than chance widen it."""
    used = [(at, cell) for at, cell in points if cell.effective > 0]
    if len(used) < LEAST:
        return None
    first = used[0][0]
    times = [(at - first) / DAY for at, _ in used]
    weights = [cell.effective for _, cell in used]
    means = [cell.sums / cell.weights for _, cell in used]
    total = math.fsum(weights)
    middle = math.fsum(w * t for w, t in zip(weights, times, strict=True)) / total
    level = math.fsum(w * y for w, y in zip(weights, means, strict=True)) / total
    across = math.fsum(w * (t - middle) ** 2 for w, t in zip(weights, times, strict=True))
    if across <= 0:
        return None
    slope = (
        math.fsum(
            w * (t - middle) * (y - level) for w, t, y in zip(weights, times, means, strict=True)
        )
        / across
    )
    left = math.fsum(
        w * (y - level - slope * (t - middle)) ** 2
        for w, t, y in zip(weights, times, means, strict=True)
    )
    freedom = len(used) - 2
    reach = t_quantile((1 + LEVEL) / 2, freedom) * math.sqrt(left / freedom / across)
    return Trend(slope, slope - reach, slope + reach, len(used))
