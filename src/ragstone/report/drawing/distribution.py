"""The picture on a metric's card: how its scores are spread, with the mean and its interval in a strip below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ragstone.report.drawing.shapes import Box, Drawing, Shape, Stroke
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.analysis import MetricSummary

WIDTH, HISTOGRAM_HEIGHT, HEIGHT = 320, 64, 84
"""Units of the drawing: the histogram is on top, the strip of the mean below it."""
STRIP_TOP, STRIP_HEIGHT = 71, 9
TWO_BARS_WIDTH = 40.0


def draw_distribution(
    metric: MetricSummary, thresholds: Sequence[float], t: Translator
) -> tuple[Drawing, tuple[str, str]] | None:
    """A metric's distribution with the ends of its scale in words; None when nothing was scored."""
    scale = _choose_scale(metric)
    if scale is None or metric.mean is None:
        return None
    first, last = scale

    def place_value(value: float) -> float:
        share = (value - first) / (last - first)
        return round(min(max(share, 0.0), 1.0) * WIDTH, 2)

    base = HISTOGRAM_HEIGHT + 0.5
    shapes: list[Shape] = [*_draw_bars(metric, t, place_value)]
    shapes.append(Stroke(((0, base), (WIDTH, base)), "axis"))
    shapes.append(Box(0, STRIP_TOP, WIDTH, STRIP_HEIGHT, "band"))
    if metric.low is not None and metric.high is not None:
        low, high = place_value(metric.low), place_value(metric.high)
        shapes.append(Box(low, STRIP_TOP, max(high - low, 1.5), STRIP_HEIGHT, "interval"))
    # Three units wide around the mean, pushed inside at the ends: half of a mark at 0 or 1 would be
    # cut off.
    left = min(max(place_value(metric.mean) - 1.5, 0), WIDTH - 3)
    shapes.append(Box(left, STRIP_TOP - 2.5, 3, 14, "mean"))
    for value in thresholds:
        if first <= value <= last:
            x = place_value(value)
            shapes.append(Stroke(((x, 0), (x, HEIGHT)), "target", 1.25, dashed=True))
    label = t(
        "distribution_of",
        metric=metric.metric,
        mean=t.number(metric.mean),
        interval=t.interval(metric.low, metric.high),
    )
    ends = t.axis_number(first), t.axis_number(last)
    return Drawing(WIDTH, HEIGHT, tuple(shapes), label), ends


def _choose_scale(metric: MetricSummary) -> tuple[float, float] | None:
    if metric.bounds is not None:
        return metric.bounds
    ends = [*metric.edges[:1], *metric.edges[-1:]]
    ends += [v for v in (metric.minimum, metric.maximum, metric.low, metric.high) if v is not None]
    if not ends:
        return None
    first, last = min(ends), max(ends)
    # All values equal: some width, for the scale divides by it.
    half = abs(first) / 2 or 0.5
    return (first, last) if last > first else (first - half, first + half)


def _draw_bars(
    metric: MetricSummary, t: Translator, place_value: Callable[[float], float]
) -> list[Box]:
    tallest = max(metric.histogram, default=0)
    if metric.binary and metric.bounds is not None and len(metric.histogram) == 2:
        # one bar at each end of the scale: between them there is nothing to count
        places = zip(metric.histogram, metric.bounds, (0.0, WIDTH - TWO_BARS_WIDTH), strict=True)
        return [
            _draw_bar(
                x, TWO_BARS_WIDTH, round(count / tallest * HISTOGRAM_HEIGHT, 2),
                f"{t.axis_number(value)}: {t.count('sample', count)}",
            )
            for count, value, x in places
            if count
        ]  # fmt: skip
    bars = []
    for count, low, high in zip(metric.histogram, metric.edges, metric.edges[1:], strict=False):
        if not count:
            continue
        x, end = place_value(low), place_value(high)
        # one sample in a million still shows
        height = max(round(count / tallest * HISTOGRAM_HEIGHT, 2), 1.5)
        ends = {"low": t.axis_number(low), "high": t.axis_number(high)}
        title = t("bar", **ends, count=t.count("sample", count))
        bars.append(_draw_bar(round(x + 1, 2), round(max(end - x - 2, 1.0), 2), height, title))
    return bars


def _draw_bar(x: float, width: float, height: float, title: str) -> Box:
    return Box(x, round(HISTOGRAM_HEIGHT - height, 2), width, height, "bar", title)
