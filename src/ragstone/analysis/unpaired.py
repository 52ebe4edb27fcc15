"""Two independent sets of values, as of two weeks or two slices: the difference of their means, its interval, and its p.

| data                       | interval and p                                                       |
| -------------------------- | -------------------------------------------------------------------- |
| 0/1, or bounded            | from the intervals of the two means (MOVER)                          |
| unbounded                  | studentised permutation: exact when nothing but chance divides the sets |
| unbounded, never negative  | the same of the logarithm of the ratio of means                      |

Two t intervals put together miss skewed values of uneven sets: 20 against 200 of a log-normal with σ 1.5 are called
different in 10 % of studies, by Welch's t in 16 %. `python -m bench.equal_runs --shapes` measures it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragstone.analysis.paired import (
    IntervalAt,
    MeanDifference,
    find_clusters,
    invert_interval,
    reconcile_interval,
    to_moments,
)
from ragstone.analysis.significance import ALPHA, SEED
from ragstone.analysis.stats import (
    Clusters,
    Interval,
    difference_interval,
    mean_interval,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_PIECES = 512
"""Pieces of the smaller set that are dealt one by one; of more, several together are one."""
RANDOM_DEALS = 4_999
MAX_DEALT_TOGETHER = 200_000
"""Pieces shuffled in one step."""


def compare_sets(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    groups: tuple[NDArray[np.int64] | None, NDArray[np.int64] | None] = (None, None),
    *,
    bounds: tuple[float, float] | None = None,
    binary: bool = False,
    positive: bool = False,
) -> MeanDifference:
    """Compare the means of two sets of values that share no sample.

    p is the level from which the interval of the difference leaves out 0. A group that is in both sets counts as two, which
    makes the interval rather too wide than too narrow. `positive` values have the interval of the ratio of means."""
    if not len(before) or not len(after):
        return MeanDifference(len(before) + len(after))
    means = float(before.mean()), float(after.mean())
    sides: list[IntervalAt] = []
    pieces: list[NDArray[np.float64]] = []
    grouped = 0
    for values, numbers in zip((before, after), groups, strict=True):
        side_interval, clusters = _find_side_interval(values, numbers, bounds, binary, positive)
        sides.append(side_interval)
        grouped += clusters is not None
        pieces.append(_to_pieces(values, None if clusters is None else numbers))

    def combined_at(alpha: float) -> Interval:
        return _combine(means, (sides[0](alpha), sides[1](alpha)))

    p: float | None = None
    interval_at: IntervalAt = combined_at
    if combined_at(ALPHA).low is not None:
        if bounds is None:
            permuted = _permute(pieces[0], pieces[1], is_ratio=positive and min(means) > 0)
            p = permuted.p
            interval_at = reconcile_interval(p, _permuted_interval(permuted, means[0], combined_at))
        else:
            p = invert_interval(combined_at)
    return MeanDifference(
        pairs=len(before) + len(after),
        before=means[0],
        after=means[1],
        difference=means[1] - means[0],
        interval_at=interval_at,
        clusters=sum(part.shape[1] for part in pieces) if grouped else None,
        p=p,
        test="interval",
    )


def _find_side_interval(
    values: NDArray[np.float64],
    groups: NDArray[np.int64] | None,
    bounds: tuple[float, float] | None,
    binary: bool,
    positive: bool,
) -> tuple[IntervalAt, Clusters | None]:
    moments = to_moments(values)
    clusters, _ = find_clusters(values, groups, moments.mean)

    def interval_at(alpha: float) -> Interval:
        return mean_interval(
            moments, bounds=bounds, binary=binary, clusters=clusters, positive=positive, level=1 - alpha
        )  # fmt: skip

    return interval_at, clusters


def _combine(means: tuple[float, float], intervals: tuple[Interval, Interval]) -> Interval:
    """The interval of the difference from those of the two means."""
    ends = difference_interval((means[0], intervals[0]), (means[1], intervals[1]))
    warnings = tuple(dict.fromkeys((*intervals[0].warnings, *intervals[1].warnings)))
    if ends is None:
        return Interval(warnings=warnings)
    return Interval(*ends, intervals[0].method, warnings)


def _permuted_interval(permuted: _Permuted, mean: float, combined_at: IntervalAt) -> IntervalAt:
    """The interval in units of the values; `mean` is the first one."""
    import numpy as np

    def interval_at(alpha: float) -> Interval:
        plain = combined_at(alpha)
        assert plain.low is not None
        assert plain.high is not None
        low, high = permuted.find_ends(alpha)
        if permuted.is_ratio:  # what it makes of the first mean: the second cannot fall below 0
            low, high = mean * float(np.expm1(low)), mean * float(np.expm1(high))
        # dealt to very few pieces the values may be all equal, and the error 0
        low = low if math.isfinite(low) else min(plain.low, high)
        high = high if math.isfinite(high) else max(plain.high, low)
        return Interval(low, high, plain.method, plain.warnings)

    return interval_at


@dataclass(frozen=True, slots=True)
class _Permuted:
    """The difference of two means, or of their logarithms, beside what it is when chance alone divides the pieces."""

    difference: float
    error: float
    """Its standard error."""
    by_chance: NDArray[np.float64]
    """The difference in standard errors when the pieces are dealt anew, sorted."""
    is_ratio: bool

    @property
    def p(self) -> float:
        """Twice the smaller tail, so that neither direction is called more often than the other."""
        import numpy as np

        seen, slack = self.difference / self.error, 1e-9
        below = np.searchsorted(self.by_chance, seen + slack, side="right")
        above = len(self.by_chance) - np.searchsorted(self.by_chance, seen - slack)
        # the data as they came are one of the ways to deal them
        return min(1.0, 2 * (1 + float(min(below, above))) / (1 + len(self.by_chance)))

    def find_ends(self, alpha: float) -> tuple[float, float]:
        """The ends of the interval: it leaves out 0 where p is at most alpha."""
        rank = max(1, math.floor(alpha / 2 * (1 + len(self.by_chance)) + 1e-9))
        lowest, highest = float(self.by_chance[rank - 1]), float(self.by_chance[-rank])
        return self.difference - highest * self.error, self.difference - lowest * self.error


def _to_pieces(
    values: NDArray[np.float64], groups: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """Sizes and sums of the independent pieces, as two rows: the groups, and each sample that has none."""
    import numpy as np

    if groups is None:
        return np.stack([np.ones(len(values)), values])
    _, numbers = np.unique(groups, return_inverse=True)
    alone = groups < 0
    numbers[alone] = numbers.max() + 1 + np.arange(alone.sum())
    sizes = np.bincount(numbers).astype(np.float64)
    return np.stack([sizes, np.bincount(numbers, values)])[:, sizes > 0]


def _permute(
    before: NDArray[np.float64], after: NDArray[np.float64], *, is_ratio: bool
) -> _Permuted:
    """Deal the pieces of both sets anew, again and again, into sets as large as these (Janssen 1997)."""
    import numpy as np

    together = math.ceil(min(before.shape[1], after.shape[1]) / MAX_PIECES)
    sets = [_bundle(pieces, together) for pieces in (before, after)]
    counts = [pieces.shape[1] for pieces in sets]
    sizes, sums = np.concatenate(sets, axis=1)
    center = sums.sum() / sizes.sum()
    sums = sums - center * sizes
    terms = np.stack([sizes, sums, sizes * sizes, sizes * sums, sums * sums])
    total = terms.sum(axis=1)

    def measure(first: NDArray[np.float64]) -> tuple[Any, Any]:
        sides = (
            (first, counts[0]),
            ((total if first.ndim == 1 else total[:, None]) - first, counts[1]),
        )
        levels, variances = [], []
        for (size, part, squared_size, product, square), count in sides:
            off = part / size
            spread = np.maximum(square - 2 * off * product + off * off * squared_size, 0.0)
            variance = spread / size**2 * count / (count - 1)
            mean = center + off
            levels.append(np.log(mean) if is_ratio else off)
            variances.append(variance / mean**2 if is_ratio else variance)
        return levels[1] - levels[0], np.sqrt(variances[0] + variances[1])

    # one shuffle deals as many hands as the smaller set goes into all pieces
    small, whole = int(counts[1] < counts[0]), sum(counts)
    hands = whole // counts[small]
    shuffles = math.ceil(RANDOM_DEALS / hands)
    at_once = max(1, min(shuffles, MAX_DEALT_TOGETHER // whole))
    dice = np.random.default_rng(SEED)
    by_chance: list[NDArray[np.float64]] = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(math.ceil(shuffles / at_once)):
            orders = dice.permuted(np.tile(np.arange(whole), (at_once, 1)), axis=1)
            orders = orders[:, : hands * counts[small]].reshape(at_once * hands, counts[small])
            dealt = terms[:, orders].sum(axis=2)
            gaps, errors = measure(total[:, None] - dealt if small else dealt)
            by_chance.append(np.where(errors > 0, gaps / errors, np.sign(gaps) * np.inf))
        difference, error = measure(terms[:, : counts[0]].sum(axis=1))
    drawn = np.sort(np.nan_to_num(np.concatenate(by_chance), nan=0.0))
    return _Permuted(float(difference), float(error), drawn, is_ratio)


def _bundle(pieces: NDArray[np.float64], together: int) -> NDArray[np.float64]:
    """The pieces with so many of them put together; neighbours, which may be alike, are kept apart."""
    import numpy as np

    count = math.ceil(pieces.shape[1] / together)
    numbers = np.arange(pieces.shape[1]) % count
    return np.stack([np.bincount(numbers, row) for row in pieces])
