"""The trend of a metric over the runs of one data set: mean and interval of each, and the verdict between neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragstone.analysis.compare import compare
from ragstone.analysis.comparison import Difference
from ragstone.analysis.summary import COVERAGE_FLOOR, MetricSummary
from ragstone.errors import RagstoneError
from ragstone.report import document as doc
from ragstone.report.builders.parts import build_number_columns, build_text_columns
from ragstone.report.comparison.sentences import describe_verdict
from ragstone.report.drawing.rows import choose_ticks
from ragstone.report.drawing.shapes import Box, Caption, Dot, Drawing, Role, Shape, Stroke
from ragstone.report.figures import format_moment, shorten
from ragstone.report.translator import Translator
from ragstone.report.view.catalogue import RunEntry
from ragstone.store import StoredRun

MAX_POINTS = 40
"""The newest runs that a trend shows."""


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One run of a trend."""

    entry: RunEntry
    figures: MetricSummary
    difference: Difference | None
    """Against the finished run before it; None for the first one, an unfinished one, and where nothing can be compared."""
    obstacle: str = ""
    """Why there is no difference, where there should be one."""


@dataclass(frozen=True, slots=True)
class MetricTrend:
    """A metric in the runs of a data set, oldest first."""

    metric: str
    data: str
    """The data set as it is shown."""
    points: tuple[TrendPoint, ...]
    left_out: int
    """Older runs than the newest that are shown."""


def build_trend(entries: Sequence[RunEntry], metric: str, data: str) -> MetricTrend:
    """The trend of a metric over runs of one data set, given newest first, that have their figures at hand."""
    known = []
    for entry in reversed(entries):
        figures = entry.find_metric(metric)
        if figures is not None and figures.mean is not None:
            known.append((entry, figures))
    points: list[TrendPoint] = []
    before: RunEntry | None = None
    for entry, figures in known[-MAX_POINTS:]:
        difference, obstacle = None, ""
        if before is not None and not entry.is_partial:
            difference, obstacle = _compare_neighbours(before, entry, metric)
        points.append(TrendPoint(entry, figures, difference, obstacle))
        if not entry.is_partial:
            before = entry
    return MetricTrend(metric, data, tuple(points), max(len(known) - MAX_POINTS, 0))


def _compare_neighbours(
    before: RunEntry, after: RunEntry, metric: str
) -> tuple[Difference | None, str]:
    try:
        return _compare_cached(
            before.run, after.run, metric, (before.notes.finished, after.notes.finished)
        ), ""
    except RagstoneError as error:  # no id in common: the data set was replaced under its name
        return None, str(error)


class _Pair:
    """Two runs as a key of the cache: equal when ids, metric and the times of completion are."""

    def __init__(
        self, before: StoredRun, after: StoredRun, metric: str, stamps: tuple[int, int]
    ) -> None:
        self.before, self.after, self.metric = before, after, metric
        self._key = (before.store.place, before.id, after.id, metric, stamps)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Pair) and self._key == other._key


def _compare_cached(
    before: StoredRun, after: StoredRun, metric: str, stamps: tuple[int, int]
) -> Difference:
    return _compare_pair(_Pair(before, after, metric, stamps))


@lru_cache(maxsize=512)
def _compare_pair(pair: _Pair) -> Difference:
    comparison = compare([pair.before, pair.after], metrics=[pair.metric], samples=0)
    return comparison.versus[0][pair.metric]


def build_trend_nodes(trend: MetricTrend, t: Translator, href: str = "") -> list[doc.Node]:
    """The trend as a picture and a table; `href` is the address of a run without its id."""
    title = t("view.trend_of", metric=trend.metric, data=trend.data)
    note = t("view.trend_cut", n=t.whole(trend.left_out)) if trend.left_out else ""
    nodes: list[doc.Node] = [doc.Heading(title, note=note)]
    if len(trend.points) > 1:
        nodes.append(doc.Chart(draw_trend(trend, t, 720), draw_trend(trend, t, 340), style="wide"))
    columns = (
        *build_text_columns(t, "run", "view.date"),
        *build_number_columns(t, "mean", "interval", "scored"),
        doc.TableColumn(t("view.against_before")),
    )
    rows = tuple(_build_row(point, t, href) for point in reversed(trend.points))
    nodes.append(doc.ReportTable(columns, rows, id="trend"))
    return [doc.Section(tuple(nodes), "panel", "trend")]


def _build_row(point: TrendPoint, t: Translator, href: str) -> doc.TableRow:
    info, figures = point.entry.info, point.figures
    if point.entry.is_partial:
        verdict = doc.TableCell(t("view.partial"), "warn")
    elif point.difference is not None:
        remark = describe_verdict(point.difference, COVERAGE_FLOOR, t)
        verdict = doc.TableCell(remark.text, "" if remark.severity == "plain" else remark.severity)
    else:
        verdict = doc.TableCell(point.obstacle or "–", style="soft")
    return doc.TableRow(
        (
            doc.TableCell(shorten(info.name or info.id, 60), href=f"{href}{info.id}" if href else ""),
            doc.TableCell(format_moment(info.created), style="date"),
            t.number(figures.mean),
            t.interval(figures.low, figures.high),
            t.whole(figures.scored),
            verdict,
        )
    )  # fmt: skip


def draw_trend(trend: MetricTrend, t: Translator, width: float) -> Drawing:
    """Means over runs with their intervals as whiskers; a point is coloured by the verdict against the one before."""
    height = 200.0
    left, right, top, bottom = 44.0, width - 12.0, 12.0, height - 26.0
    ends = [
        value
        for point in trend.points
        for value in (point.figures.mean, point.figures.low, point.figures.high)
        if value is not None
    ]
    low, high = min(ends), max(ends)
    room = (high - low) * 0.08 or 0.05
    low, high = low - room, high + room
    step = (right - left) / len(trend.points)

    def place_value(value: float) -> float:
        return bottom - (value - low) / (high - low) * (bottom - top)

    shapes: list[Shape] = []
    for tick in choose_ticks(low, high, 4):
        y = place_value(tick)
        shapes.append(Stroke(((left, y), (right, y)), "grid"))
        text = f"{tick:.4g}".replace(".", t("decimal"))
        shapes.append(Caption(left - 6, y + 4, text, "soft", "end"))
    places = [left + (number + 0.5) * step for number in range(len(trend.points))]
    means = [place_value(point.figures.mean or 0.0) for point in trend.points]
    shapes.append(Stroke(tuple(zip(places, means, strict=True)), "bar", 1.5))
    for x, y, point in zip(places, means, trend.points, strict=True):
        figures = point.figures
        if figures.low is not None and figures.high is not None:
            ends_y = place_value(figures.high), place_value(figures.low)
            shapes.append(
                Box(x - 1.25, ends_y[0], 2.5, max(ends_y[1] - ends_y[0], 1.0), "interval")
            )
        title = f"{shorten(point.entry.info.name, 60)}: {t.number(figures.mean)} ({t.interval(figures.low, figures.high)})"
        shapes.append(Dot(x, y, _choose_role(point), 5.0, title))
    shapes.append(Stroke(((left, bottom), (right, bottom)), "axis"))
    dates = [point.entry.info.created[:10] for point in trend.points]
    shapes.append(Caption(left, bottom + 17, dates[0], "soft"))
    if len(dates) > 1:
        shapes.append(Caption(right, bottom + 17, dates[-1], "soft", "end"))
    return Drawing(width, height, tuple(shapes), t("view.trend_of", metric=trend.metric, data=trend.data))  # fmt: skip


def _choose_role(point: TrendPoint) -> Role:
    from ragstone.report.drawing.charts import VERDICT_ROLES

    if point.entry.is_partial:
        return "warn"
    return "bar" if point.difference is None else VERDICT_ROLES[point.difference.verdict]
