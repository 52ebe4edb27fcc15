"""Hourly windows of every metric and slice as arrays, the input of the drop test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.ranks import HourBins
from ragstone.monitor.drift.reference_period import HOURS_PER_WEEK, WindowSums
from ragstone.monitor.rollups import RollupCell, is_crowded, list_fields, load_cells
from ragstone.monitor.statements import HOUR_MICROS
from ragstone.monitor.windows.statistics import find_metric

MAX_FIELD_VALUES = 20
"""A field with more values than this is not tested by slice."""
MAX_SLICES_PER_METRIC = 40
"""Slices of one metric that are tested, the busiest first."""
POOLED_JUDGEMENTS = 30
"""Judgements from which the share of failures is computed, over at most a day."""


@dataclass(frozen=True, slots=True)
class StreamKey:
    """One stream: a metric of all interactions or of a slice."""

    metric: str
    field: str = ""
    """The slice's field; empty for all interactions."""
    value: str = ""

    @property
    def rule(self) -> str:
        """The name of its alert rule."""
        tail = f":{self.field}={self.value}" if self.field else ""
        return f"drop:{self.metric}{tail}"


@dataclass(frozen=True)
class HourlyStreams:
    """Complete hours of all streams."""

    start: int
    """When the first hour starts, in microseconds."""
    keys: tuple[StreamKey, ...]
    """The stream of each row of `series`."""
    series: WindowSums
    """Arrays of (streams, hours)."""
    failing: Mapping[str, NDArray[np.bool_]]
    """Metric → hours in which its judge failed too often to measure quality."""
    bins: Mapping[StreamKey, HourBins]
    """Histograms of the streams of metrics without bounds."""

    @property
    def count(self) -> int:
        """The number of hours."""
        return int(self.series.counts.shape[1])

    @property
    def first_hour(self) -> int:
        """The hour of the week from Monday, UTC, of the first window."""
        # 1970 began on a Thursday
        return (self.start // HOUR_MICROS + 3 * 24) % HOURS_PER_WEEK

    def get_hour_start(self, hour: int) -> int:
        """When an hour starts."""
        return self.start + hour * HOUR_MICROS


def load_hourly_streams(
    archive: Archive,
    metrics: Sequence[str],
    start: int,
    stop: int,
    by: Sequence[str] | None,
    max_failure_share: float,
) -> HourlyStreams:
    """The hours from `start` up to `stop`, both whole hours; scores of hours with a failing judge are excluded.

    `by` names the fields whose slices are streams too: None means all fields."""
    length = max(0, (stop - start) // HOUR_MICROS)
    cells: dict[StreamKey, dict[int, RollupCell]] = {StreamKey(metric): {} for metric in metrics}
    for field in ("", *(list_fields(archive, start, stop) if by is None else by)):
        if not field or not is_crowded(archive, field, start, stop):
            _collect_cells(archive, cells, metrics, field, start, stop)
    keys = _select_streams(cells, metrics)
    table = np.zeros((4, len(keys), length))
    failing = {
        metric: _find_failing_hours(cells[StreamKey(metric)], length, max_failure_share)
        for metric in metrics
    }
    for row, key in enumerate(keys):
        sign = get_orientation(key.metric)
        for hour, cell in cells[key].items():
            if cell.weights > 0 and not failing[key.metric][hour]:
                # weighted scores count as their effective number, and the sums are scaled to it:
                # the test knows no weights; the sign turns "less is better" around, except in squares
                n = cell.effective_size
                table[:, row, hour] = (  # in the order of WindowSums
                    n,
                    sign * cell.total / cell.weights * n,
                    cell.squares / cell.weights * n,
                    sign * cell.cubes / cell.weights * n,
                )
    bins = {
        key: {hour: cell.histogram for hour, cell in cells[key].items() if cell.histogram}
        for key in keys
        if not has_bounds(key.metric)
    }
    return HourlyStreams(start, keys, WindowSums(*table), failing, bins)


def get_orientation(metric: str) -> float:
    """1 for a metric of which more is better, else -1; a metric that is not known counts as the former."""
    known = find_metric(metric)
    return 1.0 if known is None or known.higher_is_better else -1.0


def has_bounds(metric: str) -> bool:
    """Whether a metric's range is known; one that is not registered counts as from 0 to 1."""
    known = find_metric(metric)
    return known is None or known.bounds is not None


def _collect_cells(
    archive: Archive,
    cells: dict[StreamKey, dict[int, RollupCell]],
    metrics: Sequence[str],
    field: str,
    start: int,
    stop: int,
) -> None:
    """Add the cells of a field to their streams, unless it has too many values or only one."""
    loaded = load_cells(archive, field, start, stop, HOUR_MICROS, metrics=metrics)
    values = {value for _, value, _ in loaded}
    # a single value is the whole again; many would share the budget of false alarms until none can fire
    if field and (len(values) > MAX_FIELD_VALUES or len(values) < 2):
        return
    for (at, value, metric), cell in loaded.items():
        hours = cells.setdefault(StreamKey(metric, field, value), {})
        hours[(at - start) // HOUR_MICROS] = cell


def _select_streams(
    cells: Mapping[StreamKey, Mapping[int, RollupCell]], metrics: Sequence[str]
) -> tuple[StreamKey, ...]:
    """Each metric with its busiest slices."""
    keys: list[StreamKey] = []
    for metric in metrics:
        slices = [key for key in cells if key.metric == metric and key.field]
        slices.sort(key=lambda key: (-sum(cell.n for cell in cells[key].values()), key.rule))
        keys += [StreamKey(metric), *slices[:MAX_SLICES_PER_METRIC]]
    return tuple(keys)


def _find_failing_hours(
    hours: Mapping[int, RollupCell], length: int, max_failure_share: float
) -> NDArray[np.bool_]:
    """Hours at whose end too many of the last judgements had failed."""
    judgements, failures = np.zeros((2, length))
    for hour, cell in hours.items():
        failed = cell.outcomes.get("judge_error", 0)
        judgements[hour], failures[hour] = cell.n + failed, failed
    flags = np.zeros(length, bool)
    for hour in np.flatnonzero(failures).tolist():
        share, _ = pool_failures(judgements, failures, hour)
        flags[hour] = share > max_failure_share
    return flags


def pool_failures(
    judgements: NDArray[np.float64], failures: NDArray[np.float64], hour: int
) -> tuple[float, int]:
    """The share of failures in the last judgements up to an hour, and how many those are."""
    total = failed = 0.0
    for earlier in range(hour, max(-1, hour - 24), -1):  # backwards from the hour itself
        total += judgements[earlier]
        failed += failures[earlier]
        if total >= POOLED_JUDGEMENTS:
            break
    return (failed / total if total else 0.0), int(total)
