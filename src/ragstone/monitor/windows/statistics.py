"""From tables to figures: means with intervals, percentiles, coverage and trends of a window."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ragstone.analysis.stats import Interval, Moments, mean_interval
from ragstone.errors import RagstoneError
from ragstone.monitor.interactions import from_micros
from ragstone.monitor.rollups.byte_columns import Numbers
from ragstone.monitor.rollups.cells import ALL, COST, FEEDBACK, LATENCY, TOKENS, Cell, percentiles
from ragstone.monitor.rollups.tables import Histograms, Table, Whole, regrouped
from ragstone.monitor.windows.trends import Trend, trends

SHARES = {"p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99}
"""Which percentiles a window has."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What a window says of one series."""

    name: str
    scored: int
    """Values in the mean."""
    applicable: int
    """Values there should be: all but those that do not apply."""
    mean: float | None
    low: float | None
    """Lower end of the 95 % interval of the mean."""
    high: float | None
    minimum: float | None
    maximum: float | None
    percentiles: Mapping[str, float]
    outcomes: Mapping[str, int]
    """How scoring ended where there is no value → count."""
    total: float
    """The sum of the values as they stand, such as the cost of a window."""
    trend: Trend | None = None
    extra: int = 0
    """Of the scored, those judged for another reason than the draw, such as bad feedback: each stands for itself."""
    calls: int = 0
    usd: float = 0.0
    """What judging it cost."""

    @property
    def coverage(self) -> float | None:
        """Scored out of applicable; None when there was nothing to score."""
        return self.scored / self.applicable if self.applicable else None


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time in figures."""

    since: int
    until: int
    field: str
    """The slice's field; empty for all interactions."""
    value: str
    interactions: int
    failed: int
    """Interactions in which the system gave nothing."""
    metrics: Mapping[str, Figure]
    feedback: Figure | None
    latency: Figure | None
    cost: Figure | None
    tokens: Figure | None

    @property
    def judge_usd(self) -> float:
        """What judging the window's interactions cost."""
        return math.fsum(one.usd for one in self.metrics.values())

    def to_dict(self) -> dict[str, Any]:
        """The window as plain JSON; times in ISO 8601."""
        plain = asdict(self)
        plain["since"], plain["until"] = (
            from_micros(at).isoformat().replace("+00:00", "Z") for at in (self.since, self.until)
        )
        for name, one in self.metrics.items():
            plain["metrics"][name]["coverage"] = one.coverage
        return plain | {"judge_usd": self.judge_usd}


@dataclass(frozen=True)
class Material:
    """What the figures of some windows are made of."""

    windows: Sequence[tuple[int, int]]
    """Start and end of each."""
    field: str
    steps: Table
    """Its groups are steps in time."""
    starts: Sequence[int]
    """When each step began."""
    owners: Sequence[int]
    """Which window each step is part of."""
    bins: Histograms
    """Its groups are windows."""


def windows_of(material: Material, *, moving: bool = True) -> dict[tuple[int, str], Window]:
    """Number of the window and value of the field → figures; with trends unless told otherwise."""
    whole = regrouped(material.steps, material.owners)
    slopes = _slopes(material, whole) if moving else [None] * len(whole)
    bins = {whose: (keys, weights) for whose, keys, weights in material.bins.each()}
    cells: dict[tuple[int, str], dict[str, Figure]] = {}
    counts: dict[tuple[int, str], Cell] = {}
    limits: dict[str, Limits] = {}
    for (number, value, name, cell), slope in zip(whole.cells(), slopes, strict=True):
        mine = cells.setdefault((number, value), {})
        if name == ALL:
            counts[number, value] = cell
            continue
        if name not in limits:
            limits[name] = limits_of(name)
        mine[name] = _figure(name, cell, slope, bins.get((number, value, name)), limits[name])
    return {
        whose: _window(material, whose, counts.get(whose, Cell()), series)
        for whose, series in cells.items()
    }


def empty_window(since: int, until: int, field: str, value: str) -> Window:
    """A window without interactions."""
    return Window(since, until, field, value, 0, 0, {}, None, None, None, None)


def _slopes(material: Material, whole: Table) -> list[Trend | None]:
    """The trend of each cell of the windows."""
    points = material.steps
    places = [(table.value * len(table.names) + table.series) for table in (whole, points)]
    size = len(points.values) * len(points.names)
    owners = np.array(material.owners, np.int64)
    line = np.searchsorted(whole.group * size + places[0], owners[points.group] * size + places[1])
    return trends(points, material.starts, line, len(whole))


def _window(
    material: Material, whose: tuple[int, str], everything: Cell, series: Mapping[str, Figure]
) -> Window:
    since, until = material.windows[whose[0]]
    return Window(
        since=since,
        until=until,
        field=material.field,
        value=whose[1],
        interactions=everything.n,
        failed=everything.outcomes.get("failed", 0),
        metrics={name: series[name] for name in sorted(series) if not name.startswith(":")},
        feedback=series.get(FEEDBACK),
        latency=series.get(LATENCY),
        cost=series.get(COST),
        tokens=series.get(TOKENS),
    )


def _figure(
    name: str,
    cell: Cell,
    slope: Trend | None,
    bins: tuple[Whole, Numbers] | None,
    limits: Limits,
) -> Figure:
    interval = interval_of(name, cell, limits)
    shares: Mapping[str, float] = {}
    if bins is not None and cell.low is not None and cell.high is not None:
        found = percentiles(*bins, [*SHARES.values()], ends=(cell.low, cell.high))
        shares = dict(zip(SHARES, found, strict=True))
    return Figure(
        name=name.removeprefix(":"),
        scored=cell.n,
        applicable=cell.n + cell.failures,
        mean=cell.mean,
        low=interval.low,
        high=interval.high,
        minimum=cell.low,
        maximum=cell.high,
        percentiles=shares,
        outcomes=dict(sorted(cell.outcomes.items())),
        total=cell.sums,
        trend=slope,
        extra=cell.extra,
        calls=cell.calls,
        usd=cell.usd,
    )


Limits = tuple[tuple[float, float] | None, bool]
"""A series' least and largest possible value, and whether it is 0 or 1 only."""


def interval_of(name: str, cell: Cell, limits: Limits | None = None) -> Interval:
    """The 95 % interval of a cell's mean; weights count as the sample size they leave."""
    mean, n = cell.mean, cell.effective
    if mean is None or cell.low is None or cell.high is None or n <= 0:
        return Interval()
    second, third = cell.squares / cell.weights, cell.cubes / cell.weights
    variance = max(second - mean**2, 0.0)
    if variance <= 1e-12 * max(second, 1e-300):  # what is left of equal values is rounding
        variance = 0.0
    cubes = (third - 3 * mean * second + 2 * mean**3) * n if variance else 0.0
    size = max(1, round(n))
    moments = Moments(size, mean, variance * size, cubes, cell.low, cell.high)
    bounds, binary = limits_of(name) if limits is None else limits
    return mean_interval(moments, bounds=bounds, binary=binary and cell.effective == cell.n)


def limits_of(name: str) -> Limits:
    """A series' least and largest possible value, and whether it is 0 or 1 only."""
    if name == FEEDBACK:
        return (0.0, 1.0), False
    if name.startswith(":"):
        return None, False
    described = described_metric(name)
    return (described.bounds, described.binary) if described else (None, False)


def described_metric(name: str) -> Any:
    """The registered metric of a stored name; None when this installation does not have it."""
    from ragstone import metrics as _every_metric  # noqa: F401  registers them
    from ragstone.registry import resolve

    try:
        return resolve(name)
    except RagstoneError:  # unknown, or a file or module of someone's own that is not here
        return None
