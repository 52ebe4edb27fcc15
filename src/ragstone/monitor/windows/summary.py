"""Windows of time in figures: any duration, by day, week or month, whole and by slice, with intervals and trends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.config.durations import duration
from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import micros
from ragstone.monitor.rollups.reader import Cover
from ragstone.monitor.rollups.refresh import DAY, check_field, refresh
from ragstone.monitor.rollups.table_stack import Pile
from ragstone.monitor.statements import BUCKET, HOUR
from ragstone.monitor.windows.calendars import Period, bounds, moment_of, time_zone
from ragstone.monitor.windows.statistics import (
    Figure,
    Material,
    Window,
    described_metric,
    empty_window,
    interval_of,
    windows_of,
)

__all__ = [
    "Figure",
    "Period",
    "Summary",
    "Window",
    "between",
    "bounds",
    "described_metric",
    "duration",
    "interval_of",
    "moment_of",
    "periods",
    "series",
    "summary",
    "time_zone",
]

MOST_SLICES = 200
"""Slices of a field that a summary has at most, the busiest."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A window, and the same by slice."""

    whole: Window
    slices: tuple[Window, ...] = ()
    """By value of the field that was asked for, the busiest first."""
    more: int = 0
    """Values of the field beyond these."""

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain JSON."""
        return {
            "whole": self.whole.to_dict(),
            "slices": [one.to_dict() for one in self.slices],
            "more": self.more,
        }


def summary(
    archive: Archive,
    window: str | float = "24h",
    *,
    until: int | None = None,
    by: str | None = None,
    where: tuple[str, str] | None = None,
    most: int = MOST_SLICES,
) -> Summary:
    """The window of a duration such as `1h` or `7d` that ends at `until` (now), whole or of one slice, and by slice.

    A field that no interaction ever had is refused."""
    end = micros() if until is None else until
    found = between(archive, end - duration(window), end, by=by, where=where, most=most)
    if by is not None and not found.slices:
        check_field(archive, by)
    if where is not None and not found.whole.interactions:
        check_field(archive, where[0])
    return found


def between(
    archive: Archive,
    since: int,
    until: int,
    *,
    by: str | None = None,
    where: tuple[str, str] | None = None,
    most: int = MOST_SLICES,
) -> Summary:
    """The figures from one time up to, not including, another; by slice, those of the busiest values."""
    refresh(archive, since, until)
    field, value = where or ("", "")
    (whole,) = _of_value(archive, [(since, until)], field, value)
    if by is None:
        return Summary(whole)
    cover, pile = Cover(archive, by), Pile()
    steps = _Steps(cover, pile)
    steps.put(0, since, until)
    more = pile.limit(most)
    bins = pile.beside()
    for _, body in cover.histograms(since, until, DAY):
        bins.put(0, body)
    slices = windows_of(steps.material([(since, until)], bins)).values()
    order = sorted(slices, key=lambda one: (-one.interactions, one.value))
    return Summary(whole, tuple(order), more)


def periods(
    archive: Archive,
    period: Period,
    since: int,
    until: int,
    *,
    zone: str = "UTC",
    where: tuple[str, str] | None = None,
) -> list[Window]:
    """One window for each day, week (from Monday) or month of a time zone that touches the stretch, oldest first."""
    windows = list(bounds(period, since, until, zone))
    if windows:
        refresh(archive, windows[0][0], windows[-1][1])
    return _of_value(archive, windows, *(where or ("", "")))


def series(
    archive: Archive,
    since: int,
    until: int,
    step: int,
    *,
    where: tuple[str, str] | None = None,
) -> list[Window]:
    """Windows of equal length, one after the other, for charts; the step is cut up to whole five minutes."""
    step = max(BUCKET, step - step % BUCKET)
    start = since - since % step
    refresh(archive, start, until)
    field, value = where or ("", "")
    cover = Cover(archive, field)
    windows = [(at, at + step) for at in range(start, until, step)]
    pile, bins = Pile(value), Pile(value)
    for at, body in cover.tables(start, until, step):
        pile.put((at - start) // step, body)
    for at, body in cover.histograms(start, until, step):
        bins.put((at - start) // step, body)
    material = Material(
        windows=windows,
        field=field,
        steps=pile.table(),
        starts=[at for at, _ in windows],
        owners=range(len(windows)),
        bins=bins.histograms(),
    )
    return _in_order(material, value, moving=False)


def _of_value(
    archive: Archive, windows: Sequence[tuple[int, int]], field: str, value: str
) -> list[Window]:
    """Windows of one value of a field.

    Sums are read in steps fine enough for a trend, histograms in the largest buckets there are."""
    cover, bins = Cover(archive, field), Pile(value)
    steps = _Steps(cover, Pile(value))
    for number, (since, until) in enumerate(windows):
        steps.put(number, since, until)
        for _, body in cover.histograms(since, until, DAY):
            bins.put(number, body)
    return _in_order(steps.material(windows, bins), value)


class _Steps:
    """Windows cut at whole five minutes, hours or days, each fine enough for a trend: the points it goes through."""

    def __init__(self, cover: Cover, pile: Pile) -> None:
        self._cover = cover
        self._pile = pile
        self._starts: list[int] = []
        self._owners: list[int] = []

    def put(self, window: int, since: int, until: int) -> None:
        """Take in a window; a step is one point whatever buckets it is read from."""
        length = until - since
        step = DAY if length > 21 * DAY else HOUR if length > 12 * HOUR else BUCKET
        last = None
        for at, body in self._cover.tables(since, until, step):
            if at // step != last:
                last = at // step
                self._starts.append(at)
                self._owners.append(window)
            self._pile.put(len(self._starts) - 1, body)

    def material(self, windows: Sequence[tuple[int, int]], bins: Pile) -> Material:
        """What the figures are made of."""
        table = self._pile.table()
        field = self._cover.field
        return Material(windows, field, table, self._starts, self._owners, bins.histograms())


def _in_order(material: Material, value: str, *, moving: bool = True) -> list[Window]:
    found = windows_of(material, moving=moving)
    return [
        found.get((number, value)) or empty_window(since, until, material.field, value)
        for number, (since, until) in enumerate(material.windows)
    ]
