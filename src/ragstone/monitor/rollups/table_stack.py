"""Stored tables laid on one another, as many as a window needs, to be added up in one go."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragstone.monitor.rollups.byte_columns import Column, unpack
from ragstone.monitor.rollups.cells import ALL
from ragstone.monitor.rollups.tables import (
    COLUMNS,
    NOTHING,
    Histograms,
    Table,
    Whole,
    added_up,
    bare_cells,
    bins_added_up,
    single_cells,
)


class Pile:
    """Stored tables laid on one another; of the slices, `only` one if a value is given."""

    def __init__(self, only: str | None = None) -> None:
        self._only = only
        self._values = _Codes()
        self._names = _Codes()
        self._seen: dict[bytes, Whole] = {}
        self._kept: NDArray[np.bool_] | None = None
        """Whether a value counts, by its code; None when all do."""
        self._outcomes: list[tuple[int, Column, Column, Column, Column, Sequence[str]]] = []
        self._parts: dict[int, list[tuple[Column, ...]]] = {0: [], 1: [], 2: []}

    def put(self, group: int, body: bytes) -> None:
        """Lay the table of a group, as it was stored, on the pile."""
        text, head, parts = unpack(body)
        values, names = self._places(text), self._names.of(head["names"])
        every = self._only is None and self._kept is None
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

    def limit(self, most: int) -> int:
        """Keep the values with the most interactions and forget the others; how many those are."""
        if len(self._values) <= most:
            return 0
        _, value, series, n = _stacked(self._parts[0])
        every = series == self._names[ALL]
        counts = np.bincount(value[every], n[every], len(self._values))
        best = np.argsort(-counts, kind="stable")[:most]
        self._kept = np.zeros(len(counts), bool)
        self._kept[best] = True
        for parts in self._parts.values():
            for at, (group, value, *rest) in enumerate(parts):
                counts_here = self._kept[value]
                parts[at] = tuple(column[counts_here] for column in (group, value, *rest))
        self._outcomes = [
            (group, *(column[self._kept[value]] for column in (value, *rest)), kinds)  # type: ignore[misc]
            for group, value, *rest, kinds in self._outcomes
        ]
        return len(counts) - most

    def beside(self) -> Pile:
        """An empty pile that is about the same values."""
        other = Pile(self._only)
        other._values, other._seen, other._kept = self._values, self._seen, self._kept
        return other

    def table(self) -> Table:
        """All of it, each cell of each group once."""
        bare, single, full = (_stacked(self._parts[number]) for number in range(3))
        kinds = []
        if bare:
            kinds.append((bare[:3], bare_cells(bare[3])))
        if single:
            kinds.append((single[:3], single_cells(*(one.astype(float) for one in single[3:]))))
        if full:
            kinds.append((full[:3], np.column_stack(full[3:]).astype(float)))
        group, value, series = (
            np.concatenate([one[0][n] for one in kinds] or [NOTHING]) for n in range(3)
        )
        numbers = np.concatenate([one[1] for one in kinds] or [np.empty((0, len(COLUMNS)))])
        ended = self._how_scoring_ended()
        return added_up(
            Table([*self._values], [*self._names], group, value, series, numbers, ended)
        )

    def histograms(self) -> Histograms:
        """As `table`, of a pile of histograms."""
        columns = _stacked(self._parts[0]) or [NOTHING] * 5
        group, value, series, key, weight = columns
        return bins_added_up(
            Histograms(
                [*self._values], [*self._names], group, value, series, key.astype(np.int64),
                weight.astype(float),
            )
        )  # fmt: skip

    def _places(self, text: bytes) -> Whole:
        """The code of each value, below 0 for one that does not count; lists of values often come again."""
        codes = self._seen.get(text)
        if codes is None:
            values = json.loads(text)
            if self._only is None:
                codes = self._values.of(values)
            else:
                codes = np.full(len(values), -1)
                if self._only in values:
                    codes[values.index(self._only)] = self._values[self._only]
            self._seen[text] = codes
        if self._kept is None:
            return codes
        known = codes < len(self._kept)
        return np.where(known & self._kept[np.where(known, codes, 0)], codes, -1)

    def _how_scoring_ended(self) -> dict[tuple[int, int, int], dict[str, int]]:
        found: dict[tuple[int, int, int], dict[str, int]] = {}
        for group, value, series, kind, count, kinds in self._outcomes:
            for v, s, k, n in zip(*(x.tolist() for x in (value, series, kind, count)), strict=True):
                mine = found.setdefault((group, v, s), {})
                mine[kinds[k]] = mine.get(kinds[k], 0) + n
        return found


def extent(bodies: Sequence[bytes]) -> tuple[int, int]:
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

    def of(self, texts: Sequence[str]) -> Whole:
        """The number of each."""
        return np.fromiter(map(self.__getitem__, texts), np.int64, len(texts))


def _stacked(parts: Sequence[tuple[Column, ...]]) -> list[Column]:
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]
