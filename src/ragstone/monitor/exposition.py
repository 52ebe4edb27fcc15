"""Metrics of the monitor in Prometheus' exposition format (extra `prometheus`): counters over all time, gauges of the last hour.

Dashboards refer to the names of the metrics: they must not change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragstone.analysis.percentiles import LATENCY_PERCENTILES
from ragstone.errors import MissingExtra
from ragstone.monitor.alerts.alert import load_open_alerts
from ragstone.monitor.alerts.evaluation import STATES_BY_SEVERITY, load_status
from ragstone.monitor.alerts.outbox import list_unsent
from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import now_micros
from ragstone.monitor.statements import HOUR_MICROS
from ragstone.monitor.windows.statistics import Window
from ragstone.monitor.windows.summary import summarise_between

MAX_LABELLED_METRICS = 50
"""Metrics that get labels, in alphabetical order: the number of label values stays bounded."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def render_metrics(archive: Archive, now: int | None = None) -> str:
    """All metrics as text in Prometheus' exposition format."""
    try:
        from prometheus_client import CollectorRegistry, generate_latest
    except ImportError:
        raise MissingExtra("Prometheus metrics", "prometheus") from None
    # a registry for each scrape: the default one is global to the process and would mix in the host
    # application's metrics
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(archive, now_micros() if now is None else now))
    return str(generate_latest(registry).decode("utf-8"))


class _Collector:
    """Computes the metrics when they are scraped."""

    def __init__(self, archive: Archive, now: int) -> None:
        self._archive, self._now = archive, now

    def describe(self) -> list[Any]:
        """Empty: describing the metrics would read the store."""
        return []

    def collect(self) -> Iterator[Any]:
        """All metric families."""
        yield from _collect_counters(self._archive)
        yield from _collect_last_hour(
            summarise_between(self._archive, self._now - HOUR_MICROS, self._now).whole
        )
        yield from _collect_alert_states(self._archive)


def _collect_counters(archive: Archive) -> Iterator[Any]:
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


def _collect_last_hour(window: Window) -> Iterator[Any]:
    from prometheus_client.core import GaugeMetricFamily

    shown = [window.metrics[name] for name in sorted(window.metrics)[:MAX_LABELLED_METRICS]]
    columns: dict[tuple[str, str], list[float | None]] = {
        ("ragstone_score_mean", "Mean score over the last hour."): [stats.mean for stats in shown],
        ("ragstone_score_low", "Lower end of its 95 % interval."): [stats.low for stats in shown],
        ("ragstone_score_high", "Upper end of its 95 % interval."): [stats.high for stats in shown],
        ("ragstone_score_count", "Scores in the last hour."): [stats.scored for stats in shown],
        ("ragstone_score_coverage_ratio", "Scored out of applicable, last hour."): [
            stats.coverage for stats in shown
        ],
    }
    for (name, meaning), values in columns.items():
        family = GaugeMetricFamily(name, meaning, labels=["metric"])
        for stats, value in zip(shown, values, strict=True):
            if value is not None:
                family.add_metric([stats.name], value)
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
        for name, share in LATENCY_PERCENTILES.items():
            family.add_metric([str(share)], window.latency.percentiles[name])
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


def _collect_alert_states(archive: Archive) -> Iterator[Any]:
    from prometheus_client.core import GaugeMetricFamily

    alerts = GaugeMetricFamily("ragstone_alerts", "Open alerts.", labels=["state"])
    open_states = [alert.state for alert in load_open_alerts(archive)]
    for state in ("firing", "pending", "no_data", "judge_failing"):
        alerts.add_metric([state], open_states.count(state))
    yield alerts
    yield GaugeMetricFamily(
        "ragstone_outbox_messages", "Messages that have not left.", value=len(list_unsent(archive))
    )
    status = load_status(archive)
    if status is None:
        return
    yield GaugeMetricFamily(
        "ragstone_last_watch_timestamp_seconds", "When the last round was.", value=status.at / 1e6
    )
    whole = [stream for stream in status.streams if not stream.field][:MAX_LABELLED_METRICS]
    states = GaugeMetricFamily(
        "ragstone_metric_state", "1 for the state a metric is in.", labels=["metric", "state"]
    )
    evidence = GaugeMetricFamily(
        "ragstone_drop_evidence_ratio",
        "The drop test's statistic; 1 is an alarm.",
        labels=["metric"],
    )
    reference = GaugeMetricFamily(
        "ragstone_score_reference", "Mean of the reference period.", labels=["metric"]
    )
    for stream in whole:
        for state in STATES_BY_SEVERITY:
            states.add_metric([stream.metric, state], float(stream.state == state))
        evidence.add_metric([stream.metric], stream.evidence)
        if stream.reference is not None:
            reference.add_metric([stream.metric], stream.reference)
    yield from (states, evidence, reference)
