"""The ranking metrics in bulk, for those who hold rankings as lists and dicts.

    scores = score_rankings([["d3", "d1"], ["d7"]], [{"d1": 1}, {"d7": 2, "d9": 1}], ["recall@5", "mrr"])
    scores["mrr"]           # array([0.5, 1. ]), one for each of scores.ids
    scores.means()          # {"recall@5": 0.75, "mrr": 0.75}

Definitions are those of `ragstone.metrics.retrieval`; a property test holds the two together. Speed comes from looking
at the hits alone: Python finds them by hash, numpy does the arithmetic of all queries at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import DataError, UnknownMetric, nearest
from ragstone.metrics.retrieval import LARGE, LN2, REPEATED
from ragstone.registry import Metric, Spec, resolve

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Ranking = Sequence[str] | Mapping[str, float]
"""Document ids, best first; or document id → retrieval score. Equal scores are ordered as trec_eval does: ids descending."""

Wanted = Mapping[str, float] | Collection[str]
"""Document id → grade, or the ids of the relevant documents."""

SEVEN = ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg")


@dataclass(frozen=True, slots=True)
class RankingScores:
    """One array of finite values for each metric, and what became of the other queries."""

    ids: list[Any]
    """The queries that are scored, in the order of the values: their keys, or their positions from 0."""
    values: dict[str, Floats]
    """Metric as typed → its value for each of `ids`."""
    undefined: list[Any]
    """Ranked queries without a relevant document: no ranking metric is defined on them."""
    unranked: list[Any]
    """Queries with relevant documents but no ranking (only when both come as mappings); not scored."""
    warnings: tuple[str, ...]

    def __getitem__(self, metric: str) -> Floats:
        return self.values[metric]

    def means(self) -> dict[str, float]:
        """The mean of each metric over the scored queries; empty when there are none."""
        return {name: float(found.mean()) for name, found in self.values.items() if len(found)}


def score_rankings(
    rankings: Sequence[Ranking] | Mapping[Any, Ranking],
    relevant: Sequence[Wanted] | Mapping[Any, Wanted],
    metrics: Sequence[Spec] = SEVEN,
) -> RankingScores:
    """Score many rankings at once: two sequences in step, or two mappings by query."""
    chosen = [_bulk(resolve(spec)) for spec in metrics]
    found = _look(_pairs(rankings, relevant))
    table, defined = _arranged(found)
    return RankingScores(
        ids=list(compress(found.ids, defined)),
        values={name: compute(table) for name, compute in chosen},
        undefined=list(compress(found.ids, ~defined)),
        unranked=[query for query in relevant if query not in rankings]
        if isinstance(relevant, Mapping)
        else [],
        warnings=(f"{REPEATED} (in {found.repeated} of {len(found.ids)})",)
        if found.repeated
        else (),
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """All hits of all scored queries, flat, in order of query, then rank."""

    size: int
    """How many queries are scored."""
    retrieved: Ints
    """Different documents retrieved, by query."""
    total: Ints
    """Relevant documents, by query."""
    query: Ints
    """The query of each hit."""
    rank: Ints
    grade: Floats
    owner: Ints
    """The query of each positive grade."""
    ideal: Floats
    """Every positive grade, by query, highest first."""


def _pairs(rankings: Any, relevant: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Query, ranking and relevant documents, in step."""
    if isinstance(rankings, Mapping) != isinstance(relevant, Mapping):
        raise DataError(
            f"rankings come as a {type(rankings).__name__} and relevant as a "
            f"{type(relevant).__name__}; give two lists in step or two mappings by query"
        )
    if isinstance(rankings, Mapping):
        none: dict[str, float] = {}
        return ((query, found, relevant.get(query, none)) for query, found in rankings.items())
    if len(rankings) != len(relevant):
        raise DataError(
            f"there are {len(rankings)} rankings for {len(relevant)} sets of relevant documents; "
            "give one for each"
        )
    return zip(range(len(rankings)), rankings, relevant, strict=True)


@dataclass(slots=True)
class _Found:
    """What Python finds query by query, for numpy to arrange.

    Flat lists of numbers on purpose: one small container kept a query would set off the garbage collector, which then
    visits every id the caller holds."""

    ids: list[Any] = field(default_factory=list)
    retrieved: list[int] = field(default_factory=list)
    """Different documents retrieved, by query."""
    ends: list[int] = field(default_factory=list)
    """Where each query's part of the next two ends."""
    places: list[int] = field(default_factory=list)
    """Ranks from 0, in no order within a query."""
    grades: list[float] = field(default_factory=list)
    judged: list[int] = field(default_factory=list)
    """How many of the next belong to each query."""
    given: list[float] = field(default_factory=list)
    """Every grade, in no order within a query."""
    repeated: int = 0
    """How many rankings named a document twice."""


FEW = 12
"""Up to so many graded documents it is quicker to look for each than to walk the whole ranking."""


def _look(pairs: Iterator[tuple[Any, Any, Any]]) -> _Found:
    """Where the graded documents stand, by plain hashing."""
    found = _Found()
    places, grades, given = found.places, found.grades, found.given
    name, retrieve = found.ids.append, found.retrieved.append
    end, judge = found.ends.append, found.judged.append
    place, grade = places.append, grades.append
    for query, ranking, wanted in pairs:
        if type(ranking) is not list:
            ranking = _ordered(ranking, query)
        if type(wanted) is not dict:
            wanted = _graded(wanted, query)
        distinct = set(ranking)
        if len(distinct) != len(ranking):
            ranking = list(dict.fromkeys(ranking))
            found.repeated += 1
        if len(wanted) > FEW:
            here = list(compress(range(len(ranking)), map(wanted.__contains__, ranking)))
            places += here
            grades += [wanted[ranking[one]] for one in here]
        else:
            for document in wanted:
                if document in distinct:
                    place(ranking.index(document))
                    grade(wanted[document])
        given += wanted.values()
        name(query)
        retrieve(len(ranking))
        end(len(places))
        judge(len(wanted))
    return found


def _arranged(found: _Found) -> tuple[_Table, NDArray[np.bool_]]:
    """The findings as arrays, in order of rank and of falling grade, and which queries have a relevant document."""
    size = len(found.ids)
    given: Floats = np.array(found.given, dtype=np.float64)
    if not np.isfinite(given).all():
        raise DataError("a grade in `relevant` is not a finite number; give 0, 1, 2, …")
    positive = given > 0
    owner = np.repeat(np.arange(size), np.array(found.judged, dtype=np.int64))[positive]
    total = np.bincount(owner, minlength=size)
    defined = total > 0
    row = np.cumsum(defined) - 1
    owner, given = row[owner], given[positive]
    if np.any((given[1:] > given[:-1]) & (owner[1:] == owner[:-1])):
        given = given[np.lexsort((-given, owner))]
    ends: Ints = np.array([0, *found.ends], dtype=np.int64)
    query = np.repeat(np.arange(size), ends[1:] - ends[:-1])
    grade: Floats = np.array(found.grades, dtype=np.float64)
    rank: Ints = np.array(found.places, dtype=np.int64) + 1
    order = np.argsort(query * (int(rank.max(initial=0)) + 1) + rank)
    order = order[grade[order] > 0]
    return _Table(
        size=int(np.count_nonzero(defined)),
        retrieved=np.array(found.retrieved, dtype=np.int64)[defined],
        total=total[defined],
        query=row[query[order]],
        rank=rank[order],
        grade=grade[order],
        owner=owner,
        ideal=given,
    ), defined


def _precision(table: _Table, k: int | None) -> Floats:
    among = np.maximum(table.retrieved, 1) if k is None else k
    return _count(table, k) / among


def _recall(table: _Table, k: int | None) -> Floats:
    return _count(table, k) / table.total


def _f1(table: _Table, k: int | None) -> Floats:
    among = table.retrieved if k is None else k
    return 2 * _count(table, k) / (among + table.total)


def _hit_rate(table: _Table, k: int | None) -> Floats:
    return (_count(table, k) > 0).astype(np.float64)


def _mrr(table: _Table, k: int | None) -> Floats:
    first = _ordinal(table.query) == 1
    if k is not None:
        first &= table.rank <= k
    value = np.zeros(table.size)
    value[table.query[first]] = 1 / table.rank[first]
    return value


def _map(table: _Table, k: int | None) -> Floats:
    return _sum(table, _ordinal(table.query) / table.rank, k) / table.total


def _ndcg(table: _Table, k: int | None, gain: str) -> Floats:
    if not table.size:
        return np.zeros(0)
    owner, place = table.owner, _ordinal(table.owner)
    best = table.ideal[place == 1]
    worth = _worth(table.ideal, best[owner], gain) / np.log2(place + 1)
    if k is not None:
        worth = np.where(place <= k, worth, 0.0)
    ideal = np.bincount(owner, worth, table.size)
    got = _worth(table.grade, best[table.query], gain) / np.log2(table.rank + 1)
    return np.minimum(1.0, _sum(table, got, k) / ideal)


_FAMILIES: dict[str, Callable[..., Floats]] = {
    "precision": _precision,
    "recall": _recall,
    "f1": _f1,
    "hit_rate": _hit_rate,
    "mrr": _mrr,
    "map": _map,
    "ndcg": _ndcg,
}


def _bulk(metric: Metric) -> tuple[str, Callable[[_Table], Floats]]:
    compute = _FAMILIES.get(metric.family)
    if compute is None:
        known = list(_FAMILIES)
        raise UnknownMetric(f"{metric.name!r} is no ranking metric{nearest(metric.family, known)}")
    return metric.name, partial(compute, **metric.options)


def _count(table: _Table, k: int | None) -> Floats:
    """Hits in the top k, by query."""
    query = table.query if k is None else table.query[table.rank <= k]
    counted: Floats = np.bincount(query, minlength=table.size).astype(np.float64)
    return counted


def _sum(table: _Table, parts: Floats, k: int | None) -> Floats:
    """The sum of one figure a hit over the hits in the top k, by query."""
    if k is not None:
        parts = np.where(table.rank <= k, parts, 0.0)
    summed: Floats = np.bincount(table.query, parts, table.size).astype(np.float64)
    return summed


def _ordinal(owner: Ints) -> Ints:
    """1, 2, 3, … within each run of equal owners."""
    place = np.arange(len(owner))
    fresh = np.ones(len(owner), dtype=np.bool_)
    fresh[1:] = owner[1:] != owner[:-1]
    return place - np.maximum.accumulate(np.where(fresh, place, 0)) + 1


def _worth(grade: Floats, best: Floats, gain: str) -> Floats:
    """As in `retrieval`: the gain as a share of the gain of the query's best grade."""
    if gain == "linear":
        return grade / best
    small = np.minimum(best, LARGE)
    share = np.expm1(np.minimum(grade, LARGE) * LN2) / np.expm1(small * LN2)
    return np.where(best > LARGE, np.exp2(grade - best), share)


def _ordered(ranking: Any, query: Hashable) -> list[str]:
    """Document ids, best first, from any shape of ranking but a list."""
    if isinstance(ranking, str) or not isinstance(ranking, Mapping | Collection):
        raise DataError(
            f"the ranking of query {query!r} is {ranking!r}; give document ids or a mapping id → score"
        )
    if not isinstance(ranking, Mapping):
        return list(ranking)
    scores = ranking.values()
    if any(map(math.isnan, scores)):
        raise DataError(f"the ranking of query {query!r} has a score that is NaN; leave it out")
    by_score = ranking.__getitem__
    if len(set(scores)) == len(ranking):
        return sorted(ranking, key=by_score, reverse=True)
    return sorted(sorted(ranking, reverse=True), key=by_score, reverse=True)


def _graded(wanted: Any, query: Hashable) -> dict[str, float]:
    """Document id → grade from any shape of relevant documents but a dict."""
    if isinstance(wanted, Mapping):
        return dict(wanted)
    if isinstance(wanted, str) or not isinstance(wanted, Collection):
        raise DataError(
            f"the relevant documents of query {query!r} are {wanted!r}; give ids or a mapping id → grade"
        )
    return dict.fromkeys(wanted, 1.0)
