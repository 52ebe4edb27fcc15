"""What a bucket of time holds of one series: sums, and a histogram for percentiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.types import FAILURES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALL, LATENCY, COST, TOKENS, FEEDBACK = ":all", ":latency", ":cost", ":tokens", ":feedback"
"""Series beside the metrics; a metric's name never starts with a colon."""

Slice = dict[str, "Cell"]
"""Series → cell, of one slice."""

FINE = 200
"""Steps between 0 and 1 in which scores are counted for percentiles."""
RATIO = 50
"""Other values are counted in steps of 1 / 50 of their size."""
_FAR = 40_000
"""The bin of 1 where bins are in steps of size; any value of use fits into two bytes."""
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

    @classmethod
    def of(cls, numbers: Sequence[float], outcomes: dict[str, int]) -> Cell:
        """The cell of a row of a table, without bins."""
        cell = cls()
        (
            n, cell.weights, cell.weights_squared, cell.sums, cell.squares, cell.cubes,
            low, high, extra, calls, cell.usd,
        ) = numbers  # fmt: skip
        cell.n, cell.extra, cell.calls = int(n), int(extra), int(calls)
        cell.low, cell.high = (None, None) if math.isnan(low) else (low, high)
        cell.outcomes = outcomes
        return cell


def bins_of(values: NDArray[np.float64], scale: bool) -> NDArray[np.int64]:
    """The bin of each value; `scale` counts those between 0 and 1 in equal steps. Larger values have larger bins."""
    import numpy as np

    size = np.abs(values)
    with np.errstate(divide="ignore"):
        far = np.where(size < _SMALLEST, 0, _FAR + np.rint(RATIO * np.log(size)))
    key = np.copysign(far, values)
    if scale:
        key = np.where((values >= 0) & (values <= 1), np.rint(values * FINE), key)
    return key.astype(np.int64)


def centres(keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """The middle of each bin."""
    import numpy as np

    far = np.copysign(np.exp((np.abs(keys) - _FAR) / RATIO), keys)
    return np.where((keys >= 0) & (keys <= FINE), keys / FINE, far)


def percentiles(
    keys: NDArray[np.int64],
    weights: NDArray[np.float64],
    shares: Sequence[float],
    ends: tuple[float, float],
) -> list[float]:
    """Values below which these shares of a histogram lie, each to within its bin and never beyond the ends."""
    import numpy as np

    passed = np.cumsum(weights)
    at = np.searchsorted(passed, (np.array(shares) - 1e-9) * passed[-1])
    found: list[float] = centres(keys[np.minimum(at, len(keys) - 1)]).clip(*ends).tolist()
    return found
