"""Column-oriented tables of roll-up cells, so that any number of cells is summed in one numpy operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragstone.monitor.rollups.byte_columns import AnyArray, FloatArray, pack_columns
from ragstone.monitor.rollups.cells import RollupCell

IntArray = NDArray[np.int64]

COLUMNS = (
    "n", "weights", "weights_squared", "sums", "squares", "cubes", "low", "high", "extra", "calls", "usd",
)  # fmt: skip
"""A cell's numbers, in the order of a table's columns; each is an attribute of RollupCell. Stored tables, `RollupCell.from_row`
and `build_value_cells` rely on the order, and stored tables have no version: a change needs a migration
that empties the stored roll-ups and marks all their buckets, so that they are made anew."""
N, WEIGHTS, LOW, HIGH = (
    COLUMNS.index("n"),
    COLUMNS.index("weights"),
    COLUMNS.index("low"),
    COLUMNS.index("high"),
)
_MAX_BINS = 1 << 19
"""Greater than the number of bins, so that cell and bin combine into one sort key."""


@dataclass(frozen=True)
class RollupTable:
    """One row per cell: its group (a bucket or a window), slice, series and sums."""

    values: Sequence[str]
    """Values of the field, which name its slices."""
    names: Sequence[str]
    """Names of the series."""
    group: IntArray
    value: IntArray
    """Indices into `values`."""
    series: IntArray
    """Indices into `names`."""
    numbers: FloatArray
    """A row of `COLUMNS` for each cell; low and high are NaN where there is no value."""
    outcomes: Mapping[tuple[int, int, int], dict[str, int]]
    """Group, value and series → outcome of missing values → count."""

    def __len__(self) -> int:
        return len(self.group)

    def iter_cells(self) -> Iterator[tuple[int, str, str, RollupCell]]:
        """Group, value, series and cell, without bins."""
        rows = self.numbers.tolist()
        keys = zip(self.group.tolist(), self.value.tolist(), self.series.tolist(), strict=True)
        for key, numbers in zip(keys, rows, strict=True):
            group, value, series = key
            cell = RollupCell.from_row(numbers, self.outcomes.get(key, {}))
            yield group, self.values[value], self.names[series], cell


@dataclass(frozen=True)
class RollupHistograms:
    """One row per bin of each cell, sorted by cell and then by bin."""

    values: Sequence[str]
    names: Sequence[str]
    group: IntArray
    value: IntArray
    series: IntArray
    key: IntArray
    """The bin, as `assign_bins` numbers it."""
    weight: FloatArray

    def iter_cells(self) -> Iterator[tuple[tuple[int, str, str], IntArray, FloatArray]]:
        """Group, value and series, with the bins and their weights."""
        cells = _combine_keys(self.group, self.value, self.series, self)
        for start, stop in pairwise([*_find_run_starts(cells).tolist(), len(cells)]):
            whose = (
                int(self.group[start]),
                self.values[self.value[start]],
                self.names[self.series[start]],
            )
            yield whose, self.key[start:stop], self.weight[start:stop]


EMPTY_INTS: IntArray = np.empty(0, np.int64)


# ── summing ───────────────────────────────────────────────────────────────────────────────


def sum_cells(table: RollupTable) -> RollupTable:
    """The table with each cell once, sorted by group, value and series."""
    keys = _combine_keys(table.group, table.value, table.series, table)
    order = np.argsort(keys, kind="stable")
    starts = _find_run_starts(keys[order])
    first = order[starts]
    numbers = table.numbers[order]
    if len(starts) < len(order):  # else every cell is there once, and there is nothing to add
        total = np.add.reduceat(numbers, starts, axis=0)
        # fmin and fmax pass over NaN, which stands for "no value"
        total[:, LOW] = np.fmin.reduceat(numbers[:, LOW], starts)
        total[:, HIGH] = np.fmax.reduceat(numbers[:, HIGH], starts)
        numbers = total
    return RollupTable(
        table.values, table.names, table.group[first], table.value[first], table.series[first],
        numbers, table.outcomes,
    )  # fmt: skip


def regroup_table(table: RollupTable, groups: Sequence[int]) -> RollupTable:
    """The table with coarser groups: `groups` maps each old group to its new one."""
    outcomes: dict[tuple[int, int, int], dict[str, int]] = {}
    for (group, value, series), kinds in table.outcomes.items():
        counts = outcomes.setdefault((groups[group], value, series), {})
        for kind, count in kinds.items():
            counts[kind] = counts.get(kind, 0) + count
    coarser = np.array(groups, np.int64)[table.group]
    return sum_cells(
        RollupTable(
            table.values, table.names, coarser, table.value, table.series, table.numbers, outcomes
        )
    )


def sum_bins(bins: RollupHistograms) -> RollupHistograms:
    """The histograms with each bin of a cell once, sorted by cell and bin."""
    keys = (  # bins may be negative: shifted by half the range
        _combine_keys(bins.group, bins.value, bins.series, bins) * _MAX_BINS
        + bins.key
        + _MAX_BINS // 2
    )
    order = np.argsort(keys, kind="stable")
    starts = _find_run_starts(keys[order])
    first = order[starts]
    weight = np.add.reduceat(bins.weight[order], starts) if len(starts) else bins.weight
    return RollupHistograms(
        bins.values, bins.names, bins.group[first], bins.value[first], bins.series[first],
        bins.key[first], weight,
    )  # fmt: skip


def _combine_keys(
    group: IntArray, value: IntArray, series: IntArray, of: RollupTable | RollupHistograms
) -> IntArray:
    """One sort key for each row, ordered by group, value and series."""
    return (group * max(1, len(of.values)) + value) * max(1, len(of.names)) + series


def _find_run_starts(keys: IntArray) -> IntArray:
    """Where each run of equal keys starts."""
    if not len(keys):
        return EMPTY_INTS
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))


# ── as bytes ──────────────────────────────────────────────────────────────────────────────


def encode_table(table: RollupTable) -> bytes:
    """A table of one group as bytes, in four parts: cells that only count, cells of a single value, all other cells, and outcomes.

    The columns of each part, after value and series, are what `TableStack.build_table` expects: n; the arguments of
    `build_value_cells`; all of `COLUMNS`; outcome and count."""
    used, value, names, series = _drop_unused(table.value, table.series, table.values, table.names)
    numbers = table.numbers
    n, weight, low = numbers[:, N], numbers[:, WEIGHTS], numbers[:, LOW]
    is_count = ~numbers[:, 1:LOW].any(axis=1) & ~numbers[:, HIGH + 1 :].any(axis=1) & np.isnan(low)
    with np.errstate(over="ignore", invalid="ignore"):
        as_single = build_value_cells(low, weight, *numbers[:, HIGH + 1 :].T)
    # a cell is shortened only where decoding gives back exactly the same numbers
    is_single = ~is_count & (n == 1) & (as_single == numbers).all(axis=1)
    is_full = ~(is_count | is_single)
    kinds: dict[str, int] = {}
    outcome_rows = [
        (value[row], series[row], kinds.setdefault(kind, len(kinds)), count)
        for row, cell in enumerate(_iter_cell_keys(table)) if cell in table.outcomes
        for kind, count in table.outcomes[cell].items()
    ]  # fmt: skip
    whole = np.column_stack([value, series, numbers])
    first = 2  # columns before the numbers
    parts = [
        whole[is_count][:, : first + 1],
        whole[is_single][
            :, [0, 1, first + LOW, first + WEIGHTS, *range(first + HIGH + 1, whole.shape[1])]
        ],
        whole[is_full],
        np.array(outcome_rows, float).reshape(-1, 4),
    ]
    return pack_columns(used, names, {"outcomes": [*kinds]}, parts)


def encode_histograms(bins: RollupHistograms) -> bytes:
    """Histograms of one group as bytes."""
    used, value, names, series = _drop_unused(bins.value, bins.series, bins.values, bins.names)
    return pack_columns(used, names, {}, [np.column_stack([value, series, bins.key, bins.weight])])


def _iter_cell_keys(table: RollupTable) -> Iterator[tuple[int, int, int]]:
    """Group, value and series of each row; nothing for a table without outcomes, which are all they are used for."""
    if not table.outcomes:
        return iter(())
    return zip(table.group.tolist(), table.value.tolist(), table.series.tolist(), strict=True)


def _drop_unused(
    value: IntArray, series: IntArray, values: Sequence[str], names: Sequence[str]
) -> tuple[list[str], IntArray, list[str], IntArray]:
    """The values and names that occur, and indices into them."""
    used_values, value = _renumber_used(value, len(values))
    used_names, series = _renumber_used(series, len(names))
    return [values[n] for n in used_values], value, [names[n] for n in used_names], series


def _renumber_used(codes: IntArray, count: int) -> tuple[list[int], IntArray]:
    """The codes below `count` that occur, and each code's index among them."""
    used = np.flatnonzero(np.bincount(codes, minlength=count))
    index_of_code = np.zeros(count, np.int64)
    index_of_code[used] = np.arange(len(used))
    return used.tolist(), index_of_code[codes]


def build_count_cells(n: AnyArray) -> FloatArray:
    """Cells that only count: `n` interactions each, no values."""
    numbers = np.zeros((len(n), len(COLUMNS)))
    numbers[:, N] = n
    numbers[:, [LOW, HIGH]] = np.nan
    return numbers


def build_value_cells(
    x: AnyArray, weight: AnyArray, extra: AnyArray, calls: AnyArray, usd: AnyArray
) -> FloatArray:
    """Cells of one value each; the columns in the order of `COLUMNS`."""
    first = weight * x
    second = first * x
    n = np.ones(len(x))
    return np.column_stack(
        [n, weight, weight * weight, first, second, second * x, x, x, extra, calls, usd]
    )
