"""Ranking metrics of one sample: the ranks of the relevant documents among the retrieved ones.

The formulas are in `ragstone.rankings`, which also scores many rankings at once."""

from __future__ import annotations

from collections.abc import Mapping

from ragstone.errors import MissingField, NotApplicable
from ragstone.locale.messages import compose
from ragstone.rankings import Gain, RankedHits, find_ranked_hits, score_ranking
from ragstone.registry import metric
from ragstone.types import Ranked, Score, to_score


@metric
def precision(contexts: Ranked, relevant: Mapping[str, float], *, k: int | None = None) -> Score:
    """Relevant documents in the top k ÷ k; without k, ÷ the number retrieved."""
    return _score("precision", contexts, relevant, k)


@metric
def recall(contexts: Ranked, relevant: Mapping[str, float], *, k: int | None = None) -> Score:
    """Relevant documents in the top k ÷ all relevant ones."""
    return _score("recall", contexts, relevant, k)


@metric
def f1(contexts: Ranked, relevant: Mapping[str, float], *, k: int | None = None) -> Score:
    """Harmonic mean of precision and recall in the top k; 0 when both are 0."""
    return _score("f1", contexts, relevant, k)


@metric(binary=True)
def hit_rate(contexts: Ranked, relevant: Mapping[str, float], *, k: int | None = None) -> Score:
    """1 if a relevant document stands in the top k, else 0."""
    return _score("hit_rate", contexts, relevant, k)


@metric
def mrr(contexts: Ranked, relevant: Mapping[str, float], *, k: int | None = None) -> Score:
    """1 ÷ rank of the first relevant document in the top k; 0 without one."""
    return _score("mrr", contexts, relevant, k)


@metric(name="map")
def average_precision(
    contexts: Ranked, relevant: Mapping[str, float], *, k: int | None = None
) -> Score:
    """Sum of the precision at each relevant rank in the top k ÷ all relevant documents."""
    return _score("map", contexts, relevant, k)


@metric
def ndcg(
    contexts: Ranked, relevant: Mapping[str, float], *, k: int | None = None, gain: Gain = "linear"
) -> Score:
    """Σ grade ÷ log2(rank + 1) in the top k, over the same sum for the ideal order; `gain=exp2` uses 2^grade − 1."""
    return _score("ndcg", contexts, relevant, k, gain)


def _score(
    family: str,
    contexts: Ranked,
    relevant: Mapping[str, float],
    k: int | None,
    gain: str | None = None,
) -> Score:
    """Score one sample; raises when no document is relevant or a chunk has no id."""
    global _latest
    known_contexts, known_relevant, ranking, warnings = _latest
    # several metrics look at one sample in turn; contexts that are no Ranked, and grades, may have changed in place
    if contexts.__class__ is not Ranked:
        ranking, warnings = _read_ranking(contexts, relevant)
    elif known_contexts is not contexts or known_relevant != relevant:
        ranking, warnings = _read_ranking(contexts, relevant)
        _latest = (contexts, dict(relevant), ranking, warnings)
    return to_score(score_ranking(family, ranking, k, gain), warnings)


_latest: tuple[Ranked, Mapping[str, float], RankedHits, tuple[str, ...]] = (
    Ranked(), {}, RankedHits(0, (), ()), (),
)  # fmt: skip
"""The sample that was read last. Threads may both replace it: each uses what it read itself."""


def _read_ranking(
    contexts: Ranked, relevant: Mapping[str, float]
) -> tuple[RankedHits, tuple[str, ...]]:
    if not relevant or not max(relevant.values()) > 0:
        raise NotApplicable("no_positive_grade" if relevant else "no_relevant_document")
    ids = [chunk.id for chunk in contexts]
    distinct = list(dict.fromkeys(ids))
    if "" in distinct:
        raise MissingField("chunk_without_id", example='{"id", "text"}')
    warnings = () if len(distinct) == len(ids) else (compose("ranking_repeats_ids"),)
    return find_ranked_hits(distinct, relevant), warnings
