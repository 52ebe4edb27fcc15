"""The ranking metrics: seven formulas on where the relevant documents stand, for one sample or many rankings.

    scores = score_rankings([["d3", "d1"], ["d7"]], [{"d1": 1}, {"d7": 2, "d9": 1}], ["recall@5", "mrr"])
    scores["mrr"]           # array('d', [0.5, 1.0]), one for each of scores.ids
    scores.means()          # {"recall@5": 0.75, "mrr": 0.75}

`ragstone.metrics.retrieval` registers the same formulas as metrics. A document is relevant when its grade is above 0,
as in trec_eval; an id that is retrieved again is removed before ranks are counted. Few queries are scored one by one,
many in whole arrays of numpy, which reads the values without copying: `numpy.asarray(scores["mrr"])`.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Iterable, Mapping, MutableSequence, Sequence
from itertools import accumulate, compress, filterfalse, islice, repeat
from operator import ne
from typing import Any, get_args

from ragstone.errors import DataError, UnknownMetric, suggest_nearest
from ragstone.rankings.formulas import FORMULAS as FORMULAS
from ragstone.rankings.formulas import Gain as Gain
from ragstone.rankings.formulas import RankedHits as RankedHits
from ragstone.rankings.formulas import find_ranked_hits as find_ranked_hits
from ragstone.rankings.formulas import order_documents, to_grades, to_scores
from ragstone.rankings.formulas import score_ranking as score_ranking
from ragstone.registry.specs import parse_spec

Ranking = Sequence[str] | Mapping[str, float]
"""Document ids, best first; or document id → retrieval score. Equal scores are ordered as trec_eval does: ids descending."""

RelevantDocuments = Mapping[str, float] | Collection[str]
"""Document id → grade, or the ids of the relevant documents."""


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
    total = len(rankings)
    sides = [iter(side) for side in _pair_queries(rankings, relevant)]
    values: dict[str, array[float]] = {name: array("d") for name, *_ in chosen}
    ids: list[Any] = []
    undefined: list[Any] = []
    repeated = 0
    score = _score_many if total >= MIN_FOR_ARRAYS else _score_few
    for _ in range(0, total, BLOCK):
        names, given, judged = (list(islice(side, BLOCK)) for side in sides)
        scores = given
        if {*map(type, given)} != {dict}:
            scores = [to_scores(one, query) for query, one in zip(names, given, strict=True)]
            repeated += sum(map(ne, map(len, given), map(len, scores)))
        found, is_defined = score(names, scores, judged, chosen)
        for name, some in found.items():
            values[name].extend(some)
        ids += compress(names, is_defined)
        undefined += compress(names, (not defined for defined in is_defined))
    unranked: list[Any] = []
    if isinstance(rankings, Mapping):
        unranked.extend(filterfalse(rankings.__contains__, relevant))
    seen = len(ids) + len(undefined)
    warnings: tuple[str, ...] = ()
    if repeated:
        from ragstone.locale.messages import compose

        warnings = (compose("ranking_repeats_ids_in", n=repeated, total=seen),)
    return RankingScores(ids, values, undefined, unranked, warnings)


MetricKey = tuple[str, str, int | None, str | None]
"""Name as typed, family, cut-off and gain."""
BLOCK = 4096
"""Queries that are scored together."""
MIN_FOR_ARRAYS = 200
"""Queries in one call from which on arrays are faster."""


def _score_few(
    names: Sequence[Any],
    scores: Sequence[dict[str, float]],
    relevant: Sequence[Any],
    metrics: Sequence[MetricKey],
) -> tuple[Mapping[str, MutableSequence[float]], list[bool]]:
    """Score queries one by one."""
    values: dict[str, MutableSequence[float]] = {name: [] for name, *_ in metrics}
    grades = [to_grades(one, query) for query, one in zip(names, relevant, strict=True)]
    is_defined = [any(grade > 0 for grade in one.values()) for one in grades]
    for query, ranking, judged in compress(zip(names, scores, grades, strict=True), is_defined):
        hits = find_ranked_hits(order_documents(ranking, query), judged)
        for name, family, k, gain in metrics:
            values[name].append(FORMULAS[family](hits, k, gain))
    return values, is_defined


def _score_many(
    names: Sequence[Any],
    scores: Sequence[dict[str, float]],
    relevant: Sequence[Any],
    metrics: Sequence[MetricKey],
) -> tuple[Mapping[str, MutableSequence[float]], list[bool]]:
    """Score queries in arrays, those that arrays cannot tell apart one by one."""
    from ragstone.rankings.arrays import score_in_arrays

    grades = relevant
    if {*map(type, relevant)} != {dict}:
        grades = [to_grades(one, query) for query, one in zip(names, relevant, strict=True)]
    found = score_in_arrays(scores, grades, metrics)
    if found is None:  # where something is no finite number, it also says what
        return _score_few(names, scores, relevant, metrics)
    places = list(accumulate(found.is_defined, initial=0))
    for n in found.tied:
        one, _ = _score_few(names[n : n + 1], scores[n : n + 1], grades[n : n + 1], metrics)
        for name, (value,) in one.items():
            found.values[name][places[n]] = value
    return found.values, found.is_defined


def _parse_metric(spec: Any) -> MetricKey:
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


def _pair_queries(rankings: Any, relevant: Any) -> tuple[Iterable[Any], ...]:
    """Queries, rankings and relevant documents, in step."""
    if isinstance(rankings, Mapping) != isinstance(relevant, Mapping):
        raise DataError(
            f"rankings come as a {type(rankings).__name__} and relevant as a "
            f"{type(relevant).__name__}; give two lists in step or two mappings by query"
        )
    if isinstance(rankings, Mapping):
        none: dict[str, float] = {}
        return rankings, rankings.values(), map(relevant.get, rankings, repeat(none))
    if len(rankings) != len(relevant):
        raise DataError(
            f"there are {len(rankings)} rankings for {len(relevant)} sets of relevant documents; "
            "give one for each"
        )
    return range(len(rankings)), rankings, relevant
