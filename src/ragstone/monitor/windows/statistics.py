"""Statistics of windows from roll-up tables: means with intervals, percentiles, coverage and trends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ragstone.analysis.percentiles import LATENCY_PERCENTILES
from ragstone.analysis.stats import Interval, Moments, mean_interval
from ragstone.errors import RagstoneError
from ragstone.monitor.interactions import from_micros
from ragstone.monitor.rollups.byte_columns import FloatArray
from ragstone.monitor.rollups.cells import (
    ALL,
    COST,
    FEEDBACK,
    LATENCY,
    TOKENS,
    RollupCell,
    compute_percentiles,
)
from ragstone.monitor.rollups.tables import IntArray, RollupHistograms, RollupTable, regroup_table
from ragstone.monitor.windows.trends import Trend, compute_trends

_SHARES = {"p5": 0.05, "p25": 0.25, "p75": 0.75} | LATENCY_PERCENTILES
WINDOW_PERCENTILES = dict(sorted(_SHARES.items(), key=lambda item: item[1]))
"""The percentiles of every series, from low to high."""


@dataclass(frozen=True, slots=True)
class SeriesStats:
    """Statistics of one series, such as a metric or the latency, in a window."""

    name: str
    scored: int
    """Values in the mean."""
    applicable: int
    """Interactions that the metric applies to, scored or failed."""
    mean: float | None
    low: float | None
    """Lower end of the 95 % interval of the mean."""
    high: float | None
    minimum: float | None
    maximum: float | None
    percentiles: Mapping[str, float]
    outcomes: Mapping[str, int]
    """Outcome of missing values → count."""
    total: float
    """The sum of the values, such as the cost of a window."""
    trend: Trend | None = None
    extra: int = 0
    """Scored interactions that were not sampled at random but for bad feedback; each has weight 1."""
    calls: int = 0
    usd: float = 0.0
    """What judging it cost."""

    @property
    def coverage(self) -> float | None:
        """Scored out of applicable; None when there was nothing to score."""
        return self.scored / self.applicable if self.applicable else None


@dataclass(frozen=True, slots=True)
class Window:
    """Statistics of a time range, of all interactions or of a slice."""

    since: int
    until: int
    field: str
    """The slice's field; empty for all interactions."""
    value: str
    interactions: int
    failed: int
    """Interactions in which the system failed to answer."""
    metrics: Mapping[str, SeriesStats]
    feedback: SeriesStats | None
    latency: SeriesStats | None
    cost: SeriesStats | None
    tokens: SeriesStats | None

    @property
    def judge_usd(self) -> float:
        """What judging the window's interactions cost."""
        return math.fsum(stats.usd for stats in self.metrics.values())

    def to_dict(self) -> dict[str, Any]:
        """The window as plain JSON; times in ISO 8601."""
        plain = asdict(self)
        plain["since"], plain["until"] = (
            from_micros(at).isoformat().replace("+00:00", "Z") for at in (self.since, self.until)
        )
        for name, stats in self.metrics.items():
            plain["metrics"][name]["coverage"] = stats.coverage
        return plain | {"judge_usd": self.judge_usd}


@dataclass(frozen=True)
class WindowInputs:
    """Tables from which the statistics of some windows are computed."""

    windows: Sequence[tuple[int, int]]
    """Start and end of each."""
    field: str
    steps: RollupTable
    """Its groups are steps in time, the points of a trend."""
    starts: Sequence[int]
    """When each step began."""
    owners: Sequence[int]
    """Which window each step is part of."""
    bins: RollupHistograms
    """Its groups are windows."""


def compute_windows(
    inputs: WindowInputs, *, with_trends: bool = True
) -> dict[tuple[int, str], Window]:
    """Index of the window and value of the field → statistics; without trends, which take longer, if `with_trends` is False."""
    whole = regroup_table(inputs.steps, inputs.owners)
    trends = _compute_trends(inputs, whole) if with_trends else [None] * len(whole)
    bins = {whose: (keys, weights) for whose, keys, weights in inputs.bins.iter_cells()}
    # keys are the index of a window and a value of the field
    cells: dict[tuple[int, str], dict[str, SeriesStats]] = {}
    counts: dict[tuple[int, str], RollupCell] = {}
    limits: dict[str, SeriesLimits] = {}
    for (number, value, name, cell), trend in zip(whole.iter_cells(), trends, strict=True):
        series = cells.setdefault((number, value), {})
        if name == ALL:
            counts[number, value] = cell
            continue
        if name not in limits:
            limits[name] = get_limits(name)
        series[name] = _build_series_stats(
            name, cell, trend, bins.get((number, value, name)), limits[name]
        )
    return {
        whose: _build_window(inputs, whose, counts.get(whose, RollupCell()), series)
        for whose, series in cells.items()
    }


def build_empty_window(since: int, until: int, field: str, value: str) -> Window:
    """A window without interactions."""
    return Window(since, until, field, value, 0, 0, {}, None, None, None, None)


def _compute_trends(inputs: WindowInputs, whole: RollupTable) -> list[Trend | None]:
    """The trend of each cell of the windows."""
    points = inputs.steps
    # value and series as one number; with the window, it finds the cell of `whole`, which is sorted
    # by window, value and series, that a point belongs to
    whole_keys, point_keys = (
        table.value * len(table.names) + table.series for table in (whole, points)
    )
    size = len(points.values) * len(points.names)
    owners = np.array(inputs.owners, np.int64)
    series = np.searchsorted(
        whole.group * size + whole_keys, owners[points.group] * size + point_keys
    )
    return compute_trends(points, inputs.starts, series, len(whole))


def _build_window(
    inputs: WindowInputs,
    key: tuple[int, str],
    counts: RollupCell,
    series: Mapping[str, SeriesStats],
) -> Window:
    since, until = inputs.windows[key[0]]
    return Window(
        since=since,
        until=until,
        field=inputs.field,
        value=key[1],
        interactions=counts.n,
        failed=counts.outcomes.get("failed", 0),
        # names with a colon are the measures below, not metrics
        metrics={name: series[name] for name in sorted(series) if not name.startswith(":")},
        feedback=series.get(FEEDBACK),
        latency=series.get(LATENCY),
        cost=series.get(COST),
        tokens=series.get(TOKENS),
    )


def _build_series_stats(
    name: str,
    cell: RollupCell,
    trend: Trend | None,
    bins: tuple[IntArray, FloatArray] | None,
    limits: SeriesLimits,
) -> SeriesStats:
    interval = compute_interval(name, cell, limits)
    by_name: Mapping[str, float] = {}
    if bins is not None and cell.low is not None and cell.high is not None:
        values = compute_percentiles(
            *bins, [*WINDOW_PERCENTILES.values()], ends=(cell.low, cell.high)
        )
        by_name = dict(zip(WINDOW_PERCENTILES, values, strict=True))
    return SeriesStats(
        name=name.removeprefix(":"),
        scored=cell.n,
        applicable=cell.n + cell.failures,
        mean=cell.mean,
        low=interval.low,
        high=interval.high,
        minimum=cell.low,
        maximum=cell.high,
        percentiles=by_name,
        outcomes=dict(sorted(cell.outcomes.items())),
        total=cell.sums,
        trend=trend,
        extra=cell.extra,
        calls=cell.calls,
        usd=cell.usd,
    )


SeriesLimits = tuple[tuple[float, float] | None, bool]
"""The bounds of a series, and whether its values are only 0 and 1."""


def compute_interval(name: str, cell: RollupCell, limits: SeriesLimits | None = None) -> Interval:
    """The 95 % interval of a cell's mean, with the effective sample size of its weights."""
    mean, n = cell.mean, cell.effective_size
    if mean is None or cell.low is None or cell.high is None or n <= 0:
        return Interval()
    second, third = cell.squares / cell.weights, cell.cubes / cell.weights
    variance = max(second - mean**2, 0.0)
    if variance <= 1e-12 * max(second, 1e-300):  # equal values: the remainder is rounding error
        variance = 0.0
    # the central moment from raw ones; of equal values it would be rounding error
    cubes = (third - 3 * mean * second + 2 * mean**3) * n if variance else 0.0
    size = max(1, round(n))
    moments = Moments(size, mean, variance * size, cubes, cell.low, cell.high)
    bounds, binary = get_limits(name) if limits is None else limits
    return mean_interval(
        moments,
        bounds=bounds,
        # with unequal weights the sums are no counts of ones any more
        binary=binary and cell.effective_size == cell.n,
        positive=bounds is None and cell.low >= 0,
    )


def get_limits(name: str) -> SeriesLimits:
    """The bounds of a series, and whether its values are only 0 and 1."""
    if name == FEEDBACK:
        return (0.0, 1.0), False
    if name.startswith(":"):
        return None, False
    metric = find_metric(name)
    return (metric.bounds, metric.binary) if metric else (None, False)


def find_metric(name: str) -> Any:
    """The registered metric with a stored name; None when this installation does not have it."""
    from ragstone import metrics as _every_metric  # noqa: F401  registers them
    from ragstone.registry import resolve

    try:
        return resolve(name)
    except RagstoneError:  # unknown, or defined in a file or module that is not installed here
        return None
