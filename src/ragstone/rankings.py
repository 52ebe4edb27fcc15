"""The ranking metrics: seven formulas on where the relevant documents stand, for one sample or many rankings.

    scores = score_rankings([["d3", "d1"], ["d7"]], [{"d1": 1}, {"d7": 2, "d9": 1}], ["recall@5", "mrr"])
    scores["mrr"]           # array('d', [0.5, 1.0]), one for each of scores.ids
    scores.means()          # {"recall@5": 0.75, "mrr": 0.75}

`ragstone.metrics.retrieval` registers the same formulas as metrics. A document is relevant when its grade is above 0,
as in trec_eval; an id that is retrieved again is removed before ranks are counted. Nothing heavy is imported here, so
a cold start is fast (numpy alone would cost half of what twenty thousand queries do); numpy reads the arrays without
copying: `numpy.asarray(scores["mrr"])`.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from functools import lru_cache
from itertools import repeat
from operator import truediv
from typing import Any, Literal, NamedTuple, get_args

from ragstone.errors import DataError, UnknownMetric, suggest_nearest
from ragstone.registry.specs import parse_spec

Ranking = Sequence[str] | Mapping[str, float]
"""Document ids, best first; or document id → retrieval score. Equal scores are ordered as trec_eval does: ids descending."""

RelevantDocuments = Mapping[str, float] | Collection[str]
"""Document id → grade, or the ids of the relevant documents."""

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
    hits = _find_hits(ids, set(ids), relevant)
    return RankedHits(len(ids), tuple(hits), tuple(sorted(relevant.values())))


@lru_cache(maxsize=MAX_IDEALS)  # short rankings with few grades are often the same
def score_ranking(family: str, ranking: RankedHits, k: int | None, gain: str | None) -> float:
    """One metric of one ranking; a document must have a positive grade."""
    cuts = (k,)
    row: list[Any] = []
    ideal = _find_ideal(ranking.grades, cuts, gain)
    _add_row(row, ranking.retrieved, ranking.hits, _to_bounds(cuts), ideal)
    (value,) = FORMULAS[family](_to_columns(row, cuts)[k], k)
    return value


class Ideal(NamedTuple):
    """What the grades of a query allow at best, whatever was retrieved."""

    relevant: int
    """Documents with a positive grade."""
    shares: Mapping[float, float]
    """The gain of each grade as a share of the best grade's; 0 where no metric asks for gains."""
    gains: tuple[float, ...]
    """The discounted gain of the ideal order for each cut-off, in units of the best grade's gain."""


def _find_ideal(ascending: Sequence[float], cuts: Sequence[int | None], gain: str | None) -> Ideal:
    grades = ascending[bisect_right(ascending, 0) :][::-1]
    if gain is None:
        return Ideal(len(grades), dict.fromkeys(grades, 0.0), (1.0,) * len(cuts))
    shares = {grade: relative_gain(grade, grades[0], gain) for grade in grades}
    gains = [
        sum(shares[grade] / math.log2(rank + 1) for rank, grade in enumerate(grades[:k], 1))
        for k in cuts
    ]
    return Ideal(len(grades), shares, tuple(gains))


def _to_bounds(cuts: Sequence[int | None]) -> tuple[float, ...]:
    """The cut-offs as `_add_row` takes them: as numbers, infinity for none and once more at the end."""
    return (*(math.inf if k is None else k for k in cuts), math.inf)


def relative_gain(grade: float, best: float, gain: str) -> float:
    """The gain of a grade as a share of the best grade's: no grade is too large to be summed."""
    if gain == "linear":
        return grade / best
    if best > MAX_EXACT_GRADE:
        return float(2.0 ** (grade - best))
    return math.expm1(grade * LN2) / math.expm1(best * LN2)


def _find_hits(ids: Sequence[str], distinct: Set[str], relevant: Mapping[str, float]) -> list[Hit]:
    """The hits of a ranking whose ids do not repeat, best rank first."""
    rank_of = ids.index
    hits = [
        (rank_of(name) + 1, grade)
        for name, grade in relevant.items()
        if grade > 0 and name in distinct
    ]
    hits.sort()
    return hits


def _find_scored_hits(
    ranking: Mapping[str, float], relevant: Mapping[str, float]
) -> list[Hit] | None:
    """The hits of a ranking by scores: a rank is how many scores are higher, so that no document is put in order.

    None where it takes the order: a hit has the score of another document, or a score may not be a number."""
    scores = sorted(ranking.values())
    total = sum(scores)
    if total != total:  # NaN, or both infinities
        return None
    score_of, after_last = ranking.get, len(scores) + 1
    hits: list[Hit] = []
    for name, grade in relevant.items():
        score = score_of(name)
        if score is not None and grade > 0:
            at = bisect_right(scores, score)
            if at > 1 and scores[at - 2] == score:
                return None
            hits.append((after_last - at, grade))
    hits.sort()
    return hits


def _add_row(
    flat: list[Any],
    retrieved: int,
    hits: Sequence[Hit],
    bounds: Sequence[float],
    ideal: Ideal,
) -> None:
    """Append what one ranking gives: three numbers whatever the cut-off, then three for each cut-off.

    One walk over the hits serves every cut-off: `bounds` are the cut-offs in ascending order and infinity after them.
    `_to_columns` relies on the order and number of what is appended."""
    count_all, shares, ideal_gains = ideal
    if retrieved >= len(LOG2) - 1:
        LOG2.extend(math.log2(number) for number in range(len(LOG2), retrieved + 2))
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


def _to_columns(flat: list[Any], cuts: Sequence[int | None]) -> dict[int | None, Columns]:
    """Cut-off → columns, out of the rows that `_add_row` wrote one after the other.

    One flat list on purpose: a container kept for each query would set off the garbage collector, which then visits
    every id that the caller holds."""
    width = 3 + 3 * len(cuts)
    shared = [flat[at::width] for at in range(3)]
    return {
        k: Columns(*shared, *(flat[3 + 3 * cut_index + at :: width] for at in range(3)))
        for cut_index, k in enumerate(cuts)
    }


class RankingScores:
    """One array of finite values for each metric, and what became of the other queries."""

    __slots__ = ("ids", "undefined", "unranked", "values", "warnings")

    def __init__(
        self,
        ids: list[Any],
        values: dict[str, array[float]],
        undefined: list[Any],
        unranked: list[Any],
        warnings: tuple[str, ...],
    ) -> None:
        self.ids = ids
        """The queries that are scored, in the order of the values: their keys, or their positions from 0."""
        self.values = values
        """Metric as typed → its value for each of `ids`."""
        self.undefined = undefined
        """Ranked queries without a relevant document: no ranking metric is defined on them."""
        self.unranked = unranked
        """Queries with relevant documents but no ranking (only when both come as mappings); not scored."""
        self.warnings = warnings

    def __getitem__(self, metric: str) -> array[float]:
        return self.values[metric]

    def means(self) -> dict[str, float]:
        """The mean of each metric over the scored queries; empty when there are none."""
        return {
            name: math.fsum(values) / len(values) for name, values in self.values.items() if values
        }

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={mean:.4f}" for name, mean in self.means().items())
        return f"<RankingScores of {len(self.ids)} queries: {means}>"


def score_rankings(
    rankings: Sequence[Ranking] | Mapping[Any, Ranking],
    relevant: Sequence[RelevantDocuments] | Mapping[Any, RelevantDocuments],
    metrics: Sequence[Any] = tuple(FORMULAS),
) -> RankingScores:
    """Score many rankings at once: two sequences in step, or two mappings by query."""
    chosen = [_parse_metric(spec) for spec in metrics]
    cuts = tuple(sorted({k for _, _, k, _ in chosen}, key=lambda k: math.inf if k is None else k))
    values: dict[str, array[float]] = {}
    ids: list[Any] = []
    # each gain needs one walk over the rankings; metrics without a gain are the same in every walk
    gains: list[str | None] = list(dict.fromkeys(gain for *_, gain in chosen if gain))
    for gain in gains or [None]:
        flat, ids, undefined, repeated = _walk(_pair_queries(rankings, relevant), cuts, gain)
        columns = _to_columns(flat, cuts)
        for name, family, k, wanted_gain in chosen:
            if wanted_gain in (None, gain):
                values[name] = array("d", FORMULAS[family](columns[k], k))
    unranked = [q for q in relevant if q not in rankings] if isinstance(relevant, Mapping) else []
    seen = len(ids) + len(undefined)
    warnings: tuple[str, ...] = ()
    if repeated:
        from ragstone.locale.messages import compose

        warnings = (compose("ranking_repeats_ids_in", n=repeated, total=seen),)
    return RankingScores(
        ids, {name: values[name] for name, *_ in chosen}, undefined, unranked, warnings
    )


def _walk(
    queries: Iterator[tuple[Any, Any, Any]], cuts: Sequence[int | None], gain: str | None
) -> tuple[list[Any], list[Any], list[Any], int]:
    """The rows of all rankings, the queries scored, those without a relevant document, and how many rankings repeat an id."""
    flat: list[Any] = []
    ids: list[Any] = []
    undefined: list[Any] = []
    ideals: dict[tuple[float, ...], Ideal] = {}
    repeated, bounds = 0, _to_bounds(cuts)
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
            ideal = _find_ideal(grades, cuts, gain)
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
            hits = _find_hits(ranking, distinct, relevant)
        _add_row(flat, len(ranking), hits, bounds, ideal)
    return flat, ids, undefined, repeated


def _parse_metric(spec: Any) -> tuple[str, str, int | None, str | None]:
    """Name as typed, family, cut-off and gain of `ndcg@10(gain=exp2)`, `{ndcg@10: {gain: exp2}}` or a Metric."""
    if isinstance(spec, str):
        (family, options), name = parse_spec(spec), spec.strip()
    elif isinstance(spec, Mapping) and len(spec) == 1:
        ((text, given),) = spec.items()
        family, options = parse_spec(str(text))
        options |= given or {}
        name = str(text)
    else:
        family, options, name = spec.family, dict(spec.options), spec.name
    if family not in FORMULAS:
        raise UnknownMetric(
            f"{name!r} is no ranking metric{suggest_nearest(family, list(FORMULAS))}"
        )
    known = ("k", "gain") if family == "ndcg" else ("k",)
    for option in options.keys() - set(known):
        raise UnknownMetric(f"{family!r} has no option {option!r}{suggest_nearest(option, known)}")
    k, gain = options.get("k"), options.get("gain", "linear")
    if gain not in get_args(Gain):
        raise UnknownMetric(f"{name}: gain is {gain!r}; give {' or '.join(get_args(Gain))}")
    # the type, since True is an int by isinstance
    if k is not None and (type(k) is not int or k < 1):
        raise UnknownMetric(f"{name}: the cut-off is {k!r}; give a whole number from 1 on")
    return name, family, k, gain if family == "ndcg" else None


def _pair_queries(rankings: Any, relevant: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Query, ranking and relevant documents, in step."""
    if isinstance(rankings, Mapping) != isinstance(relevant, Mapping):
        raise DataError(
            f"rankings come as a {type(rankings).__name__} and relevant as a "
            f"{type(relevant).__name__}; give two lists in step or two mappings by query"
        )
    if isinstance(rankings, Mapping):
        none: dict[str, float] = {}
        return ((query, ids, relevant.get(query, none)) for query, ids in rankings.items())
    if len(rankings) != len(relevant):
        raise DataError(
            f"there are {len(rankings)} rankings for {len(relevant)} sets of relevant documents; "
            "give one for each"
        )
    return zip(range(len(rankings)), rankings, relevant, strict=True)


def _order_documents(ranking: Any, query: Hashable) -> list[str]:
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
