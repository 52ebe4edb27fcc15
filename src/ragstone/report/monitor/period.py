"""The analysis of a day, a week or a month of live traffic, read from the store once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.monitor import Archive
from ragstone.monitor.windows.period_report import PeriodReport, build_period_report
from ragstone.monitor.windows.window_run import WindowRun
from ragstone.report.monitor.interactions import FEEDBACK, JudgedInteraction, load_worst

if TYPE_CHECKING:
    from ragstone.analysis.diagnose import Diagnosis
    from ragstone.analysis.failures import Failures

MAX_WORST = 10


@dataclass(frozen=True, slots=True)
class PeriodAnalysis:
    """A period with what its interactions show."""

    report: PeriodReport
    failures: Failures | None
    """None when nothing was judged."""
    diagnoses: Sequence[Diagnosis]
    worst: Sequence[JudgedInteraction]
    worst_by: str
    """The metric that orders the worst interactions."""


def analyse_period(archive: Archive, period: str, until: int, zone: str = "UTC") -> PeriodAnalysis:
    """The last period that is over at a time, its failure classes, advice and worst interactions."""
    from ragstone.analysis.advice import load_symptoms
    from ragstone.analysis.diagnose import diagnose
    from ragstone.analysis.failures import analyse_failures
    from ragstone.analysis.summary import summarise

    report = build_period_report(archive, period, until, zone=zone)
    run = WindowRun(archive, report.since, report.until)
    failures: Failures | None = None
    diagnoses: Sequence[Diagnosis] = ()
    if len(run) and run.info.metrics:
        # The window is read as if it were a run, so that failure classes and advice are the same as
        # those of `eval`.
        failures = analyse_failures(run)
        diagnoses = diagnose(run, summarise(run, worst=1), failures, load_symptoms())
    metric = _choose_metric(report)
    worst = load_worst(archive, metric, report.since, report.until, None, MAX_WORST)
    return PeriodAnalysis(report, failures, diagnoses, worst, metric)


def _choose_metric(report: PeriodReport) -> str:
    """The metric that got worse, else one with an alert, else the first."""
    scored = [change for change in report.changes if change.name in report.now.metrics]
    worse = [change.name for change in scored if change.verdict == "worse"]
    alerting = {alert.metric for alert in report.alerts}
    named = [change.name for change in scored if change.name in alerting]
    return next(iter([*worse, *named, *(change.name for change in scored)]), FEEDBACK)
