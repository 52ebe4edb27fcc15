"""Readings of the drop test: every metric and slice against its reference period."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ragstone.config.alerts import Alerts
from ragstone.config.durations import duration
from ragstone.monitor.alerts.alert import Found, Reading
from ragstone.monitor.alerts.explanation import advice, examples, explaining_slice
from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.hourly import Hours, Key, read_hours
from ragstone.monitor.drift.sequential_test import (
    LEAST_SCORES,
    LEAST_WINDOWS,
    PENDING,
    Reference,
    Series,
    Watched,
    change_window,
    learn,
    level,
    watch_series,
)
from ragstone.monitor.interactions import iso
from ragstone.monitor.rollups.refresh import DAY
from ragstone.monitor.state import put_document, read_document
from ragstone.monitor.statements import HOUR
from ragstone.monitor.windows.summary import described_metric, moment_of
from ragstone.monitor.wording import sentence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOOK_BACK = 60 * DAY
"""The test is replayed over so much time at most."""
SETTLED = DAY
"""How long after its end a reference still takes in late scores."""
FOR_WHOLE, FOR_SLICES = 0.5, 0.4
"""The parts of a metric's budget for its whole and for its slices to share; small windows take somewhat more than they are given."""


@dataclass(frozen=True, slots=True)
class Stream:
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


def drop_readings(
    archive: Archive, settings: Alerts, metrics: Sequence[str], now: int, failing: set[str]
) -> tuple[list[Reading], list[Stream]]:
    """What the test says of each stream after the last closed hour."""
    stop = now - now % HOUR
    kept = _kept(archive, settings)
    starts = {metric: _first(archive, metric) for metric in metrics}
    known = [start for start in starts.values() if start is not None]
    if not known:
        return [], []
    frozen = all(Key(metric).rule in kept for metric in metrics)
    start = max(min(known), stop - LOOK_BACK) if frozen else min(known)
    hours = read_hours(archive, metrics, start, stop, settings.slices, settings.judge_failures)
    if not hours.count:
        return [], []
    spans = [_reference_span(settings, hours, row, kept) for row in range(len(hours.keys))]
    reference = _references(hours, spans, kept)
    live = _after(hours, spans).joined()
    watched = watch_series(
        reference, live, _levels(settings, hours), first_hour=hours.start // HOUR % 24
    )
    _keep(archive, settings, hours, spans, reference, kept, now)
    readings, streams = [], []
    for row, key in enumerate(hours.keys):
        usable = bool(reference.usable[row]) and spans[row][1] <= stop
        found: Found = "unknown" if not usable or key.metric in failing else _found(watched, row)
        sign = _sign(key.metric)
        day = hours.series.part(max(0, hours.count - 24), hours.count)
        n = float(day.counts[row].sum())
        streams.append(
            Stream(
                key.metric, key.field, key.value,
                "learning" if not usable else "ok" if found == "unknown" else found,
                sign * float(reference.mean[row]) if usable else None,
                sign * float(day.sums[row].sum()) / n if n else None,
                float(watched.evidence[row, -1]),
            )
        )  # fmt: skip
        facts = (
            _facts(hours, live, reference, watched, row, spans[row])
            if found in ("firing", "pending")
            else {}
        )
        title = sentence(facts) if facts else ""
        readings.append(
            Reading(key.rule, "drop", found, key.metric, key.field, key.value, title, facts)
        )
    return readings, streams


def explained(archive: Archive, settings: Alerts, reading: Reading, now: int) -> Reading:
    """A reading with the slice that explains it, examples and advice; for alerts that are about to fire."""
    if reading.kind not in ("drop", "threshold") or not reading.metric:
        return reading
    facts: dict[str, Any] = dict(reading.facts)
    since = int(facts["since_us"])
    where = (reading.field, reading.value) if reading.field else None
    if reading.kind == "drop" and where is None:
        span = (int(facts["reference_us"][0]), int(facts["reference_us"][1]))
        part = explaining_slice(archive, reading.metric, span, since, now, settings.slices)
        if part is not None:
            facts["part"] = asdict(part)
            where = (part.field, part.value)
    better = _sign(reading.metric) > 0
    facts["examples"] = examples(
        archive, reading.metric, since, now, higher_is_better=better, where=where
    )
    facts["advice"] = advice(archive, reading.metric, since, now, where)
    return replace(reading, facts=facts, title=sentence(facts))


def forget_reference(archive: Archive, now: int) -> None:
    """Learn the reference anew: from the settings' period, or from `now` on when that is a length."""
    archive.run(lambda db: put_document(db, "reference", json.dumps({"from": now}), now)).result()


def _found(watched: Watched, row: int) -> Found:
    if watched.firing[row, -1]:
        return "firing"
    return "pending" if watched.evidence[row, -1] >= PENDING else "ok"


def _facts(
    hours: Hours,
    live: Series,
    reference: Reference,
    watched: Watched,
    row: int,
    span: tuple[int, int],
) -> dict[str, Any]:
    import numpy as np

    key, sign = hours.keys[row], _sign(hours.keys[row].metric)
    # An alarm's start stays where it was found; a sign of one is looked at with all that is known.
    alarm = (
        int(np.flatnonzero(watched.alarms[row])[-1]) if watched.firing[row, -1] else hours.count - 1
    )
    earlier = np.flatnonzero(watched.firing[row, :alarm])
    began = change_window(
        reference,
        live,
        row,
        alarm + 1,
        start=int(earlier[-1]) + 1 if len(earlier) else 0,
        first_hour=hours.start // HOUR % 24,
    )
    since = hours.series.part(began, hours.count)
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
        "since": shown_time(hours.at(began)),
        "since_us": hours.at(began),
        "scores": n,
        "reference_us": list(span),
    }


def _levels(settings: Alerts, hours: Hours) -> NDArray[np.float64]:
    """Alarm levels: a metric's budget is its whole's, or half of it when slices share most of the other half."""
    import numpy as np

    found = []
    for key in hours.keys:
        slices = sum(one.metric == key.metric and bool(one.field) for one in hours.keys)
        part = 1.0 if not slices else FOR_SLICES / slices if key.field else FOR_WHOLE
        found.append(level(settings.false_alarms * part))
    return np.array(found)


def _reference_span(
    settings: Alerts, hours: Hours, row: int, kept: dict[str, Any]
) -> tuple[int, int]:
    """Start and end of a stream's reference period."""
    import numpy as np

    saved = kept.get(hours.keys[row].rule)
    if saved is not None:
        return int(saved["since"]), int(saved["until"])
    if "/" in settings.reference:
        first, last = (moment_of(part.strip()) for part in settings.reference.split("/", 1))
        return first, last
    start = max(hours.start, int(kept.get("from", 0)))
    skipped = max(0, -(-(start - hours.start) // HOUR))
    counts = hours.series.counts[row, skipped:]
    seen = np.flatnonzero(counts)
    if not len(seen):
        return hours.at(hours.count), hours.at(hours.count) + duration(settings.reference)
    first = hours.at(skipped + int(seen[0]))
    # Where scores are few, the period goes on until there are enough of them to compare with.
    enough = hours.at(skipped + _enough(counts))
    return first, max(first + duration(settings.reference), enough)


def _enough(counts: NDArray[np.float64]) -> int:
    """The hour before which there are windows enough for a reference; beyond the last when there are not."""
    held, windows = 0.0, 0
    for hour, count in enumerate(counts.tolist()):
        held += count
        if held >= LEAST_SCORES:
            held, windows = 0.0, windows + 1
            if windows == LEAST_WINDOWS:
                return hour + 1
    return len(counts) + 1


def _masked(hours: Hours, spans: Sequence[tuple[int, int]], inside: bool) -> Series:
    import numpy as np

    at = hours.start + np.arange(hours.count) * HOUR
    since = np.array([span[0] for span in spans])[:, None]
    until = np.array([span[1] for span in spans])[:, None]
    mask = (at >= since) & (at < until) if inside else at >= until
    one = hours.series
    return Series(one.counts * mask, one.sums * mask, one.squares * mask, one.cubes * mask)


def _after(hours: Hours, spans: Sequence[tuple[int, int]]) -> Series:
    return _masked(hours, spans, inside=False)


def _references(hours: Hours, spans: Sequence[tuple[int, int]], kept: dict[str, Any]) -> Reference:
    """Each stream's reference: the kept one, or what its period says so far."""
    import numpy as np

    series = _masked(hours, spans, inside=True).joined()
    bounds = [_width(key.metric) for key in hours.keys]
    learned = learn(series, span=np.array(bounds), first_hour=hours.start // HOUR % 24)
    columns = {name: getattr(learned, name).copy() for name in Reference.__slots__}
    for row, key in enumerate(hours.keys):
        saved = kept.get(key.rule)
        if saved is not None:
            for name, column in columns.items():
                column[row] = saved["reference"][name]
    return Reference(**columns)


def _keep(
    archive: Archive,
    settings: Alerts,
    hours: Hours,
    spans: Sequence[tuple[int, int]],
    reference: Reference,
    kept: dict[str, Any],
    now: int,
) -> None:
    """Keep references that are complete, so that they outlive the interactions they came from."""
    new = {
        key.rule: {
            "since": spans[row][0],
            "until": spans[row][1],
            "reference": {
                name: getattr(reference, name)[row].tolist() for name in Reference.__slots__
            },
        }
        for row, key in enumerate(hours.keys)
        if key.rule not in kept and now >= spans[row][1] + SETTLED and reference.usable[row]
    }
    if new:
        body = json.dumps({**kept, **new, "spec": settings.reference}, allow_nan=False)
        archive.run(lambda db: put_document(db, "reference", body, now)).result()


def _kept(archive: Archive, settings: Alerts) -> dict[str, Any]:
    """Kept references by rule; none when the settings name another period."""
    body = read_document(archive, "reference")
    found: dict[str, Any] = json.loads(body) if body else {}
    return found if found.get("spec", settings.reference) == settings.reference else {}


def _first(archive: Archive, metric: str) -> int | None:
    ((at,),) = archive.store.read("SELECT MIN(at) FROM monitor_scores WHERE metric = ?", (metric,))
    return None if at is None else int(at) - int(at) % HOUR


def _sign(metric: str) -> float:
    known = described_metric(metric)
    return 1.0 if known is None or known.higher_is_better else -1.0


def _width(metric: str) -> float:
    """A metric's range; NaN without bounds."""
    known = described_metric(metric)
    if known is None or known.bounds is None:
        return float("nan")
    return float(known.bounds[1] - known.bounds[0])


def shown_time(at: int) -> str:
    """A time to the minute, UTC."""
    return iso(at)[:16].replace("T", " ") + " UTC"
