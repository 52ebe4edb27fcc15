"""Reference periods of the drop test: which period each stream is compared with, and what it looked like.

The first half of a period given as a length is enough to begin with: the hours after it are tested at once, and those without
an incident are added until the period is whole. A whole reference is saved in the store, so that it outlives the interactions
it was learned from."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ragstone.config.alerts import Alerts
from ragstone.config.durations import parse_duration
from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.hourly import HourlyStreams, get_orientation
from ragstone.monitor.drift.ranks import RankScale, sum_ranks
from ragstone.monitor.drift.reference_period import (
    MIN_REFERENCE_SCORES,
    MIN_REFERENCE_WINDOWS,
    Flags,
    Floats,
    ReferencePeriod,
    WindowSums,
    learn_reference,
)
from ragstone.monitor.drift.sequential_test import DriftTrace, run_drift_test
from ragstone.monitor.state import load_state, save_state
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS
from ragstone.monitor.windows.calendars import parse_local_time
from ragstone.monitor.windows.statistics import find_metric
from ragstone.store.database import Connection

SETTLE_MICROS = DAY_MICROS
"""How long after its end a reference period still takes in late scores."""
MAX_LOST_SHARE = 0.1
"""Share of a reference's scores that may be gone before the saved one is used instead."""
FORMAT = 4
"""Version of the saved references; those of another are learned again."""

VALUES_KEY = "values"
"""Where the store keeps since when values are expected shares."""

SavedReferences = dict[str, Any]
"""Rule → {"since", "live", "until", "whole", "reference": field of ReferencePeriod → value, "ranks"}; beside them `spec`, the
setting `reference` they were learned for, `format`, and `from`, when they were last reset. One that is not `whole` is of the
first half, and used only if the hours it came from are gone."""


@dataclass(frozen=True, slots=True)
class ReferenceSpan:
    """When a stream's reference period is, in microseconds."""

    since: int
    live: int
    """From when on the stream is tested."""
    until: int


@dataclass(frozen=True)
class TestedStreams:
    """All streams with their references and what the test says of them."""

    hours: HourlyStreams
    spans: Sequence[ReferenceSpan]
    reference: ReferencePeriod
    scales: Sequence[RankScale]
    """Rank scales of the streams; empty ones for those with bounds."""
    series: WindowSums
    """All hours, on the rank scale where there is one."""
    inside: Flags
    """Hours of the reference period without those of an incident."""
    trace: DriftTrace

    def is_ready(self, row: int) -> bool:
        """Whether a stream is tested yet."""
        end = self.hours.get_hour_start(self.hours.count)
        return bool(self.reference.usable[row]) and self.spans[row].live <= end


def load_references(archive: Archive, settings: Alerts) -> SavedReferences:
    """Saved references; none when the settings name another period."""
    body = load_state(archive, "reference")
    saved: SavedReferences = json.loads(body) if body else {}
    if saved.get("spec", settings.reference) != settings.reference:
        return {}
    if saved.get("format") != FORMAT:
        return {"from": saved["from"]} if "from" in saved else {}
    at, metrics = load_value_change(archive)
    return {
        name: item
        for name, item in saved.items()
        if not (isinstance(item, dict) and _get_metric(name) in metrics and int(item["since"]) < at)
    }


def reset_references(archive: Archive, now: int) -> None:
    """Forget the saved references: a period given as a length starts again at `now`."""
    body = json.dumps({"from": now, "format": FORMAT})
    archive.run(lambda db: save_state(db, "reference", body, now)).result()


def note_value_version(archive: Archive, metrics: Sequence[str], now: int) -> None:
    """Keep since when the values of these metrics are sums of probabilities; does nothing once it is kept.

    The first such score in an archive that has older scores is the change; without older ones there is none."""

    def write(db: Connection) -> None:
        places = ", ".join("?" * len(metrics))
        sql = f"SELECT 1 FROM monitor_scores WHERE metric IN ({places}) LIMIT 1"  # noqa: S608
        is_change = any(True for _ in db.execute(sql, list(metrics)))
        body = json.dumps({"at": now if is_change else 0, "metrics": list(metrics)})
        save_state(db, VALUES_KEY, body, now)

    if load_state(archive, VALUES_KEY) is None:
        archive.run(write).result()


def load_value_change(archive: Archive) -> tuple[int, frozenset[str]]:
    """When values changed, 0 for never, and of which metrics."""
    body = load_state(archive, VALUES_KEY)
    stored: dict[str, Any] = json.loads(body) if body else {"at": 0, "metrics": []}
    return int(stored["at"]), frozenset(stored["metrics"]) if stored["at"] else frozenset()


def _get_metric(rule: str) -> str:
    """The metric of a rule's name."""
    return rule.removeprefix("drop:").partition(":")[0]


def is_final(saved: SavedReferences, rule: str) -> bool:
    """Whether a saved reference is whole, so that it is not learned again."""
    return rule in saved and bool(saved[rule]["whole"])


def run_test(
    archive: Archive,
    settings: Alerts,
    hours: HourlyStreams,
    saved: SavedReferences,
    budgets: Floats,
) -> TestedStreams:
    """Learn or load each stream's reference, and test the hours after it."""
    change = load_value_change(archive)
    spans = [_choose_span(settings, hours, row, saved, change) for row in range(len(hours.keys))]
    factors = _estimate_session_factors(archive, hours, spans, saved)
    at = hours.start + np.arange(hours.count) * HOUR_MICROS
    since, begun, until = (
        np.array([getattr(span, name) for span in spans])[:, None] for name in ("since", "live", "until")
    )  # fmt: skip
    after = at >= begun
    inside = (at >= since) & (at < begun)
    tested = _test_hours(hours, spans, saved, inside, after, budgets, factors)
    # Hours of the second half count as well. No hour of an incident does, of the stream or of its whole metric: a slice with
    # few scores, whose period is long, must not learn a fault as usual.
    grown = (at >= since) & (at < until) & ~_mark_incidents(hours, tested.trace, inside.shape)
    if (grown != inside).any():
        tested = _test_hours(hours, spans, saved, grown, after, budgets, factors)
    return tested


def save_references(
    archive: Archive, settings: Alerts, tested: TestedStreams, saved: SavedReferences, now: int
) -> None:
    """Save the references that have become complete."""
    new = {
        key.rule: {
            "since": span.since,
            "live": span.live,
            "until": span.until,
            "whole": now >= span.until + SETTLE_MICROS,
            "reference": {
                item.name: getattr(tested.reference, item.name)[row].tolist()
                for item in fields(ReferencePeriod)
            },
            "ranks": [tested.scales[row].keys, tested.scales[row].shares],
        }
        for row, (key, span) in enumerate(zip(tested.hours.keys, tested.spans, strict=True))
        # never learned again once it is whole: as old interactions are purged, the period would
        # otherwise move along
        if tested.reference.usable[row]
        and (
            (key.rule not in saved and now >= span.live + SETTLE_MICROS)
            or (not is_final(saved, key.rule) and now >= span.until + SETTLE_MICROS)
        )
    }
    if new:
        body = json.dumps(
            {**saved, **new, "spec": settings.reference, "format": FORMAT}, allow_nan=False
        )
        archive.run(lambda db: save_state(db, "reference", body, now)).result()


def _test_hours(
    hours: HourlyStreams,
    spans: Sequence[ReferenceSpan],
    saved: SavedReferences,
    inside: Flags,
    after: Flags,
    budgets: Floats,
    factors: Floats,
) -> TestedStreams:
    scales = [_build_scale(hours, row, inside[row], saved) for row in range(len(hours.keys))]
    series = _rank_series(hours, scales)
    ranges = np.array([get_metric_range(key.metric) for key in hours.keys])
    learned = learn_reference(
        series.mask(inside), span=ranges, first_hour=hours.first_hour, session_factor=factors
    )
    reference = _replace_saved(hours, learned, inside, saved)
    trace = run_drift_test(reference, series, after, budgets, first_hour=hours.first_hour)
    return TestedStreams(hours, spans, reference, scales, series, inside, trace)


def _replace_saved(
    hours: HourlyStreams, learned: ReferencePeriod, inside: Flags, saved: SavedReferences
) -> ReferencePeriod:
    columns = {item.name: getattr(learned, item.name).copy() for item in fields(ReferencePeriod)}
    for row, key in enumerate(hours.keys):
        if _is_used(hours, row, inside[row], saved):
            for name, column in columns.items():
                column[row] = saved[key.rule]["reference"][name]
    return ReferencePeriod(**columns)


def _is_used(hours: HourlyStreams, row: int, inside: Flags, saved: SavedReferences) -> bool:
    """Whether a stream's saved reference is used: it is whole, or its hours have been purged since."""
    rule = hours.keys[row].rule
    if rule not in saved or saved[rule]["whole"]:
        return rule in saved
    remaining = float(hours.series.counts[row, inside].sum())
    return remaining < (1 - MAX_LOST_SHARE) * float(saved[rule]["reference"]["scores"])


def _mark_incidents(hours: HourlyStreams, trace: DriftTrace, shape: tuple[int, ...]) -> Flags:
    """Hours of incidents of each stream or of its whole metric, from the earliest that they may have begun in."""
    marked = np.zeros(shape, bool)
    whole: dict[str, int] = {key.metric: row for row, key in enumerate(hours.keys) if not key.field}
    for row, key in enumerate(hours.keys):
        for incident in (*trace.incidents[row], *trace.incidents[whole[key.metric]]):
            marked[row, incident.onset.low : incident.recovered] = True
    return marked


def _choose_span(
    settings: Alerts,
    hours: HourlyStreams,
    row: int,
    saved: SavedReferences,
    change: tuple[int, frozenset[str]],
) -> ReferenceSpan:
    """The saved period, the fixed one, or the length from the first score on; none begins before values changed."""
    changed_at = change[0] if hours.keys[row].metric in change[1] else 0
    known = saved.get(hours.keys[row].rule)
    if known is not None:
        return ReferenceSpan(int(known["since"]), int(known["live"]), int(known["until"]))
    if "/" in settings.reference:  # two fixed times; otherwise a length such as 14d
        first, last = (parse_local_time(part.strip()) for part in settings.reference.split("/", 1))
        if first >= changed_at:
            return ReferenceSpan(first, last, last)
        length = last - first
    else:
        length = parse_duration(settings.reference)
    start = max(hours.start, int(saved.get("from", 0)), changed_at)
    skipped = max(0, -(-(start - hours.start) // HOUR_MICROS))  # hours, rounded up
    counts = hours.series.counts[row, skipped:]
    scored_hours = np.flatnonzero(counts)
    if not len(scored_hours):  # the period will begin with the first score: all of it is ahead
        end = hours.get_hour_start(hours.count)
        return ReferenceSpan(end, end + length // 2, end + length)
    first = hours.get_hour_start(skipped + int(scored_hours[0]))
    # With few scores, the period is extended until there are enough to compare with.
    sufficient = hours.get_hour_start(skipped + _find_sufficient_hour(counts))
    return ReferenceSpan(
        first, max(first + length // 2, sufficient), max(first + length, sufficient)
    )


def _find_sufficient_hour(counts: Floats) -> int:
    """The hour before which there are enough windows and scores for a reference; beyond the last when there are not."""
    enough = (np.cumsum(counts > 0) >= MIN_REFERENCE_WINDOWS) & (
        np.cumsum(counts) >= MIN_REFERENCE_SCORES
    )
    return int(np.argmax(enough)) + 1 if enough.any() else len(counts) + 1


def _build_scale(
    hours: HourlyStreams, row: int, inside: Flags, saved: SavedReferences
) -> RankScale:
    key = hours.keys[row]
    if _is_used(hours, row, inside, saved):
        keys, shares = saved[key.rule]["ranks"]
        return RankScale(tuple(keys), tuple(shares))
    bins = hours.bins.get(key, {})
    return RankScale.learn([bins[hour] for hour in np.flatnonzero(inside).tolist() if hour in bins])


def _rank_series(hours: HourlyStreams, scales: Sequence[RankScale]) -> WindowSums:
    """All hours, with ranks instead of the values of metrics without bounds."""
    if not hours.bins:
        return hours.series
    series = hours.series
    stacked = np.stack([series.counts, series.sums, series.squares, series.cubes])
    for row, key in enumerate(hours.keys):
        sign = get_orientation(key.metric)
        for hour, bins in hours.bins.get(key, {}).items():
            if series.counts[row, hour] > 0:
                count = float(series.counts[row, hour])
                stacked[:, row, hour] = sum_ranks(bins, scales[row], sign, count)
    return WindowSums(*stacked)


def _estimate_session_factors(
    archive: Archive,
    hours: HourlyStreams,
    spans: Sequence[ReferenceSpan],
    saved: SavedReferences,
) -> Floats:
    """The factor of each stream's metric; of those whose reference is saved it is in that."""
    factors: dict[str, float] = {}
    for key, span in zip(hours.keys, spans, strict=True):
        if not key.field and key.rule not in saved:
            end = min(span.live, hours.get_hour_start(hours.count))
            factors[key.metric] = estimate_session_factor(archive, key.metric, span.since, end)
    return np.array([factors.get(key.metric, 1.0) for key in hours.keys])


def get_metric_range(metric: str) -> float:
    """The width of a metric's range; that of ranks is 1."""
    known = find_metric(metric)
    if known is None or known.bounds is None:
        return 1.0
    return float(known.bounds[1] - known.bounds[0])


# ── sessions ──────────────────────────────────────────────────────────────────────────────

SESSION_FIELDS = ("session", "session_id", "conversation", "conversation_id", "user", "user_id")
"""Meta fields that group interactions; the first that most interactions have is used."""
MAX_SCORES = 5000
"""Scores that the effect is estimated from, the first of the period."""
MIN_SCORES = 200
"""With fewer nothing is said."""


def estimate_session_factor(archive: Archive, metric: str, since: int, until: int) -> float:
    """Variance of a mean relative to that of as many independent scores, 1 or more; 1 where no session is given."""
    rows = archive.store.read(
        "SELECT s.value, i.meta FROM monitor_scores s JOIN interactions i ON i.number = s.number"
        " WHERE s.metric = ? AND s.at >= ? AND s.at < ? AND s.value IS NOT NULL"
        " ORDER BY s.at LIMIT ?",
        (metric, since, until, MAX_SCORES),
    )
    if len(rows) < MIN_SCORES:
        return 1.0
    values = [float(value) for value, _ in rows]
    metas = [json.loads(meta) for _, meta in rows]
    field = next(
        (name for name in SESSION_FIELDS if sum(name in meta for meta in metas) > len(metas) / 2),
        None,
    )
    if field is None:
        return 1.0
    mean = sum(values) / len(values)
    # an interaction without the field is a cluster of its own
    sums: defaultdict[object, float] = defaultdict(float)
    for number, (value, meta) in enumerate(zip(values, metas, strict=True)):
        sums[str(meta[field]) if field in meta else number] += value - mean
    alone = sum((value - mean) ** 2 for value in values)
    return max(1.0, sum(total**2 for total in sums.values()) / alone) if alone > 0 else 1.0
