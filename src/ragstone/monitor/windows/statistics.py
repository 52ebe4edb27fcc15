"""Statistics of windows from roll-ups: means with intervals, percentiles, coverage and trends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from ragstone.analysis.percentiles import LATENCY_PERCENTILES
from ragstone.analysis.stats import Interval, Moments, mean_interval
from ragstone.errors import RagstoneError
from ragstone.monitor.interactions import from_micros
from ragstone.monitor.rollups import (
    ALL,
    COST,
    FEEDBACK,
    LATENCY,
    TOKENS,
    RollupCell,
    compute_percentiles,
    merge_cells,
)
from ragstone.monitor.windows.trends import Trend, fit_trend

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


def build_window(
    since: int,
    until: int,
    field: str,
    value: str,
    points: Mapping[str, Mapping[int, RollupCell]],
    *,
    with_trends: bool = True,
) -> Window:
    """The statistics of a window from its cells: series → start of a step in time → cell; the steps are the points of a trend."""
    counts = merge_cells(points.get(ALL, {}).values())
    series = {
        name: _build_series_stats(name, cells, with_trends)
        for name, cells in sorted(points.items())
        if name != ALL
    }
    return Window(
        since=since,
        until=until,
        field=field,
        value=value,
        interactions=counts.n,
        failed=counts.outcomes.get("failed", 0),
        # names with a colon are the measures below, not metrics
        metrics={name: stats for name, stats in series.items() if not name.startswith(":")},
        feedback=series.get(FEEDBACK),
        latency=series.get(LATENCY),
        cost=series.get(COST),
        tokens=series.get(TOKENS),
    )


def _build_series_stats(
    name: str, points: Mapping[int, RollupCell], with_trends: bool
) -> SeriesStats:
    cell = merge_cells(points.values())
    interval = compute_interval(name, cell)
    by_name: Mapping[str, float] = {}
    if cell.lowest is not None and cell.highest is not None:
        ends = cell.lowest, cell.highest
        values = compute_percentiles(cell.histogram, [*WINDOW_PERCENTILES.values()], ends)
        by_name = dict(zip(WINDOW_PERCENTILES, values, strict=True))
    return SeriesStats(
        name=name.removeprefix(":"),
        scored=cell.n,
        applicable=cell.n + cell.failures,
        mean=cell.mean,
        low=interval.low,
        high=interval.high,
        minimum=cell.lowest,
        maximum=cell.highest,
        percentiles=by_name,
        outcomes=dict(sorted(cell.outcomes.items())),
        total=cell.total,
        trend=fit_trend(points) if with_trends else None,
        extra=cell.extra,
        calls=cell.calls,
        usd=cell.usd,
    )


def compute_interval(name: str, cell: RollupCell) -> Interval:
    """The 95 % interval of a cell's mean, with the effective sample size of its weights."""
    mean, n = cell.mean, cell.effective_size
    if mean is None or cell.lowest is None or cell.highest is None or n <= 0:
        return Interval()
    second, third = cell.squares / cell.weights, cell.cubes / cell.weights
    variance = max(second - mean**2, 0.0)
    if variance <= 1e-12 * max(second, 1e-300):  # equal values: the remainder is rounding error
        variance = 0.0
    # the central moment from raw ones; of equal values it would be rounding error
    cubes = (third - 3 * mean * second + 2 * mean**3) * n if variance else 0.0
    size = max(1, round(n))
    moments = Moments(size, mean, variance * size, cubes, cell.lowest, cell.highest)
    bounds, binary = _get_limits(name)
    return mean_interval(
        moments,
        bounds=bounds,
        # with unequal weights the sums are no counts of ones any more
        binary=binary and cell.effective_size == cell.n,
        positive=bounds is None and cell.lowest >= 0,
    )


@lru_cache(maxsize=256)
def _get_limits(name: str) -> tuple[tuple[float, float] | None, bool]:
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
