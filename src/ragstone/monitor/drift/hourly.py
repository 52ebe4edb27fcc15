"""Hourly windows of every metric and slice as arrays, for the drop test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.monitor.archive import Archive
from ragstone.monitor.drift.sequential_test import Series
from ragstone.monitor.rollups.cells import Cell, Slice
from ragstone.monitor.rollups.refresh import fields, load
from ragstone.monitor.statements import HOUR
from ragstone.monitor.windows.summary import described_metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_VALUES = 20
"""Values of a field that are watched one by one; a field with more is not watched."""
MOST_SLICES = 40
"""Slices of one metric that are watched, the busiest."""
POOLED = 30
"""Judgements over which the share of failures is taken, as far back as a day."""


@dataclass(frozen=True, slots=True)
class Key:
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
class Hours:
    """Closed hours of all streams."""

    start: int
    keys: tuple[Key, ...]
    series: Series
    failing: Mapping[str, NDArray[np.bool_]]
    """Metric → hours in which its judge failed too often to judge quality."""

    @property
    def count(self) -> int:
        """How many hours there are."""
        return int(self.series.counts.shape[1])

    def at(self, hour: int) -> int:
        """When an hour starts."""
        return self.start + hour * HOUR


def read_hours(
    archive: Archive,
    metrics: Sequence[str],
    start: int,
    stop: int,
    by: Sequence[str] | None,
    limit: float,
) -> Hours:
    """The hours from `start` up to `stop`, both whole hours; scores of hours with a failing judge are left out."""
    import numpy as np

    length = max(0, (stop - start) // HOUR)
    found: dict[Key, dict[int, Cell]] = {Key(metric): {} for metric in metrics}
    for field in ("", *(fields(archive, start, stop) if by is None else by)):
        _take(found, metrics, field, load(archive, HOUR, start, stop, field), start)
    keys = _kept(found, metrics)
    table = np.zeros((4, len(keys), length))
    failing = {metric: _failing(found[Key(metric)], length, limit) for metric in metrics}
    for row, key in enumerate(keys):
        known = described_metric(key.metric)
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
    return Hours(start, keys, Series(*table), failing)


def _take(
    found: dict[Key, dict[int, Cell]],
    metrics: Sequence[str],
    field: str,
    buckets: Mapping[int, Mapping[str, Slice] | None],
    start: int,
) -> None:
    values = {value for cells in buckets.values() for value in cells or ()}
    if field and (len(values) > MOST_VALUES or len(values) < 2 or None in buckets.values()):
        return
    for bucket, cells in buckets.items():
        for value, series in (cells or {}).items():
            for metric in metrics:
                if metric in series:
                    hours = found.setdefault(Key(metric, field, value), {})
                    hours[(bucket - start) // HOUR] = series[metric]


def _kept(found: Mapping[Key, Mapping[int, Cell]], metrics: Sequence[str]) -> tuple[Key, ...]:
    kept: list[Key] = []
    for metric in metrics:
        slices = [key for key in found if key.metric == metric and key.field]
        slices.sort(key=lambda key: (-sum(cell.n for cell in found[key].values()), key.rule))
        kept += [Key(metric), *slices[:MOST_SLICES]]
    return tuple(kept)


def _failing(hours: Mapping[int, Cell], length: int, limit: float) -> NDArray[np.bool_]:
    """Hours at whose end too many of the last judgements had failed."""
    import numpy as np

    tries, failures = np.zeros((2, length))
    for hour, cell in hours.items():
        wrong = cell.outcomes.get("judge_error", 0)
        tries[hour], failures[hour] = cell.n + wrong, wrong
    flags = np.zeros(length, bool)
    for at in np.flatnonzero(failures):
        share, _ = pooled(tries, failures, int(at))
        flags[at] = share > limit
    return flags


def pooled(
    tries: NDArray[np.float64], failures: NDArray[np.float64], hour: int
) -> tuple[float, int]:
    """The share of failures in the last judgements up to an hour, and how many those are."""
    total = wrong = 0.0
    for back in range(hour, max(-1, hour - 24), -1):
        total += tries[back]
        wrong += failures[back]
        if total >= POOLED:
            break
    return (wrong / total if total else 0.0), int(total)
