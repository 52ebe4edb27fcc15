"""Series over time as pictures: a line with its interval as a band, alerts marked; and the same as a sparkline."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragstone.report.drawing.rows import ticks
from ragstone.report.drawing.shapes import Box, Caption, Dot, Drawing, Role, Shape, Stroke
from ragstone.report.monitor.times import day_or_time, shown
from ragstone.report.words import Words

BLOCKS = "▁▂▃▄▅▆▇█"

Place = Callable[[float], float]
"""From a time or a value to a coordinate."""


@dataclass(frozen=True, slots=True)
class Point:
    """One window of a series."""

    since: int
    until: int
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """An alert in a chart: from when to when, and what it says."""

    since: int
    until: int | None
    title: str


def line(
    points: Sequence[Point],
    say: Words,
    *,
    label: str,
    width: float,
    height: float = 150.0,
    bounds: tuple[float, float] | None = None,
    marks: Sequence[Mark] = (),
    zero: bool = False,
) -> Drawing:
    """The series over time; a window without values leaves a gap, for nothing is known of it."""
    left, right, top, bottom = 40.0, width - 8.0, 10.0, height - 24.0
    start, end = points[0].since, points[-1].until
    low, high = _scale(points, bounds, zero)

    def x(at: float) -> float:
        return left + (min(max(at, start), end) - start) / (end - start) * (right - left)

    def y(value: float) -> float:
        return bottom - (min(max(value, low), high) - low) / (high - low) * (bottom - top)

    shapes: list[Shape] = []
    for tick in ticks(low, high, 4):
        shapes.append(Stroke(((left, y(tick)), (right, y(tick))), "grid"))
        text = f"{tick:.4g}".replace(".", say("decimal"))
        shapes.append(Caption(left - 6, y(tick) + 4, text, "soft", "end"))
    for mark in marks:
        over = end if mark.until is None else mark.until
        if mark.since < end and over > start:
            shapes.append(_stretch(x(mark.since), x(over), top, bottom, mark.title))
    for one in points:
        if one.low is not None and one.high is not None:
            shapes.append(
                Box(
                    x(one.since),
                    y(one.high),
                    x(one.until) - x(one.since),
                    max(y(one.low) - y(one.high), 1.0),
                    "band",
                )
            )
    shapes += _line(points, x, y)
    for mark in marks:
        if start <= mark.since < end:
            at = x(mark.since)
            shapes.append(Stroke(((at, top), (at, bottom)), "bad", 1.25, dashed=True))
    shapes += [_dot(one, one.value, x, y, say) for one in points if one.value is not None]
    if all(one.value is None for one in points):
        shapes.append(
            Caption(
                (left + right) / 2, (top + bottom) / 2 + 4, say("nothing_here"), "soft", "middle"
            )
        )
    shapes.append(Stroke(((left, bottom), (right, bottom)), "axis"))
    shapes += _times(start, end, left, right, bottom + 16, say)
    return Drawing(width, height, tuple(shapes), label)


def spark(
    points: Sequence[Point], label: str, width: float = 120.0, height: float = 26.0
) -> Drawing:
    """The series in the space of a word."""
    known = [one.value for one in points if one.value is not None]
    if not known:
        return Drawing(width, height, (), label)
    low, high = min(known), max(known)
    room = (high - low) or 1.0
    step = width / max(len(points), 1)

    def x(number: int) -> float:
        return (number + 0.5) * step

    def y(value: float) -> float:
        return height / 2 if high == low else height - 4 - (value - low) / room * (height - 8)

    shapes: list[Shape] = []
    run: list[tuple[float, float]] = []
    for number, one in enumerate(points):
        if one.value is None:
            shapes += _piece(run, "bar")
            run = []
        else:
            run.append((x(number), y(one.value)))
    shapes += _piece(run, "bar")
    last = max(number for number, one in enumerate(points) if one.value is not None)
    value = points[last].value
    if value is not None:
        shapes.append(Dot(x(last), y(value), "ink", 2.4))
    return Drawing(width, height, tuple(shapes), label)


def blocks(points: Sequence[Point]) -> str:
    """The series as block characters, for Markdown and terminals; a dot where nothing is known."""
    known = [one.value for one in points if one.value is not None]
    if not known:
        return ""
    low, room = min(known), (max(known) - min(known)) or 1.0
    top = len(BLOCKS) - 1
    return "".join(
        "·" if one.value is None else BLOCKS[round((one.value - low) / room * top)]
        for one in points
    )


def _scale(
    points: Sequence[Point], bounds: tuple[float, float] | None, zero: bool
) -> tuple[float, float]:
    """The ends of the axis: what was seen with some air, inside what is possible."""
    known = [one.value for one in points if one.value is not None]
    if not known:
        return bounds or (0.0, 1.0)
    ends = [end for one in points for end in (one.low, one.high) if end is not None]
    low, high = min(known), max(known)
    # An interval of two values may be as wide as all others together: it must not flatten the line.
    room = math.inf if bounds is not None else max(high - low, abs(high), abs(low))
    low, high = max(min([low, *ends]), low - room), min(max([high, *ends]), high + room)
    if zero:  # counts, seconds and money end there, whatever an interval says
        low = 0.0 if min(known) >= 0 else min(low, 0.0)
    air = max((high - low) * 0.1, 0.02 * (bounds[1] - bounds[0]) if bounds else abs(high) * 0.02)
    air = air or 1.0
    low, high = (low if zero else low - air), high + air
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _line(points: Sequence[Point], x: Place, y: Place) -> list[Shape]:
    shapes: list[Shape] = []
    run: list[tuple[float, float]] = []
    for one in points:
        if one.value is None:
            shapes += _piece(run, "bar", 2.0)
            run = []
        else:
            run.append((x((one.since + one.until) / 2), y(one.value)))
    return shapes + _piece(run, "bar", 2.0)


def _piece(run: Sequence[tuple[float, float]], role: Role, thick: float = 1.5) -> list[Shape]:
    return [Stroke(tuple(run), role, thick)] if len(run) > 1 else []


def _dot(one: Point, value: float, x: Place, y: Place, say: Words) -> Dot:
    title = say(
        "point",
        time=shown(one.since, say),
        mean=say.number(value),
        interval=say.interval(one.low, one.high),
        n=say.whole(one.n),
    )
    return Dot(x((one.since + one.until) / 2), y(value), "bar", 2.6, title)


def _stretch(start: float, end: float, top: float, bottom: float, title: str) -> Box:
    """The time of an alert as a strip along the axis, so that it hides nothing."""
    return Box(start, bottom - 4, max(end - start, 2.0), 4, "bad", title)


def _times(start: int, end: int, left: float, right: float, base: float, say: Words) -> list[Shape]:
    middle = (start + end) // 2
    places: list[tuple[int, float, str]] = [(start, left, "start"), (end, right, "end")]
    if right - left > 260:
        places.insert(1, (middle, (left + right) / 2, "middle"))
    return [
        Caption(x, base, day_or_time(at, end - start, say), "soft", anchor)  # type: ignore[arg-type]
        for at, x, anchor in places
    ]
