"""The small pictures of a report as plain coordinates: a histogram with the interval under it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.report.words import Words

if TYPE_CHECKING:
    from ragstone.analysis import MetricSummary

WIDTH, HEIGHT = 320, 64
"""Drawing area of the histogram; the interval lies in a strip below it."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a histogram with what it counts."""

    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Where everything stands on one scale."""

    bars: tuple[Bar, ...]
    mean: float | None
    low: float | None
    high: float | None
    gates: tuple[float, ...]
    start: str
    end: str


def picture(one: MetricSummary, thresholds: Sequence[float], say: Words) -> Picture | None:
    """A metric's distribution and interval; None when nothing was scored."""
    scale = _scale(one)
    if scale is None or one.mean is None:
        return None
    first, last = scale

    def place(value: float) -> float:
        share = (value - first) / (last - first)
        return round(min(max(share, 0.0), 1.0) * WIDTH, 2)

    return Picture(
        bars=tuple(_bars(one, say, place)),
        mean=place(one.mean),
        low=None if one.low is None else place(one.low),
        high=None if one.high is None else place(one.high),
        gates=tuple(place(value) for value in thresholds if first <= value <= last),
        start=_end(first, say),
        end=_end(last, say),
    )


def _scale(one: MetricSummary) -> tuple[float, float] | None:
    if one.bounds is not None:
        return one.bounds
    ends = [*one.edges[:1], *one.edges[-1:]]
    ends += [v for v in (one.minimum, one.maximum, one.low, one.high) if v is not None]
    if not ends:
        return None
    first, last = min(ends), max(ends)
    return (first, last) if last > first else (first - 0.5, first + 0.5)


def _bars(one: MetricSummary, say: Words, place: Callable[[float], float]) -> list[Bar]:
    if one.binary and one.bounds is not None and len(one.histogram) == 2:
        return _two_bars(one, one.bounds, say)
    tallest = max(one.histogram, default=0)
    bars = []
    for count, left, right in zip(one.histogram, one.edges, one.edges[1:], strict=False):
        if not count:
            continue
        x, end = place(left), place(right)
        height = max(round(count / tallest * HEIGHT, 2), 1.5)  # one sample in a million still shows
        title = say(
            "bar", low=_end(left, say), high=_end(right, say), count=say.count("sample", count)
        )
        width = round(max(end - x - 2, 1.0), 2)
        bars.append(Bar(round(x + 1, 2), round(HEIGHT - height, 2), width, height, title))
    return bars


def _two_bars(one: MetricSummary, bounds: tuple[float, float], say: Words) -> list[Bar]:
    """One bar at each end of the scale: between them there is nothing to count."""
    tallest, width = max(one.histogram), 40.0
    return [
        Bar(
            x=x,
            y=round(HEIGHT - count / tallest * HEIGHT, 2),
            width=width,
            height=round(count / tallest * HEIGHT, 2),
            title=f"{_end(value, say)}: {say.count('sample', count)}",
        )
        for count, value, x in zip(one.histogram, bounds, (0.0, WIDTH - width), strict=True)
        if count
    ]


def _end(value: float, say: Words) -> str:
    return f"{value:.4g}".replace(".", say("decimal"))
