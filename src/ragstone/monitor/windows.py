"""Windows of time in figures: any duration, by day, week or month, whole and by slice, with intervals and trends."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Literal

from ragstone.config.durations import duration
from ragstone.errors import DataError, RagstoneError
from ragstone.monitor.archive import Archive
from ragstone.monitor.cells import ALL, COST, FEEDBACK, LATENCY, TOKENS, Cell, Slice, add_slices
from ragstone.monitor.interactions import from_micros, micros, to_micros
from ragstone.monitor.rollups import DAY, SPANS, load, raw, refresh
from ragstone.monitor.statements import BUCKET, HOUR
from ragstone.monitor.trends import Trend, trend
from ragstone.stats import Interval, Moments, mean_interval

__all__ = [
    "Figure",
    "Period",
    "Summary",
    "Window",
    "between",
    "bounds",
    "duration",
    "moment_of",
    "periods",
    "series",
    "summary",
    "time_zone",
]

Period = Literal["day", "week", "month"]

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


@dataclass(frozen=True, slots=True)
class Summary:
    """A window, and the same by slice."""

    whole: Window
    slices: tuple[Window, ...] = ()
    """By value of the field that was asked for, the busiest first."""

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain JSON."""
        return {
            "whole": self.whole.to_dict(),
            "slices": [one.to_dict() for one in self.slices],
        }


def summary(
    archive: Archive,
    window: str | float = "24h",
    *,
    until: int | None = None,
    by: str | None = None,
    where: tuple[str, str] | None = None,
) -> Summary:
    """The window of a duration such as `1h` or `7d` that ends at `until` (now), whole or of one slice, and by slice."""
    end = micros() if until is None else until
    return between(archive, end - duration(window), end, by=by, where=where)


def between(
    archive: Archive,
    since: int,
    until: int,
    *,
    by: str | None = None,
    where: tuple[str, str] | None = None,
) -> Summary:
    """The figures from one time up to, not including, another."""
    refresh(archive)
    field, value = where or ("", "")
    (whole,) = _windows(archive, since, until, field, value)
    if by is None:
        return Summary(whole)
    slices = _windows(archive, since, until, by)
    return Summary(whole, tuple(sorted(slices, key=lambda one: -one.interactions)))


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
    return [
        between(archive, start, stop, where=where).whole
        for start, stop in bounds(period, since, until, zone)
    ]


def series(
    archive: Archive,
    since: int,
    until: int,
    step: int,
    *,
    where: tuple[str, str] | None = None,
) -> list[Window]:
    """Windows of equal length, one after the other, for charts; the step is cut up to whole five minutes."""
    refresh(archive)
    step = max(BUCKET, step - step % BUCKET)
    field, value = where or ("", "")
    start = since - since % step
    grouped: dict[int, dict[str, Slice]] = {at: {} for at in range(start, until, step)}
    for at, cells in _steps(archive, start, until, field, step, bins=True):
        add_slices(grouped[at - at % step], {value: cells.get(value, {})})
    return [
        _window(at, at + step, field, value, some.get(value, {}), ())
        for at, some in grouped.items()
    ]


def bounds(period: Period, since: int, until: int, zone: str = "UTC") -> Iterator[tuple[int, int]]:
    """Start and end of each day, week or month of a time zone that touches the stretch."""
    here = time_zone(zone)
    first = from_micros(since).astimezone(here).replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "week":
        first -= timedelta(days=first.weekday())
    elif period == "month":
        first = first.replace(day=1)
    while to_micros(first) < until:
        # wall-clock steps: a day of 23 or 25 hours is one day
        bare = first.replace(tzinfo=None)
        if period == "month":
            following = (bare.replace(day=1) + timedelta(days=32)).replace(day=1)
        else:
            following = bare + timedelta(days=7 if period == "week" else 1)
        after = following.replace(tzinfo=here)
        yield to_micros(first), to_micros(after)
        first = after


def time_zone(name: str) -> tzinfo:
    """The time zone of a name such as Europe/Madrid."""
    if name.upper() == "UTC":
        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise DataError(
            f"no time zone {name!r}; write a name such as Europe/Madrid, or UTC"
        ) from None


def moment_of(text: str, zone: str = "UTC") -> int:
    """The time that a text such as `2026-05-01` or `2026-05-01T12:00` names in a zone."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise DataError(f"{text!r} is no time; write 2026-05-01 or 2026-05-01T12:00:00Z") from None
    return to_micros(when if when.tzinfo else when.replace(tzinfo=time_zone(zone)))


# ── from buckets to figures ───────────────────────────────────────────────────────────────


def _windows(
    archive: Archive, since: int, until: int, field: str, only: str | None = None
) -> list[Window]:
    """The windows of a field's values, by value, or of one value.

    Sums are read in steps fine enough for a trend, histograms in the largest buckets there are."""
    steps = _steps(archive, since, until, field, _largest(until - since))
    coarse: dict[str, Slice] = {}
    for _, cells in _steps(archive, since, until, field, DAY, bins=True):
        add_slices(coarse, cells if only is None else {only: cells.get(only, {})})
    names = sorted(coarse) if only is None else [only]
    return [
        _window(
            since, until, field, name, coarse.get(name, {}),
            [(at, cells.get(name, {})) for at, cells in steps],
        )
        for name in names
    ]  # fmt: skip


def _largest(length: int) -> int:
    return DAY if length > 21 * DAY else HOUR if length > 12 * HOUR else BUCKET


def _steps(
    archive: Archive, since: int, until: int, field: str, largest: int, *, bins: bool = False
) -> list[tuple[int, dict[str, Slice]]]:
    """The stretch in pieces, oldest first: days, hours and five minutes that lie inside it, raw rows at its ends."""
    spans = [span for span in SPANS if span <= largest and largest % span == 0]
    found: list[tuple[int, dict[str, Slice]]] = []
    for span, start, stop in _cover(since, until, spans[::-1]):
        if span:
            found += _kept(archive, span, start, stop, field, bins)
        else:
            found.append((start, raw(archive, start, stop, [field]).get(field, {})))
    return sorted(found, key=lambda item: item[0])


def _kept(
    archive: Archive, span: int, start: int, stop: int, field: str, bins: bool
) -> Iterator[tuple[int, dict[str, Slice]]]:
    """The buckets of a stretch; the last day, which is not added up while it grows, from its hours."""
    kept = load(archive, span, start, stop, field, bins=bins)
    if span == DAY:
        for day in range(start, stop, DAY):
            if day not in kept:
                yield from _kept(archive, HOUR, day, day + DAY, field, bins)
    for at, cells in kept.items():
        if cells is None:
            cells = raw(archive, at, at + span, [field]).get(field, {})
        yield at, cells


def _cover(since: int, until: int, spans: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(span, start, stop): the largest buckets inside the stretch, smaller ones before and after; span 0 is raw."""
    if since >= until:
        return
    if not spans:
        yield 0, since, until
        return
    span, *finer = spans
    start, stop = -(-since // span) * span, until // span * span
    if start >= stop:
        yield from _cover(since, until, finer)
        return
    yield from _cover(since, start, finer)
    yield span, start, stop
    yield from _cover(stop, until, finer)


def _window(
    since: int,
    until: int,
    field: str,
    value: str,
    cells: Slice,
    steps: Sequence[tuple[int, Slice]],
) -> Window:
    everything = cells.get(ALL, Cell())
    plain = {
        name: _figure(name, cells[name], steps) if name in cells else None
        for name in (FEEDBACK, LATENCY, COST, TOKENS)
    }
    return Window(
        since=since,
        until=until,
        field=field,
        value=value,
        interactions=everything.n,
        failed=everything.outcomes.get("failed", 0),
        metrics={
            name: _figure(name, cells[name], steps)
            for name in sorted(cells)
            if not name.startswith(":")
        },
        feedback=plain[FEEDBACK],
        latency=plain[LATENCY],
        cost=plain[COST],
        tokens=plain[TOKENS],
    )


def _figure(name: str, cell: Cell, steps: Sequence[tuple[int, Slice]]) -> Figure:
    interval = interval_of(name, cell)
    found = cell.quantiles(list(SHARES.values()))
    points = [(at, cells[name]) for at, cells in steps if name in cells and cells[name].n]
    return Figure(
        name=name.removeprefix(":"),
        scored=cell.n,
        applicable=cell.n + cell.failures,
        mean=cell.mean,
        low=interval.low,
        high=interval.high,
        minimum=cell.low,
        maximum=cell.high,
        percentiles=dict(zip(SHARES, found, strict=True)) if found else {},
        outcomes=dict(sorted(cell.outcomes.items())),
        total=cell.sums,
        trend=trend(points),
        extra=cell.extra,
        calls=cell.calls,
        usd=cell.usd,
    )


def interval_of(name: str, cell: Cell) -> Interval:
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
    limits, binary = limits_of(name)
    return mean_interval(moments, bounds=limits, binary=binary and cell.effective == cell.n)


def limits_of(name: str) -> tuple[tuple[float, float] | None, bool]:
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
