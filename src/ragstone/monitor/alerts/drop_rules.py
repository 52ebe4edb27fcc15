"""Alert rules for drops: the sequential test on every metric and slice against its reference period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ragstone.config.alerts import Alerts
from ragstone.monitor.alert_text import format_alert
from ragstone.monitor.alerts.alert import RuleResult, RuleState
from ragstone.monitor.alerts.explanation import (
    find_advice,
    find_explaining_slice,
    find_worst_examples,
)
from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.hourly import (
    HourlyStreams,
    StreamKey,
    get_orientation,
    load_hourly_streams,
)
from ragstone.monitor.drift.references import (
    build_references,
    choose_reference_span,
    load_references,
    save_references,
    select_live,
)
from ragstone.monitor.drift.sequential_test import (
    PENDING_EVIDENCE,
    DriftTrace,
    ReferencePeriod,
    WindowSums,
    compute_alarm_level,
    find_change_window,
    run_drift_test,
)
from ragstone.monitor.interactions import format_iso
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_REPLAY_MICROS = 60 * DAY_MICROS
"""The test is replayed over at most this much time."""
WHOLE_BUDGET_SHARE, SLICES_BUDGET_SHARE = 0.5, 0.4
"""Shares of a metric's false-alarm budget for the whole metric and for all its slices together. They add up to less than 1
because small windows raise somewhat more false alarms than their budget."""


@dataclass(frozen=True, slots=True)
class MetricStream:
    """One metric, of all interactions or of a slice, as the drop test sees it."""

    metric: str
    field: str
    value: str
    state: str
    """ok, pending, firing, or learning while there is no reference."""
    reference: float | None
    """The mean of the reference period."""
    mean: float | None
    """The mean of the last day."""
    evidence: float
    """The test's statistic as a share of the alarm level."""


@dataclass(frozen=True)
class _Replay:
    """The drop test of all streams, replayed over the hours after their reference periods."""

    hours: HourlyStreams
    spans: Sequence[tuple[int, int]]
    """Start and end of each stream's reference period."""
    reference: ReferencePeriod
    live: WindowSums
    """The hours after the reference periods, small ones joined."""
    trace: DriftTrace

    def classify(self, row: int) -> RuleState:
        """What the test says of a stream after the last hour; `unknown` while its reference is incomplete."""
        if not self.reference.usable[row] or self.spans[row][1] > self.hours.get_hour_start(
            self.hours.count
        ):
            return "unknown"
        if self.trace.firing[row, -1]:
            return "firing"
        return "pending" if self.trace.evidence[row, -1] >= PENDING_EVIDENCE else "ok"


def evaluate_drop_rules(
    archive: Archive, settings: Alerts, metrics: Sequence[str], now: int, failing: set[str]
) -> tuple[list[RuleResult], list[MetricStream]]:
    """Results and streams of every metric and slice after the last complete hour; `failing` are metrics whose judge fails."""
    replay = _replay_test(archive, settings, metrics, now)
    if replay is None:
        return [], []
    results, streams = [], []
    for row, key in enumerate(replay.hours.keys):
        state = replay.classify(row)
        # before the state is overwritten: `_build_stream` takes `unknown` for "still learning"
        streams.append(_build_stream(replay, row, state, key.metric in failing))
        if key.metric in failing:
            state = "unknown"
        facts = _build_facts(replay, row) if state in ("firing", "pending") else {}
        title = format_alert(facts) if facts else ""
        results.append(
            RuleResult(key.rule, "drop", state, key.metric, key.field, key.value, title, facts)
        )
    return results, streams


def _replay_test(
    archive: Archive, settings: Alerts, metrics: Sequence[str], now: int
) -> _Replay | None:
    stop = now - now % HOUR_MICROS
    saved = load_references(archive, settings)
    first_hours = [_find_first_hour(archive, metric) for metric in metrics]
    known = [hour for hour in first_hours if hour is not None]
    if not known:
        return None
    # Only saved references allow a bounded replay: the others are learned from the first hour on.
    is_saved = all(StreamKey(metric).rule in saved for metric in metrics)
    start = max(min(known), stop - MAX_REPLAY_MICROS) if is_saved else min(known)
    hours = load_hourly_streams(
        archive, metrics, start, stop, settings.slices, settings.judge_failures
    )
    if not hours.count:
        return None
    spans = [choose_reference_span(settings, hours, row, saved) for row in range(len(hours.keys))]
    reference = build_references(hours, spans, saved)
    # joined after the cut, so that no window mixes reference and live hours
    live = select_live(hours, spans).join_small()
    levels = _compute_alarm_levels(settings, hours)
    trace = run_drift_test(reference, live, levels, first_hour=hours.first_hour)
    save_references(archive, settings, hours, spans, reference, saved, now)
    return _Replay(hours, spans, reference, live, trace)


def _build_stream(replay: _Replay, row: int, state: RuleState, is_failing: bool) -> MetricStream:
    hours, key = replay.hours, replay.hours.keys[row]
    sign = get_orientation(key.metric)
    day = hours.series.select(max(0, hours.count - 24), hours.count)
    count = float(day.counts[row].sum())
    is_usable = state != "unknown"
    return MetricStream(
        key.metric,
        key.field,
        key.value,
        # `ok` while the judge fails: the alert `judge_failing` then sets the state (`_assign_state`)
        "learning" if not is_usable else "ok" if is_failing else state,
        sign * float(replay.reference.mean[row]) if is_usable else None,
        sign * float(day.sums[row].sum()) / count if count else None,
        float(replay.trace.evidence[row, -1]),
    )


def _build_facts(replay: _Replay, row: int) -> dict[str, Any]:
    """What a drop's alert says: mean before and after, since when, from how many scores."""
    import numpy as np

    hours, trace = replay.hours, replay.trace
    key, sign = hours.keys[row], get_orientation(hours.keys[row].metric)
    # The start of an alarm is fixed when it fires; that of a pending one is estimated from all hours so far.
    alarm = hours.count - 1  # index of the last hour that the start is estimated from
    if trace.firing[row, -1]:
        alarm = int(np.flatnonzero(trace.alarms[row])[-1])
    # hours of an earlier alarm: this drop began after them
    earlier = np.flatnonzero(trace.firing[row, :alarm])
    began = find_change_window(
        replay.reference,
        replay.live,
        row,
        alarm + 1,
        start=int(earlier[-1]) + 1 if len(earlier) else 0,
        first_hour=hours.first_hour,
    )
    dropped = hours.series.select(began, hours.count)
    count = float(dropped.counts[row].sum())
    before = sign * float(replay.reference.mean[row])
    after = sign * float(dropped.sums[row].sum()) / count if count else before
    return {
        "phrase": "drop",
        "metric": key.metric,
        "field": key.field,
        "value": key.value,
        "before": before,
        "after": after,
        "change": after - before,
        "since": format_minute(hours.get_hour_start(began)),
        "since_us": hours.get_hour_start(began),
        "scores": count,
        # times in microseconds are for `add_explanation`; `build_message` leaves them out
        "reference_us": list(replay.spans[row]),
    }


def add_explanation(archive: Archive, settings: Alerts, result: RuleResult, now: int) -> RuleResult:
    """A result with the slice that explains it, examples and advice; for alerts that are about to fire."""
    if result.kind not in ("drop", "threshold") or not result.metric:
        return result
    facts: dict[str, Any] = dict(result.facts)
    since = int(facts["since_us"])
    where = (result.field, result.value) if result.field else None
    if result.kind == "drop" and where is None:
        span = (int(facts["reference_us"][0]), int(facts["reference_us"][1]))
        part = find_explaining_slice(archive, result.metric, span, since, now, settings.slices)
        if part is not None:
            facts["part"] = asdict(part)
            where = (part.field, part.value)
    higher_is_better = get_orientation(result.metric) > 0
    facts["examples"] = find_worst_examples(
        archive, result.metric, since, now, higher_is_better=higher_is_better, where=where
    )
    facts["advice"] = find_advice(archive, result.metric, since, now, where)
    return replace(result, facts=facts, title=format_alert(facts))


def _compute_alarm_levels(settings: Alerts, hours: HourlyStreams) -> NDArray[np.float64]:
    """Alarm levels: a metric without slices has its whole budget, else its slices share a part of it."""
    import numpy as np

    levels = []
    for key in hours.keys:
        slices = sum(other.metric == key.metric and bool(other.field) for other in hours.keys)
        share = 1.0
        if slices:
            share = SLICES_BUDGET_SHARE / slices if key.field else WHOLE_BUDGET_SHARE
        levels.append(compute_alarm_level(settings.false_alarms * share))
    return np.array(levels)


def _find_first_hour(archive: Archive, metric: str) -> int | None:
    ((at,),) = archive.store.read("SELECT MIN(at) FROM monitor_scores WHERE metric = ?", (metric,))
    return None if at is None else int(at) - int(at) % HOUR_MICROS


def format_minute(at: int) -> str:
    """A time to the minute, UTC."""
    return format_iso(at)[:16].replace("T", " ") + " UTC"
