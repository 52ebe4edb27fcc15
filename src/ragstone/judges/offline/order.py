"""The words of claims and sources in their order: neighbours that both sides have, and common subsequences."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline.reading import Floats, Ints

Grams = npt.NDArray[np.int64]


def shared(
    ours: Grams, theirs: Grams, owner: Ints, size: int, gaps: tuple[int, ...], count: int
) -> Floats:
    """Share of a claim's neighbouring words that are neighbours in the sources too; 1 without any."""
    out = np.ones(count, np.float32)
    mine = _grams(ours, size, 1)
    if not len(mine):
        return out
    of = owner[: len(mine)]
    inside = of == owner[size - 1 :]
    # a set is several times quicker than np.isin, which sorts
    known = set().union(*(_grams(theirs, size, gap).tolist() for gap in gaps))
    there = np.fromiter(map(known.__contains__, mine.tolist()), np.bool_, len(mine)) & inside
    total = np.bincount(of, inside, count)
    some = total > 0
    out[some] = np.bincount(of, there, count)[some] / total[some]
    return out


def _grams(ids: Grams, size: int, gap: int) -> Grams:
    reach = (size - 1) * gap
    if len(ids) <= reach:
        return ids[:0]
    joined = ids[: len(ids) - reach]
    for step in range(1, size):
        joined = joined * 1_000_003 + ids[step * gap : len(ids) - reach + step * gap]
    return joined


def longest_common(one: list[int], other: list[int]) -> int:
    """Length of the longest common subsequence, by bit vectors."""
    places: dict[int, int] = {}
    for at, item in enumerate(one):
        places[item] = places.get(item, 0) | (1 << at)
    full = (1 << len(one)) - 1
    row = full
    for item in other:
        match = places.get(item)
        if match:
            match &= row
            row = ((row + match) | (row - match)) & full
    return len(one) - row.bit_count()
