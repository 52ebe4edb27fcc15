"""Charts in rows: a name, a bar or a dot with its interval on one scale, and the figure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragstone.report.drawing.shapes import (
    Box,
    Caption,
    Dot,
    Drawing,
    Role,
    Shape,
    Stroke,
    cut_to_width,
    text_width,
)
from ragstone.report.translator import Translator

ROW_HEIGHT = 26.0
"""Units of a drawing that a row takes."""


@dataclass(frozen=True, slots=True)
class ChartRow:
    """One line of a chart; a heading has no value."""

    name: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    role: Role = "bar"
    figure: str = ""
    """What is written at the end of the line."""
    target: float | None = None
    heading: bool = False


def draw_rows(
    rows: Sequence[ChartRow],
    label: str,
    t: Translator,
    *,
    width: float,
    scale: tuple[float, float] | None = None,
    bars: bool = False,
    zero: float | None = None,
    band: float | None = None,
    percent: bool = False,
    target_label: str = "",
) -> Drawing:
    """The rows below each other; `target_label` says below what the marks of targets are; `bars` from the scale's start to the value, else dots; `band` shades ±band around `zero`.

    Without a `scale` it is chosen to hold all rows, symmetric around `zero` if there is one."""
    low, high = scale or choose_scale(rows, zero)
    figures = max((text_width(row.figure) for row in rows), default=0.0)
    # Long names or figures may take a third each; what is left is the plot.
    figures = min(figures, width * 0.34)
    names = min(max((text_width(row.name) for row in rows), default=0.0) + 12, width * 0.36)
    left, right = names, width - figures - (10 if figures else 6)
    bottom = len(rows) * ROW_HEIGHT + 4

    def place_value(value: float) -> float:
        share = (value - low) / (high - low)
        # Clamped: a target or an end of an interval may lie outside a given scale.
        return left + min(max(share, 0.0), 1.0) * (right - left)

    shapes: list[Shape] = []
    if band is not None and zero is not None:
        start, end = place_value(zero - band), place_value(zero + band)
        shapes.append(Box(start, 0, end - start, bottom, "band"))
    for tick in choose_ticks(low, high, max(2, int((right - left) / 70))):
        x = place_value(tick)
        shapes.append(Stroke(((x, 0), (x, bottom)), "grid"))
        text = t.percent(tick, 0) if percent else t.axis_number(tick)
        shapes.append(Caption(x, bottom + 15, text, "soft", "middle"))
    if zero is not None:
        shapes.append(Stroke(((place_value(zero), 0), (place_value(zero), bottom)), "zero", 1.25))
    shapes.append(Stroke(((left, bottom), (right, bottom)), "axis"))
    for number, row in enumerate(rows):
        middle = number * ROW_HEIGHT + ROW_HEIGHT / 2 + 2
        shapes.append(
            Caption(
                0,
                middle + 4,
                cut_to_width(row.name, names if not row.heading else width),
                "ink",
                bold=row.heading,
            )
        )
        if row.value is not None:
            shapes += _draw_mark(row, middle, left, place_value, bars)
        if row.figure:
            shapes.append(
                Caption(width, middle + 4, cut_to_width(row.figure, figures + 2), "soft", "end")
            )
    has_targets = any(row.target is not None for row in rows) and bool(target_label)
    if has_targets:
        shapes.append(Box(left, bottom + 22, 2.5, 14, "target"))
        shapes.append(Caption(left + 8, bottom + 33, target_label, "soft"))
    return Drawing(width, bottom + (40 if has_targets else 20), tuple(shapes), label)


def choose_scale(rows: Sequence[ChartRow], zero: float | None) -> tuple[float, float]:
    """A round scale that holds everything; symmetric when there is a zero to look from."""
    ends = [v for row in rows for v in (row.value, row.low, row.high, row.target) if v is not None]
    if not ends:
        return (-1.0, 1.0) if zero is not None else (0.0, 1.0)
    if zero is not None:
        # All differences may be exactly zero.
        reach = max((abs(v - zero) for v in ends), default=1.0) * 1.08 or 0.1
        return zero - reach, zero + reach
    first, last = min(ends), max(ends)
    room = (last - first) * 0.06 or abs(last) * 0.1 or 0.5
    return first - room, last + room


def choose_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers between the ends, at most so many steps."""
    raw = (high - low) / most
    step = 10.0 ** math.floor(math.log10(raw))
    step *= next(factor for factor in (1, 2, 2.5, 5, 10) if factor * step >= raw * 0.999)
    # The tolerance keeps a tick that falls on the end of the scale but for rounding.
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _draw_mark(
    row: ChartRow, middle: float, left: float, place_value: Callable[[float], float], bars: bool
) -> list[Shape]:
    assert row.value is not None
    shapes: list[Shape] = []
    x = place_value(row.value)
    title = f"{row.name}: {row.figure}" if row.figure else row.name
    if bars:
        shapes.append(Box(left, middle - 7, max(x - left, 1.0), 14, row.role, title))
    if row.low is not None and row.high is not None:
        start, end = place_value(row.low), place_value(row.high)
        role: Role = "ink" if bars else row.role
        shapes.append(Stroke(((start, middle), (end, middle)), role, 2.0 if not bars else 1.5))
        for at in (start, end):
            shapes.append(Stroke(((at, middle - 4), (at, middle + 4)), role, 1.5))
    if not bars:
        shapes.append(Dot(x, middle, row.role, title=title))
    if row.target is not None:
        at = place_value(row.target)
        shapes.append(Stroke(((at, middle - 11), (at, middle + 11)), "target", 2.5))
    return shapes
