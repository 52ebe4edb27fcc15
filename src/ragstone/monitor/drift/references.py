"""Reference periods of the drop test: which period each stream is compared with, and what it looked like.

A complete reference is saved in the store, so that it outlives the interactions it was learned from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragstone.config.alerts import Alerts
from ragstone.config.durations import parse_duration
from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.hourly import HourlyStreams
from ragstone.monitor.drift.sequential_test import (
    MIN_REFERENCE_WINDOWS,
    MIN_WINDOW_SCORES,
    ReferencePeriod,
    WindowSums,
    learn_reference,
)
from ragstone.monitor.state import load_state, save_state
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS
from ragstone.monitor.windows.calendars import parse_local_time
from ragstone.monitor.windows.statistics import find_metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SETTLE_MICROS = DAY_MICROS
"""How long after its end a reference period still takes in late scores."""

SavedReferences = dict[str, Any]
"""Rule → {"since", "until", "reference": field of ReferencePeriod → value}; beside them `spec`, the setting `reference` they were
learned for, and `from`, when they were last reset."""


def load_references(archive: Archive, settings: Alerts) -> SavedReferences:
    """Saved references; none when the settings name another period."""
    body = load_state(archive, "reference")
    saved: SavedReferences = json.loads(body) if body else {}
    return saved if saved.get("spec", settings.reference) == settings.reference else {}


def reset_references(archive: Archive, now: int) -> None:
    """Forget the saved references: a period given as a length starts again at `now`."""
    archive.run(lambda db: save_state(db, "reference", json.dumps({"from": now}), now)).result()


def choose_reference_span(
    settings: Alerts, streams: HourlyStreams, row: int, saved: SavedReferences
) -> tuple[int, int]:
    """Start and end of a stream's reference period."""
    import numpy as np

    saved_reference = saved.get(streams.keys[row].rule)
    if saved_reference is not None:
        return int(saved_reference["since"]), int(saved_reference["until"])
    if "/" in settings.reference:  # two fixed times; otherwise a length such as 7d
        first, last = (parse_local_time(part.strip()) for part in settings.reference.split("/", 1))
        return first, last
    start = max(streams.start, int(saved.get("from", 0)))
    skipped = max(0, -(-(start - streams.start) // HOUR_MICROS))  # hours, rounded up
    counts = streams.series.counts[row, skipped:]
    scored_hours = np.flatnonzero(counts)
    if not len(scored_hours):  # the period will begin with the first score: all of it is ahead
        end = streams.get_hour_start(streams.count)
        return end, end + parse_duration(settings.reference)
    first = streams.get_hour_start(skipped + int(scored_hours[0]))
    # With few scores, the period is extended until there are enough windows to compare with.
    sufficient = streams.get_hour_start(skipped + _find_sufficient_hour(counts))
    return first, max(first + parse_duration(settings.reference), sufficient)


def build_references(
    streams: HourlyStreams, spans: Sequence[tuple[int, int]], saved: SavedReferences
) -> ReferencePeriod:
    """Each stream's reference: the saved one, or what its period shows so far."""
    import numpy as np

    sums = _mask_series(streams, spans, inside=True).join_small()
    ranges = np.array([_get_metric_range(key.metric) for key in streams.keys])
    learned = learn_reference(sums, span=ranges, first_hour=streams.first_hour)
    # the slots of the dataclass are its fields
    columns = {name: getattr(learned, name).copy() for name in ReferencePeriod.__slots__}
    for row, key in enumerate(streams.keys):
        saved_reference = saved.get(key.rule)
        if saved_reference is not None:
            for name, column in columns.items():
                column[row] = saved_reference["reference"][name]
    return ReferencePeriod(**columns)


def select_live(streams: HourlyStreams, spans: Sequence[tuple[int, int]]) -> WindowSums:
    """The hours after each stream's reference period."""
    return _mask_series(streams, spans, inside=False)


def save_references(
    archive: Archive,
    settings: Alerts,
    streams: HourlyStreams,
    spans: Sequence[tuple[int, int]],
    reference: ReferencePeriod,
    saved: SavedReferences,
    now: int,
) -> None:
    """Save the references that have become complete."""
    new = {
        key.rule: {
            "since": spans[row][0],
            "until": spans[row][1],
            "reference": {
                name: getattr(reference, name)[row].tolist() for name in ReferencePeriod.__slots__
            },
        }
        for row, key in enumerate(streams.keys)
        # saved once and never learned again: as old interactions are purged, the period would
        # otherwise move along
        if key.rule not in saved and now >= spans[row][1] + SETTLE_MICROS and reference.usable[row]
    }
    if new:
        body = json.dumps({**saved, **new, "spec": settings.reference}, allow_nan=False)
        archive.run(lambda db: save_state(db, "reference", body, now)).result()


def _find_sufficient_hour(counts: NDArray[np.float64]) -> int:
    """The hour before which there are enough windows for a reference; beyond the last when there are not."""
    scores, windows = 0.0, 0
    for hour, count in enumerate(counts.tolist()):
        scores += count
        if scores >= MIN_WINDOW_SCORES:
            scores, windows = 0.0, windows + 1
            if windows == MIN_REFERENCE_WINDOWS:
                return hour + 1
    return len(counts) + 1


def _mask_series(
    streams: HourlyStreams, spans: Sequence[tuple[int, int]], *, inside: bool
) -> WindowSums:
    """The sums with zeros outside of each stream's reference period; or, if not `inside`, up to its end."""
    import numpy as np

    at = streams.start + np.arange(streams.count) * HOUR_MICROS
    since = np.array([span[0] for span in spans])[:, None]
    until = np.array([span[1] for span in spans])[:, None]
    mask = (at >= since) & (at < until) if inside else at >= until
    sums = streams.series
    return WindowSums(sums.counts * mask, sums.sums * mask, sums.squares * mask, sums.cubes * mask)


def _get_metric_range(metric: str) -> float:
    """The width of a metric's range; NaN without bounds."""
    known = find_metric(metric)
    if known is None or known.bounds is None:
        return float("nan")
    return float(known.bounds[1] - known.bounds[0])
