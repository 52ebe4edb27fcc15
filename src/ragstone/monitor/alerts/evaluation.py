"""One evaluation of all alert rules: results, state changes of alerts, and notifications into the outbox.

Time is an argument: the same store and the same time give the same alerts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ragstone.config.alerts import Alerts
from ragstone.config.durations import parse_duration
from ragstone.monitor.alerts.alert import (
    Alert,
    PastIncident,
    RuleResult,
    advance_alert,
    build_past_alert,
    load_open_alerts,
    save_alerts,
)
from ragstone.monitor.alerts.drop_rules import (
    MetricStream,
    add_explanation,
    evaluate_drop_rules,
    format_minute,
)
from ragstone.monitor.alerts.no_data_rules import evaluate_judge_rules, evaluate_no_data_rules
from ragstone.monitor.alerts.outbox import enqueue_alert
from ragstone.monitor.alerts.question_rules import evaluate_question_rules
from ragstone.monitor.alerts.threshold_rules import evaluate_threshold_rules
from ragstone.monitor.archive import Archive
from ragstone.monitor.purge import drop_purged_examples
from ragstone.monitor.rollups import refresh
from ragstone.monitor.state import load_state, lock_alerts, save_state
from ragstone.monitor.statements import DAY_MICROS
from ragstone.store.database import Connection

METRIC_MEMORY_MICROS = 30 * DAY_MICROS
"""A metric without any score for so long is no longer evaluated."""
ORPHAN_RESOLVE_MICROS = DAY_MICROS
"""How long an alert stays open whose rule no longer exists."""

STATUS_KEY = "watch"
"""Where the status of the last evaluation is stored; other versions of the package read it too."""

STATES_BY_SEVERITY = ("firing", "judge_failing", "no_data", "pending", "learning", "ok")
"""All states of open alerts and of streams, the most severe first."""


@dataclass(frozen=True, slots=True)
class MonitorStatus:
    """The state of all metrics and alerts after an evaluation."""

    at: int
    state: str
    """The most severe of the states."""
    streams: tuple[MetricStream, ...]
    open: tuple[Alert, ...]
    """Alerts that are not resolved."""
    waiting: tuple[Mapping[str, Any], ...] = ()
    """Facts of thresholds that are not decided yet, for `format_alert`."""

    def to_dict(self) -> dict[str, Any]:
        """The status as plain JSON."""
        return {
            "at": self.at,
            "state": self.state,
            "streams": [asdict(stream) for stream in self.streams],
            "open": [alert.to_dict() for alert in self.open],
            "waiting": [dict(facts) for facts in self.waiting],
        }


def evaluate_alerts(archive: Archive, settings: Alerts, now: int) -> MonitorStatus:
    """Evaluate every rule once, advance the alerts and enqueue their notifications."""
    refresh(archive)
    metrics = list_active_metrics(archive, now)
    before = {alert.rule: alert for alert in load_open_alerts(archive)}
    silence = evaluate_no_data_rules(archive, settings, metrics, now)
    judges = evaluate_judge_rules(archive, settings, metrics, now)
    # While its judge fails, the quality of a metric is unknown: so are the results of its other rules.
    failing = {result.metric for result in judges if result.state == "firing"}
    results, streams, past = evaluate_drop_rules(archive, settings, metrics, now, failing)
    results += evaluate_threshold_rules(archive, settings, now, failing)
    if settings.questions:
        results += evaluate_question_rules(archive, settings, now)
    results = _suppress_slice_results([*silence, *judges, *results], before)
    # Explanations read many rows, so they are computed before the transaction that locks the alerts.
    results = [
        add_explanation(archive, settings, result, now)
        if _is_newly_firing(result, before)
        else result
        for result in results
    ]

    def write(db: Connection) -> MonitorStatus:
        lock_alerts(db, now)
        _save_past_incidents(db, past)
        return _advance_alerts(db, settings, results, streams, now)

    return archive.run(write).result()


def load_status(archive: Archive) -> MonitorStatus | None:
    """The status after the last evaluation; None before the first."""
    body = load_state(archive, STATUS_KEY)
    if body is None:
        return None
    plain = json.loads(body)
    return MonitorStatus(
        plain["at"],
        plain["state"],
        tuple(_read_stream(stream) for stream in plain["streams"]),
        tuple(Alert.from_json(alert) for alert in plain["open"]),
        tuple(plain.get("waiting", ())),
    )


def _read_stream(plain: Mapping[str, Any]) -> MetricStream:
    span = plain.get("reference_us")  # JSON has no tuples
    return MetricStream(**{**plain, "reference_us": None if span is None else (span[0], span[1])})


def list_active_metrics(archive: Archive, now: int) -> list[str]:
    """Metrics with a score or a failed judgement in the last 30 days."""
    rows = archive.store.read("SELECT DISTINCT metric FROM monitor_scores ORDER BY metric")
    return [
        name
        for (name,) in rows
        if archive.store.read(
            "SELECT 1 FROM monitor_scores WHERE metric = ? AND at >= ? AND at < ? LIMIT 1",
            (name, now - METRIC_MEMORY_MICROS, now),
        )
    ]


def get_interval_seconds(settings: Alerts) -> float:
    """Seconds between two evaluations by the server."""
    return parse_duration(settings.every) / 1_000_000


def _advance_alerts(
    db: Connection,
    settings: Alerts,
    results: Sequence[RuleResult],
    streams: Sequence[MetricStream],
    now: int,
) -> MonitorStatus:
    """Advance all alerts inside a transaction that has locked them; a concurrent evaluation waits.

    The alerts are read again under the lock: another process may have advanced them since the rules were evaluated."""
    rows = db.execute("SELECT body FROM monitor_alerts WHERE closed IS NULL ORDER BY opened, rule")
    alerts = [Alert.from_json(json.loads(body)) for (body,) in rows]
    by_rule = {alert.rule: alert for alert in alerts}
    evaluated = {result.rule for result in results}
    # alerts whose rule was not evaluated, because it or its metric no longer exists
    orphans = [
        RuleResult(rule, alert.kind, "ok", resolve=ORPHAN_RESOLVE_MICROS)
        for rule, alert in by_rule.items()
        if rule not in evaluated
    ]
    still_open: list[Alert] = []
    for result in [*results, *orphans]:
        # the rules ran before the lock was taken; a purge in between must not come undone
        result = replace(result, facts=drop_purged_examples(db, result.facts))
        alert, notify = advance_alert(by_rule.get(result.rule), result, now)
        if alert is None:
            continue
        save_alerts(db, [alert])
        if notify and now >= alert.muted_until:
            enqueue_alert(db, settings.channels, alert, now)
        if alert.open:
            still_open.append(alert)
    status = MonitorStatus(
        now,
        _find_worst_state(still_open, streams),
        tuple(_assign_state(stream, still_open) for stream in streams),
        tuple(still_open),
        tuple(_list_waiting(results, still_open)),
    )
    save_state(db, STATUS_KEY, json.dumps(status.to_dict(), allow_nan=False), now)
    return status


def _list_waiting(
    results: Sequence[RuleResult], alerts: Iterable[Alert]
) -> Iterator[Mapping[str, Any]]:
    """Facts of the thresholds that cannot be decided, and of those that are crossed but not yet for long enough."""
    yield from (result.facts for result in results if result.state == "unknown" and result.facts)
    holds = {result.rule: result.hold for result in results}
    for alert in alerts:
        since = alert.facts.get("held_since")
        if alert.state == "pending" and alert.kind == "threshold" and since is not None:
            until = format_minute(since + holds.get(alert.rule, 0))
            yield {**alert.facts, "phrase": "threshold_waits.hold", "until": until}


def _save_past_incidents(db: Connection, past: Sequence[PastIncident]) -> None:
    """Record drops that were over before an evaluation saw them, as after an import of old data."""
    for incident in past:
        since, rule = int(incident.result.facts["since_us"]), incident.result.rule
        known = db.execute(
            "SELECT 1 FROM monitor_alerts WHERE rule = ? AND opened <= ?"
            " AND (closed IS NULL OR closed >= ?) LIMIT 1",
            (rule, incident.ended, since),
        )
        if not list(known):
            save_alerts(db, [build_past_alert(incident)])


def _assign_state(stream: MetricStream, alerts: Iterable[Alert]) -> MetricStream:
    """The stream in the most severe state that an alert about it has."""
    states = [alert.state for alert in alerts if _is_about(alert, stream)]
    return replace(stream, state=min([stream.state, *states], key=STATES_BY_SEVERITY.index))


def _is_about(alert: Alert, stream: MetricStream) -> bool:
    # no interactions at all: nothing is known of any metric
    if alert.kind == "no_data" and not alert.metric:
        return True
    if alert.metric != stream.metric:
        return False
    same_slice = (alert.field, alert.value) == (stream.field, stream.value)
    return same_slice or alert.kind in ("judge_failing", "no_data")


def _find_worst_state(alerts: Sequence[Alert], streams: Sequence[MetricStream]) -> str:
    whole = [stream.state for stream in streams if not stream.field]
    states = [*(alert.state for alert in alerts), *whole]
    return min(states, key=STATES_BY_SEVERITY.index, default="learning")


def _is_newly_firing(result: RuleResult, before: Mapping[str, Alert]) -> bool:
    alert = before.get(result.rule)
    return result.state == "firing" and (alert is None or alert.state == "pending")


def _suppress_slice_results(
    results: Sequence[RuleResult], before: Mapping[str, Alert]
) -> list[RuleResult]:
    """Report slices as ok while their whole metric fires: that alert already names the slice.

    A slice whose alert fired before keeps its result, or the alert would be resolved."""
    dropping = {
        result.metric
        for result in results
        if result.kind == "drop" and not result.field and result.state == "firing"
    }
    fired = {rule for rule, alert in before.items() if alert.state != "pending"}
    return [
        replace(result, state="ok")
        if result.kind == "drop"
        and result.field
        and result.metric in dropping
        and result.rule not in fired
        else result
        for result in results
    ]
