"""Windows of time in figures: any duration, by day, week or month, whole and by slice, with intervals and trends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.config.durations import parse_duration
from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import now_micros
from ragstone.monitor.rollups.reader import RollupReader
from ragstone.monitor.rollups.refresh import check_field, refresh
from ragstone.monitor.rollups.table_stack import TableStack
from ragstone.monitor.statements import BUCKET_MICROS, DAY_MICROS, HOUR_MICROS
from ragstone.monitor.windows.calendars import Period, iter_periods
from ragstone.monitor.windows.statistics import (
    Window,
    WindowInputs,
    build_empty_window,
    compute_windows,
)

MAX_SLICES = 200
"""Slices of a field that a summary has at most, the busiest."""


@dataclass(frozen=True, slots=True)
class WindowSummary:
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


def summarise_window(
    archive: Archive,
    window: str | float = "24h",
    *,
    until: int | None = None,
    by: str | None = None,
    where: tuple[str, str] | None = None,
    most: int = MAX_SLICES,
) -> WindowSummary:
    """The window of a duration such as `1h` or `7d` that ends at `until` (now), whole or of one slice, and by slice.

    A field that no interaction ever had is refused."""
    end = now_micros() if until is None else until
    found = summarise_between(
        archive, end - parse_duration(window), end, by=by, where=where, most=most
    )
    if by is not None and not found.slices:
        check_field(archive, by)
    if where is not None and not found.whole.interactions:
        check_field(archive, where[0])
    return found


def summarise_between(
    archive: Archive,
    since: int,
    until: int,
    *,
    by: str | None = None,
    where: tuple[str, str] | None = None,
    most: int = MAX_SLICES,
) -> WindowSummary:
    """The figures from one time up to, not including, another; by slice, those of the busiest values."""
    refresh(archive, since, until)
    field, value = where or ("", "")
    (whole,) = _summarise_value(archive, [(since, until)], field, value)
    if by is None:
        return WindowSummary(whole)
    cover, pile = RollupReader(archive, by), TableStack()
    steps = _StepReader(cover, pile)
    steps.add(0, since, until)
    more = pile.keep_largest(most)
    bins = pile.new_like()
    for _, body in cover.read_histograms(since, until, DAY_MICROS):
        bins.add(0, body)
    slices = compute_windows(steps.build_inputs([(since, until)], bins)).values()
    order = sorted(slices, key=lambda one: (-one.interactions, one.value))
    return WindowSummary(whole, tuple(order), more)


def summarise_periods(
    archive: Archive,
    period: Period,
    since: int,
    until: int,
    *,
    zone: str = "UTC",
    where: tuple[str, str] | None = None,
) -> list[Window]:
    """One window for each day, week (from Monday) or month of a time zone that touches the stretch, oldest first."""
    windows = list(iter_periods(period, since, until, zone))
    if windows:
        refresh(archive, windows[0][0], windows[-1][1])
    return _summarise_value(archive, windows, *(where or ("", "")))


def summarise_steps(
    archive: Archive,
    since: int,
    until: int,
    step: int,
    *,
    where: tuple[str, str] | None = None,
) -> list[Window]:
    """Windows of equal length, one after the other, for charts; the step is cut up to whole five minutes."""
    step = max(BUCKET_MICROS, step - step % BUCKET_MICROS)
    start = since - since % step
    refresh(archive, start, until)
    field, value = where or ("", "")
    cover = RollupReader(archive, field)
    windows = [(at, at + step) for at in range(start, until, step)]
    pile, bins = TableStack(value), TableStack(value)
    for at, body in cover.read_tables(start, until, step):
        pile.add((at - start) // step, body)
    for at, body in cover.read_histograms(start, until, step):
        bins.add((at - start) // step, body)
    material = WindowInputs(
        windows=windows,
        field=field,
        steps=pile.table(),
        starts=[at for at, _ in windows],
        owners=range(len(windows)),
        bins=bins.histograms(),
    )
    return _order_windows(material, value, moving=False)


def _summarise_value(
    archive: Archive, windows: Sequence[tuple[int, int]], field: str, value: str
) -> list[Window]:
    """Windows of one value of a field.

    Sums are read in steps fine enough for a trend, histograms in the largest buckets there are."""
    cover, bins = RollupReader(archive, field), TableStack(value)
    steps = _StepReader(cover, TableStack(value))
    for number, (since, until) in enumerate(windows):
        steps.add(number, since, until)
        for _, body in cover.read_histograms(since, until, DAY_MICROS):
            bins.add(number, body)
    return _order_windows(steps.build_inputs(windows, bins), value)


class _StepReader:
    """Windows cut at whole five minutes, hours or days, each fine enough for a trend: the points it goes through."""

    def __init__(self, cover: RollupReader, pile: TableStack) -> None:
        self._reader = cover
        self._stack = pile
        self._starts: list[int] = []
        self._owners: list[int] = []

    def add(self, window: int, since: int, until: int) -> None:
        """Take in a window; a step is one point whatever buckets it is read from."""
        length = until - since
        step = (
            DAY_MICROS
            if length > 21 * DAY_MICROS
            else HOUR_MICROS
            if length > 12 * HOUR_MICROS
            else BUCKET_MICROS
        )
        last = None
        for at, body in self._reader.read_tables(since, until, step):
            if at // step != last:
                last = at // step
                self._starts.append(at)
                self._owners.append(window)
            self._stack.add(len(self._starts) - 1, body)

    def build_inputs(self, windows: Sequence[tuple[int, int]], bins: TableStack) -> WindowInputs:
        """What the figures are made of."""
        table = self._stack.table()
        field = self._reader.field
        return WindowInputs(windows, field, table, self._starts, self._owners, bins.histograms())


def _order_windows(material: WindowInputs, value: str, *, moving: bool = True) -> list[Window]:
    found = compute_windows(material, moving=moving)
    return [
        found.get((number, value)) or build_empty_window(since, until, material.field, value)
        for number, (since, until) in enumerate(material.windows)
    ]
