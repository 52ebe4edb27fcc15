"""The walk over many rankings by scores in whole arrays; the values have the same bits as those of the plain walk.

Loops in C read the dictionaries; ranks, sums and formulas take one step for thousands of queries. What arrays cannot hold
goes to the plain walk: other shapes, scores that are no finite numbers, and queries in which a relevant document has the
score of another one, so that the ids decide."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, compress, islice, repeat
from math import inf, nan
from struct import Struct, error
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragstone.rankings.formulas import LOG2, Asked, extend_logarithms, relative_gain
from ragstone.rankings.walk import Scored, Walked, walk

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Documents = Sequence[dict[str, float]]
"""Document id → score or grade, for each query."""

BLOCK = 4096
"""Queries that are held in arrays at a time."""
SMALL = 2**16
"""Whole numbers below it are put in order without comparing any two (a radix sort): a third of the time. BLOCK is one."""
READ_AT_ONCE = 128
"""Queries whose scores are read before their relevant documents are looked up: few enough for the cache to keep them."""
UNLESS_FOUND = repeat(nan)


class WholeColumns(NamedTuple):
    """`formulas.Columns` in arrays."""

    retrieved: Floats
    relevant: Floats
    first: Floats
    hits: Floats
    precisions: Floats
    gains: Floats


def _precision(columns: WholeColumns, k: int | None) -> Floats:
    return columns.hits / (np.maximum(columns.retrieved, 1) if k is None else k)


def _f1(columns: WholeColumns, k: int | None) -> Floats:
    return 2 * columns.hits / ((columns.retrieved if k is None else k) + columns.relevant)


WHOLE_FORMULAS: Mapping[str, Callable[[WholeColumns, int | None], Floats]] = {
    "precision": _precision,
    "recall": lambda columns, k: columns.hits / columns.relevant,
    "f1": _f1,
    "hit_rate": lambda columns, k: np.minimum(columns.hits, 1),
    "mrr": lambda columns, k: np.minimum(columns.hits, 1) / np.maximum(columns.first, 1),
    "map": lambda columns, k: columns.precisions / columns.relevant,
    "ndcg": lambda columns, k: np.minimum(columns.gains, 1),
}
"""`formulas.FORMULAS` in arrays."""


def score_in_arrays(
    queries: Iterable[Any],
    rankings: Iterable[Any],
    relevant: Iterable[Any],
    asked: Asked,
    gain: str | None,
) -> Scored:
    """The values of all metrics that are asked for, block by block."""
    values = {name: array("d") for name, *_ in asked.metrics}
    ids: list[Any] = []
    undefined: list[Any] = []
    repeated = 0
    left, rankings, relevant = iter(queries), iter(rankings), iter(relevant)
    while some := list(islice(left, BLOCK)):
        rows, found = _find_rows(some, rankings, relevant, asked.cuts, gain)
        for name, family, k in asked.metrics:
            at = 3 + 3 * asked.cuts.index(k)
            columns = WholeColumns(*rows[:3], *rows[at : at + 3])
            values[name].frombytes(WHOLE_FORMULAS[family](columns, k).tobytes())
        ids += found.ids
        undefined += found.undefined
        repeated += found.repeated
    return Scored(values, ids, undefined, repeated)


def _find_rows(
    queries: list[Any],
    rankings: Iterator[Any],
    relevant: Iterator[Any],
    cuts: Sequence[int | None],
    gain: str | None,
) -> tuple[Floats, Walked]:
    """What the walk over the next rankings finds, its rows as columns of an array."""
    block = RankingBlock(len(queries), rankings, relevant)
    read = block.to_arrays()
    if read is None:
        walked = walk(zip(queries, block.rankings, block.relevant, strict=True), cuts, gain)
        return _to_rows(walked, cuts), walked
    rows, tied = _measure(read, cuts, gain)
    if len(tied):
        some = ((queries[n], block.rankings[n], block.relevant[n]) for n in tied.tolist())
        rows[:, tied] = _to_rows(walk(some, cuts, gain), cuts)
    defined = rows[1] > 0
    if defined.all():
        return rows, Walked([], queries, [], 0)
    ids, undefined = (list(compress(queries, chosen.tolist())) for chosen in (defined, ~defined))
    return rows[:, defined], Walked([], ids, undefined, 0)


def _to_rows(walked: Walked, cuts: Sequence[int | None]) -> Floats:
    return np.array(walked.flat, dtype=np.float64).reshape(-1, 3 + 3 * len(cuts)).T


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


class RankingBlock:
    """The next rankings and their relevant documents, with the numbers that they hold."""

    def __init__(self, size: int, rankings: Iterator[Any], relevant: Iterator[Any]) -> None:
        self.rankings: list[Any] = []
        self.relevant: list[Any] = []
        self._scores: list[bytes] = []
        self._found: list[float] = []
        self._grades: list[float] = []
        self._lengths: list[int] = []
        self._judged: list[int] = []
        self._is_plain = False
        for at in range(0, size, READ_AT_ONCE):
            count = min(READ_AT_ONCE, size - at)
            some, judged = list(islice(rankings, count)), list(islice(relevant, count))
            self.rankings += some
            self.relevant += judged
            self._is_plain = self._is_plain or {*map(type, some), *map(type, judged)} != {dict}
            if not self._is_plain:
                self._read(some, judged)

    def _read(self, rankings: Documents, relevant: Documents) -> None:
        flatten = chain.from_iterable
        lengths, judged = list(map(len, rankings)), list(map(len, relevant))
        try:
            self._scores += [
                pack(*ranking.values())
                for pack, ranking in zip(map(_find_packer, lengths), rankings, strict=True)
            ]
        except error:  # something that is no number, or too large for a float
            self._is_plain = True
            return
        owners = flatten(map(repeat, rankings, judged))
        self._found += map(dict.get, owners, flatten(relevant), UNLESS_FOUND)
        self._grades += flatten(map(dict.values, relevant))
        self._lengths += lengths
        self._judged += judged

    def to_arrays(self) -> BlockNumbers | None:
        """None where the plain walk must read the block: it also says what is wrong."""
        if self._is_plain:
            return None
        try:
            found, grades = _pack(self._found), _pack(self._grades)
        except error:
            return None
        keys = np.negative(np.frombuffer(b"".join(self._scores)))
        if np.isnan(keys).any() or not np.isfinite(grades).all():
            return None
        lengths = np.array(self._lengths, dtype=np.int64)
        _put_in_order(keys, lengths)
        judged = np.array(self._judged, dtype=np.int64)
        return BlockNumbers(lengths, keys, judged, np.negative(found), grades)


@lru_cache(maxsize=BLOCK)
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
    extend_logarithms(max(read.lengths.max(), read.judged.max()))
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
    discounts = np.array(LOG2, dtype=np.float64)
    return np.divide(shares, discounts[documents.ranks + 1])


def _sum(documents: FoundHits, weights: Floats | None, k: int | None, count: int) -> Floats | Ints:
    """The sum of each query in its top k; it adds in the order of the ranks, as the plain walk does."""
    is_within = documents.ranks <= (inf if k is None else k)
    chosen = None if weights is None else weights[is_within]
    return np.bincount(documents.queries[is_within], chosen, minlength=count)
