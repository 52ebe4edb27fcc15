"""Stored tables laid on one another, as many as a window needs, to be added up in one go."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragstone.monitor.rollups.byte_columns import AnyArray, unpack
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
    """Stored tables laid on one another; of the slices, `only` one if a value is given."""

    def __init__(self, only: str | None = None) -> None:
        self._only = only
        self._values = _Codes()
        self._names = _Codes()
        self._codes_by_json: dict[bytes, IntArray] = {}
        self._is_counted: NDArray[np.bool_] | None = None
        """Whether a value counts, by its code; None when all do."""
        self._outcomes: list[tuple[int, AnyArray, AnyArray, AnyArray, AnyArray, Sequence[str]]] = []
        self._parts: dict[int, list[tuple[AnyArray, ...]]] = {0: [], 1: [], 2: []}

    def add(self, group: int, body: bytes) -> None:
        """Lay the table of a group, as it was stored, on the pile."""
        text, head, parts = unpack(body)
        values, names = self._encode_values(text), self._names.encode(head["names"])
        every = self._only is None and self._is_counted is None
        for number, columns in enumerate(parts):
            if not columns:
                continue
            value, rest = values[columns[0]], [names[columns[1]], *columns[2:]]
            if not every:
                counts = value >= 0
                value, rest = value[counts], [column[counts] for column in rest]
            if number < len(self._parts):
                self._parts[number].append((np.full(len(value), group), value, *rest))
            else:
                self._outcomes.append((group, value, *rest, head["outcomes"]))

    def keep_largest(self, most: int) -> int:
        """Keep the values with the most interactions and forget the others; how many those are."""
        if len(self._values) <= most:
            return 0
        _, value, series, n = _concatenate(self._parts[0])
        every = series == self._names[ALL]
        counts = np.bincount(value[every], n[every], len(self._values))
        best = np.argsort(-counts, kind="stable")[:most]
        self._is_counted = np.zeros(len(counts), bool)
        self._is_counted[best] = True
        for parts in self._parts.values():
            for at, (group, value, *rest) in enumerate(parts):
                counts_here = self._is_counted[value]
                parts[at] = tuple(column[counts_here] for column in (group, value, *rest))
        self._outcomes = [
            (group, *(column[self._is_counted[value]] for column in (value, *rest)), kinds)  # type: ignore[misc]
            for group, value, *rest, kinds in self._outcomes
        ]
        return len(counts) - most

    def new_like(self) -> TableStack:
        """An empty pile that is about the same values."""
        other = TableStack(self._only)
        other._values, other._codes_by_json, other._is_counted = (
            self._values,
            self._codes_by_json,
            self._is_counted,
        )
        return other

    def table(self) -> RollupTable:
        """All of it, each cell of each group once."""
        bare, single, full = (_concatenate(self._parts[number]) for number in range(3))
        kinds = []
        if bare:
            kinds.append((bare[:3], build_count_cells(bare[3])))
        if single:
            kinds.append(
                (single[:3], build_value_cells(*(one.astype(float) for one in single[3:])))
            )
        if full:
            kinds.append((full[:3], np.column_stack(full[3:]).astype(float)))
        group, value, series = (
            np.concatenate([one[0][n] for one in kinds] or [EMPTY_INTS]) for n in range(3)
        )
        numbers = np.concatenate([one[1] for one in kinds] or [np.empty((0, len(COLUMNS)))])
        ended = self._count_outcomes()
        return sum_cells(
            RollupTable([*self._values], [*self._names], group, value, series, numbers, ended)
        )

    def histograms(self) -> RollupHistograms:
        """As `table`, of a pile of histograms."""
        columns = _concatenate(self._parts[0]) or [EMPTY_INTS] * 5
        group, value, series, key, weight = columns
        return sum_bins(
            RollupHistograms(
                [*self._values], [*self._names], group, value, series, key.astype(np.int64),
                weight.astype(float),
            )
        )  # fmt: skip

    def _encode_values(self, text: bytes) -> IntArray:
        """The code of each value, below 0 for one that does not count; lists of values often come again."""
        codes = self._codes_by_json.get(text)
        if codes is None:
            values = json.loads(text)
            if self._only is None:
                codes = self._values.encode(values)
            else:
                codes = np.full(len(values), -1)
                if self._only in values:
                    codes[values.index(self._only)] = self._values[self._only]
            self._codes_by_json[text] = codes
        if self._is_counted is None:
            return codes
        known = codes < len(self._is_counted)
        return np.where(known & self._is_counted[np.where(known, codes, 0)], codes, -1)

    def _count_outcomes(self) -> dict[tuple[int, int, int], dict[str, int]]:
        found: dict[tuple[int, int, int], dict[str, int]] = {}
        for group, value, series, kind, count, kinds in self._outcomes:
            for v, s, k, n in zip(*(x.tolist() for x in (value, series, kind, count)), strict=True):
                mine = found.setdefault((group, v, s), {})
                mine[kinds[k]] = mine.get(kinds[k], 0) + n
        return found


def measure_bodies(bodies: Sequence[bytes]) -> tuple[int, int]:
    """How many interactions some stored tables of a field count, and how many values of the field."""
    values: set[str] = set()
    seen: set[bytes] = set()
    total = 0
    for body in bodies:
        text, head, (bare, *_) = unpack(body)
        if text not in seen:
            seen.add(text)
            values.update(json.loads(text))
        if bare:
            total += int(bare[2][bare[1] == head["names"].index(ALL)].sum())
    return total, len(values)


class _Codes(dict[str, int]):
    """Text → number, in the order in which they came."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number

    def encode(self, texts: Sequence[str]) -> IntArray:
        """The number of each."""
        return np.fromiter(map(self.__getitem__, texts), np.int64, len(texts))


def _concatenate(parts: Sequence[tuple[AnyArray, ...]]) -> list[AnyArray]:
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]
