"""Checked access to the replies of a judge: lists of rows, rows by id, and cosines of embedding vectors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import mul
from typing import Any

from ragstone.errors import JudgeFailed
from ragstone.types import SecondOpinion


def read_rows(reply: Any, field: str, **types: type) -> list[Mapping[str, Any]]:
    """Return the list of rows in a field of the reply, each with fields of these types."""
    rows = reply.get(field) if isinstance(reply, Mapping) else None
    if not isinstance(rows, list):
        raise JudgeFailed("unparseable", "reply_without_rows", rows=field)
    fields = types.items()
    for row in rows:
        # classes are compared first: isinstance of an abstract class is slow
        fits = row.__class__ is dict or isinstance(row, Mapping)
        for key, kind in fields if fits else ():
            value = row.get(key)
            if value.__class__ is not kind and not _has_type(value, kind):
                fits = False
        if not fits:
            raise JudgeFailed("unparseable", "row_malformed", rows=field, row=f"{row!r:.80}")
    return rows


def _has_type(value: Any, kind: type) -> bool:
    """Whether the value has the type; a bool does not count as int."""
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def index_rows(
    rows: Sequence[Mapping[str, Any]], key: str, ids: Iterable[str]
) -> dict[str, Mapping[str, Any]]:
    """Return the rows by id; they must be exactly the expected ids, each once."""
    expected = list(ids)
    by_id = {row[key]: row for row in rows}
    if len(rows) != len(expected) or by_id.keys() != set(expected):
        raise JudgeFailed(
            "incomplete",
            "items_miscounted",
            asked=len(expected),
            replied=len(rows),
            right=len(by_id.keys() & set(expected)),
        )
    return by_id


def read_probability(value: Any) -> float | None:
    """Return a probability that a reply may carry; None when it has none."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise JudgeFailed("unparseable", "probability_malformed", value=f"{value!r:.80}")
    return float(value)


def read_opinion(row: Mapping[str, Any]) -> SecondOpinion | None:
    """Return what the two judges of a cascade said of a row; None when the judge is no cascade."""
    opinion = row.get("cascade")
    return SecondOpinion(**opinion) if isinstance(opinion, dict) else None


def compute_cosines(reply: Any, count: int) -> list[float]:
    """Compute the cosine of the first of `count` embedded texts with each of the others, clipped to 0..1."""
    vectors = reply.get("vectors") if isinstance(reply, Mapping) else None
    if not isinstance(vectors, list) or len(vectors) != count:
        raise JudgeFailed("unparseable", "vectors_miscounted", n=count)
    first, *others = (_measure_vector(vector) for vector in vectors)
    if any(len(other[0]) != len(first[0]) for other in others):
        raise JudgeFailed("unparseable", "vectors_of_unlike_length")
    return [_cosine(first, other) for other in others]


MeasuredVector = tuple[Sequence[float], float]
"""A vector and its Euclidean norm."""


def _cosine(first: MeasuredVector, second: MeasuredVector) -> float:
    product: float = sum(map(mul, first[0], second[0]))
    return min(1.0, max(0.0, product / first[1] / second[1]))


def _measure_vector(vector: Any) -> MeasuredVector:
    """Compute the norm of a vector; one whose squares could overflow or underflow is scaled first."""
    if isinstance(vector, list):
        try:
            length = math.hypot(*vector)
        except (TypeError, ValueError, OverflowError):
            length = math.nan
        if 1e-100 < length < 1e100:
            return vector, length
    try:
        numbers = [float(number) for number in vector]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    largest = max(map(abs, numbers), default=0.0)
    if not largest or not all(map(math.isfinite, numbers)):
        raise JudgeFailed("unparseable", "vector_null")
    scaled = [number / largest for number in numbers]
    return scaled, math.hypot(*scaled)
