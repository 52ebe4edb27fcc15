"""The roll-up cell: sums of one series in one bucket and slice; and the histogram bins for percentiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.types import FAILURES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALL, LATENCY, COST, TOKENS, FEEDBACK = ":all", ":latency", ":cost", ":tokens", ":feedback"
"""Series other than metrics; the name of a metric never starts with a colon."""

SliceCells = dict[str, "RollupCell"]
"""Series → cell, of one slice."""

UNIT_BINS = 200
"""Equal bins between 0 and 1 for scores and feedback."""
BINS_PER_LOG_UNIT = 50
"""Other values are counted in logarithmic bins of width 1 / 50."""
_LOG_BIN_OFFSET = 40_000
"""The logarithmic bin of 1; every practical value fits into two bytes."""
_MIN_MAGNITUDE = 1e-30


class RollupCell:
    """Weighted sums over the values of one series in one bucket and slice; the weights make them estimate all interactions."""

    __slots__ = (
        "bins", "calls", "cubes", "extra", "high", "low", "n", "outcomes", "squares", "sums",
        "usd", "weights", "weights_squared",
    )  # fmt: skip

    def __init__(self) -> None:
        self.n = 0
        """Number of values."""
        self.weights = self.weights_squared = 0.0
        """Sums of the weights and of their squares."""
        self.sums = self.squares = self.cubes = 0.0
        """Weighted sums of the values, their squares and cubes."""
        self.low: float | None = None
        """The smallest value, `high` the largest; None without values."""
        self.high: float | None = None
        self.bins: dict[int, float] = {}
        """Bin → weight of the values in it."""
        self.outcomes: dict[str, int] = {}
        """How scoring ended where there is no value → count; of all interactions: `failed`."""
        self.extra = 0
        """Values of interactions that were not sampled at random but for bad feedback, included in `n`."""
        self.calls = 0
        """Calls of the judge, `usd` what they cost; also of judgements that failed."""
        self.usd = 0.0

    @property
    def effective_size(self) -> float:
        """The effective sample size of the weighted values."""
        if self.weights_squared <= 0:
            return 0.0
        # With equal weights the result must be exactly n, without rounding error.
        return min(float(self.n), self.weights**2 / self.weights_squared)

    @property
    def mean(self) -> float | None:
        """The weighted mean."""
        return self.sums / self.weights if self.weights > 0 else None

    @property
    def failures(self) -> int:
        """Missing values that are failures, such as errors of the judge; not those that do not apply."""
        return sum(n for outcome, n in self.outcomes.items() if outcome in FAILURES)

    @classmethod
    def from_row(cls, numbers: Sequence[float], outcomes: dict[str, int]) -> RollupCell:
        """The cell of a row of a table, without bins."""
        cell = cls()
        (  # in the order of `COLUMNS` in tables.py
            n, cell.weights, cell.weights_squared, cell.sums, cell.squares, cell.cubes,
            low, high, extra, calls, cell.usd,
        ) = numbers  # fmt: skip
        cell.n, cell.extra, cell.calls = int(n), int(extra), int(calls)
        cell.low, cell.high = (None, None) if math.isnan(low) else (low, high)
        cell.outcomes = outcomes
        return cell


def assign_bins(values: NDArray[np.float64], scale: bool) -> NDArray[np.int64]:
    """The bin of each value; with `scale`, values between 0 and 1 get equal bins, others logarithmic ones.

    Larger values have larger bin numbers. Bins are stored: their numbers must not change."""
    import numpy as np

    size = np.abs(values)
    with np.errstate(divide="ignore"):
        log_bin = np.where(
            size < _MIN_MAGNITUDE, 0, _LOG_BIN_OFFSET + np.rint(BINS_PER_LOG_UNIT * np.log(size))
        )
    # negative values get negative bins, so that bins sort as values do
    key = np.copysign(log_bin, values)
    if scale:
        key = np.where((values >= 0) & (values <= 1), np.rint(values * UNIT_BINS), key)
    return key.astype(np.int64)


def get_bin_centres(keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """The middle of each bin."""
    import numpy as np

    centre = np.copysign(np.exp((np.abs(keys) - _LOG_BIN_OFFSET) / BINS_PER_LOG_UNIT), keys)
    return np.where((keys >= 0) & (keys <= UNIT_BINS), keys / UNIT_BINS, centre)


def compute_percentiles(
    keys: NDArray[np.int64],
    weights: NDArray[np.float64],
    shares: Sequence[float],
    ends: tuple[float, float],
) -> list[float]:
    """Values below which these shares of a histogram lie, precise to a bin; `ends`, the smallest and largest value, bound them."""
    import numpy as np

    cumulated = np.cumsum(weights)
    # a share that falls exactly on a bin's end belongs to that bin, whatever the rounding
    index = np.searchsorted(cumulated, (np.array(shares) - 1e-9) * cumulated[-1])
    values: list[float] = (
        get_bin_centres(keys[np.minimum(index, len(keys) - 1)]).clip(*ends).tolist()
    )
    return values
