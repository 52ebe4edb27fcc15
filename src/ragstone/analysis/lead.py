"""What a run is to be opened with: its leading metric, how many samples are at fault, and the worst claims."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.analysis.summary import MetricSummary, Summary
from ragstone.types import Finding, Score

if TYPE_CHECKING:
    from ragstone.analysis.batch import Row
    from ragstone.store import ScoreBlock, StoredRun

CLAIM_FAULTS: Mapping[str, tuple[str, ...]] = {
    "faithfulness": ("contradicted", "not_found"),
    "hallucination_rate": ("contradicted", "not_found"),
    "answer_correctness": ("error", "omission"),
    "context_recall": ("contradicted", "not_found"),
    "answer_relevance": ("evasive", "missing"),
    "completeness": ("missing",),
}
"""Families whose findings show what is wrong: the verdicts that count against an answer, the worst first."""
RANKING_FAMILIES = ("recall", "hit_rate", "ndcg", "mrr", "map", "precision", "f1")
LEADING_FAMILIES = (*CLAIM_FAULTS, *RANKING_FAMILIES, "token_f1", "exact_match")
"""Which metric a run is opened with: the first of these that was scored."""
SHOWN_CLAIMS = 5


@dataclass(frozen=True, slots=True)
class FaultyClaim:
    """A finding that counts against a sample; without one, the sample itself."""

    position: int
    id: str
    finding: Finding | None


@dataclass(frozen=True, slots=True)
class Lead:
    """The metric that a run is opened with, and what it found at fault."""

    metric: MetricSummary
    family: str
    faulty: int
    """Samples with a claim at fault; for a metric without claims, those with the worst value there is."""
    worst: tuple[FaultyClaim, ...]
    """The worst claims, or the worst sample of a metric without claims."""


def find_lead(run: StoredRun, summary: Summary) -> Lead | None:
    """Choose the leading metric and read what it found; None when nothing was scored."""
    families = {str(m["name"]): str(m["family"]) for m in run.info.metrics}
    scored = [m for m in summary.metrics if m.mean is not None]
    if not scored:
        return None
    metric = min(scored, key=lambda m: _rank_family(families[m.metric]))
    family = families[metric.metric]
    if family in CLAIM_FAULTS:
        faulty, worst = collect_claims(run.scores(), metric.metric, CLAIM_FAULTS[family])
    else:
        faulty, worst = _collect_samples(run.blocks(), metric)
    return Lead(metric, family, faulty, worst)


def _rank_family(family: str) -> int:
    known = family in LEADING_FAMILIES
    return LEADING_FAMILIES.index(family) if known else len(LEADING_FAMILIES)


def collect_claims(
    rows: Iterable[Row], metric: str, faults: Sequence[str]
) -> tuple[int, tuple[FaultyClaim, ...]]:
    """Count the samples with a claim at fault, and keep the worst claims: of as many samples as there are.

    A contradicted claim is worse than one that nothing supports; else the less likely one is worse."""
    faulty = 0
    worst: list[tuple[tuple[float, ...], FaultyClaim]] = []
    for position, sample_id, _, scores in rows:
        claims = sorted(_list_faults(scores[metric], faults), key=lambda item: item[0])
        faulty += bool(claims)
        for order, (badness, finding) in enumerate(claims[:SHOWN_CLAIMS]):
            claim = FaultyClaim(position, sample_id, finding)
            # `order` first: the worst claim of each sample comes before the second of any
            worst.append(((order, *badness, position), claim))
        # cut now and then, so that memory does not grow with the run
        if len(worst) > 100 * SHOWN_CLAIMS:
            worst = heapq.nsmallest(SHOWN_CLAIMS, worst, key=lambda item: item[0])
    worst = heapq.nsmallest(SHOWN_CLAIMS, worst, key=lambda item: item[0])
    return faulty, tuple(claim for _, claim in worst)


def _list_faults(
    score: Score, faults: Sequence[str]
) -> Iterator[tuple[tuple[float, ...], Finding]]:
    for finding in score.findings:
        if finding.verdict in faults:
            chance = 0.5 if finding.probability is None else finding.probability
            yield (faults.index(finding.verdict), chance), finding


def _collect_samples(
    blocks: Iterable[ScoreBlock], metric: MetricSummary
) -> tuple[int, tuple[FaultyClaim, ...]]:
    """Count the samples with the worst value of the metric's scale; the first of the lowest, unless all are perfect."""
    # without bounds there is no worst value, and no sample is at fault
    bounds = metric.bounds or (None, None)
    worst_value, best_value = bounds if metric.higher_is_better else bounds[::-1]
    sign = 1.0 if metric.higher_is_better else -1.0
    faulty, least = 0, float("inf")
    worst: tuple[FaultyClaim, ...] = ()
    for block in blocks:
        for index, value in enumerate(block.numbers.get(metric.metric, ())):
            # NaN is no value, and unequal to itself
            if value != value or value == best_value:
                continue
            faulty += value == worst_value
            if sign * value < least:
                sample = FaultyClaim(block.first + index, block.ids[index], None)
                least, worst = sign * value, (sample,)
    return faulty, worst
