"""Series over time as pictures: a line with its interval as a band, alerts marked; and the same as a sparkline."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ragstone.report.drawing.rows import choose_ticks
from ragstone.report.drawing.shapes import Box, Caption, Dot, Drawing, Shape, Stroke
from ragstone.report.monitor.times import format_minute, format_tick
from ragstone.report.translator import Translator

SPARK_BLOCKS = "▁▂▃▄▅▆▇█"

Place = Callable[[float], float]
"""From a time or a value to a coordinate."""


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """One window of a series."""

    since: int
    until: int
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0


@dataclass(frozen=True, slots=True)
class AlertSpan:
    """An alert in a chart: from when to when, and what it says."""

    since: int
    until: int | None
    title: str
    onset: tuple[int, int] | None = None
    """Interval of when a drop began."""


def draw_series(
    points: Sequence[SeriesPoint],
    t: Translator,
    *,
    label: str,
    width: float,
    height: float = 150.0,
    bounds: tuple[float, float] | None = None,
    alerts: Sequence[AlertSpan] = (),
    zero: bool = False,
    reference: float | None = None,
    ends: tuple[float, float] | None = None,
) -> Drawing:
    """The series over time; a window without values leaves a gap, for nothing is known of it.

    `reference` is what the series is compared with, a dotted line; `ends` are values that the axis holds in any case."""
    left, right, top, bottom = 40.0, width - 8.0, 10.0, height - 24.0
    start, end = points[0].since, points[-1].until
    low, high = _choose_scale(points, bounds, zero)
    held: list[float] = [*(ends or ())] + ([] if reference is None else [reference])
    low, high = min(low, *held, high), max(high, *held, low)

    def place_time(at: float) -> float:
        return left + (min(max(at, start), end) - start) / (end - start) * (right - left)

    def place_value(value: float) -> float:
        return bottom - (min(max(value, low), high) - low) / (high - low) * (bottom - top)

    shapes: list[Shape] = []
    for tick in choose_ticks(low, high, 4):
        shapes.append(Stroke(((left, place_value(tick)), (right, place_value(tick))), "grid"))
        text = f"{tick:.4g}".replace(".", t("decimal"))
        shapes.append(Caption(left - 6, place_value(tick) + 4, text, "soft", "end"))
    if reference is not None:
        level = place_value(reference)
        shapes.append(Stroke(((left, level), (right, level)), "good", 1.25, dashed=True))
    for alert in alerts:
        shapes += _draw_alert(alert, (start, end), (top, bottom), place_time)
    # Order is depth: bands below the line, alerts over it, dots last, since they carry the titles
    # that a pointer shows.
    shapes += _draw_bands(points, place_time, place_value)
    known = [(point, point.value) for point in points if point.value is not None]
    places = [
        None if p.value is None else (place_time((p.since + p.until) / 2), place_value(p.value))
        for p in points
    ]
    shapes += _draw_line(places, 2.0)
    for alert in alerts:
        if start <= alert.since < end:
            at = place_time(alert.since)
            shapes.append(Stroke(((at, top), (at, bottom)), "bad", 1.25, dashed=True))
    shapes += [_draw_dot(point, value, place_time, place_value, t) for point, value in known]
    if not known:
        middle = (left + right) / 2, (top + bottom) / 2 + 4
        shapes.append(Caption(*middle, t("nothing_here"), "soft", "middle"))
    shapes.append(Stroke(((left, bottom), (right, bottom)), "axis"))
    shapes += _draw_times(start, end, left, right, bottom + 16, t)
    return Drawing(width, height, tuple(shapes), label, (start, end, left, right))


def _draw_alert(
    alert: AlertSpan, times: tuple[int, int], heights: tuple[float, float], place_time: Place
) -> Iterator[Shape]:
    """The interval of an alert's onset, and a strip along the axis while it lasts, so that it hides nothing."""
    (start, end), (top, bottom) = times, heights
    if alert.onset is not None and alert.onset[0] < end and alert.onset[1] > start:
        first, last = (place_time(at) for at in alert.onset)
        yield Box(first, top, max(last - first, 1.0), bottom - top, "band", alert.title)
    over = end if alert.until is None else alert.until
    if alert.since < end and over > start:
        length = max(place_time(over) - place_time(alert.since), 2.0)
        yield Box(place_time(alert.since), bottom - 4, length, 4, "bad", alert.title)


def draw_sparkline(
    points: Sequence[SeriesPoint],
    label: str,
    width: float = 120.0,
    height: float = 26.0,
    least_range: float = 0.0,
) -> Drawing:
    """The series in the space of a word; changes that are small against `least_range` look small."""
    known = [point.value for point in points if point.value is not None]
    if not known:
        return Drawing(width, height, (), label)
    low, high = min(known), max(known)
    middle, half = (low + high) / 2, max(high - low, least_range) / 2
    low, high = middle - half, middle + half
    room = (high - low) or 1.0
    step = width / max(len(points), 1)

    def place_value(value: float) -> float:
        return height / 2 if high == low else height - 4 - (value - low) / room * (height - 8)

    places = [
        None if point.value is None else ((number + 0.5) * step, place_value(point.value))
        for number, point in enumerate(points)
    ]
    last = next(place for place in reversed(places) if place is not None)
    shapes = (*_draw_line(places, 1.5), Dot(*last, "ink", 2.4))
    return Drawing(width, height, shapes, label)


def format_sparkline(points: Sequence[SeriesPoint]) -> str:
    """The series as block characters, for Markdown and terminals; a dot where nothing is known."""
    known = [point.value for point in points if point.value is not None]
    if not known:
        return ""
    # Scaled to its own range: a sparkline shows the shape, the table beside it the size.
    low, room = min(known), (max(known) - min(known)) or 1.0
    top = len(SPARK_BLOCKS) - 1
    return "".join(
        "·" if point.value is None else SPARK_BLOCKS[round((point.value - low) / room * top)]
        for point in points
    )


def _choose_scale(
    points: Sequence[SeriesPoint], bounds: tuple[float, float] | None, zero: bool
) -> tuple[float, float]:
    """The ends of the axis: what was seen with some air, inside what is possible."""
    known = [point.value for point in points if point.value is not None]
    if not known:
        return bounds or (0.0, 1.0)
    ends = [end for point in points for end in (point.low, point.high) if end is not None]
    low, high = min(known), max(known)
    # An interval of two values may be as wide as all others together: it must not flatten the line.
    room = math.inf if bounds is not None else max(high - low, abs(high), abs(low))
    low, high = max(min([low, *ends]), low - room), min(max([high, *ends]), high + room)
    if zero:  # counts, seconds and money end there, whatever an interval says
        low = 0.0 if min(known) >= 0 else min(low, 0.0)
    return _add_air(low, high, bounds, zero)


def _add_air(
    low: float, high: float, bounds: tuple[float, float] | None, zero: bool
) -> tuple[float, float]:
    """Ends with some room around them, inside what is possible."""
    air = max((high - low) * 0.1, 0.02 * (bounds[1] - bounds[0]) if bounds else abs(high) * 0.02)
    air = air or 1.0
    low, high = (low if zero else low - air), high + air
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _draw_line(places: Sequence[tuple[float, float] | None], thick: float) -> list[Shape]:
    """A stroke through each stretch of known places."""
    stretches: list[list[tuple[float, float]]] = [[]]
    for place in places:
        if place is None:
            stretches.append([])
        else:
            stretches[-1].append(place)
    # A lone point between gaps has no line; its dot shows it.
    return [Stroke(tuple(stretch), "bar", thick) for stretch in stretches if len(stretch) > 1]


def _draw_bands(
    points: Sequence[SeriesPoint], place_time: Place, place_value: Place
) -> list[Shape]:
    """The interval of each window."""
    return [
        Box(
            place_time(p.since),
            place_value(p.high),
            place_time(p.until) - place_time(p.since),
            max(place_value(p.low) - place_value(p.high), 1.0),
            "band",
        )
        for p in points
        if p.low is not None and p.high is not None
    ]


def _draw_dot(
    point: SeriesPoint, value: float, place_time: Place, place_value: Place, t: Translator
) -> Dot:
    title = t(
        "point",
        time=format_minute(point.since, t),
        mean=t.number(value),
        interval=t.interval(point.low, point.high),
        n=t.whole(point.n),
    )
    return Dot(place_time((point.since + point.until) / 2), place_value(value), "bar", 2.6, title)


def _draw_times(
    start: int, end: int, left: float, right: float, base: float, t: Translator
) -> list[Shape]:
    middle = (start + end) // 2
    places: list[tuple[int, float, str]] = [(start, left, "start"), (end, right, "end")]
    if right - left > 260:
        places.insert(1, (middle, (left + right) / 2, "middle"))
    return [
        Caption(x, base, format_tick(at, end - start, t), "soft", anchor)  # type: ignore[arg-type]
        for at, x, anchor in places
    ]
