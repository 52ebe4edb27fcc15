"""What a bucket of time holds of one series: exact sums, and a histogram for percentiles. Cells add up."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

from ragstone.types import FAILURES

ALL, LATENCY, COST, TOKENS, FEEDBACK = ":all", ":latency", ":cost", ":tokens", ":feedback"
"""Series beside the metrics; a metric's name never starts with a colon."""

Slice = dict[str, "Cell"]
"""Series → cell, of one slice."""

FINE = 200
"""Steps between 0 and 1 in which scores are counted for percentiles."""
RATIO = 50
"""Other values are counted in steps of 1 / 50 of their size."""
_FAR = 100_000
_SMALLEST = 1e-30


class Cell:
    """Sums over the values of one series in one bucket and slice; weights make them stand for all interactions."""

    __slots__ = (
        "bins", "calls", "cubes", "extra", "high", "low", "n", "outcomes", "squares", "sums",
        "usd", "weights", "weights_squared",
    )  # fmt: skip

    def __init__(self) -> None:
        self.n = 0
        """Values."""
        self.weights = self.weights_squared = 0.0
        self.sums = self.squares = self.cubes = 0.0
        self.low: float | None = None
        self.high: float | None = None
        self.bins: dict[int, float] = {}
        """Bin → weight of the values in it."""
        self.outcomes: dict[str, int] = {}
        """How scoring ended where there is no value → count; of all interactions: `failed`."""
        self.extra = 0
        """Values of interactions that were judged for another reason than the draw, among the others."""
        self.calls = 0
        self.usd = 0.0

    @property
    def effective(self) -> float:
        """How many equally weighted values would say as much."""
        if self.weights_squared <= 0:
            return 0.0
        # Equal weights give the count itself, not the count but for rounding.
        return min(float(self.n), self.weights**2 / self.weights_squared)

    @property
    def mean(self) -> float | None:
        """The weighted mean."""
        return self.sums / self.weights if self.weights > 0 else None

    @property
    def failures(self) -> int:
        """Values that should be there and are not, for whatever reason but the sample's own."""
        return sum(n for outcome, n in self.outcomes.items() if outcome in FAILURES)

    def put(self, values: Sequence[float], weights: Sequence[float] | None, scale: bool) -> None:
        """Take in values; `scale` counts them between 0 and 1 in equal steps."""
        mass = [1.0] * len(values) if weights is None else weights
        first = [w * x for x, w in zip(values, mass, strict=True)]
        second = [p * x for p, x in zip(first, values, strict=True)]
        self.n += len(values)
        self.weights += math.fsum(mass)
        self.weights_squared += math.fsum([w * w for w in mass])
        self.sums += math.fsum(first)
        self.squares += math.fsum(second)
        self.cubes += math.fsum([p * x for p, x in zip(second, values, strict=True)])
        low, high = min(values), max(values)
        self.low = low if self.low is None else min(low, self.low)
        self.high = high if self.high is None else max(high, self.high)
        bins = self.bins
        for x, w in zip(values, mass, strict=True):
            key = _bin(x, scale)
            bins[key] = bins.get(key, 0.0) + w

    def add(self, other: Cell) -> None:
        """Take in another cell."""
        self.n += other.n
        self.weights += other.weights
        self.weights_squared += other.weights_squared
        self.sums += other.sums
        self.squares += other.squares
        self.cubes += other.cubes
        if other.low is not None and other.high is not None:
            self.low = other.low if self.low is None else min(self.low, other.low)
            self.high = other.high if self.high is None else max(self.high, other.high)
        if other.bins:
            for key, weight in other.bins.items():
                self.bins[key] = self.bins.get(key, 0.0) + weight
        if other.outcomes:
            for outcome, n in other.outcomes.items():
                self.outcomes[outcome] = self.outcomes.get(outcome, 0) + n
        self.extra += other.extra
        self.calls += other.calls
        self.usd += other.usd

    def quantiles(self, shares: Sequence[float]) -> list[float] | None:
        """Values below which these shares lie, each to within its bin; None without values."""
        if self.low is None or self.high is None or not self.bins:
            return None
        order = sorted((_centre(key), weight) for key, weight in self.bins.items())
        passed = list(accumulate(weight for _, weight in order))
        found = []
        for share in shares:
            at = bisect_left(passed, share * passed[-1] - 1e-9 * passed[-1])
            value = order[min(at, len(order) - 1)][0]
            found.append(min(max(value, self.low), self.high))
        return found

    def dump(self) -> list[Any]:
        """The sums as plain JSON; a shorter list where the end is empty. Bins are kept apart: they are read less often."""
        full = [
            self.n, self.weights, self.weights_squared, self.sums, self.squares, self.cubes,
            self.low, self.high, self.outcomes, self.extra, self.calls, self.usd,
        ]  # fmt: skip
        while len(full) > _SUMS and not full[-1]:
            full.pop()
        return full

    @classmethod
    def load(cls, item: Sequence[Any]) -> Cell:
        """The cell that `dump` wrote, without bins."""
        cell = cls()
        (
            cell.n, cell.weights, cell.weights_squared, cell.sums, cell.squares, cell.cubes,
            cell.low, cell.high, *rest,
        ) = item  # fmt: skip
        for name, value in zip(("outcomes", "extra", "calls", "usd"), rest, strict=False):
            setattr(cell, name, value)
        return cell

    def add_bins(self, bins: Mapping[str, float]) -> None:
        """Take in a histogram as it was stored."""
        mine = self.bins
        for text, weight in bins.items():
            key = int(text)
            mine[key] = mine.get(key, 0.0) + weight


_SUMS = 8
"""Numbers that every stored cell has."""


def add_slices(into: dict[str, Slice], more: Mapping[str, Slice]) -> None:
    """Add the cells of a bucket, by value of a field and series, to those of others."""
    for value, series in more.items():
        mine = into.setdefault(value, {})
        for name, cell in series.items():
            if name not in mine:
                mine[name] = Cell()
            mine[name].add(cell)


@lru_cache(maxsize=65536)
def _bin(value: float, scale: bool) -> int:
    if scale and 0 <= value <= 1:
        return round(value * FINE)
    size = abs(value)
    if size < _SMALLEST:
        return 0
    key = _FAR + round(RATIO * math.log(size))
    return key if value > 0 else -key


def _centre(key: int) -> float:
    if 0 <= key <= FINE:
        return key / FINE
    return math.copysign(math.exp((abs(key) - _FAR) / RATIO), key)
