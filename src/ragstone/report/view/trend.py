"""The trend of a metric over the runs of one data set: mean and interval of each, and the verdict between neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from ragstone.analysis.compare import compare
from ragstone.analysis.comparison import Difference
from ragstone.analysis.summary import COVERAGE_FLOOR, MetricSummary
from ragstone.errors import RagstoneError
from ragstone.report.comparison.sentences import describe_verdict
from ragstone.report.drawing.rows import choose_ticks
from ragstone.report.drawing.shapes import (
    Box,
    Caption,
    Dot,
    Drawing,
    Role,
    Shape,
    Stroke,
    text_width,
)
from ragstone.report.figures import format_moment
from ragstone.report.remarks import Remark, shorten, shorten_middle
from ragstone.report.translator import Translator
from ragstone.report.view.catalogue import RunEntry
from ragstone.store import StoredRun

MIN_NAME_CHARS = 8
"""Characters of its name that each run must have room for."""
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


@dataclass(frozen=True)
class TrendView:
    """A trend in words and figures, for a page or a terminal."""

    trend: MetricTrend
    t: Translator
    href: str = ""
    """The address of a run without its id; empty on a terminal."""

    @property
    def title(self) -> str:
        """The metric and the data set."""
        return self.t("view.trend_of", metric=self.trend.metric, data=self.trend.data)

    @property
    def note(self) -> str:
        """That older runs are left out."""
        left_out = self.trend.left_out
        return self.t("view.trend_cut", n=self.t.whole(left_out)) if left_out else ""

    @property
    def drawing(self) -> partial[Drawing]:
        """The course as a picture."""
        return partial(draw_trend, self.trend, self.t, href=self.href)

    @property
    def rows(self) -> list[TrendRow]:
        """The runs, newest first."""
        return [self._build_row(point) for point in reversed(self.trend.points)]

    def _build_row(self, point: TrendPoint) -> TrendRow:
        t, info, figures = self.t, point.entry.info, point.figures
        if point.entry.is_partial:
            verdict = Remark(t("view.partial"), "warn")
        elif point.difference is not None:
            verdict = describe_verdict(point.difference, COVERAGE_FLOOR, t)
        else:
            verdict = Remark(point.obstacle or "–")
        return TrendRow(
            shorten(info.name or info.id, 60),
            f"{self.href}{info.id}" if self.href else "",
            format_moment(info.created),
            t.number(figures.mean),
            t.interval(figures.low, figures.high),
            t.whole(figures.scored),
            verdict,
        )


@dataclass(frozen=True, slots=True)
class TrendRow:
    """A run of a trend."""

    name: str
    href: str
    created: str
    mean: str
    interval: str
    scored: str
    verdict: Remark


def draw_trend(trend: MetricTrend, t: Translator, width: float, href: str = "") -> Drawing:
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
        leads_to = f"{href}{point.entry.info.id}" if href else ""
        shapes.append(Dot(x, y, _choose_role(point), 5.0, title, leads_to))
    shapes.append(Stroke(((left, bottom), (right, bottom)), "axis"))
    names = [point.entry.info.name or point.entry.info.id for point in trend.points]
    if step >= text_width("m" * MIN_NAME_CHARS):
        for x, name in zip(places, names, strict=True):
            text = shorten_middle(name, int(step / text_width("m")))
            shapes.append(Caption(x, bottom + 17, text, "soft", "middle"))
    else:  # the first and the last; the others are in the table
        room = int(width / 2 / text_width("m"))
        shapes.append(Caption(left, bottom + 17, shorten_middle(names[0], room), "soft"))
        shapes.append(Caption(right, bottom + 17, shorten_middle(names[-1], room), "soft", "end"))
    return Drawing(
        width, height, tuple(shapes), t("view.trend_of", metric=trend.metric, data=trend.data)
    )


def _choose_role(point: TrendPoint) -> Role:
    from ragstone.report.drawing.charts import VERDICT_ROLES

    if point.entry.is_partial:
        return "warn"
    return "bar" if point.difference is None else VERDICT_ROLES[point.difference.verdict]
