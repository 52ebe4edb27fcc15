"""The analysis of a day, a week or a month of live traffic, read from the store once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.analysis.classes import UNKNOWN
from ragstone.monitor.archive import Archive
from ragstone.monitor.rollups import list_fields
from ragstone.monitor.scoring.queue import load_judge
from ragstone.monitor.windows.interactions import (
    FEEDBACK,
    JudgedInteraction,
    find_scale,
    load_worst,
)
from ragstone.monitor.windows.period_report import PeriodReport, build_period_report
from ragstone.monitor.windows.statistics import Window
from ragstone.monitor.windows.summary import summarise_between
from ragstone.monitor.windows.window_run import WindowRun
from ragstone.store import load_scales

if TYPE_CHECKING:
    from ragstone.analysis.diagnose import Diagnosis
    from ragstone.analysis.failures import Failures

MAX_WORST = 10
MAX_BREAKDOWNS = 3
MAX_BREAKDOWN_VALUES = 20
"""A field with more values is not broken down."""


@dataclass(frozen=True, slots=True)
class PeriodAnalysis:
    """A period with what its interactions show."""

    report: PeriodReport
    failures: Failures | None
    """None when nothing was judged."""
    diagnoses: Sequence[Diagnosis]
    worst: Sequence[JudgedInteraction]
    worst_by: str
    """The metric that orders the worst interactions, or FEEDBACK."""
    breakdowns: tuple[tuple[str, tuple[Window, ...]], ...] = ()
    """Fields whose values differ, the most telling first, with their slices."""

    @property
    def failing(self) -> int:
        """Interactions in a class that stands out from the errors of what decides it."""
        if self.failures is None:
            return 0
        shown = (kind for kind in self.failures.shown if kind not in UNKNOWN)
        return sum(map(self.failures.count, shown))


def analyse_period(archive: Archive, period: str, until: int, zone: str = "UTC") -> PeriodAnalysis:
    """The last period that is over at a time, its failure classes, advice and worst interactions."""
    from ragstone.analysis.advice import load_symptoms
    from ragstone.analysis.diagnose import diagnose
    from ragstone.analysis.failures import analyse_failures
    from ragstone.analysis.summary import summarise

    report = build_period_report(archive, period, until, zone=zone)
    # Only those drawn at random, as the table weighs them: one metric must not have two values in a report.
    run = WindowRun(archive, report.since, report.until, only_drawn=True)
    failures: Failures | None = None
    diagnoses: Sequence[Diagnosis] = ()
    if len(run) and run.info.metrics:
        # The window is read as if it were a run, so that failure classes and advice are the same as
        # those of `eval`.
        failures = analyse_failures(run)
        diagnoses = diagnose(run, summarise(run, worst=1), failures, load_symptoms())
    metric = _choose_metric(archive, report)
    worst = load_worst(archive, metric, report.since, report.until, None, MAX_WORST)
    breakdowns = _find_breakdowns(archive, report)
    return PeriodAnalysis(report, failures, diagnoses, worst, metric, breakdowns)


def _choose_metric(archive: Archive, report: PeriodReport) -> str:
    """What orders the worst interactions: of the metrics whose values mean something for their judge, the one that got worse,
    else one with an alert, else the first; feedback when there is no such metric, and people said something."""
    scored = [change for change in report.changes if change.name in report.now.metrics]
    measured = {metric for _, metric in load_scales(archive.store, load_judge(archive)[1])}
    known = [change for change in scored if _has_scale(change.name, measured)]
    worse = [change.name for change in known if change.verdict == "worse"]
    alerting = {alert.metric for alert in report.alerts}
    named = [change.name for change in known if change.name in alerting]
    spoken = [FEEDBACK] if report.now.feedback is not None else []
    rest = [*(change.name for change in known), *spoken, *(change.name for change in scored)]
    return next(iter([*worse, *named, *rest]), FEEDBACK)


def _has_scale(metric: str, measured: Collection[str]) -> bool:
    """Whether low values of a metric mean bad answers: it has bounds and, if judged, its judge was measured."""
    scale = find_scale(metric)
    return scale.bounds is not None and (not scale.judged or metric in measured)


def _find_breakdowns(
    archive: Archive, report: PeriodReport
) -> tuple[tuple[str, tuple[Window, ...]], ...]:
    """Fields with two values whose intervals of some metric do not meet, by how much of its variance they explain."""
    found = []
    for field in list_fields(archive, report.since, report.until):
        summary = summarise_between(archive, report.since, report.until, by=field)
        if summary.more or not 2 <= len(summary.slices) <= MAX_BREAKDOWN_VALUES:
            continue
        told = max(
            (_measure_field(summary.slices, name) for name in report.now.metrics), default=0.0
        )
        if told > 0:
            found.append((told, field, summary.slices))
    found.sort(key=lambda item: (-item[0], item[1]))
    return tuple((field, slices) for _, field, slices in found[:MAX_BREAKDOWNS])


def _measure_field(slices: Sequence[Window], metric: str) -> float:
    """How far a field's values lie apart in a metric, in its range; 0 when all their intervals meet."""
    figures = [window.metrics[metric] for window in slices if metric in window.metrics]
    known = [
        (figure.low, figure.high)
        for figure in figures
        if figure.low is not None and figure.high is not None
    ]
    bounds = find_scale(metric).bounds
    if len(known) < 2 or bounds is None:
        return 0.0
    gap = max(low for low, _ in known) - min(high for _, high in known)
    return max(0.0, gap / (bounds[1] - bounds[0]))
