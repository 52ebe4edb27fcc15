"""Readings of the drop test: every metric and slice against its reference period."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ragstone.config.alerts import Alerts
from ragstone.config.durations import duration
from ragstone.monitor.alert_text import format_alert
from ragstone.monitor.alerts.alert import RuleResult, RuleState
from ragstone.monitor.alerts.explanation import (
    find_advice,
    find_explaining_slice,
    find_worst_examples,
)
from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.hourly import HourlyStreams, StreamKey, load_hourly_streams
from ragstone.monitor.drift.sequential_test import (
    MIN_REFERENCE_WINDOWS,
    MIN_WINDOW_SCORES,
    PENDING_EVIDENCE,
    DriftTrace,
    ReferencePeriod,
    WindowSums,
    compute_alarm_level,
    find_change_window,
    learn_reference,
    run_drift_test,
)
from ragstone.monitor.interactions import format_iso
from ragstone.monitor.state import load_state, save_state
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS
from ragstone.monitor.windows.calendars import parse_local_time
from ragstone.monitor.windows.statistics import find_metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_REPLAY_MICROS = 60 * DAY_MICROS
"""The test is replayed over so much time at most."""
REFERENCE_SETTLE_MICROS = DAY_MICROS
"""How long after its end a reference still takes in late scores."""
WHOLE_BUDGET_SHARE, SLICES_BUDGET_SHARE = 0.5, 0.4
"""The parts of a metric's budget for its whole and for its slices to share; small windows take somewhat more than they are given."""


@dataclass(frozen=True, slots=True)
class MetricStream:
    """One metric, whole or of a slice, as the drop test sees it."""

    metric: str
    field: str
    value: str
    state: str
    """ok, pending, firing, or learning while there is no reference."""
    reference: float | None
    """The mean of the reference period."""
    mean: float | None
    """Of the last day."""
    evidence: float
    """The test's statistic as a share of the alarm level."""


def evaluate_drop_rules(
    archive: Archive, settings: Alerts, metrics: Sequence[str], now: int, failing: set[str]
) -> tuple[list[RuleResult], list[MetricStream]]:
    """What the test says of each stream after the last closed hour."""
    stop = now - now % HOUR_MICROS
    kept = _load_references(archive, settings)
    starts = {metric: _find_first_hour(archive, metric) for metric in metrics}
    known = [start for start in starts.values() if start is not None]
    if not known:
        return [], []
    frozen = all(StreamKey(metric).rule in kept for metric in metrics)
    start = max(min(known), stop - MAX_REPLAY_MICROS) if frozen else min(known)
    hours = load_hourly_streams(
        archive, metrics, start, stop, settings.slices, settings.judge_failures
    )
    if not hours.count:
        return [], []
    spans = [_choose_reference_span(settings, hours, row, kept) for row in range(len(hours.keys))]
    reference = _build_references(hours, spans, kept)
    live = _select_live(hours, spans).join_small()
    watched = run_drift_test(
        reference,
        live,
        _compute_alarm_levels(settings, hours),
        first_hour=hours.start // HOUR_MICROS % 24,
    )
    _save_references(archive, settings, hours, spans, reference, kept, now)
    readings, streams = [], []
    for row, key in enumerate(hours.keys):
        usable = bool(reference.usable[row]) and spans[row][1] <= stop
        found: RuleState = (
            "unknown" if not usable or key.metric in failing else _classify(watched, row)
        )
        sign = _get_orientation(key.metric)
        day = hours.series.select(max(0, hours.count - 24), hours.count)
        n = float(day.counts[row].sum())
        streams.append(
            MetricStream(
                key.metric, key.field, key.value,
                "learning" if not usable else "ok" if found == "unknown" else found,
                sign * float(reference.mean[row]) if usable else None,
                sign * float(day.sums[row].sum()) / n if n else None,
                float(watched.evidence[row, -1]),
            )
        )  # fmt: skip
        facts = (
            _build_facts(hours, live, reference, watched, row, spans[row])
            if found in ("firing", "pending")
            else {}
        )
        title = format_alert(facts) if facts else ""
        readings.append(
            RuleResult(key.rule, "drop", found, key.metric, key.field, key.value, title, facts)
        )
    return readings, streams


def add_explanation(
    archive: Archive, settings: Alerts, reading: RuleResult, now: int
) -> RuleResult:
    """A reading with the slice that explains it, examples and advice; for alerts that are about to fire."""
    if reading.kind not in ("drop", "threshold") or not reading.metric:
        return reading
    facts: dict[str, Any] = dict(reading.facts)
    since = int(facts["since_us"])
    where = (reading.field, reading.value) if reading.field else None
    if reading.kind == "drop" and where is None:
        span = (int(facts["reference_us"][0]), int(facts["reference_us"][1]))
        part = find_explaining_slice(archive, reading.metric, span, since, now, settings.slices)
        if part is not None:
            facts["part"] = asdict(part)
            where = (part.field, part.value)
    better = _get_orientation(reading.metric) > 0
    facts["examples"] = find_worst_examples(
        archive, reading.metric, since, now, higher_is_better=better, where=where
    )
    facts["advice"] = find_advice(archive, reading.metric, since, now, where)
    return replace(reading, facts=facts, title=format_alert(facts))


def reset_reference(archive: Archive, now: int) -> None:
    """Learn the reference anew: from the settings' period, or from `now` on when that is a length."""
    archive.run(lambda db: save_state(db, "reference", json.dumps({"from": now}), now)).result()


def _classify(watched: DriftTrace, row: int) -> RuleState:
    if watched.firing[row, -1]:
        return "firing"
    return "pending" if watched.evidence[row, -1] >= PENDING_EVIDENCE else "ok"


def _build_facts(
    hours: HourlyStreams,
    live: WindowSums,
    reference: ReferencePeriod,
    watched: DriftTrace,
    row: int,
    span: tuple[int, int],
) -> dict[str, Any]:
    import numpy as np

    key, sign = hours.keys[row], _get_orientation(hours.keys[row].metric)
    # An alarm's start stays where it was found; a sign of one is looked at with all that is known.
    alarm = (
        int(np.flatnonzero(watched.alarms[row])[-1]) if watched.firing[row, -1] else hours.count - 1
    )
    earlier = np.flatnonzero(watched.firing[row, :alarm])
    began = find_change_window(
        reference,
        live,
        row,
        alarm + 1,
        start=int(earlier[-1]) + 1 if len(earlier) else 0,
        first_hour=hours.start // HOUR_MICROS % 24,
    )
    since = hours.series.select(began, hours.count)
    n = float(since.counts[row].sum())
    before = sign * float(reference.mean[row])
    after = sign * float(since.sums[row].sum()) / n if n else before
    return {
        "phrase": "drop",
        "metric": key.metric,
        "field": key.field,
        "value": key.value,
        "before": before,
        "after": after,
        "change": after - before,
        "since": format_minute(hours.at(began)),
        "since_us": hours.at(began),
        "scores": n,
        "reference_us": list(span),
    }


def _compute_alarm_levels(settings: Alerts, hours: HourlyStreams) -> NDArray[np.float64]:
    """Alarm levels: a metric's budget is its whole's, or half of it when slices share most of the other half."""
    import numpy as np

    found = []
    for key in hours.keys:
        slices = sum(one.metric == key.metric and bool(one.field) for one in hours.keys)
        part = (
            1.0 if not slices else SLICES_BUDGET_SHARE / slices if key.field else WHOLE_BUDGET_SHARE
        )
        found.append(compute_alarm_level(settings.false_alarms * part))
    return np.array(found)


def _choose_reference_span(
    settings: Alerts, hours: HourlyStreams, row: int, kept: dict[str, Any]
) -> tuple[int, int]:
    """Start and end of a stream's reference period."""
    import numpy as np

    saved = kept.get(hours.keys[row].rule)
    if saved is not None:
        return int(saved["since"]), int(saved["until"])
    if "/" in settings.reference:
        first, last = (parse_local_time(part.strip()) for part in settings.reference.split("/", 1))
        return first, last
    start = max(hours.start, int(kept.get("from", 0)))
    skipped = max(0, -(-(start - hours.start) // HOUR_MICROS))
    counts = hours.series.counts[row, skipped:]
    seen = np.flatnonzero(counts)
    if not len(seen):
        return hours.at(hours.count), hours.at(hours.count) + duration(settings.reference)
    first = hours.at(skipped + int(seen[0]))
    # Where scores are few, the period goes on until there are enough of them to compare with.
    enough = hours.at(skipped + _find_sufficient_hour(counts))
    return first, max(first + duration(settings.reference), enough)


def _find_sufficient_hour(counts: NDArray[np.float64]) -> int:
    """The hour before which there are windows enough for a reference; beyond the last when there are not."""
    held, windows = 0.0, 0
    for hour, count in enumerate(counts.tolist()):
        held += count
        if held >= MIN_WINDOW_SCORES:
            held, windows = 0.0, windows + 1
            if windows == MIN_REFERENCE_WINDOWS:
                return hour + 1
    return len(counts) + 1


def _mask_series(
    hours: HourlyStreams, spans: Sequence[tuple[int, int]], inside: bool
) -> WindowSums:
    import numpy as np

    at = hours.start + np.arange(hours.count) * HOUR_MICROS
    since = np.array([span[0] for span in spans])[:, None]
    until = np.array([span[1] for span in spans])[:, None]
    mask = (at >= since) & (at < until) if inside else at >= until
    one = hours.series
    return WindowSums(one.counts * mask, one.sums * mask, one.squares * mask, one.cubes * mask)


def _select_live(hours: HourlyStreams, spans: Sequence[tuple[int, int]]) -> WindowSums:
    return _mask_series(hours, spans, inside=False)


def _build_references(
    hours: HourlyStreams, spans: Sequence[tuple[int, int]], kept: dict[str, Any]
) -> ReferencePeriod:
    """Each stream's reference: the kept one, or what its period says so far."""
    import numpy as np

    series = _mask_series(hours, spans, inside=True).join_small()
    bounds = [_get_metric_range(key.metric) for key in hours.keys]
    learned = learn_reference(
        series, span=np.array(bounds), first_hour=hours.start // HOUR_MICROS % 24
    )
    columns = {name: getattr(learned, name).copy() for name in ReferencePeriod.__slots__}
    for row, key in enumerate(hours.keys):
        saved = kept.get(key.rule)
        if saved is not None:
            for name, column in columns.items():
                column[row] = saved["reference"][name]
    return ReferencePeriod(**columns)


def _save_references(
    archive: Archive,
    settings: Alerts,
    hours: HourlyStreams,
    spans: Sequence[tuple[int, int]],
    reference: ReferencePeriod,
    kept: dict[str, Any],
    now: int,
) -> None:
    """Keep references that are complete, so that they outlive the interactions they came from."""
    new = {
        key.rule: {
            "since": spans[row][0],
            "until": spans[row][1],
            "reference": {
                name: getattr(reference, name)[row].tolist() for name in ReferencePeriod.__slots__
            },
        }
        for row, key in enumerate(hours.keys)
        if key.rule not in kept
        and now >= spans[row][1] + REFERENCE_SETTLE_MICROS
        and reference.usable[row]
    }
    if new:
        body = json.dumps({**kept, **new, "spec": settings.reference}, allow_nan=False)
        archive.run(lambda db: save_state(db, "reference", body, now)).result()


def _load_references(archive: Archive, settings: Alerts) -> dict[str, Any]:
    """Kept references by rule; none when the settings name another period."""
    body = load_state(archive, "reference")
    found: dict[str, Any] = json.loads(body) if body else {}
    return found if found.get("spec", settings.reference) == settings.reference else {}


def _find_first_hour(archive: Archive, metric: str) -> int | None:
    ((at,),) = archive.store.read("SELECT MIN(at) FROM monitor_scores WHERE metric = ?", (metric,))
    return None if at is None else int(at) - int(at) % HOUR_MICROS


def _get_orientation(metric: str) -> float:
    known = find_metric(metric)
    return 1.0 if known is None or known.higher_is_better else -1.0


def _get_metric_range(metric: str) -> float:
    """A metric's range; NaN without bounds."""
    known = find_metric(metric)
    if known is None or known.bounds is None:
        return float("nan")
    return float(known.bounds[1] - known.bounds[0])


def format_minute(at: int) -> str:
    """A time to the minute, UTC."""
    return format_iso(at)[:16].replace("T", " ") + " UTC"
