"""The words of claims and sources in their order: neighbours that both sides have, and common subsequences."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline.alignment import Alignment
from ragstone.judges.offline.reading import STOP, Floats, Ints


def neighbours(laid: Alignment, owner: Ints, reach: int, count: int) -> Floats:
    """Share of each claim's pairs of neighbouring content words whose words stand at most so many content words
    apart in the sources too; 1 without any pair."""
    ours, theirs = laid.claims.kinds != STOP, laid.sources.kinds != STOP
    rows, columns = laid.matches
    kept = (ours[rows] & theirs[columns]).nonzero()[0]
    at, there = ours.cumsum(), theirs.cumsum()
    wide = len(theirs) + reach + 1
    known = set((at[rows[kept]] * wide + there[columns[kept]]).tolist())
    steps = [wide + step for step in range(1, reach + 1)]
    begins = {code // wide - 1 for code in known for step in steps if code + step in known}
    main = owner[ours]
    of = main[:-1]
    inside = of == main[1:]
    found = np.zeros(len(of), np.bool_)
    found[list(begins)] = True
    return share(np.bincount(of, found & inside, count), np.bincount(of, inside, count))


def share(part: npt.NDArray[Any], whole: npt.NDArray[Any]) -> Floats:
    """Part by whole, 1 where there is nothing to share."""
    out = np.ones(len(whole), np.float32)
    np.divide(part, whole, out=out, where=whole > 0, casting="same_kind")
    return out


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
