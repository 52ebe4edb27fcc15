"""Readings of plain thresholds: a figure of the last window on the wrong side of a limit."""

from __future__ import annotations

from ragstone.config.alerts import Alerts, Threshold
from ragstone.config.durations import duration
from ragstone.monitor.alerts.alert import Reading
from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.sequential_test import LEAST_SCORES
from ragstone.monitor.windows.summary import Figure, Window, between
from ragstone.monitor.wording import sentence


def threshold_readings(
    archive: Archive, settings: Alerts, now: int, failing: set[str]
) -> list[Reading]:
    """Each threshold against the window that ends now; with too few values to say, nothing is said."""
    if not settings.thresholds:
        return []
    length = duration(settings.window)
    window = between(archive, now - length, now).whole
    return [_reading(one, window, settings, failing) for one in settings.thresholds]


def _reading(rule: Threshold, window: Window, settings: Alerts, failing: set[str]) -> Reading:
    figure = _figure(rule.name, window)
    metric = rule.name if rule.name in window.metrics else ""
    name = f"threshold:{rule}"
    value = None if figure is None else value_of(rule.figure, figure)
    if (
        figure is None
        or value is None
        or figure.applicable < LEAST_SCORES
        or (metric in failing and rule.figure != "coverage")
    ):
        return Reading(name, "threshold", "unknown", metric)
    facts = {
        "phrase": "threshold",
        "name": rule.name,
        "figure": rule.figure,
        "value": value,
        "limit": rule.limit,
        "rule": str(rule),
        "window": settings.window,
        "scores": figure.scored,
        "since_us": window.since,
    }
    return Reading(
        name,
        "threshold",
        "firing" if rule.holds(value) else "ok",
        metric,
        title=sentence(facts),
        facts=facts,
        hold=duration(settings.hold),
        resolve=duration(settings.resolve),
    )


def _figure(name: str, window: Window) -> Figure | None:
    own = {
        "latency": window.latency,
        "cost": window.cost,
        "tokens": window.tokens,
        "feedback": window.feedback,
    }
    return window.metrics.get(name) or own.get(name)


def value_of(name: str, figure: Figure) -> float | None:
    """The figure that a threshold names."""
    if name == "mean":
        return figure.mean
    if name == "coverage":
        return figure.coverage
    if name == "total":
        return figure.total
    return figure.percentiles.get(name)
