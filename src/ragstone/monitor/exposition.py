"""The monitor's figures as Prometheus reads them (extra `prometheus`): counters since the start, gauges of the last hour."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragstone.errors import MissingExtra
from ragstone.monitor.alerts.alert import open_alerts
from ragstone.monitor.alerts.evaluation import GRAVITY, last_status
from ragstone.monitor.alerts.outbox import pending
from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import micros
from ragstone.monitor.statements import HOUR
from ragstone.monitor.windows.summary import Window, between

MOST_METRICS = 50
"""Metrics with labels of their own, in alphabetical order: labels never grow with the data."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def metrics_text(archive: Archive, now: int | None = None) -> str:
    """Everything as text in Prometheus' exposition format."""
    try:
        from prometheus_client import CollectorRegistry, generate_latest
    except ImportError:
        raise MissingExtra("Prometheus metrics", "prometheus") from None
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(archive, micros() if now is None else now))
    return str(generate_latest(registry).decode("utf-8"))


class _Collector:
    """Works the figures out when they are asked for."""

    def __init__(self, archive: Archive, now: int) -> None:
        self._archive, self._now = archive, now

    def describe(self) -> list[Any]:
        """Nothing ahead of time: asking would read the store."""
        return []

    def collect(self) -> Iterator[Any]:
        """One family after the other."""
        yield from _counters(self._archive)
        yield from _last_hour(between(self._archive, self._now - HOUR, self._now).whole)
        yield from _watching(self._archive)


def _counters(archive: Archive) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily

    counts = archive.counters()
    yield CounterMetricFamily(
        "ragstone_interactions", "Interactions stored.", value=counts.get("interactions", 0)
    )
    yield CounterMetricFamily(
        "ragstone_feedback", "Pieces of feedback stored.", value=counts.get("feedback", 0)
    )
    other = CounterMetricFamily(
        "ragstone_events", "Other events: repetitions, refusals, losses.", labels=["kind"]
    )
    for name, value in counts.items():
        if name not in ("interactions", "feedback"):
            other.add_metric([name], value)
    yield other


def _last_hour(window: Window) -> Iterator[Any]:
    from prometheus_client.core import GaugeMetricFamily

    shown = [window.metrics[name] for name in sorted(window.metrics)[:MOST_METRICS]]
    columns: dict[tuple[str, str], list[float | None]] = {
        ("ragstone_score_mean", "Mean score over the last hour."): [one.mean for one in shown],
        ("ragstone_score_low", "Lower end of its 95 % interval."): [one.low for one in shown],
        ("ragstone_score_high", "Upper end of its 95 % interval."): [one.high for one in shown],
        ("ragstone_score_count", "Scores in the last hour."): [one.scored for one in shown],
        ("ragstone_score_coverage_ratio", "Scored out of applicable, last hour."): [
            one.coverage for one in shown
        ],
    }
    for (name, meaning), values in columns.items():
        family = GaugeMetricFamily(name, meaning, labels=["metric"])
        for one, value in zip(shown, values, strict=True):
            if value is not None:
                family.add_metric([one.name], value)
        yield family
    yield GaugeMetricFamily(
        "ragstone_window_interactions", "Interactions in the last hour.", value=window.interactions
    )
    yield GaugeMetricFamily(
        "ragstone_window_errors", "Of these, those the system failed on.", value=window.failed
    )
    if window.latency is not None:
        family = GaugeMetricFamily(
            "ragstone_latency_seconds", "Latency over the last hour.", labels=["quantile"]
        )
        for name, share in (("p50", "0.5"), ("p95", "0.95"), ("p99", "0.99")):
            family.add_metric([share], window.latency.percentiles[name])
        yield family
    if window.feedback is not None and window.feedback.mean is not None:
        yield GaugeMetricFamily(
            "ragstone_feedback_mean", "Mean feedback of the last hour.", value=window.feedback.mean
        )
    cost = window.cost.total if window.cost is not None else 0.0
    yield GaugeMetricFamily("ragstone_cost_usd", "Cost of the last hour's answers.", value=cost)
    yield GaugeMetricFamily(
        "ragstone_judge_cost_usd", "Cost of judging the last hour.", value=window.judge_usd
    )


def _watching(archive: Archive) -> Iterator[Any]:
    from prometheus_client.core import GaugeMetricFamily

    alerts = GaugeMetricFamily("ragstone_alerts", "Open alerts.", labels=["state"])
    found = [one.state for one in open_alerts(archive)]
    for state in ("firing", "pending", "no_data", "judge_failing"):
        alerts.add_metric([state], found.count(state))
    yield alerts
    yield GaugeMetricFamily(
        "ragstone_outbox_messages", "Messages that have not left.", value=len(pending(archive))
    )
    status = last_status(archive)
    if status is None:
        return
    yield GaugeMetricFamily(
        "ragstone_last_watch_timestamp_seconds", "When the last round was.", value=status.at / 1e6
    )
    whole = [one for one in status.streams if not one.field][:MOST_METRICS]
    states = GaugeMetricFamily(
        "ragstone_metric_state", "1 for the state a metric is in.", labels=["metric", "state"]
    )
    evidence = GaugeMetricFamily(
        "ragstone_drop_evidence_ratio",
        "The drop test's statistic; 1 is an alarm.",
        labels=["metric"],
    )
    usual = GaugeMetricFamily(
        "ragstone_score_reference", "Mean of the reference period.", labels=["metric"]
    )
    for one in whole:
        for state in GRAVITY:
            states.add_metric([one.metric, state], float(one.state == state))
        evidence.add_metric([one.metric], one.evidence)
        if one.reference is not None:
            usual.add_metric([one.metric], one.reference)
    yield from (states, evidence, usual)
