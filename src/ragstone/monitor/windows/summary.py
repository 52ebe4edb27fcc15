"""Summaries of time windows: any duration, or by day, week and month; whole and by slice, with intervals and trends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.config.durations import parse_duration
from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import now_micros
from ragstone.monitor.rollups import (
    ALL,
    CellKey,
    RollupCell,
    check_field,
    is_crowded,
    load_busiest,
    load_cells,
    refresh,
)
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS
from ragstone.monitor.windows.calendars import Period, iter_periods
from ragstone.monitor.windows.statistics import Window, build_window

SHORT_STEP_MICROS = 300_000_000
"""Five minutes: points of a window of few hours, and the shortest step of a chart."""

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
    whole = _summarise_value(archive, since, until, *(where or ("", "")))
    if by is None:
        return WindowSummary(whole)
    step = _choose_step(until - since)
    if is_crowded(archive, by, since, until):
        cells, count = load_busiest(archive, by, since, until, step, max_slices)
        slices = _group_cells(cells)
    else:
        slices = _group_cells(load_cells(archive, by, since, until, step))
        count = len(slices)
    sizes = {
        value: sum(cell.n for cell in series[ALL].values()) for value, series in slices.items()
    }
    busiest = sorted(sizes, key=lambda value: (-sizes[value], value))[:max_slices]
    windows = [build_window(since, until, by, value, slices[value]) for value in busiest]
    return WindowSummary(whole, tuple(windows), count - len(windows))


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
    return [_summarise_value(archive, *window, *(where or ("", ""))) for window in windows]


def summarise_steps(
    archive: Archive, since: int, until: int, step: int, *, where: tuple[str, str] | None = None
) -> list[Window]:
    """Consecutive windows of equal length, for charts; the step is rounded to whole five minutes."""
    step = max(SHORT_STEP_MICROS, step - step % SHORT_STEP_MICROS)
    start = since - since % step
    refresh(archive, start, until)
    field, value = where or ("", "")
    points: dict[int, dict[str, dict[int, RollupCell]]] = defaultdict(dict)
    cells = load_cells(archive, field, start, until, step, value=value)
    for (at, _, series), cell in cells.items():
        points[at][series] = {at: cell}
    return [
        build_window(at, at + step, field, value, points.get(at, {}), with_trends=False)
        for at in range(start, until, step)
    ]


def _summarise_value(archive: Archive, since: int, until: int, field: str, value: str) -> Window:
    cells = load_cells(archive, field, since, until, _choose_step(until - since), value=value)
    return build_window(since, until, field, value, _group_cells(cells).get(value, {}))


def _choose_step(length: int) -> int:
    """The distance of the points of a window's trend: enough points, and not more than necessary."""
    if length <= 4 * HOUR_MICROS:
        return SHORT_STEP_MICROS
    return DAY_MICROS if length > 21 * DAY_MICROS else HOUR_MICROS


def _group_cells(
    cells: Mapping[CellKey, RollupCell],
) -> dict[str, dict[str, dict[int, RollupCell]]]:
    """Value → series → start of a step → cell."""
    points: dict[str, dict[str, dict[int, RollupCell]]] = defaultdict(lambda: defaultdict(dict))
    for (at, value, series), cell in cells.items():
        points[value][series][at] = cell
    return points
