"""The formulas of the ranking metrics and what they are made of: one row of numbers for each ranking."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from itertools import accumulate, repeat
from operator import truediv
from typing import Any, Literal, NamedTuple

Gain = Literal["linear", "exp2"]
"""What a grade is worth: itself, or 2^grade − 1."""

MAX_IDEALS = 10_000
"""Sets of grades whose ideal is remembered; judged data has few different ones."""
LN2 = math.log(2)
MAX_EXACT_GRADE = 500.0
"""Above this, 2^grade nears the end of the floats, and the − 1 has long been lost in rounding."""
LOG2 = [0.0, 0.0]
"""LOG2[n] is the base-2 logarithm of n: a look-up costs half of a call. It grows with the longest ranking."""


Hit = tuple[int, float]
"""Rank and grade of a relevant document that was retrieved."""


class Asked(NamedTuple):
    """The metrics that one walk must give."""

    metrics: Sequence[tuple[str, str, int | None]]
    """Name as typed, family and cut-off."""
    cuts: Sequence[int | None]
    """The different cut-offs in ascending order; none is the last."""


class Columns(NamedTuple):
    """What the formulas of one cut-off are made of: one number for each query."""

    retrieved: Sequence[int]
    """Different documents retrieved, whatever the cut-off."""
    relevant: Sequence[int]
    """Relevant documents, retrieved or not."""
    first: Sequence[int]
    """Rank of the first relevant document; 0 without one."""
    hits: Sequence[int]
    """Relevant documents in the top k."""
    precisions: Sequence[float]
    """Sum of the precision at each relevant rank in the top k."""
    gains: Sequence[float]
    """Discounted gain in the top k, as a share of the ideal one."""


def _precision(columns: Columns, k: int | None) -> Iterable[float]:
    if k is not None:
        return [hits / k for hits in columns.hits]
    rows = zip(columns.hits, columns.retrieved, strict=True)
    return [hits / retrieved if retrieved else 0.0 for hits, retrieved in rows]


def _recall(columns: Columns, k: int | None) -> Iterable[float]:
    return map(truediv, columns.hits, columns.relevant)


def _f1(columns: Columns, k: int | None) -> Iterable[float]:
    depths = columns.retrieved if k is None else repeat(k)
    # `repeat` never ends, so that the columns cannot be strict
    rows = zip(columns.hits, depths, columns.relevant, strict=False)
    return [2 * hits / (depth + relevant) for hits, depth, relevant in rows]


def _hit_rate(columns: Columns, k: int | None) -> Iterable[float]:
    return [1.0 if hits else 0.0 for hits in columns.hits]


def _reciprocal_rank(columns: Columns, k: int | None) -> Iterable[float]:
    rows = zip(columns.first, columns.hits, strict=True)
    return [1 / rank if hits else 0.0 for rank, hits in rows]


def _average_precision(columns: Columns, k: int | None) -> Iterable[float]:
    return map(truediv, columns.precisions, columns.relevant)


def _ndcg(columns: Columns, k: int | None) -> Iterable[float]:
    # the same sum in the same order may round to more than the ideal one
    return [min(1.0, share) for share in columns.gains]


FORMULAS: Mapping[str, Callable[[Columns, int | None], Iterable[float]]] = {
    "precision": _precision,
    "recall": _recall,
    "f1": _f1,
    "hit_rate": _hit_rate,
    "mrr": _reciprocal_rank,
    "map": _average_precision,
    "ndcg": _ndcg,
}
"""Family name → its value for every query."""


class RankedHits(NamedTuple):
    """All that the metrics of one ranking depend on."""

    retrieved: int
    hits: tuple[Hit, ...]
    grades: tuple[float, ...]
    """The grades of all documents, in ascending order."""


def find_ranked_hits(ids: Sequence[str], relevant: Mapping[str, float]) -> RankedHits:
    """The hits of one ranking whose ids do not repeat."""
    hits = find_hits(ids, set(ids), relevant)
    return RankedHits(len(ids), tuple(hits), tuple(sorted(relevant.values())))


@lru_cache(maxsize=MAX_IDEALS)  # short rankings with few grades are often the same
def score_ranking(family: str, ranking: RankedHits, k: int | None, gain: str | None) -> float:
    """One metric of one ranking; a document must have a positive grade."""
    cuts = (k,)
    row: list[Any] = []
    ideal = find_ideal(ranking.grades, cuts, gain)
    add_row(row, ranking.retrieved, ranking.hits, to_bounds(cuts), ideal)
    (value,) = FORMULAS[family](to_columns(row, cuts)[k], k)
    return value


class Ideal(NamedTuple):
    """What the grades of a query allow at best, whatever was retrieved."""

    relevant: int
    """Documents with a positive grade."""
    shares: Mapping[float, float]
    """The gain of each grade as a share of the best grade's; 0 where no metric asks for gains."""
    gains: tuple[float, ...]
    """The discounted gain of the ideal order for each cut-off, in units of the best grade's gain."""


def find_ideal(ascending: Sequence[float], cuts: Sequence[int | None], gain: str | None) -> Ideal:
    grades = ascending[bisect_right(ascending, 0) :][::-1]
    if gain is None:
        return Ideal(len(grades), dict.fromkeys(grades, 0.0), (1.0,) * len(cuts))
    shares = {grade: relative_gain(grade, grades[0], gain) for grade in grades}
    gains = (shares[grade] / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))
    # not `sum`, which rounds otherwise from Python 3.12 on: the gains of a ranking are added one by one
    sums = list(accumulate(gains))
    return Ideal(len(grades), shares, tuple(sums[:k][-1] for k in cuts))


def to_bounds(cuts: Sequence[int | None]) -> tuple[float, ...]:
    """The cut-offs as `add_row` takes them: as numbers, infinity for none and once more at the end."""
    return (*(math.inf if k is None else k for k in cuts), math.inf)


def relative_gain(grade: float, best: float, gain: str) -> float:
    """The gain of a grade as a share of the best grade's: no grade is too large to be summed."""
    if gain == "linear":
        return grade / best
    if best > MAX_EXACT_GRADE:
        return float(2.0 ** (grade - best))
    return math.expm1(grade * LN2) / math.expm1(best * LN2)


def find_hits(ids: Sequence[str], distinct: Set[str], relevant: Mapping[str, float]) -> list[Hit]:
    """The hits of a ranking whose ids do not repeat, best rank first."""
    rank_of = ids.index
    hits = [
        (rank_of(name) + 1, grade)
        for name, grade in relevant.items()
        if grade > 0 and name in distinct
    ]
    hits.sort()
    return hits


def extend_logarithms(depth: int) -> None:
    """Make LOG2 long enough for the ranks of so many documents."""
    LOG2.extend(math.log2(number) for number in range(len(LOG2), depth + 2))


def add_row(
    flat: list[Any],
    retrieved: int,
    hits: Sequence[Hit],
    bounds: Sequence[float],
    ideal: Ideal,
) -> None:
    """Append what one ranking gives: three numbers whatever the cut-off, then three for each cut-off.

    One walk over the hits serves every cut-off: `bounds` are the cut-offs in ascending order and infinity after them.
    `to_columns` relies on the order and number of what is appended."""
    count_all, shares, ideal_gains = ideal
    if retrieved >= len(LOG2) - 1:
        extend_logarithms(retrieved)
    flat += (retrieved, count_all, hits[0][0] if hits else 0)
    precision = gained = 0.0
    count = passed = 0
    bound = bounds[0]
    for rank, grade in hits:
        while rank > bound:
            flat += (count, precision, gained / ideal_gains[passed])
            passed += 1
            bound = bounds[passed]
        count += 1
        precision += count / rank
        gained += shares[grade] / LOG2[rank + 1]
    for ideal_gain in ideal_gains[passed:]:
        flat += (count, precision, gained / ideal_gain)


def to_columns(flat: list[Any], cuts: Sequence[int | None]) -> dict[int | None, Columns]:
    """Cut-off → columns, out of the rows that `add_row` wrote one after the other.

    One flat list on purpose: a container kept for each query would set off the garbage collector, which then visits
    every id that the caller holds."""
    width = 3 + 3 * len(cuts)
    shared = [flat[at::width] for at in range(3)]
    return {
        k: Columns(*shared, *(flat[3 + 3 * cut_index + at :: width] for at in range(3)))
        for cut_index, k in enumerate(cuts)
    }
