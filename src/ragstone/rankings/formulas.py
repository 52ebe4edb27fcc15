"""The ranking metrics of one query: what is retrieved and relevant, and the formulas on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from functools import lru_cache
from itertools import count
from operator import ne
from typing import Any, Literal, NamedTuple

from ragstone.errors import DataError

Gain = Literal["linear", "exp2"]
"""What a grade is worth: itself, or 2^grade − 1."""

LN2 = math.log(2)
MAX_EXACT_GRADE = 500.0
"""Above this, 2^grade nears the end of the floats, and the − 1 has long been lost in rounding."""


class RankedHits(NamedTuple):
    """All that the metrics of one query depend on."""

    retrieved: int
    """Different documents retrieved."""
    hits: tuple[tuple[int, float], ...]
    """Rank and grade of each relevant document that was retrieved, best rank first."""
    grades: tuple[float, ...]
    """The grades of all relevant documents, best first."""


def find_ranked_hits(ids: Sequence[str], relevant: Mapping[str, float]) -> RankedHits:
    """Find the hits of a ranking whose ids do not repeat."""
    hits = tuple(
        (rank, relevant[name])
        for rank, name in enumerate(ids, 1)
        if name in relevant and relevant[name] > 0
    )
    grades = sorted((grade for grade in relevant.values() if grade > 0), reverse=True)
    return RankedHits(len(ids), hits, tuple(grades))


def _count(ranking: RankedHits, k: int | None) -> int:
    """Relevant documents in the top k."""
    return sum(k is None or rank <= k for rank, _ in ranking.hits)


def _precision(ranking: RankedHits, k: int | None, gain: str | None) -> float:
    return _count(ranking, k) / (k or max(ranking.retrieved, 1))


def _recall(ranking: RankedHits, k: int | None, gain: str | None) -> float:
    return _count(ranking, k) / len(ranking.grades)


def _f1(ranking: RankedHits, k: int | None, gain: str | None) -> float:
    depth = ranking.retrieved if k is None else k
    return 2 * _count(ranking, k) / (depth + len(ranking.grades))


def _hit_rate(ranking: RankedHits, k: int | None, gain: str | None) -> float:
    return 1.0 if _count(ranking, k) else 0.0


def _reciprocal_rank(ranking: RankedHits, k: int | None, gain: str | None) -> float:
    return 1 / ranking.hits[0][0] if _count(ranking, k) else 0.0


def _average_precision(ranking: RankedHits, k: int | None, gain: str | None) -> float:
    total = 0.0
    for found, (rank, _) in enumerate(ranking.hits[: _count(ranking, k)], 1):
        total += found / rank
    return total / len(ranking.grades)


def _ndcg(ranking: RankedHits, k: int | None, gain: str | None) -> float:
    best = ranking.grades[0]
    gained = _discount(ranking.hits[: _count(ranking, k)], best, gain)
    ideal = _discount(list(enumerate(ranking.grades[:k], 1)), best, gain)
    # the same sum in the same order may round to more than the ideal one
    return min(1.0, gained / ideal)


def _discount(hits: Sequence[tuple[int, float]], best: float, gain: str | None) -> float:
    total = 0.0
    # not `sum`, which rounds otherwise from Python 3.12 on
    for rank, grade in hits:
        total += relative_gain(grade, best, gain) / math.log2(rank + 1)
    return total


def relative_gain(grade: float, best: float, gain: str | None) -> float:
    """Return the gain of a grade as a share of the best grade's: no grade is too large to be summed."""
    if gain != "exp2":
        return grade / best
    if best > MAX_EXACT_GRADE:
        return float(2.0 ** (grade - best))
    return math.expm1(grade * LN2) / math.expm1(best * LN2)


FORMULAS: Mapping[str, Callable[[RankedHits, int | None, str | None], float]] = {
    "precision": _precision,
    "recall": _recall,
    "f1": _f1,
    "hit_rate": _hit_rate,
    "mrr": _reciprocal_rank,
    "map": _average_precision,
    "ndcg": _ndcg,
}
"""Family name → its value for a query with a relevant document."""


@lru_cache(maxsize=10_000)  # short rankings with few grades are often the same
def score_ranking(family: str, ranking: RankedHits, k: int | None, gain: str | None) -> float:
    """Compute one metric of one query, which must have a relevant document."""
    return FORMULAS[family](ranking, k, gain)


# ── what users give ───────────────────────────────────────────────────────────────────────


def to_scores(ranking: Any, query: Hashable) -> dict[str, float]:
    """Return document id → retrieval score from any shape of ranking; an id that repeats counts at its first rank."""
    if isinstance(ranking, Mapping):
        return ranking if type(ranking) is dict else dict(ranking)
    if isinstance(ranking, str) or not isinstance(ranking, Collection):
        raise DataError(
            f"the ranking of query {query!r} is {ranking!r}; give document ids or a mapping id → score"
        )
    scores = dict(zip(ranking, count(0.0, -1.0), strict=False))
    if len(scores) < len(ranking):
        scores = dict(zip(dict.fromkeys(ranking), count(0.0, -1.0), strict=False))
    return scores


def order_documents(scores: Mapping[str, float], query: Hashable) -> list[str]:
    """Return document ids, best first, as trec_eval orders them: of equal scores the ids descend."""
    values = scores.values()
    # not math.isnan, which refuses whole numbers beyond the floats
    if any(map(ne, values, values)):
        raise DataError(f"the ranking of query {query!r} has a score that is NaN; leave it out")
    # sorting is stable: of equal scores the ids stay in descending order
    return sorted(sorted(scores, reverse=True), key=scores.__getitem__, reverse=True)


def to_grades(relevant: Any, query: Hashable) -> dict[str, float]:
    """Return document id → grade from any shape of relevant documents."""
    if isinstance(relevant, Mapping):
        grades = relevant if type(relevant) is dict else dict(relevant)
    elif isinstance(relevant, str) or not isinstance(relevant, Collection):
        raise DataError(
            f"the relevant documents of query {query!r} are {relevant!r}; give ids or a mapping id → grade"
        )
    else:
        return dict.fromkeys(relevant, 1.0)
    try:
        if {*map(type, grades.values())} - {int, float}:
            grades = {name: float(grade) for name, grade in grades.items()}
        is_finite = all(map(math.isfinite, grades.values()))
    except (TypeError, ValueError, OverflowError):
        is_finite = False
    if not is_finite:
        raise DataError(
            f"a grade of query {query!r} in `relevant` is not a finite number; give 0, 1, 2, …"
        )
    return grades
