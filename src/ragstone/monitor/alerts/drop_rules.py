"""Alert rules for drops: the sequential test on every metric and slice against its reference period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragstone.config.alerts import Alerts
from ragstone.monitor.alert_text import format_alert
from ragstone.monitor.alerts.alert import PastIncident, RuleResult, RuleState
from ragstone.monitor.alerts.explanation import (
    find_advice,
    find_examples_before,
    find_explaining_slice,
    find_worst_examples,
    measure_feedback,
)
from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.hourly import (
    HourlyStreams,
    StreamKey,
    get_orientation,
    has_bounds,
    load_hourly_streams,
)
from ragstone.monitor.drift.ranks import compute_median
from ragstone.monitor.drift.references import (
    TestedStreams,
    is_final,
    load_references,
    load_value_change,
    run_test,
    save_references,
)
from ragstone.monitor.drift.sequential_test import (
    PENDING_EVIDENCE,
    TARGET_DROP,
    Incident,
    Onset,
    estimate_delay,
    find_onset,
)
from ragstone.monitor.interactions import format_iso
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS

MAX_REPLAY_MICROS = 60 * DAY_MICROS
"""The test is replayed over at most this much time."""
WHOLE_BUDGET_SHARE, SLICES_BUDGET_SHARE = 0.5, 0.4
"""Shares of a metric's false-alarm budget for the whole metric and for all its slices together. They add up to less than 1
because small windows raise somewhat more false alarms than their budget."""
TARGET_RISE = 0.5
"""The rise of a metric without bounds whose delay is stated, as a share of its values."""
BELOW_WHOLE_DEVIATIONS = 3.0
"""Standard deviations by which the last day of a slice without a reference of its own must lie below the whole to be marked."""

Basis = Literal["own", "whole", ""]


@dataclass(frozen=True, slots=True)
class MetricStream:
    """One metric, of all interactions or of a slice, as the drop test sees it."""

    metric: str
    field: str
    value: str
    state: str
    """ok, pending, firing, or learning while there is no reference."""
    reference: float | None
    """The mean of the reference period; the median of a metric without bounds."""
    mean: float | None
    """The mean of the last day, or its median."""
    evidence: float
    """How near the test is to an alarm, from 0 to 1."""
    basis: Basis = ""
    """What it is compared with: its own past, or the whole metric while a slice has too little of that."""
    reference_us: tuple[int, int] | None = None
    """Start and end of the reference period; hours of an incident in it are left out."""
    delay_hours: float | None = None
    """Hours in which a drop of a tenth of the range, or a rise by half without bounds, would be found."""
    values_since_us: int = 0
    """When the values of the metric became expected shares, before which no reference period begins; 0: always."""


def evaluate_drop_rules(
    archive: Archive, settings: Alerts, metrics: Sequence[str], now: int, failing: set[str]
) -> tuple[list[RuleResult], list[MetricStream], list[PastIncident]]:
    """Results and streams of every metric and slice after the last complete hour, and incidents that are over.

    `failing` are metrics whose judge fails."""
    budgets_and_test = _replay_test(archive, settings, metrics, now)
    if budgets_and_test is None:
        return [], [], []
    budgets, tested = budgets_and_test
    results, streams, past = [], [], []
    for row, key in enumerate(tested.hours.keys):
        state = _classify(tested, row)
        # before the state is overwritten: `_build_stream` takes `unknown` for "still learning"
        streams.append(_build_stream(tested, row, state, budgets[row], key.metric in failing))
        if key.metric in failing:
            state = "unknown"
        incidents = tested.trace.incidents[row]
        facts, began = {}, 0
        if state == "firing":
            facts = _build_facts(tested, row, incidents[-1].onset)
            began = tested.hours.get_hour_start(incidents[-1].alarm + 1)
        elif state == "pending":
            facts = _build_facts(tested, row, _date_pending(tested, row))
        title = format_alert(facts) if facts else ""
        results.append(
            RuleResult(
                key.rule, "drop", state, key.metric, key.field, key.value, title, facts, began=began
            )
        )
        past += [
            _build_past(tested, row, incident, incident.recovered)
            for incident in incidents
            if incident.recovered is not None and not _is_part(tested, row, incident)
        ]
    changed_at, changed = load_value_change(archive)
    streams = [
        replace(stream, values_since_us=changed_at) if stream.metric in changed else stream
        for stream in streams
    ]
    return results, streams, past


def _is_part(tested: TestedStreams, row: int, incident: Incident) -> bool:
    """Whether a slice's incident overlaps one of its whole metric, whose alert names the slice."""
    key = tested.hours.keys[row]
    if not key.field or incident.recovered is None:
        return False
    whole = tested.trace.incidents[tested.hours.keys.index(StreamKey(key.metric))]
    return any(
        other.onset.low <= incident.recovered
        and (other.recovered is None or other.recovered >= incident.onset.low)
        for other in whole
    )


def _replay_test(
    archive: Archive, settings: Alerts, metrics: Sequence[str], now: int
) -> tuple[NDArray[np.float64], TestedStreams] | None:
    stop = now - now % HOUR_MICROS
    saved = load_references(archive, settings)
    first_hours = [_find_first_hour(archive, metric) for metric in metrics]
    known = [hour for hour in first_hours if hour is not None]
    if not known:
        return None
    # Only saved references allow a bounded replay: the others are learned from the first hour on.
    is_saved = all(is_final(saved, StreamKey(metric).rule) for metric in metrics)
    start = max(min(known), stop - MAX_REPLAY_MICROS) if is_saved else min(known)
    hours = load_hourly_streams(
        archive, metrics, start, stop, settings.slices, settings.judge_failures
    )
    if not hours.count:
        return None
    budgets = _share_budgets(settings, hours)
    tested = run_test(archive, settings, hours, saved, budgets)
    save_references(archive, settings, tested, saved, now)
    return budgets, tested


def _classify(tested: TestedStreams, row: int) -> RuleState:
    """What the test says of a stream after the last hour; `unknown` while its reference is incomplete."""
    if not tested.is_ready(row):
        return "unknown"
    if tested.trace.firing[row, -1]:
        return "firing"
    return "pending" if tested.trace.evidence[row, -1] >= PENDING_EVIDENCE else "ok"


def _build_stream(
    tested: TestedStreams, row: int, state: RuleState, budget: float, is_failing: bool
) -> MetricStream:
    hours, key = tested.hours, tested.hours.keys[row]
    mean = _measure_hours(tested, row, max(0, hours.count - 24), hours.count)
    evidence = float(tested.trace.evidence[row, -1])
    # `ok` while the judge fails: the alert `judge_failing` then sets the state (`_assign_state`)
    shown = "learning" if state == "unknown" else "ok" if is_failing else state
    stream = MetricStream(key.metric, key.field, key.value, shown, None, mean, evidence)
    if state != "unknown":
        span = tested.spans[row]
        drop = TARGET_DROP * float(tested.reference.span[row])
        if not has_bounds(key.metric):
            drop = abs(tested.scales[row].scale_by(1 + TARGET_RISE))
        delay = estimate_delay(tested.reference, row, budget, drop)
        return replace(
            stream,
            reference=_measure_reference(tested, row),
            basis="own",
            reference_us=(span.since, min(span.until, hours.get_hour_start(hours.count))),
            delay_hours=delay if np.isfinite(delay) else None,
        )
    return _compare_with_whole(tested, row, stream)


def _compare_with_whole(tested: TestedStreams, row: int, stream: MetricStream) -> MetricStream:
    """A slice that has too little past of its own, against the whole metric: a mark, but no alert, for slices may differ."""
    whole = tested.hours.keys.index(StreamKey(stream.metric))
    if not stream.field or not tested.is_ready(whole):
        return stream
    span, last_day = tested.spans[whole], slice(max(0, tested.hours.count - 24), None)
    # the slice's own hours, by what is usual in the whole
    usual = tested.trace.below[whole] + tested.series.means[whole]
    own = np.where(tested.series.seen[row], usual - tested.series.means[row], 0)
    mass = tested.series.counts[row] / np.maximum(tested.reference.within[whole], 1e-12)
    pull, total = (mass * own)[last_day].sum(), mass[last_day].sum()
    factor = float(tested.reference.factor[whole])
    is_below = total > 0 and pull / np.sqrt(total * factor) >= BELOW_WHOLE_DEVIATIONS
    return replace(
        stream,
        state="pending" if is_below and has_bounds(stream.metric) else stream.state,
        reference=_measure_reference(tested, whole),
        basis="whole",
        reference_us=(span.since, span.until),
    )


def _measure_reference(tested: TestedStreams, row: int) -> float:
    """The mean of the reference period, or its median without bounds."""
    key = tested.hours.keys[row]
    if not has_bounds(key.metric):
        return tested.scales[row].median
    return get_orientation(key.metric) * float(tested.reference.mean[row])


def _measure_hours(tested: TestedStreams, row: int, start: int, stop: int) -> float | None:
    """The mean of some hours, or their median without bounds."""
    key = tested.hours.keys[row]
    if not has_bounds(key.metric):
        bins = tested.hours.bins[key]
        return compute_median([bins[hour] for hour in range(start, stop) if hour in bins])
    part = tested.hours.series.select(start, stop)
    count = float(part.counts[row].sum())
    return get_orientation(key.metric) * float(part.sums[row].sum()) / count if count else None


def _date_pending(tested: TestedStreams, row: int) -> Onset:
    """Since when a drop that is not yet sure may have lasted."""
    earlier = tested.trace.incidents[row]
    start = (earlier[-1].recovered or 0) if earlier else 0
    below, precision = tested.trace.below, tested.trace.precision
    depth = TARGET_DROP * float(tested.reference.span[row])
    onset = find_onset(below[row, start:], precision[row, start:], usual_depth=depth)
    return replace(
        onset, window=start + onset.window, low=start + onset.low, high=start + onset.high
    )


def _build_facts(
    tested: TestedStreams, row: int, onset: Onset, stop: int | None = None
) -> dict[str, Any]:
    """What a drop's alert says: figures before and after, since when, from how many scores; up to the hour `stop`."""
    hours, key, span = tested.hours, tested.hours.keys[row], tested.spans[row]
    stop = hours.count if stop is None else stop
    before = _measure_reference(tested, row)
    after = _measure_hours(tested, row, onset.window, stop)
    after = before if after is None else after
    return {
        "phrase": "drop",
        "metric": key.metric,
        "figure": "mean" if has_bounds(key.metric) else "median",
        "field": key.field,
        "value": key.value,
        "before": before,
        "after": after,
        "change": after - before,
        "since": format_minute(hours.get_hour_start(onset.window)),
        "since_us": hours.get_hour_start(onset.window),
        # the interval ends with the hour that the drop began in at the latest
        "since_interval_us": [
            hours.get_hour_start(onset.low),
            hours.get_hour_start(onset.high + 1),
        ],
        "scores": float(hours.series.counts[row, onset.window : stop].sum()),
        # times in microseconds are for pages and `add_explanation`; `build_message` leaves them out
        "reference_us": [span.since, min(span.until, hours.get_hour_start(onset.low))],
    }


def _build_past(
    tested: TestedStreams, row: int, incident: Incident, recovered: int
) -> PastIncident:
    key, hours = tested.hours.keys[row], tested.hours
    facts = _build_facts(tested, row, incident.onset, recovered)
    result = RuleResult(
        key.rule, "drop", "ok", key.metric, key.field, key.value, format_alert(facts), facts,
        began=hours.get_hour_start(incident.alarm + 1),
    )  # fmt: skip
    return PastIncident(result, hours.get_hour_start(recovered + 1))


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
    if result.kind == "drop":
        facts["before_examples"] = find_examples_before(archive, result.metric, since, where)
        facts["feedback"] = measure_feedback(archive, facts["reference_us"], since, now, where)
    facts["advice"] = find_advice(archive, result.metric, since, now, where)
    return replace(result, facts=facts, title=format_alert(facts))


def _share_budgets(settings: Alerts, hours: HourlyStreams) -> NDArray[np.float64]:
    """False alarms a month of each stream: a metric without slices has its whole budget, else its slices share a part of it."""
    budgets = []
    for key in hours.keys:
        slices = sum(other.metric == key.metric and bool(other.field) for other in hours.keys)
        share = 1.0
        if slices:
            share = SLICES_BUDGET_SHARE / slices if key.field else WHOLE_BUDGET_SHARE
        budgets.append(settings.false_alarms * share)
    return np.array(budgets)


def _find_first_hour(archive: Archive, metric: str) -> int | None:
    ((at,),) = archive.store.read("SELECT MIN(at) FROM monitor_scores WHERE metric = ?", (metric,))
    return None if at is None else int(at) - int(at) % HOUR_MICROS


def format_minute(at: int) -> str:
    """A time to the minute, UTC."""
    return format_iso(at)[:16].replace("T", " ") + " UTC"
