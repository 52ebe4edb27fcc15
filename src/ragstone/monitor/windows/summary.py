"""Summaries of time windows: any duration, or by day, week and month; whole and by slice, with intervals and trends."""

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
"""Slices of a field in a summary at most, the busiest."""


@dataclass(frozen=True, slots=True)
class WindowSummary:
    """A window, and the same by slice."""

    whole: Window
    slices: tuple[Window, ...] = ()
    """By value of the requested field, the busiest first."""
    more: int = 0
    """Values of the field beyond these."""

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain JSON."""
        return {
            "whole": self.whole.to_dict(),
            "slices": [window.to_dict() for window in self.slices],
            "more": self.more,
        }


def summarise_window(
    archive: Archive,
    window: str | float = "24h",
    *,
    until: int | None = None,
    by: str | None = None,
    where: tuple[str, str] | None = None,
    max_slices: int = MAX_SLICES,
) -> WindowSummary:
    """The window of a duration such as `1h` or `7d` up to `until` (None: now); with `by`, also for each value of that field.

    `where` (field and value) restricts the whole to a slice. A field that no interaction has raises DataError."""
    end = now_micros() if until is None else until
    summary = summarise_between(
        archive, end - parse_duration(window), end, by=by, where=where, max_slices=max_slices
    )
    # only now: listing the known fields looks through all hours, and serves an error message alone
    if by is not None and not summary.slices:
        check_field(archive, by)
    if where is not None and not summary.whole.interactions:
        check_field(archive, where[0])
    return summary


def summarise_between(
    archive: Archive,
    since: int,
    until: int,
    *,
    by: str | None = None,
    where: tuple[str, str] | None = None,
    max_slices: int = MAX_SLICES,
) -> WindowSummary:
    """The statistics from one time up to, not including, another; with `by`, also of the busiest values of that field.

    `where` restricts the whole to a slice, but not the slices of `by`."""
    refresh(archive, since, until)
    field, value = where or ("", "")
    (whole,) = _summarise_value(archive, [(since, until)], field, value)
    if by is None:
        return WindowSummary(whole)
    reader, stack = RollupReader(archive, by), TableStack()
    steps = _StepReader(reader, stack)
    steps.add(0, since, until)
    # before the histograms are added, so that those of dropped values are left out at once
    more = stack.keep_largest(max_slices)
    bins = stack.new_like()
    for _, body in reader.read_histograms(since, until, DAY_MICROS):
        bins.add(0, body)
    slices = compute_windows(steps.build_inputs([(since, until)], bins)).values()
    ordered = sorted(slices, key=lambda window: (-window.interactions, window.value))
    return WindowSummary(whole, tuple(ordered), more)


def summarise_periods(
    archive: Archive,
    period: Period,
    since: int,
    until: int,
    *,
    zone: str = "UTC",
    where: tuple[str, str] | None = None,
) -> list[Window]:
    """One window for each day, week (from Monday) or month of a time zone that overlaps the range, oldest first."""
    windows = list(iter_periods(period, since, until, zone))
    if windows:
        refresh(archive, windows[0][0], windows[-1][1])
    return _summarise_value(archive, windows, *(where or ("", "")))


def summarise_steps(
    archive: Archive, since: int, until: int, step: int, *, where: tuple[str, str] | None = None
) -> list[Window]:
    """Consecutive windows of equal length, for charts; the step is rounded to whole five minutes."""
    step = max(BUCKET_MICROS, step - step % BUCKET_MICROS)
    start = since - since % step
    refresh(archive, start, until)
    field, value = where or ("", "")
    reader = RollupReader(archive, field)
    windows = [(at, at + step) for at in range(start, until, step)]
    stack, bins = TableStack(value), TableStack(value)
    for at, body in reader.read_tables(start, until, step):
        stack.add((at - start) // step, body)
    for at, body in reader.read_histograms(start, until, step):
        bins.add((at - start) // step, body)
    inputs = WindowInputs(
        windows=windows,
        field=field,
        steps=stack.build_table(),
        starts=[at for at, _ in windows],
        owners=range(len(windows)),
        bins=bins.build_histograms(),
    )
    return _order_windows(inputs, value, with_trends=False)


def _summarise_value(
    archive: Archive, windows: Sequence[tuple[int, int]], field: str, value: str
) -> list[Window]:
    """Windows of one value of a field.

    Sums are read in steps fine enough for a trend, histograms in the largest stored buckets."""
    reader, bins = RollupReader(archive, field), TableStack(value)
    steps = _StepReader(reader, TableStack(value))
    for index, (since, until) in enumerate(windows):
        steps.add(index, since, until)
        for _, body in reader.read_histograms(since, until, DAY_MICROS):
            bins.add(index, body)
    return _order_windows(steps.build_inputs(windows, bins), value)


class _StepReader:
    """Reads windows in steps of five minutes, hours or days: the points of their trends."""

    def __init__(self, reader: RollupReader, stack: TableStack) -> None:
        self._reader = reader
        self._stack = stack
        self._step_starts: list[int] = []
        self._window_of_step: list[int] = []

    def add(self, window: int, since: int, until: int) -> None:
        """Read a window; a step is one point, whatever buckets it is read from."""
        length = until - since
        # points enough for a trend, and not more of them to read than necessary
        step = (
            DAY_MICROS
            if length > 21 * DAY_MICROS
            else HOUR_MICROS
            if length > 12 * HOUR_MICROS
            else BUCKET_MICROS
        )
        last = None
        for at, body in self._reader.read_tables(since, until, step):
            # a day that is not stored is read as hours, which together are one point
            if at // step != last:
                last = at // step
                self._step_starts.append(at)
                self._window_of_step.append(window)
            self._stack.add(len(self._step_starts) - 1, body)

    def build_inputs(self, windows: Sequence[tuple[int, int]], bins: TableStack) -> WindowInputs:
        """The inputs of the statistics."""
        table = self._stack.build_table()
        field = self._reader.field
        return WindowInputs(
            windows, field, table, self._step_starts, self._window_of_step, bins.build_histograms()
        )


def _order_windows(inputs: WindowInputs, value: str, *, with_trends: bool = True) -> list[Window]:
    """The statistics of each window in order, also of those without interactions."""
    by_key = compute_windows(inputs, with_trends=with_trends)
    return [
        by_key.get((index, value)) or build_empty_window(since, until, inputs.field, value)
        for index, (since, until) in enumerate(inputs.windows)
    ]
