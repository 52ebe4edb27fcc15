"""Cells of many slices, series and buckets as columns, so that any number of them is added up in one go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragstone.monitor.rollups.byte_columns import Column, Numbers, pack
from ragstone.monitor.rollups.cells import Cell

Whole = NDArray[np.int64]

COLUMNS = (
    "n", "weights", "weights_squared", "sums", "squares", "cubes", "low", "high", "extra", "calls", "usd",
)  # fmt: skip
"""A cell's numbers, in the order of a table's columns; each is an attribute of Cell."""
N, LOW, HIGH = COLUMNS.index("n"), COLUMNS.index("low"), COLUMNS.index("high")
_WIDE = 1 << 19
"""More than there are bins."""


@dataclass(frozen=True)
class Table:
    """A row for each cell: of which group (a bucket or a window), slice and series it is, and its numbers."""

    values: Sequence[str]
    names: Sequence[str]
    """Series."""
    group: Whole
    value: Whole
    """Places in `values`."""
    series: Whole
    """Places in `names`."""
    numbers: Numbers
    """A row of `COLUMNS` for each cell; low and high are NaN where there is no value."""
    outcomes: Mapping[tuple[int, int, int], dict[str, int]]
    """Group, value and series → how scoring ended where there is no value."""

    def __len__(self) -> int:
        return len(self.group)

    def cells(self) -> Iterator[tuple[int, str, str, Cell]]:
        """Group, value, series and cell, without bins."""
        rows = self.numbers.tolist()
        places = zip(self.group.tolist(), self.value.tolist(), self.series.tolist(), strict=True)
        for place, numbers in zip(places, rows, strict=True):
            cell = Cell.of(numbers, self.outcomes.get(place, {}))
            yield place[0], self.values[place[1]], self.names[place[2]], cell


@dataclass(frozen=True)
class Histograms:
    """A row for each bin of each cell, in the order of the cells and then of the bins' centres."""

    values: Sequence[str]
    names: Sequence[str]
    group: Whole
    value: Whole
    series: Whole
    key: Whole
    weight: Numbers

    def each(self) -> Iterator[tuple[tuple[int, str, str], Whole, Numbers]]:
        """Group, value and series, with the bins and their weights."""
        place = _joined(self.group, self.value, self.series, self)
        for start, stop in pairwise([*_starts(place).tolist(), len(place)]):
            whose = (
                int(self.group[start]),
                self.values[self.value[start]],
                self.names[self.series[start]],
            )
            yield whose, self.key[start:stop], self.weight[start:stop]


NOTHING: Whole = np.empty(0, np.int64)


# ── adding up ─────────────────────────────────────────────────────────────────────────────


def added_up(table: Table) -> Table:
    """The table with each cell once, in the order of group, value and series."""
    place = _joined(table.group, table.value, table.series, table)
    order = np.argsort(place, kind="stable")
    starts = _starts(place[order])
    first = order[starts]
    numbers = table.numbers[order]
    if len(starts) < len(order):
        total = np.add.reduceat(numbers, starts, axis=0)
        total[:, LOW] = np.fmin.reduceat(numbers[:, LOW], starts)
        total[:, HIGH] = np.fmax.reduceat(numbers[:, HIGH], starts)
        numbers = total
    return Table(
        table.values, table.names, table.group[first], table.value[first], table.series[first],
        numbers, table.outcomes,
    )  # fmt: skip


def regrouped(table: Table, groups: Sequence[int]) -> Table:
    """The table with larger groups: `groups` says for each old one which new one it is part of."""
    outcomes: dict[tuple[int, int, int], dict[str, int]] = {}
    for (group, value, series), kinds in table.outcomes.items():
        mine = outcomes.setdefault((groups[group], value, series), {})
        for kind, count in kinds.items():
            mine[kind] = mine.get(kind, 0) + count
    larger = np.array(groups, np.int64)[table.group]
    return added_up(
        Table(table.values, table.names, larger, table.value, table.series, table.numbers, outcomes)
    )


def bins_added_up(bins: Histograms) -> Histograms:
    place = _joined(bins.group, bins.value, bins.series, bins) * _WIDE + bins.key + _WIDE // 2
    order = np.argsort(place, kind="stable")
    starts = _starts(place[order])
    first = order[starts]
    weight = np.add.reduceat(bins.weight[order], starts) if len(starts) else bins.weight
    return Histograms(
        bins.values, bins.names, bins.group[first], bins.value[first], bins.series[first],
        bins.key[first], weight,
    )  # fmt: skip


def _joined(group: Whole, value: Whole, series: Whole, of: Table | Histograms) -> Whole:
    """One number for each place, in the order of group, value and series."""
    return (group * max(1, len(of.values)) + value) * max(1, len(of.names)) + series


def _starts(places: Whole) -> Whole:
    """Where each run of equal numbers starts."""
    if not len(places):
        return NOTHING
    return np.flatnonzero(np.concatenate([[True], places[1:] != places[:-1]]))


# ── as bytes ──────────────────────────────────────────────────────────────────────────────


def stored_table(table: Table) -> bytes:
    """A table of one group as bytes: cells that only count, cells of a single value, and the others, each as short as can be."""
    used, value, names, series = _local(table.value, table.series, table.values, table.names)
    numbers = table.numbers
    n, weight, low = numbers[:, N], numbers[:, 1], numbers[:, LOW]
    bare = ~numbers[:, 1:LOW].any(axis=1) & ~numbers[:, HIGH + 1 :].any(axis=1) & np.isnan(low)
    with np.errstate(over="ignore", invalid="ignore"):
        alike = single_cells(low, weight, *numbers[:, HIGH + 1 :].T)
    single = ~bare & (n == 1) & (alike == numbers).all(axis=1)
    full = ~(bare | single)
    kinds: dict[str, int] = {}
    ended = [
        (value[row], series[row], kinds.setdefault(kind, len(kinds)), count)
        for row, place in enumerate(_places(table)) if place in table.outcomes
        for kind, count in table.outcomes[place].items()
    ]  # fmt: skip
    whole = np.column_stack([value, series, numbers])
    first = 2  # columns before the numbers
    parts = [
        whole[bare][:, : first + 1],
        whole[single][:, [0, 1, first + LOW, first + 1, *range(first + HIGH + 1, whole.shape[1])]],
        whole[full],
        np.array(ended, float).reshape(-1, 4),
    ]
    return pack(used, names, {"outcomes": [*kinds]}, parts)


def stored_bins(bins: Histograms) -> bytes:
    """Histograms of one group as bytes."""
    used, value, names, series = _local(bins.value, bins.series, bins.values, bins.names)
    return pack(used, names, {}, [np.column_stack([value, series, bins.key, bins.weight])])


def _places(table: Table) -> Iterator[tuple[int, int, int]]:
    if not table.outcomes:
        return iter(())
    return zip(table.group.tolist(), table.value.tolist(), table.series.tolist(), strict=True)


def _local(
    value: Whole, series: Whole, values: Sequence[str], names: Sequence[str]
) -> tuple[list[str], Whole, list[str], Whole]:
    """Values and names that occur, and places among them."""
    some, value = _renumbered(value, len(values))
    few, series = _renumbered(series, len(names))
    return [values[n] for n in some], value, [names[n] for n in few], series


def _renumbered(codes: Whole, count: int) -> tuple[list[int], Whole]:
    used = np.flatnonzero(np.bincount(codes, minlength=count))
    place = np.zeros(count, np.int64)
    place[used] = np.arange(len(used))
    return used.tolist(), place[codes]


def bare_cells(n: Column) -> Numbers:
    numbers = np.zeros((len(n), len(COLUMNS)))
    numbers[:, N] = n
    numbers[:, [LOW, HIGH]] = np.nan
    return numbers


def single_cells(x: Column, weight: Column, extra: Column, calls: Column, usd: Column) -> Numbers:
    """Cells of one value each."""
    first = weight * x
    second = first * x
    one = np.ones(len(x))
    return np.column_stack(
        [one, weight, weight * weight, first, second, second * x, x, x, extra, calls, usd]
    )
