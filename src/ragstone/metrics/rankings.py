"""The ranking metrics in bulk, for those who hold rankings as lists and dicts.

    scores = score_rankings([["d3", "d1"], ["d7"]], [{"d1": 1}, {"d7": 2, "d9": 1}], ["recall@5", "mrr"])
    scores["mrr"]           # array('d', [0.5, 1.0]), one for each of scores.ids
    scores.means()          # {"recall@5": 0.75, "mrr": 0.75}

Definitions are those of `ragstone.metrics.retrieval`; a property test holds the two together. Speed comes from looking
at the hits alone and from leaving loops to C; nothing heavy is imported, so a cold start is fast too (numpy alone would
cost half of what twenty thousand queries do). numpy reads the arrays without copying: `numpy.asarray(scores["mrr"])`.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from operator import truediv
from typing import Any

from ragstone.errors import DataError, UnknownMetric, nearest
from ragstone.locale.messages import compose
from ragstone.registry.specs import parse

Ranking = Sequence[str] | Mapping[str, float]
"""Document ids, best first; or document id → retrieval score. Equal scores are ordered as trec_eval does: ids descending."""

Wanted = Mapping[str, float] | Collection[str]
"""Document id → grade, or the ids of the relevant documents."""

SEVEN = ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg")


LN2 = math.log(2)
LARGE = 500.0
"""Above this, 2^grade nears the end of the floats, and the − 1 has long been lost in rounding."""


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
        return {name: math.fsum(found) / len(found) for name, found in self.values.items() if found}

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={mean:.4f}" for name, mean in self.means().items())
        return f"<RankingScores of {len(self.ids)} queries: {means}>"


def score_rankings(
    rankings: Sequence[Ranking] | Mapping[Any, Ranking],
    relevant: Sequence[Wanted] | Mapping[Any, Wanted],
    metrics: Sequence[Any] = SEVEN,
) -> RankingScores:
    """Score many rankings at once: two sequences in step, or two mappings by query."""
    chosen = [_chosen(spec) for spec in metrics]
    values: dict[str, array[float]] = {}
    columns = _Columns()
    for last, gain in _walks(chosen):
        columns = _look(_pairs(rankings, relevant), last, gain)
        for name, family, k, wants in chosen:
            if k in (last, INFINITE if not wants else last) and wants in (None, gain):
                values[name] = array("d", _FAMILIES[family](columns, k))
    unranked: list[Any] = []
    if isinstance(relevant, Mapping):
        unranked = [query for query in relevant if query not in rankings]
    seen = len(columns.ids) + len(columns.undefined)
    return RankingScores(
        ids=columns.ids,
        values={name: values[name] for name, *_ in chosen},
        undefined=columns.undefined,
        unranked=unranked,
        warnings=(compose("ranking_repeats_ids_in", n=columns.repeated, total=seen),)
        if columns.repeated
        else (),
    )


def worth(grade: float, best: float, gain: str) -> float:
    """The gain of a grade as a share of the gain of the best one: no grade is too large to be summed."""
    if gain == "linear":
        return grade / best
    if best > LARGE:
        return float(2.0 ** (grade - best))
    return math.expm1(grade * LN2) / math.expm1(best * LN2)


Cut = float
"""The last rank that counts; infinite without a cut-off."""


class _Columns:
    """What the metrics are made of, one number a scored query.

    Flat lists of numbers on purpose: one small container kept a query would set off the garbage collector, which then
    visits every id the caller holds."""

    def __init__(self) -> None:
        self.ids: list[Any] = []
        self.undefined: list[Any] = []
        self.repeated = 0
        """How many rankings named a document twice."""
        self.retrieved: list[int] = []
        """Different documents retrieved."""
        self.relevant: list[int] = []
        """Relevant documents."""
        self.first: list[int] = []
        """Rank of the first hit, 0 without one."""
        self.hits: list[int] = []
        """Hits in the top k."""
        self.all_hits: list[int] = []
        self.precisions: list[float] = []
        """Sum of the precision at each hit in the top k."""
        self.all_precisions: list[float] = []
        self.gains: list[float] = []
        """Discounted gain in the top k, as a share of the ideal one."""

    def fill(self, flat: list[Any]) -> None:
        """Take the columns out of one list that holds them query by query."""
        self.retrieved, self.relevant, self.first, self.hits = (flat[n::8] for n in range(4))
        self.all_hits, self.precisions, self.all_precisions, self.gains = (
            flat[n::8] for n in range(4, 8)
        )


def _look(pairs: Iterator[tuple[Any, Any, Any]], last: Cut, gain: str | None) -> _Columns:
    """The columns for one cut-off (and for none): where the relevant documents stand, by plain hashing, and sums over these few.

    `gain` is None when no metric asks for it. One long loop on purpose: a call a query is what would make it slow."""
    columns = _Columns()
    name = columns.ids.append
    flat: list[Any] = []
    at: list[float] = [0.0]
    ideals: dict[tuple[float, ...], float] = {}
    for query, ranking, wanted in pairs:
        if type(ranking) is not list:
            ranking = _ordered(ranking, query)
        if type(wanted) is not dict:
            wanted = _graded(wanted, query)
        grades = tuple(sorted(wanted.values()))
        ideal = ideals.get(grades)
        if ideal is None:
            wanted = _positive(wanted, query)
            if not wanted:
                columns.undefined.append(query)
                continue
            ideal = _ideal(sorted(wanted.values(), reverse=True), last, gain)
            if len(wanted) == len(grades) and len(ideals) < REMEMBERED:
                ideals[grades] = ideal
        distinct = set(ranking)
        if len(distinct) != len(ranking):
            ranking = list(dict.fromkeys(ranking))
            columns.repeated += 1
        if len(ranking) >= len(at):
            at = _discounts(2 * len(ranking))
        index = ranking.index
        hits = [(index(one) + 1, grade) for one, grade in wanted.items() if one in distinct]
        first = number = near = 0
        precisions = near_precisions = got = 0.0
        if hits:
            hits.sort()
            first = hits[0][0]
            for rank, grade in hits:
                number += 1
                precisions += number / rank
                if rank <= last:
                    near, near_precisions = number, precisions
                    got += grade * at[rank]
        if ideal:
            got /= ideal
            if got > 1.0:
                got = 1.0
        elif gain:
            got = _gained(hits, max(wanted.values()), wanted.values(), last, gain)
        name(query)
        # one list for all columns: a method call a column would cost as much as the arithmetic
        flat += (
            len(ranking), len(wanted), first, near, number, near_precisions, precisions, got,
        )  # fmt: skip
    columns.fill(flat)
    return columns


def _discounts(ranks: int) -> list[float]:
    """1 ÷ log2(rank + 1), by rank."""
    return [0.0, *(1 / math.log2(rank + 1) for rank in range(1, ranks + 1))]


def _ideal(grades: list[float], last: Cut, gain: str | None) -> float:
    """Discounted gain of the ideal order; 0 when it is not wanted or cannot be had by plain sums."""
    if gain != "linear" or grades[0] > 1e100 or grades[-1] < 1e-100:
        return 0.0
    kept = grades if last == INFINITE else grades[: int(last)]
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(kept, 1))


def _gained(
    hits: list[tuple[int, float]], best: float, grades: Iterable[float], last: Cut, gain: str
) -> float:
    """The discounted gain as a share of the ideal one, for any gain and for grades of any size."""
    ideal = enumerate(sorted(grades, reverse=True), 1)
    got, wanted = (
        sum(worth(grade, best, gain) / math.log2(rank + 1) for rank, grade in part if rank <= last)
        for part in (hits, ideal)
    )
    return min(1.0, got / wanted)


REMEMBERED = 10_000
"""So many sets of grades have their ideal gain at hand; judged data has few different ones."""
INFINITE = math.inf


def _walks(chosen: Sequence[Chosen]) -> list[tuple[Cut, str | None]]:
    """The cut-offs and gains to walk the rankings for: one walk a cut-off, whose columns without one come along."""
    walks: dict[tuple[Cut, str | None], None] = {
        (k, gain): None for _, _, k, gain in chosen if gain
    }
    for k in dict.fromkeys(k for _, _, k, gain in chosen if not gain and k < INFINITE):
        if not any(k == last for last, _ in walks):
            walks[k, None] = None
    return list(walks) or [(INFINITE, None)]


def _precision(columns: _Columns, k: Cut) -> Iterable[float]:
    if k < INFINITE:
        return [hits / k for hits in columns.hits]
    rows = zip(columns.all_hits, columns.retrieved, strict=True)
    return [hits / retrieved if retrieved else 0.0 for hits, retrieved in rows]


def _recall(columns: _Columns, k: Cut) -> Iterable[float]:
    return map(truediv, columns.hits if k < INFINITE else columns.all_hits, columns.relevant)


def _f1(columns: _Columns, k: Cut) -> Iterable[float]:
    if k < INFINITE:
        rows = zip(columns.hits, columns.relevant, strict=True)
        return [2 * hits / (k + relevant) for hits, relevant in rows]
    every = zip(columns.all_hits, columns.retrieved, columns.relevant, strict=True)
    return [2 * hits / (retrieved + relevant) for hits, retrieved, relevant in every]


def _hit_rate(columns: _Columns, k: Cut) -> Iterable[float]:
    return [1.0 if hits else 0.0 for hits in (columns.hits if k < INFINITE else columns.all_hits)]


def _mrr(columns: _Columns, k: Cut) -> Iterable[float]:
    return [1 / rank if 0 < rank <= k else 0.0 for rank in columns.first]


def _map(columns: _Columns, k: Cut) -> Iterable[float]:
    sums = columns.precisions if k < INFINITE else columns.all_precisions
    return map(truediv, sums, columns.relevant)


def _ndcg(columns: _Columns, k: Cut) -> Iterable[float]:
    return columns.gains


_FAMILIES: dict[str, Callable[..., Iterable[float]]] = {
    "precision": _precision,
    "recall": _recall,
    "f1": _f1,
    "hit_rate": _hit_rate,
    "mrr": _mrr,
    "map": _map,
    "ndcg": _ndcg,
}


Chosen = tuple[str, str, Cut, "str | None"]
"""A metric's name as typed, its family, its cut-off and its gain, if it has one."""


def _chosen(spec: Any) -> Chosen:
    """A metric as users name one: `ndcg@10(gain=exp2)`, `{ndcg@10: {gain: exp2}}`, a Metric."""
    if isinstance(spec, str):
        (family, options), name = parse(spec), spec.strip()
    elif isinstance(spec, Mapping) and len(spec) == 1:
        ((text, given),) = spec.items()
        family, options = parse(str(text))
        options |= given or {}
        name = str(text)
    else:
        family, options, name = spec.family, dict(spec.options), spec.name
    if family not in _FAMILIES:
        raise UnknownMetric(f"{name!r} is no ranking metric{nearest(family, list(_FAMILIES))}")
    known = ("k", "gain") if family == "ndcg" else ("k",)
    for option in options.keys() - set(known):
        raise UnknownMetric(f"{family!r} has no option {option!r}{nearest(option, known)}")
    k, gain = options.get("k"), options.get("gain", "linear")
    if gain not in GAINS:
        raise UnknownMetric(f"{name}: gain is {gain!r}; give {' or '.join(GAINS)}")
    if k is not None and (type(k) is not int or k < 1):
        raise UnknownMetric(f"{name}: the cut-off is {k!r}; give a whole number from 1 on")
    return name, family, INFINITE if k is None else k, gain if family == "ndcg" else None


GAINS = ("linear", "exp2")


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


def _positive(wanted: Mapping[str, float], query: Hashable) -> dict[str, float]:
    """The documents with a grade above 0; a grade must be finite."""
    if not all(map(math.isfinite, wanted.values())):
        raise DataError(
            f"a grade of query {query!r} in `relevant` is not a finite number; give 0, 1, 2, …"
        )
    return {name: grade for name, grade in wanted.items() if grade > 0}
