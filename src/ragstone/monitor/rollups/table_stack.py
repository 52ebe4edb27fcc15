"""Stack of stored tables: as many as a window needs, summed in one operation."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragstone.monitor.rollups.byte_columns import AnyArray, unpack_columns
from ragstone.monitor.rollups.cells import ALL
from ragstone.monitor.rollups.tables import (
    COLUMNS,
    EMPTY_INTS,
    IntArray,
    RollupHistograms,
    RollupTable,
    build_count_cells,
    build_value_cells,
    sum_bins,
    sum_cells,
)


class TableStack:
    """Stored tables, or stored histograms, to be summed together; with `only`, just the slice of that value.

    Values and series are numbered across all tables, as each table has its own numbers for them."""

    def __init__(self, only: str | None = None) -> None:
        self._only_value = only
        self._values = _Codes()
        self._names = _Codes()
        self._codes_by_json: dict[bytes, IntArray] = {}
        """List of values as undecoded JSON → their codes."""
        self._is_counted: NDArray[np.bool_] | None = None
        """Whether a value is included, by its code; None when all are."""
        self._outcomes: list[tuple[int, AnyArray, AnyArray, AnyArray, AnyArray, Sequence[str]]] = []
        """Group; value, series, outcome and count of each row; names of the outcomes."""
        self._parts_by_kind: dict[int, list[tuple[AnyArray, ...]]] = {0: [], 1: [], 2: []}
        """The first three parts of a table (`encode_table`): group, value, series and numbers of its cells. The fourth part is in
        `_outcomes`; histograms have only the first."""

    def add(self, group: int, body: bytes) -> None:
        """Add the encoded table, or histograms, of a group."""
        text, head, parts = unpack_columns(body)
        values, names = self._encode_values(text), self._names.encode(head["names"])
        include_all = self._only_value is None and self._is_counted is None
        for number, columns in enumerate(parts):
            if not columns:
                continue
            # the first two columns are value and series, by the numbers of this table
            value, rest = values[columns[0]], [names[columns[1]], *columns[2:]]
            if not include_all:
                included = value >= 0
                value, rest = value[included], [column[included] for column in rest]
            if number < len(self._parts_by_kind):
                self._parts_by_kind[number].append((np.full(len(value), group), value, *rest))
            else:
                self._outcomes.append((group, value, *rest, head["outcomes"]))

    def keep_largest(self, limit: int) -> int:
        """Keep the values with the most interactions and drop the others; returns how many were dropped."""
        if len(self._values) <= limit:
            return 0
        # the series ALL only counts, so all its cells are in the first part
        _, value, series, n = _concatenate_columns(self._parts_by_kind[0])
        is_all = series == self._names[ALL]
        counts = np.bincount(value[is_all], n[is_all], len(self._values))
        largest = np.argsort(-counts, kind="stable")[:limit]
        self._is_counted = np.zeros(len(counts), bool)
        self._is_counted[largest] = True
        for parts in self._parts_by_kind.values():
            for index, (group, value, *rest) in enumerate(parts):
                included = self._is_counted[value]
                parts[index] = tuple(column[included] for column in (group, value, *rest))
        self._outcomes = [
            (group, *(column[self._is_counted[value]] for column in (value, *rest)), kinds)  # type: ignore[misc]
            for group, value, *rest, kinds in self._outcomes
        ]
        return len(counts) - limit

    def new_like(self) -> TableStack:
        """An empty stack restricted to the same values."""
        other = TableStack(self._only_value)
        # shared, not copied: histograms must number the values as the sums do
        other._values, other._codes_by_json, other._is_counted = (
            self._values,
            self._codes_by_json,
            self._is_counted,
        )
        return other

    def build_table(self) -> RollupTable:
        """The sum: each cell of each group once."""
        bare, single, full = (
            _concatenate_columns(self._parts_by_kind[number]) for number in range(3)
        )
        kinds = []
        if bare:
            kinds.append((bare[:3], build_count_cells(bare[3])))
        if single:
            kinds.append(
                (single[:3], build_value_cells(*(part.astype(float) for part in single[3:])))
            )
        if full:
            kinds.append((full[:3], np.column_stack(full[3:]).astype(float)))
        group, value, series = (
            np.concatenate([part[0][n] for part in kinds] or [EMPTY_INTS]) for n in range(3)
        )
        numbers = np.concatenate([part[1] for part in kinds] or [np.empty((0, len(COLUMNS)))])
        outcomes = self._count_outcomes()
        return sum_cells(
            RollupTable([*self._values], [*self._names], group, value, series, numbers, outcomes)
        )

    def build_histograms(self) -> RollupHistograms:
        """As `build_table`, for a stack of histograms."""
        columns = _concatenate_columns(self._parts_by_kind[0]) or [EMPTY_INTS] * 5
        group, value, series, key, weight = columns
        return sum_bins(
            RollupHistograms(
                [*self._values], [*self._names], group, value, series, key.astype(np.int64),
                weight.astype(float),
            )
        )  # fmt: skip

    def _encode_values(self, text: bytes) -> IntArray:
        """The code of each value, below 0 for one that is excluded. Cached, because many bodies have the same list of values."""
        codes = self._codes_by_json.get(text)
        if codes is None:
            values = json.loads(text)
            if self._only_value is None:
                codes = self._values.encode(values)
            else:
                codes = np.full(len(values), -1)
                if self._only_value in values:
                    codes[values.index(self._only_value)] = self._values[self._only_value]
            self._codes_by_json[text] = codes
        if self._is_counted is None:
            return codes
        # a value may occur only in histograms, written after the sums were read; it is not counted
        known = codes < len(self._is_counted)
        return np.where(known & self._is_counted[np.where(known, codes, 0)], codes, -1)

    def _count_outcomes(self) -> dict[tuple[int, int, int], dict[str, int]]:
        counts: dict[tuple[int, int, int], dict[str, int]] = {}
        for group, value, series, kind, count, kinds in self._outcomes:
            for v, s, k, n in zip(*(x.tolist() for x in (value, series, kind, count)), strict=True):
                cell_counts = counts.setdefault((group, v, s), {})
                cell_counts[kinds[k]] = cell_counts.get(kinds[k], 0) + n
        return counts


def measure_bodies(bodies: Sequence[bytes]) -> tuple[int, int]:
    """The number of interactions and of distinct values in some stored tables of a field."""
    values: set[str] = set()
    seen: set[bytes] = set()
    total = 0
    for body in bodies:
        # the first part has the cells that only count
        text, head, (bare, *_) = unpack_columns(body)
        if text not in seen:
            seen.add(text)
            values.update(json.loads(text))
        if bare:
            # columns: value, series, n
            total += int(bare[2][bare[1] == head["names"].index(ALL)].sum())
    return total, len(values)


class _Codes(dict[str, int]):
    """Text → code, numbered in order of first use; looking up an unknown text adds it."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number

    def encode(self, texts: Sequence[str]) -> IntArray:
        """The code of each text."""
        return np.fromiter(map(self.__getitem__, texts), np.int64, len(texts))


def _concatenate_columns(parts: Sequence[tuple[AnyArray, ...]]) -> list[AnyArray]:
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]
