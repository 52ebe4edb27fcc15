"""Ranking metrics: where the relevant documents stand among the retrieved ones.

All seven are arithmetic on the same few numbers, the Hits of a sample. A document is relevant when its grade is
above 0, as in trec_eval; a document id that is retrieved again is taken out of the ranking before ranks are counted.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ragstone.errors import MissingField, NotApplicable
from ragstone.locale.messages import compose
from ragstone.metrics.rankings import worth
from ragstone.registry import metric
from ragstone.types import Chunk, Ranked, Score

Gain = Literal["linear", "exp2"]
"""What a grade is worth: itself, or 2^grade − 1."""


@metric
def precision(contexts: Ranked, relevant: Mapping[str, float], *, k: int | None = None) -> Score:
    """Relevant documents in the top k ÷ k; without k, ÷ the number retrieved."""
    found = hits(contexts, relevant)
    among = found.retrieved if k is None else k
    return _scored(found.upto(k) / among if among else 0.0, found.warnings)


@metric
def recall(contexts: Ranked, relevant: Mapping[str, float], *, k: int | None = None) -> Score:
    """Relevant documents in the top k ÷ all relevant ones."""
    found = hits(contexts, relevant)
    return _scored(found.upto(k) / len(found.ideal), found.warnings)


@metric
def f1(contexts: Ranked, relevant: Mapping[str, float], *, k: int | None = None) -> Score:
    """Harmonic mean of precision and recall in the top k; 0 when both are 0."""
    found = hits(contexts, relevant)
    among = found.retrieved if k is None else k
    return _scored(2 * found.upto(k) / (among + len(found.ideal)), found.warnings)


@metric(binary=True)
def hit_rate(contexts: Ranked, relevant: Mapping[str, float], *, k: int | None = None) -> Score:
    """1 if a relevant document stands in the top k, else 0."""
    found = hits(contexts, relevant)
    return _scored(1.0 if found.upto(k) else 0.0, found.warnings)


@metric
def mrr(contexts: Ranked, relevant: Mapping[str, float], *, k: int | None = None) -> Score:
    """1 ÷ rank of the first relevant document in the top k; 0 without one."""
    found = hits(contexts, relevant)
    return _scored(1 / found.ranks[0] if found.upto(k) else 0.0, found.warnings)


@metric(name="map")
def average_precision(
    contexts: Ranked, relevant: Mapping[str, float], *, k: int | None = None
) -> Score:
    """Sum of the precision at each relevant rank in the top k ÷ all relevant documents."""
    found = hits(contexts, relevant)
    total = 0.0
    for count, rank in enumerate(found.ranks[: found.upto(k)], 1):
        total += count / rank
    return _scored(total / len(found.ideal), found.warnings)


@metric
def ndcg(
    contexts: Ranked,
    relevant: Mapping[str, float],
    *,
    k: int | None = None,
    gain: Gain = "linear",
) -> Score:
    """Σ grade ÷ log2(rank + 1) in the top k, over the same sum for the ideal order; `gain=exp2` uses 2^grade − 1."""
    found = hits(contexts, relevant)
    best = found.ideal[0]
    got = ideal = 0.0
    for rank, grade in zip(found.ranks[: found.upto(k)], found.grades, strict=False):
        got += worth(grade, best, gain) / math.log2(rank + 1)
    for rank, grade in enumerate(found.ideal[:k], 1):
        ideal += worth(grade, best, gain) / math.log2(rank + 1)
    return _scored(min(1.0, got / ideal), found.warnings)


@lru_cache(maxsize=4096)
def _scored(value: float, warnings: tuple[str, ...]) -> Score:
    """A score; small rankings take few values, and a score cannot change, so equal ones are one object."""
    return Score(value, warnings=warnings)


class Hits(NamedTuple):
    """What a ranking found: all that the metrics need to know of a sample."""

    ranks: list[int]
    """Ranks of the relevant documents, from 1, best first."""
    grades: list[float]
    """Their grades, in the same order."""
    ideal: list[float]
    """Every positive grade, highest first."""
    retrieved: int
    """How many different documents were retrieved."""
    warnings: tuple[str, ...]

    def upto(self, k: int | None) -> int:
        """How many of the relevant documents stand in the top k."""
        return len(self.ranks) if k is None else bisect_right(self.ranks, k)


def hits(contexts: Sequence[Chunk], relevant: Mapping[str, float]) -> Hits:
    """The relevant documents found, with their ranks; raises when there is nothing to look for or to look at."""
    global _latest
    known = _latest
    if known is not None and known[0] is contexts and known[1] == relevant:
        return known[2]
    found = _find(contexts, relevant)
    if isinstance(contexts, tuple):  # a list could change under the memo
        _latest = (contexts, dict(relevant), found)
    return found


_latest: tuple[Sequence[Chunk], dict[str, float], Hits] | None = None
"""The latest sample's hits, so that its seven metrics look once. Contexts are compared by identity, which holds as
they cannot change; the mapping is compared by value."""


def _find(contexts: Sequence[Chunk], relevant: Mapping[str, float]) -> Hits:
    ideal = sorted([grade for grade in relevant.values() if grade > 0], reverse=True)
    if not ideal:
        raise NotApplicable("no_positive_grade" if relevant else "no_relevant_document")
    ids = [chunk.id for chunk in contexts]
    distinct = dict.fromkeys(ids)
    if "" in distinct:
        raise MissingField("chunk_without_id", example='{"id", "text"}')
    ranks, grades = [], []
    for rank, document in enumerate(distinct, 1):
        grade = relevant.get(document, 0.0)
        if grade > 0:
            ranks.append(rank)
            grades.append(grade)
    warnings = () if len(distinct) == len(ids) else (compose("ranking_repeats_ids"),)
    return Hits(ranks, grades, ideal, len(distinct), warnings)
