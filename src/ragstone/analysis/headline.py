"""The headline of a run: one verdict, made by the analysis that finds the failures, so that nothing contradicts it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ragstone.analysis.classes import CLAIM_FAULTS, UNKNOWN, FailureClass
from ragstone.analysis.failures import Failures, analyse_failures
from ragstone.analysis.slices import Slice
from ragstone.analysis.summary import MetricSummary, Summary
from ragstone.types import Finding, Sample, Score

if TYPE_CHECKING:
    from ragstone.analysis.batch import Row
    from ragstone.store import StoredRun

LEADING_FAMILIES = (
    *CLAIM_FAULTS,
    *("recall", "hit_rate", "ndcg", "mrr", "map", "precision", "f1", "token_f1", "exact_match"),
)
"""Which metric a run is opened with: the first of these that was scored."""
SHOWN_CLAIMS = 5
MAX_CLASSIFIED = 20_000
"""Samples up to which each is put into its class when a run ends; of larger runs `ragstone diagnose` tells more."""

MIN_TELLING = 30
"""Samples under which claims at fault are counted instead of called no more than the judge's errors."""

Verdict = Literal["broken", "failing", "healthy", "open"]


@dataclass(frozen=True, slots=True)
class FaultyClaim:
    """A finding that counts against a sample."""

    position: int
    id: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class SystemErrors:
    """Samples on which the system gave nothing."""

    count: int
    first: Sample
    reason: str


@dataclass(frozen=True, slots=True)
class Headline:
    """What a run is opened with."""

    samples: int
    metric: MetricSummary | None
    """The leading metric; None when nothing was scored."""
    failures: Failures | None
    """The class of each sample; None for a run with too many."""
    errors: SystemErrors | None
    claims: tuple[FaultyClaim, ...]
    """The worst claims of the leading metric."""
    faulty: int = 0
    """Samples with a claim at fault, whether or not that stands out from the judge's errors."""

    @property
    def failing(self) -> int:
        """Samples in a class that stands out from the errors of what decides it."""
        return sum(self.failures.count(kind) for kind in self.causes) if self.failures else 0

    @property
    def causes(self) -> tuple[FailureClass, ...]:
        """Classes that stand out, the largest first."""
        if self.failures is None:
            return ()
        known = (kind for kind in self.failures.shown if kind not in UNKNOWN)
        return tuple(sorted(known, key=self.failures.count, reverse=True))

    @property
    def slice(self) -> Slice | None:
        """Where the largest class gathers, if anywhere."""
        if self.failures is None or not self.causes:
            return None
        return next(iter(self.failures.class_slices.get(self.causes[0], ())), None)

    @property
    def verdict(self) -> Verdict:
        """Whether the system gave nothing, samples fail, none stand out, or nothing decides."""
        if self.errors is not None and self.errors.count == self.samples:
            return "broken"
        if self.causes:
            return "failing"
        # `fine`: something decided, and found no failure; among few samples no class can stand out
        is_decided = self.failures is not None and self.failures.count("fine") > 0
        is_telling = not self.faulty or self.samples >= MIN_TELLING
        return "healthy" if is_decided and is_telling and self._is_complete else "open"

    @property
    def _is_complete(self) -> bool:
        return self.metric is not None and self.metric.complete


def find_headline(run: StoredRun, summary: Summary) -> Headline:
    """Read a run once for its failures and once for its worst claims."""
    families = {str(m["name"]): str(m["family"]) for m in run.info.metrics}
    scored = [m for m in summary.metrics if m.mean is not None]
    metric = min(scored, key=lambda m: _rank_family(families[m.metric]), default=None)
    faults = CLAIM_FAULTS.get(families[metric.metric]) if metric is not None else None
    faulty, claims = 0, tuple[FaultyClaim, ...]()
    if metric is not None and faults is not None:
        faulty, claims = collect_claims(run.scores(), metric.metric, faults)
    is_large = summary.samples > MAX_CLASSIFIED
    failures = None if is_large or not summary.samples else analyse_failures(run)
    return Headline(summary.samples, metric, failures, _find_errors(run, failures), claims, faulty)


def _find_errors(run: StoredRun, failures: Failures | None) -> SystemErrors | None:
    count = failures.count("system_failure") if failures is not None else 0
    if not count or failures is None:
        return None
    position = failures.examples["system_failure"][0].position
    row = run.row(position)
    reasons = [
        row.sample.error,
        *(s.reason for s in row.scores.values() if s.outcome == "system_error"),
    ]
    return SystemErrors(count, row.sample, next((str(reason) for reason in reasons if reason), ""))


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
        if finding.verdict in faults and not finding.is_unclear:
            chance = 0.5 if finding.probability is None else finding.probability
            yield (faults.index(finding.verdict), chance), finding
