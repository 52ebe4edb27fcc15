"""Alert rules with a fixed threshold: a statistic of the last window against a limit."""

from __future__ import annotations

from ragstone.config.alerts import Alerts, Threshold
from ragstone.config.durations import parse_duration
from ragstone.monitor.alert_text import format_alert
from ragstone.monitor.alerts.alert import RuleResult
from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.sequential_test import MIN_WINDOW_SCORES
from ragstone.monitor.windows.statistics import SeriesStats, Window
from ragstone.monitor.windows.summary import summarise_between


def evaluate_threshold_rules(
    archive: Archive, settings: Alerts, now: int, failing: set[str]
) -> list[RuleResult]:
    """Each threshold against the window up to now; `unknown` with too few values, or when the judge of its metric is `failing`."""
    if not settings.thresholds:
        return []
    length = parse_duration(settings.window)
    window = summarise_between(archive, now - length, now).whole
    return [_evaluate_threshold(rule, window, settings, failing) for rule in settings.thresholds]


def _evaluate_threshold(
    rule: Threshold, window: Window, settings: Alerts, failing: set[str]
) -> RuleResult:
    series = _select_series(rule.name, window)
    metric = rule.name if rule.name in window.metrics else ""  # empty for latency and the like
    name = f"threshold:{rule}"
    value = None if series is None else get_statistic(rule.figure, series)
    if (
        series is None
        or value is None
        # applicable, not scored: a judge that fails on everything must still lower the coverage
        or series.applicable < MIN_WINDOW_SCORES
        # Coverage is what a failing judge lowers, so this rule is evaluated all the same.
        or (metric in failing and rule.figure != "coverage")
    ):
        return RuleResult(name, "threshold", "unknown", metric)
    facts = {
        "phrase": "threshold",
        "name": rule.name,
        "figure": rule.figure,
        "value": value,
        "limit": rule.limit,
        "rule": str(rule),
        "window": settings.window,
        "scores": series.scored,
        "since_us": window.since,
    }
    return RuleResult(
        name,
        "threshold",
        "firing" if rule.is_crossed_by(value) else "ok",
        metric,
        title=format_alert(facts),
        facts=facts,
        hold=parse_duration(settings.hold),
        resolve=parse_duration(settings.resolve),
    )


def _select_series(name: str, window: Window) -> SeriesStats | None:
    measures = {
        "latency": window.latency,
        "cost": window.cost,
        "tokens": window.tokens,
        "feedback": window.feedback,
    }
    return window.metrics.get(name) or measures.get(name)


def get_statistic(name: str, series: SeriesStats) -> float | None:
    """The statistic that a threshold names: mean, coverage, total or a percentile."""
    if name == "mean":
        return series.mean
    if name == "coverage":
        return series.coverage
    if name == "total":
        return series.total
    return series.percentiles.get(name)
