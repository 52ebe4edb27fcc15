"""Every picture there is: metrics, their spread, a comparison, settings, a trade-off, failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.report import figures
from ragstone.report.drawing.labels import LabelPlacer, cover_line, cover_points
from ragstone.report.drawing.rows import ChartRow, choose_scale, choose_ticks, draw_rows
from ragstone.report.drawing.shapes import (
    NARROW,
    Box,
    Caption,
    Dot,
    Drawing,
    Role,
    Shape,
    Stroke,
    cut_to_width,
)
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.analysis import LabelRate, MetricSummary, Summary
    from ragstone.analysis.comparison import Comparison, Difference
    from ragstone.analysis.effects import Effects
    from ragstone.analysis.pareto import TradeOff
    from ragstone.labels.measure import CalibrationBin

VERDICT_ROLES: dict[str, Role] = {
    "better": "good",
    "worse": "bad",
    "equivalent": "bar",
    "identical": "bar",
    "unclear": "plain",
    "withheld": "warn",
}


def draw_metric_bars(
    summary: Summary, t: Translator, width: float, *, target: float | None = None, name: str = ""
) -> Drawing:
    """Each bounded metric's mean as a share of its range, with its interval and what its gates, or else `target`, ask for."""
    rows = [ChartRow(figures.shorten(name, 60), heading=True)] if name else []
    for metric in summary.metrics:
        # A share of an open-ended range is not defined; latency and tokens stand in the table only.
        if metric.bounds is None or metric.mean is None:
            continue
        wanted = figures.list_thresholds(summary, metric.metric) if target is None else [target]
        rows.append(
            ChartRow(
                name=f"{metric.metric} {'↑' if metric.higher_is_better else '↓'}",
                value=_share_of_range(metric.mean, metric.bounds),
                low=None if metric.low is None else _share_of_range(metric.low, metric.bounds),
                high=None if metric.high is None else _share_of_range(metric.high, metric.bounds),
                role="bar" if metric.complete else "warn",
                figure=_format_mean(metric.mean, metric.low, metric.high, t, width),
                target=_share_of_range(wanted[0], metric.bounds) if wanted else None,
            )
        )
    value = "" if target is None else f" {target:g}"
    return draw_rows(
        rows, t("drawn.metrics"), t, width=width, scale=(0.0, 1.0), bars=True,
        target_label=t("drawn.target") + value,
    )  # fmt: skip


def draw_forest(comparison: Comparison, t: Translator, width: float) -> Drawing:
    """Each difference to the baseline with its interval, turned so that right is better."""
    rows: list[ChartRow] = []
    margins = []
    for versus in comparison.versus:
        shown = [d for d in versus.differences if d.bounds is not None and d.difference is not None]
        if len(comparison.versus) > 1 and shown:
            rows.append(ChartRow(figures.shorten(versus.run.name, 60), heading=True))
        for difference in shown:
            rows.append(_difference_row(difference, t))
            margins.append(difference.margin / _range_width(difference))
    label = t("forest_of", baseline=comparison.baseline.name)
    # One band for all rows, though margins are per metric: the widest.
    band = max(margins, default=None)
    return draw_rows(rows, label, t, width=width, zero=0.0, band=band)


def draw_effects(effects: Effects, t: Translator, width: float) -> Drawing:
    """The mean at each level of each factor."""
    rows = []
    for factor in effects.factors:
        rows.append(ChartRow(factor.name, heading=True))
        for level in factor.levels:
            figure = _format_mean(level.mean, level.low, level.high, t, width)
            role = "bar" if level.base else VERDICT_ROLES.get(level.verdict, "plain")
            rows.append(
                ChartRow(f"  {level.value}", level.mean, level.low, level.high, role, figure)
            )
    return draw_rows(rows, t("drawn.effects", metric=effects.metric), t, width=width)


def draw_failure_classes(
    rates: Sequence[tuple[str, LabelRate]], t: Translator, width: float
) -> Drawing:
    """The share of samples in each class."""
    roles: dict[str, Role] = {"fine": "good", "judge_failure": "plain", "unclassified": "plain"}
    rows = [
        ChartRow(
            name=name,
            value=rate.rate,
            low=rate.low,
            high=rate.high,
            role=roles.get(rate.label, "bad"),
            figure=f"{t.whole(rate.count)} · {t.percent(rate.rate)}",
        )
        for name, rate in rates
        if rate.rate is not None
    ]
    highest = max((row.high or 0.0 for row in rows), default=1.0)
    # Rates of a few percent would be slivers on a scale up to 1; a tenth at least, so that noise is
    # not blown up.
    scale = (0.0, min(1.0, max(highest * 1.05, 0.1)))
    return draw_rows(
        rows, t("drawn.failures"), t, width=width, scale=scale, bars=True, percent=True
    )


def draw_histograms(metrics: Sequence[MetricSummary], t: Translator, width: float) -> Drawing:
    """How the scores of each metric are spread, side by side as the width allows."""
    across = 1 if width <= NARROW else 3
    gap, height = 24.0, 70.0
    each = (width - gap * (across - 1)) / across
    shapes: list[Shape] = []
    shown = [metric for metric in metrics if metric.histogram]
    for number, metric in enumerate(shown):
        left, top = (number % across) * (each + gap), (number // across) * (height + 62)
        shapes += _draw_histogram(metric, t, left, top + 16, each, height)
    rows = -(-len(shown) // across)
    return Drawing(width, max(rows * (height + 62) - 20, 20), tuple(shapes), t("drawn.histograms"))


def draw_pareto(trade_off: TradeOff, t: Translator, width: float) -> Drawing:
    """Quality against cost; the line joins the configurations that no other beats in both."""
    points, quality = trade_off.candidates, trade_off.quality_metric
    unit = t.translate("unit", trade_off.cost_metric)
    cost = f"{trade_off.cost_metric} ({unit})" if unit != trade_off.cost_metric else unit
    height = 300.0 if width > NARROW else 260.0
    left, right, top, bottom = 46.0, width - 14.0, 22.0, height - 36.0
    xs = choose_scale([ChartRow("", point.cost) for point in points], None)
    ys = choose_scale([ChartRow("", point.quality) for point in points], None)

    def place_point(x: float, y: float) -> tuple[float, float]:
        across = left + (x - xs[0]) / (xs[1] - xs[0]) * (right - left)
        return across, bottom - (y - ys[0]) / (ys[1] - ys[0]) * (bottom - top)

    shapes: list[Shape] = [Caption(0, 10, quality, "soft")]
    for tick in choose_ticks(*xs, max(2, int((right - left) / 80))):
        x = place_point(tick, ys[0])[0]
        shapes.append(Stroke(((x, top), (x, bottom)), "grid"))
        shapes.append(Caption(x, bottom + 15, t.axis_number(tick), "soft", "middle"))
    for tick in choose_ticks(*ys, 5):
        y = place_point(xs[0], tick)[1]
        shapes.append(Stroke(((left, y), (right, y)), "grid"))
        shapes.append(Caption(left - 6, y + 4, t.axis_number(tick), "soft", "end"))
    shapes.append(Caption(right, bottom + 31, cost, "soft", "end"))
    front = sorted((p for p in points if p.front), key=lambda point: point.cost)
    line = [place_point(point.cost, point.quality) for point in front]
    if len(line) > 1:
        shapes.append(Stroke(tuple(line), "bar", 2.0))
    places = [place_point(point.cost, point.quality) for point in points]
    labels = LabelPlacer((left, top, right, bottom), [*cover_points(places), *cover_line(line)])
    # The front is drawn over the others, and its names find a place first.
    for point, at in sorted(zip(points, places, strict=True), key=lambda pair: not pair[0].front):
        shapes += labels.draw_label(cut_to_width(t.name_run(point.name), 150), at)
    for point, (x, y) in sorted(zip(points, places, strict=True), key=lambda pair: pair[0].front):
        shapes.append(Dot(x, y, "good" if point.front else "plain", 5.0, t.name_run(point.name)))
    return Drawing(width, height, tuple(shapes), t("drawn.pareto", quality=quality, cost=cost))


def draw_calibration(bins: Sequence[CalibrationBin], t: Translator, width: float) -> Drawing:
    """What a judge expects against what people say, with the line on which both are the same."""
    side = min(width, 340.0)
    left, top, size = 46.0, 24.0, side - 82.0

    def place_point(x: float, y: float) -> tuple[float, float]:
        return left + x * size, top + (1 - y) * size

    shapes: list[Shape] = [Caption(0, 10, t("people_say"), "soft")]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        shapes.append(Stroke((place_point(tick, 0), place_point(tick, 1)), "grid"))
        shapes.append(Stroke((place_point(0, tick), place_point(1, tick)), "grid"))
        x, y = place_point(tick, tick)
        shapes.append(Caption(x, top + size + 15, t.axis_number(tick), "soft", "middle"))
        shapes.append(Caption(left - 6, y + 4, t.axis_number(tick), "soft", "end"))
    shapes.append(Stroke((place_point(0, 0), place_point(1, 1)), "target", 1.5, dashed=True))
    for part in bins:
        ends = place_point(part.expected, part.low), place_point(part.expected, part.high)
        shapes.append(Stroke(ends, "axis", 2.0))
    shapes.append(
        Stroke(tuple(place_point(part.expected, part.observed) for part in bins), "bar", 2.0)
    )
    for part in bins:
        title = f"{t.number(part.expected)}: {t.number(part.observed)}"
        shapes.append(Dot(*place_point(part.expected, part.observed), "good", title=title))
    shapes.append(Caption(left + size, top + size + 31, t("judge_expects"), "soft", "end"))
    return Drawing(width, size + 66, tuple(shapes), t("drawn.calibration"))


def _draw_histogram(
    metric: MetricSummary, t: Translator, left: float, top: float, width: float, height: float
) -> list[Shape]:
    tallest = max(metric.histogram)
    step = width / len(metric.histogram)
    # of two bins (yes or no) `thin` is less than `step`: then there is one thin bar at each end
    thin = min(step, width / 8)
    shapes: list[Shape] = [
        Caption(left, top - 6, cut_to_width(metric.metric, width), "ink", bold=True)
    ]
    for number, count in enumerate(metric.histogram):
        if count:
            tall = max(count / tallest * height, 1.5)
            title = t("bar", low=t.axis_number(metric.edges[number]), high=t.axis_number(metric.edges[number + 1]),
                        count=t.count("sample", count))  # fmt: skip
            shapes.append(
                Box(
                    left + (number * step + 1 if thin == step else number * (width - thin)),
                    top + height - tall,
                    max(thin - 2, 1),
                    tall,
                    "bar",
                    title,
                )
            )
    base = top + height
    shapes.append(Stroke(((left, base), (left + width, base)), "axis"))
    shapes.append(Caption(left, base + 15, t.axis_number(metric.edges[0]), "soft"))
    shapes.append(Caption(left + width, base + 15, t.axis_number(metric.edges[-1]), "soft", "end"))
    if metric.mean is not None and metric.edges[-1] > metric.edges[0]:
        x = left + (metric.mean - metric.edges[0]) / (metric.edges[-1] - metric.edges[0]) * width
        shapes.append(Stroke(((x, top), (x, base)), "target", 1.5, dashed=True))
    return shapes


def _difference_row(difference: Difference, t: Translator) -> ChartRow:
    assert difference.difference is not None
    sign = 1 if difference.higher_is_better else -1
    width = _range_width(difference)
    # Differences are drawn as shares of each metric's range, so that metrics on other scales share
    # an axis; turning the sign swaps the ends of the interval.
    ends = [None if v is None else sign * v / width for v in (difference.low, difference.high)]
    low, high = ends if sign > 0 else ends[::-1]
    return ChartRow(
        name=f"{difference.metric} {'↑' if difference.higher_is_better else '↓'}",
        value=sign * difference.difference / width,
        low=low,
        high=high,
        role=VERDICT_ROLES[difference.verdict],
        figure=t(f"verdict_word.{difference.verdict}"),
    )


def _range_width(difference: Difference) -> float:
    assert difference.bounds is not None
    return difference.bounds[1] - difference.bounds[0]


def _share_of_range(value: float, bounds: tuple[float, float]) -> float:
    return (value - bounds[0]) / (bounds[1] - bounds[0])


def _format_mean(
    mean: float, low: float | None, high: float | None, t: Translator, width: float
) -> str:
    if width <= NARROW or low is None:
        return t.number(mean)
    return f"{t.number(mean)}  ({t.interval(low, high)})"
