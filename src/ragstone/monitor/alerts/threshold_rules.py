"""Alert rules with a fixed threshold: a statistic of the last window against a limit."""

from __future__ import annotations

from ragstone.analysis.stats import wilson_interval
from ragstone.config.alerts import Alerts, Threshold
from ragstone.config.durations import parse_duration
from ragstone.monitor.alert_text import format_alert
from ragstone.monitor.alerts.alert import RuleResult
from ragstone.monitor.archive import Archive
from ragstone.monitor.windows.statistics import SeriesStats, Window
from ragstone.monitor.windows.summary import summarise_between

MIN_WINDOW_SCORES = 20
"""With fewer values a mean or coverage must lie beyond the limit with its whole 95 % interval, and a percentile is not known."""


def evaluate_threshold_rules(
    archive: Archive, settings: Alerts, now: int, failing: set[str]
) -> list[RuleResult]:
    """Each threshold against the window up to now; `unknown`, with the reason, where it cannot be decided.

    That is so without values, with too few for the figure, or when the judge of its metric is `failing`."""
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
    # Coverage is what a failing judge lowers, so this rule is evaluated all the same.
    if metric in failing and rule.figure != "coverage":
        return _wait(name, metric, rule, settings, "judge", 0)
    if series is None or value is None:
        return _wait(name, metric, rule, settings, "empty", 0)
    # applicable, not scored: a judge that fails on everything must still lower the coverage
    count = series.applicable
    interval = _find_interval(rule.figure, series)
    if count < MIN_WINDOW_SCORES and interval is None:
        return _wait(name, metric, rule, settings, "few", count)
    crossed = rule.is_crossed_by(value)
    if count < MIN_WINDOW_SCORES and interval is not None:
        crossed = all(map(rule.is_crossed_by, interval))
        if rule.is_crossed_by(value) and not crossed:
            return _wait(name, metric, rule, settings, "unsure", count)
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
        "firing" if crossed else "ok",
        metric,
        title=format_alert(facts),
        facts=facts,
        hold=parse_duration(settings.hold),
        resolve=parse_duration(settings.resolve),
    )


def _wait(
    name: str, metric: str, rule: Threshold, settings: Alerts, why: str, count: int
) -> RuleResult:
    """A threshold that cannot be decided now; `why` is part of the name of its phrase."""
    facts = {
        "phrase": f"threshold_waits.{why}",
        "rule": str(rule),
        "window": settings.window,
        "scores": count,
        "least": MIN_WINDOW_SCORES,
        "metric": metric,
    }
    return RuleResult(name, "threshold", "unknown", metric, title=format_alert(facts), facts=facts)


def _find_interval(figure: str, series: SeriesStats) -> tuple[float, float] | None:
    """The 95 % interval of a figure; None for a percentile. A total is what it is."""
    if figure == "total" and series.total is not None:
        return series.total, series.total
    if figure == "coverage" and series.applicable:
        return wilson_interval(series.scored, series.applicable)
    if figure == "mean" and series.low is not None and series.high is not None:
        return series.low, series.high
    return None


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
