"""The numbers of one metric, taken in as they stream by and kept in constant memory."""

from __future__ import annotations

import math
import sys
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.analysis.stats import Clusters, Moments

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK_VALUES = 8192
"""Values that wait to be worked in together."""
MAX_DISTINCT_VALUES = 16_384
"""Distinct values kept exactly; beyond it they are rounded to as many bits as fit."""
MAX_GROUPS = 8192
"""Groups kept apart; later ones share these places, and a union of clusters is still a cluster."""
MAX_SQUARABLE = 1e100
"""Beyond this size a sum of squares would overflow: no mean or interval is given."""


class ValueSketch:
    """Exact sums, extremes and a table of distinct values of everything added.

    The median and the histogram come from the table. They are exact up to 16,384 distinct values; beyond, the table
    holds values rounded to as many significant bits as fit (about 12: an error of 1 in 8,000 of the value)."""

    def __init__(self) -> None:
        import numpy as np

        self.huge = False
        self.minimum: float | None = None
        self.maximum: float | None = None
        self.bits: int | None = None
        """Significant bits of the table; None while it is exact."""
        self._table: NDArray[np.float64] = np.empty(0)
        self._counts: NDArray[np.int64] = np.empty(0, np.int64)
        self._all_moments = RunningMoments()
        self._grouped_moments = RunningMoments()
        self._sizes: NDArray[np.float64] = np.empty(0)
        self._sums: NDArray[np.float64] = np.empty(0)
        self._waiting: list[tuple[NDArray[np.float64], NDArray[np.int64] | None]] = []
        self._waiting_count = 0

    def add(self, values: NDArray[np.float64], places: NDArray[np.int64] | None) -> None:
        """Take in some values with the number of each one's group (see `GroupNumbers`), −1 for none."""
        if len(values):
            self._waiting.append((values, places))
            self._waiting_count += len(values)
            if self._waiting_count >= BLOCK_VALUES:
                self._add_waiting()

    def table(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The distinct values in order and how often each was seen."""
        self._add_waiting()
        return self._table, self._counts

    def moments(self) -> Moments | None:
        """Count, mean and central sums; None without values or when they are too large to square."""
        self._add_waiting()
        if not self._all_moments.n or self.huge:
            return None
        assert self.minimum is not None
        assert self.maximum is not None
        # Three times 0.1 over three is a little more than 0.1; a mean never leaves its values.
        mean = min(max(self._all_moments.mean, self.minimum), self.maximum)
        # from the table of distinct values: cubes summed up as they stream by would lose their
        # digits
        cubes = float((self._counts * (self._table - mean) ** 3).sum())
        squares = self._all_moments.squares if self.minimum < self.maximum else 0.0
        return Moments(self._all_moments.n, mean, squares, cubes, self.minimum, self.maximum)

    def median(self) -> float | None:
        """The middle value, or the mean of the two middle ones."""
        return self.quantile(0.5)

    def quantile(self, share: float) -> float | None:
        """The value below which this share of all values lies, between two of them where it falls so."""
        import numpy as np

        table, counts = self.table()
        if not len(table):
            return None
        below = np.cumsum(counts)
        place = (int(below[-1]) - 1) * share
        left, right = np.searchsorted(below, [math.floor(place), math.ceil(place)], side="right")
        weight = place - math.floor(place)
        return float(table[left] * (1 - weight) + table[right] * weight)

    def clusters(self, groups: GroupNumbers) -> Clusters | None:
        """The values by group, when at least one group holds two of them."""
        import numpy as np

        everything = self.moments()
        if everything is None or not len(self._sizes):
            return None
        # Once groups share places, two values in one place no longer show that a group repeats.
        repeats = groups.repeats if groups.shared else float(self._sizes.max()) > 1
        if not repeats:
            return None
        used = np.flatnonzero(self._sizes)
        grouped = self._grouped_moments
        about_mean = grouped.squares + grouped.n * (grouped.mean - everything.mean) ** 2
        alone = everything.n - grouped.n
        return Clusters(
            self._sizes[used],
            self._sums[used],
            alone,
            max(0.0, everything.squares - about_mean) if alone else 0.0,
        )

    def _add_waiting(self) -> None:
        if not self._waiting:
            return
        import numpy as np

        block = np.concatenate([values for values, _ in self._waiting])
        if any(places is not None for _, places in self._waiting):
            places = np.concatenate(
                [np.full(len(v), -1) if p is None else p for v, p in self._waiting]
            )
            self._add_groups(block, places)
        self._waiting.clear()
        self._waiting_count = 0
        self._add_to_table(block)
        low, high = float(block.min()), float(block.max())
        self.minimum = low if self.minimum is None else min(low, self.minimum)
        self.maximum = high if self.maximum is None else max(high, self.maximum)
        self.huge = self.huge or max(-low, high) > MAX_SQUARABLE
        if not self.huge:
            self._all_moments.add(block)

    def _add_groups(self, block: NDArray[np.float64], places: NDArray[np.int64]) -> None:
        import numpy as np

        inside = places >= 0
        block, places = block[inside], places[inside]
        if not len(block) or self.huge or float(np.abs(block).max()) > MAX_SQUARABLE:
            return
        self._grouped_moments.add(block)
        room = max(len(self._sizes), int(places.max()) + 1)
        grow = (0, room - len(self._sizes))
        self._sizes = np.pad(self._sizes, grow) + np.bincount(places, minlength=room)
        self._sums = np.pad(self._sums, grow) + np.bincount(places, block, minlength=room)

    def _add_to_table(self, block: NDArray[np.float64]) -> None:
        """Merge a block into the table, rounding further when it outgrows its room."""
        import numpy as np

        if self.bits is not None:
            block = _round_to_bits(block, self.bits)
        distinct, counts = np.unique(block, return_counts=True)
        self._merge_into_table(
            np.concatenate([self._table, distinct]), np.concatenate([self._counts, counts])
        )
        # an exact table is first rounded to 24 bits, then to ever fewer until it fits
        bits = self.bits or 25
        while len(self._table) > MAX_DISTINCT_VALUES and bits > 1:
            bits -= 1
            rounded = _round_to_bits(self._table, bits)
            # Down to half the room, lest the next block asks for another round at once.
            if (
                np.count_nonzero(rounded[1:] != rounded[:-1]) < MAX_DISTINCT_VALUES // 2
                or bits == 1
            ):
                self.bits = bits
                self._merge_into_table(rounded, self._counts)

    def _merge_into_table(self, values: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        import numpy as np

        order = np.argsort(values, kind="stable")
        values, counts = values[order], counts[order]
        starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        self._table, self._counts = values[starts], np.add.reduceat(counts, starts)


class RunningMoments:
    """Count, mean and squared deviations of a stream of blocks."""

    __slots__ = ("_sum", "n", "squares")

    def __init__(self) -> None:
        self.n = 0
        self.squares = 0.0
        self._sum = 0.0

    @property
    def mean(self) -> float:
        """The mean; its sum is rounded once a block, so up to 8,192 values in any order give the same."""
        return self._sum / self.n if self.n else 0.0

    def add(self, block: NDArray[np.float64]) -> None:
        """Take in a block that is not empty."""
        block_mean = float(block.mean())
        deviations = block - block_mean
        # Chan, Golub & LeVeque's way to join two sums of squares
        share = len(block) * self.n / (self.n + len(block))
        self.squares += float(deviations @ deviations) + (block_mean - self.mean) ** 2 * share
        self._sum = math.fsum([self._sum, *block.tolist()])
        self.n += len(block)


class GroupNumbers:
    """A place for each group: its own for the first 8,192, a shared one after that."""

    def __init__(self) -> None:
        self.shared = False
        """Whether some groups share a place."""
        self.repeats = False
        """Whether any of the groups with a place of its own was seen twice."""
        self._places: dict[str, int] = {}

    def number_groups(self, names: Sequence[str | None]) -> NDArray[np.int64] | None:
        """The place of each name, −1 for no group; None when no name is one."""
        import numpy as np

        if all(name is None for name in names):
            return None
        return np.array(
            [-1 if name is None else self._number_group(name) for name in names], np.int64
        )

    def _number_group(self, name: str) -> int:
        known = self._places.get(name)
        if known is not None:
            self.repeats = True
            return known
        if len(self._places) < MAX_GROUPS:
            return self._places.setdefault(name, len(self._places))
        self.shared = True
        # crc32, because hash() of a text differs from process to process
        return zlib.crc32(name.encode("utf-8", "surrogatepass")) % MAX_GROUPS


def _round_to_bits(values: NDArray[np.float64], bits: int) -> NDArray[np.float64]:
    """The values with so many significant bits."""
    import numpy as np

    mantissa, exponent = np.frexp(values)
    with np.errstate(over="ignore"):  # the largest number of all may round up to infinity
        rounded = np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits)
    largest = sys.float_info.max
    clipped: NDArray[np.float64] = np.clip(rounded, -largest, largest)
    return clipped
