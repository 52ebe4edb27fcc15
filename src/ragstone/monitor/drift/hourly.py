"""Hourly windows of every metric and slice as arrays, for the drop test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.sequential_test import WindowSums
from ragstone.monitor.rollups.cells import RollupCell, SliceCells
from ragstone.monitor.rollups.refresh import list_fields, load_cells
from ragstone.monitor.statements import HOUR_MICROS
from ragstone.monitor.windows.statistics import find_metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_FIELD_VALUES = 20
"""Values of a field that are watched one by one; a field with more is not watched."""
MAX_SLICES_PER_METRIC = 40
"""Slices of one metric that are watched, the busiest."""
POOLED_JUDGEMENTS = 30
"""Judgements over which the share of failures is taken, as far back as a day."""


@dataclass(frozen=True, slots=True)
class StreamKey:
    """One stream: a metric, whole or of a slice."""

    metric: str
    field: str = ""
    value: str = ""

    @property
    def rule(self) -> str:
        """Its rule's name."""
        tail = f":{self.field}={self.value}" if self.field else ""
        return f"drop:{self.metric}{tail}"


@dataclass(frozen=True)
class HourlyStreams:
    """Closed hours of all streams."""

    start: int
    keys: tuple[StreamKey, ...]
    series: WindowSums
    failing: Mapping[str, NDArray[np.bool_]]
    """Metric → hours in which its judge failed too often to judge quality."""

    @property
    def count(self) -> int:
        """How many hours there are."""
        return int(self.series.counts.shape[1])

    def at(self, hour: int) -> int:
        """When an hour starts."""
        return self.start + hour * HOUR_MICROS


def load_hourly_streams(
    archive: Archive,
    metrics: Sequence[str],
    start: int,
    stop: int,
    by: Sequence[str] | None,
    limit: float,
) -> HourlyStreams:
    """The hours from `start` up to `stop`, both whole hours; scores of hours with a failing judge are left out."""
    import numpy as np

    length = max(0, (stop - start) // HOUR_MICROS)
    found: dict[StreamKey, dict[int, RollupCell]] = {StreamKey(metric): {} for metric in metrics}
    for field in ("", *(list_fields(archive, start, stop) if by is None else by)):
        _collect_cells(
            found, metrics, field, load_cells(archive, HOUR_MICROS, start, stop, field), start
        )
    keys = _select_streams(found, metrics)
    table = np.zeros((4, len(keys), length))
    failing = {
        metric: _find_failing_hours(found[StreamKey(metric)], length, limit) for metric in metrics
    }
    for row, key in enumerate(keys):
        known = find_metric(key.metric)
        sign = 1.0 if known is None or known.higher_is_better else -1.0
        for hour, cell in found[key].items():
            if cell.weights > 0 and not failing[key.metric][hour]:
                n = cell.effective
                table[:, row, hour] = (
                    n,
                    sign * cell.sums / cell.weights * n,
                    cell.squares / cell.weights * n,
                    sign * cell.cubes / cell.weights * n,
                )
    return HourlyStreams(start, keys, WindowSums(*table), failing)


def _collect_cells(
    found: dict[StreamKey, dict[int, RollupCell]],
    metrics: Sequence[str],
    field: str,
    buckets: Mapping[int, Mapping[str, SliceCells] | None],
    start: int,
) -> None:
    values = {value for cells in buckets.values() for value in cells or ()}
    if field and (len(values) > MAX_FIELD_VALUES or len(values) < 2 or None in buckets.values()):
        return
    for bucket, cells in buckets.items():
        for value, series in (cells or {}).items():
            for metric in metrics:
                if metric in series:
                    hours = found.setdefault(StreamKey(metric, field, value), {})
                    hours[(bucket - start) // HOUR_MICROS] = series[metric]


def _select_streams(
    found: Mapping[StreamKey, Mapping[int, RollupCell]], metrics: Sequence[str]
) -> tuple[StreamKey, ...]:
    kept: list[StreamKey] = []
    for metric in metrics:
        slices = [key for key in found if key.metric == metric and key.field]
        slices.sort(key=lambda key: (-sum(cell.n for cell in found[key].values()), key.rule))
        kept += [StreamKey(metric), *slices[:MAX_SLICES_PER_METRIC]]
    return tuple(kept)


def _find_failing_hours(
    hours: Mapping[int, RollupCell], length: int, limit: float
) -> NDArray[np.bool_]:
    """Hours at whose end too many of the last judgements had failed."""
    import numpy as np

    tries, failures = np.zeros((2, length))
    for hour, cell in hours.items():
        wrong = cell.outcomes.get("judge_error", 0)
        tries[hour], failures[hour] = cell.n + wrong, wrong
    flags = np.zeros(length, bool)
    for at in np.flatnonzero(failures):
        share, _ = pool_failures(tries, failures, int(at))
        flags[at] = share > limit
    return flags


def pool_failures(
    tries: NDArray[np.float64], failures: NDArray[np.float64], hour: int
) -> tuple[float, int]:
    """The share of failures in the last judgements up to an hour, and how many those are."""
    total = wrong = 0.0
    for back in range(hour, max(-1, hour - 24), -1):
        total += tries[back]
        wrong += failures[back]
        if total >= POOLED_JUDGEMENTS:
            break
    return (wrong / total if total else 0.0), int(total)
