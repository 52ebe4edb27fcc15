"""The walk over many rankings in plain Python, one after the other: any shape of ranking, and no heavy import."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from operator import ne
from typing import Any, NamedTuple

from ragstone.errors import DataError
from ragstone.rankings.formulas import (
    FORMULAS,
    MAX_IDEALS,
    Asked,
    Hit,
    Ideal,
    add_row,
    find_hits,
    find_ideal,
    to_bounds,
    to_columns,
)

MAX_TIED = 10
"""Hits of a ranking that are compared with the documents of the same score; with more, all documents are put in order."""


class Scored(NamedTuple):
    """The values of one walk, and what became of the queries."""

    values: dict[str, array[float]]
    """Metric as typed → its value for each of `ids`."""
    ids: list[Any]
    undefined: list[Any]
    """Queries without a relevant document."""
    repeated: int
    """How many rankings repeat an id."""


class Walked(NamedTuple):
    """The rows of one walk, as `add_row` writes them, and what became of the queries."""

    flat: list[Any]
    ids: list[Any]
    undefined: list[Any]
    repeated: int


def score_plainly(
    queries: Iterable[Any],
    rankings: Iterable[Any],
    relevant: Iterable[Any],
    asked: Asked,
    gain: str | None,
) -> Scored:
    """The values of all metrics that are asked for."""
    walked = walk(zip(queries, rankings, relevant, strict=True), asked.cuts, gain)
    columns = to_columns(walked.flat, asked.cuts)
    values = {
        name: array("d", FORMULAS[family](columns[k], k)) for name, family, k in asked.metrics
    }
    return Scored(values, walked.ids, walked.undefined, walked.repeated)


def walk(
    queries: Iterable[tuple[Any, Any, Any]], cuts: Sequence[int | None], gain: str | None
) -> Walked:
    """Find the row of each query, given with its ranking and its relevant documents."""
    flat: list[Any] = []
    ids: list[Any] = []
    undefined: list[Any] = []
    ideals: dict[tuple[float, ...], Ideal] = {}
    repeated, bounds = 0, to_bounds(cuts)
    for query, ranking, relevant in queries:
        # the usual types are used as they are: a call for each query would be slow
        if type(relevant) is not dict:
            relevant = _to_grades(relevant, query)
        grades = tuple(sorted(relevant.values()))
        ideal = ideals.get(grades)
        if ideal is None:
            _check_grades(grades, query)
            if not grades or grades[-1] <= 0:
                undefined.append(query)
                continue
            ideal = find_ideal(grades, cuts, gain)
            if len(ideals) < MAX_IDEALS:
                ideals[grades] = ideal
        ids.append(query)
        hits = _find_scored_hits(ranking, relevant) if type(ranking) is dict else None
        if hits is None:
            if type(ranking) is not list:
                ranking = _order_documents(ranking, query)
            distinct = set(ranking)
            if len(distinct) != len(ranking):
                ranking = list(dict.fromkeys(ranking))
                repeated += 1
            hits = find_hits(ranking, distinct, relevant)
        add_row(flat, len(ranking), hits, bounds, ideal)
    return Walked(flat, ids, undefined, repeated)


def _find_scored_hits(
    ranking: Mapping[str, float], relevant: Mapping[str, float]
) -> list[Hit] | None:
    """The hits of a ranking by scores: a rank is how many scores are higher, so that no document is put in order.

    None where it takes the order: many hits have the score of another document, or a score may not be a number."""
    scores = sorted(ranking.values())
    total = sum(scores)
    if total != total:  # NaN, or both infinities
        return None
    score_of, after_last = ranking.get, len(scores) + 1
    hits: list[Hit] = []
    tied = 0
    for name, grade in relevant.items():
        score = score_of(name)
        if score is not None and grade > 0:
            at = bisect_right(scores, score)
            rank = after_last - at
            if at > 1 and scores[at - 2] == score:
                tied += 1
                if tied > MAX_TIED:
                    return None
                # of equal scores the ids are in descending order
                rank += sum([other > name for other, its in ranking.items() if its == score])
            hits.append((rank, grade))
    hits.sort()
    return hits


def _order_documents(ranking: Any, query: Hashable) -> list[str]:
    """Document ids, best first, from any shape of ranking but a list."""
    if isinstance(ranking, str) or not isinstance(ranking, Mapping | Collection):
        raise DataError(
            f"the ranking of query {query!r} is {ranking!r}; give document ids or a mapping id → score"
        )
    if not isinstance(ranking, Mapping):
        return list(ranking)
    scores = ranking.values()
    # not math.isnan, which refuses whole numbers beyond the floats
    if any(map(ne, scores, scores)):
        raise DataError(f"the ranking of query {query!r} has a score that is NaN; leave it out")
    by_score = ranking.__getitem__
    if len(set(scores)) == len(ranking):
        return sorted(ranking, key=by_score, reverse=True)
    # sorting is stable: of equal scores the ids stay in descending order
    return sorted(sorted(ranking, reverse=True), key=by_score, reverse=True)


def _to_grades(relevant: Any, query: Hashable) -> dict[str, float]:
    """Document id → grade from any shape of relevant documents but a dict."""
    if isinstance(relevant, Mapping):
        return dict(relevant)
    if isinstance(relevant, str) or not isinstance(relevant, Collection):
        raise DataError(
            f"the relevant documents of query {query!r} are {relevant!r}; give ids or a mapping id → grade"
        )
    return dict.fromkeys(relevant, 1.0)


def _check_grades(grades: Iterable[float], query: Hashable) -> None:
    if not all(map(math.isfinite, grades)):
        raise DataError(
            f"a grade of query {query!r} in `relevant` is not a finite number; give 0, 1, 2, …"
        )
