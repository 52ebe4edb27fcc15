"""The ranking metrics of many queries at once, in whole arrays; the values have the same bits as those of one query alone.

Loops in C read the dictionaries; ranks, sums and formulas take one step for thousands of queries. What arrays cannot hold
is scored one by one: scores that are no finite numbers, and queries in which a relevant document has the score of another
one, so that the ids decide."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from struct import Struct, error
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragstone.rankings.formulas import relative_gain

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Scores = Sequence[dict[str, float]]
"""Document id → score or grade, for each query."""

SMALL = 2**16
"""Whole numbers below it are put in order without comparing any two (a radix sort): a third of the time. Callers give fewer queries."""
LOOKUP_BATCH = 128
"""Queries whose scores are read before their relevant documents are looked up: few enough for the cache to keep them."""
NAN_DEFAULT = repeat(math.nan)


class Columns(NamedTuple):
    """What the formulas of one cut-off are made of: one number for each query."""

    retrieved: Floats
    relevant: Floats
    first: Floats
    """Rank of the first relevant document; 0 without one."""
    hits: Floats
    """Relevant documents in the top k."""
    precisions: Floats
    """Sum of the precision at each relevant rank in the top k."""
    gains: Floats
    """Discounted gain in the top k, as a share of the ideal one."""


def _precision(columns: Columns, k: int | None) -> Floats:
    return columns.hits / (np.maximum(columns.retrieved, 1) if k is None else k)


def _f1(columns: Columns, k: int | None) -> Floats:
    return 2 * columns.hits / ((columns.retrieved if k is None else k) + columns.relevant)


ARRAY_FORMULAS: Mapping[str, Callable[[Columns, int | None], Floats]] = {
    "precision": _precision,
    "recall": lambda columns, k: columns.hits / columns.relevant,
    "f1": _f1,
    "hit_rate": lambda columns, k: np.minimum(columns.hits, 1),
    "mrr": lambda columns, k: np.minimum(columns.hits, 1) / np.maximum(columns.first, 1),
    "map": lambda columns, k: columns.precisions / columns.relevant,
    "ndcg": lambda columns, k: np.minimum(columns.gains, 1),
}
"""`formulas.FORMULAS` in arrays."""


class ArrayScores(NamedTuple):
    """The values of some queries."""

    values: dict[str, array[float]]
    """Metric as typed → its value for each query with a relevant document."""
    is_defined: list[bool]
    """Whether each query has a relevant document."""
    tied: list[int]
    """Indices of queries whose ranks depend on ids; their values are wrong."""


def score_in_arrays(
    rankings: Scores, relevant: Scores, metrics: Sequence[tuple[str, str, int | None, str | None]]
) -> ArrayScores | None:
    """Score some queries; None where one of them holds what is no finite number."""
    read = _read_numbers(rankings, relevant)
    if read is None:
        return None
    cuts = sorted({k for _, _, k, _ in metrics}, key=lambda k: math.inf if k is None else k)
    values: dict[str, array[float]] = {}
    gains: list[str | None] = list(dict.fromkeys(gain for *_, gain in metrics if gain)) or [None]
    for gain in gains:
        rows, tied = _measure(read, cuts, gain)
        is_defined = rows[1] > 0
        rows = rows[:, is_defined]
        for name, family, k, own in metrics:
            if own in (None, gain):
                at = 3 + 3 * cuts.index(k)
                found = ARRAY_FORMULAS[family](Columns(*rows[:3], *rows[at : at + 3]), k)
                values[name] = array("d", found.tobytes())
    return ArrayScores(values, is_defined.tolist(), tied.tolist())


class BlockNumbers(NamedTuple):
    """The numbers of a block of queries, one query after the other."""

    lengths: Ints
    """Retrieved documents of each query."""
    keys: Floats
    """The negative scores of each query, in ascending order: best first."""
    judged: Ints
    """Judged documents of each query."""
    found: Floats
    """The key of each judged document; NaN where it was not retrieved."""
    grades: Floats


def _read_numbers(rankings: Scores, relevant: Scores) -> BlockNumbers | None:
    scores: list[bytes] = []
    found: list[float] = []
    weights: list[float] = []
    lengths: list[int] = []
    counts: list[int] = []
    flatten = chain.from_iterable
    try:
        for at in range(0, len(rankings), LOOKUP_BATCH):
            some, judged = rankings[at : at + LOOKUP_BATCH], relevant[at : at + LOOKUP_BATCH]
            scores += [_find_packer(len(one))(*one.values()) for one in some]
            owners = flatten(map(repeat, some, map(len, judged)))
            found += map(dict.get, owners, flatten(judged), NAN_DEFAULT)
            weights += flatten(map(dict.values, judged))
            lengths += map(len, some)
            counts += map(len, judged)
        sought, grades = _pack(found), _pack(weights)
    except error:  # something that is no number, or too large for a float
        return None
    keys = np.negative(np.frombuffer(b"".join(scores)))
    if np.isnan(keys).any() or not np.isfinite(grades).all():
        return None
    retrieved = np.array(lengths, dtype=np.int64)
    _put_in_order(keys, retrieved)
    judgements = np.array(counts, dtype=np.int64)
    return BlockNumbers(retrieved, keys, judgements, np.negative(sought), grades)


@lru_cache(maxsize=4096)
def _find_packer(length: int) -> Callable[..., bytes]:
    return Struct(f"{length}d").pack


def _pack(numbers: list[float]) -> Floats:
    # half of the time of numpy.array, which first finds out what is in the list
    return np.frombuffer(Struct(f"{len(numbers)}d").pack(*numbers))


def _put_in_order(keys: Floats, lengths: Ints) -> None:
    """Sort the keys of each query in place; most rankings are held best first, and need only a look."""
    ends = np.cumsum(lengths)
    falls = keys[1:] < keys[:-1]
    falls[ends[(ends > 0) & (ends < len(keys))] - 1] = False
    if not falls.any():
        return
    starts = ends - lengths
    for length in np.unique(lengths).tolist():
        at = starts[lengths == length][:, np.newaxis] + np.arange(length)
        keys[at] = np.sort(keys[at], axis=1)


class FoundHits(NamedTuple):
    """The hits of a block of queries, one query after the other, best rank first."""

    queries: Ints
    ranks: Ints
    grades: Floats


def _measure(
    read: BlockNumbers, cuts: Sequence[int | None], gain: str | None
) -> tuple[Floats, Ints]:
    """The rows of a block as columns, and the queries whose ranks depend on ids; their columns are wrong."""
    count = len(read.lengths)
    query_of = np.repeat(np.arange(count), read.judged)
    is_relevant = read.grades > 0
    hits, tied = _find_ranks(read, query_of, is_relevant)
    ideal = _order_ideally(query_of[is_relevant], read.grades[is_relevant])
    counts = [np.bincount(one.queries, minlength=count) for one in (hits, ideal)]
    starts = [np.cumsum(one) - one for one in counts]
    rows = np.zeros((3 + 3 * len(cuts), count))
    has_hits, is_defined = (one > 0 for one in counts)
    rows[0], rows[1] = read.lengths, counts[1]
    rows[2, has_hits] = hits.ranks[starts[0][has_hits]]
    best = np.ones(count)
    best[is_defined] = ideal.grades[starts[1][is_defined]]
    precisions = (np.arange(len(hits.ranks)) - starts[0][hits.queries] + 1) / hits.ranks
    gains, ideal_gains = (_discount(one, best, gain) for one in (hits, ideal))
    for at, k in zip(range(3, len(rows), 3), cuts, strict=True):
        rows[at] = _sum(hits, None, k, count)
        rows[at + 1] = _sum(hits, precisions, k, count)
        if gain is not None:
            most = _sum(ideal, ideal_gains, k, count)
            rows[at + 2] = _sum(hits, gains, k, count) / np.where(is_defined, most, 1)
    return rows, tied


def _find_ranks(
    read: BlockNumbers, query_of: Ints, is_relevant: NDArray[np.bool_]
) -> tuple[FoundHits, Ints]:
    """The hits, and the queries in which one of them has the score of another document."""
    is_hit = is_relevant & ~np.isnan(read.found)
    queries, sought = query_of[is_hit], read.found[is_hit]
    ends = np.cumsum(read.lengths)
    end = ends[queries]
    start = end - read.lengths[queries]
    at = _search(read.keys, start, end, sought)
    after = np.minimum(at + 1, end - 1)
    tied = (after > at) & (read.keys[after] == sought)
    ranks = at - start + 1
    order = _find_order(queries, ranks)
    hits = FoundHits(queries[order], ranks[order], read.grades[is_hit][order])
    return hits, np.unique(queries[tied])


def _search(keys: Floats, start: Ints, end: Ints, sought: Floats) -> Ints:
    """Where each key that is sought first stands between its start and its end; it does stand there."""
    at, last = start.copy(), end - 1
    left = int((end - start).max(initial=0))
    while left > 1:
        half = left // 2
        # no key after the last one is looked at: none that is sought is higher than it
        at += half * (keys[np.minimum(at + (half - 1), last)] < sought)
        left -= half
    return at


def _order_ideally(queries: Ints, grades: Floats) -> FoundHits:
    """The relevant documents as if all were retrieved, the best grade first."""
    counts = np.bincount(queries)
    ranks = np.arange(1, len(queries) + 1) - (np.cumsum(counts) - counts)[queries]
    return FoundHits(queries, ranks, grades[_find_order(queries, -grades)])


def _find_order(queries: Ints, numbers: Ints | Floats) -> Ints:
    """The order by query, and by ascending numbers within a query."""
    least = numbers.min(initial=0)
    if numbers.max(initial=0) - least < SMALL:
        small = (numbers - least).astype(np.uint16)
        # back again, since a difference may be rounded
        if (small.astype(numbers.dtype) + least == numbers).all():
            numbers = small
    order = np.argsort(numbers, kind="stable")
    return order[np.argsort(queries[order].astype(np.uint16), kind="stable")]


def _discount(documents: FoundHits, best: Floats, gain: str | None) -> Floats:
    """The discounted gain of each document as a share of the best grade's."""
    most = best[documents.queries]
    if gain == "exp2":
        pairs = zip(documents.grades.tolist(), most.tolist(), strict=True)
        shares = np.array([relative_gain(*pair, gain) for pair in pairs], dtype=np.float64)
    else:
        shares = documents.grades / most
    # math.log2 and not numpy's, whose last bit may be another
    depth = int(documents.ranks.max(initial=0)) + 2
    discounts = np.array([1.0, *map(math.log2, range(1, depth))])
    quotients: Floats = shares / discounts[documents.ranks + 1]
    return quotients


def _sum(documents: FoundHits, weights: Floats | None, k: int | None, count: int) -> Floats | Ints:
    """The sum of each query in its top k; it adds in the order of the ranks, as the formulas of one query do."""
    is_within = documents.ranks <= (math.inf if k is None else k)
    chosen = None if weights is None else weights[is_within]
    return np.bincount(documents.queries[is_within], chosen, minlength=count)
