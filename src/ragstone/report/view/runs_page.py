"""The page of all runs: by data set, with headline figures, their course, marks of people; and the trend of a metric."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.report.drawing.shapes import Drawing
from ragstone.report.figures import format_moment
from ragstone.report.monitor.charts import SeriesPoint, draw_sparkline
from ragstone.report.remarks import shorten
from ragstone.report.translator import Translator
from ragstone.report.view.catalogue import (
    RunEntry,
    RunFilter,
    choose_columns,
    group_by_data,
    list_earlier,
    name_data,
    name_system,
    sort_entries,
)
from ragstone.report.view.frame import ViewFrame
from ragstone.report.view.trend import TrendView, build_trend
from ragstone.store import RunInfo
from ragstone.store.saved_views import SavedView

ROWS_PER_PAGE = 50
SPARK_RUNS = 12
"""Runs that a sparkline goes back."""
SORTS = ("date", "name", "samples", "cost")


@dataclass(frozen=True, slots=True)
class FigureCell:
    """A metric in a row of the list."""

    mean: str
    interval: str
    spark: Drawing | None
    is_whole: bool
    """Whether enough samples were scored, and the run is finished."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the list shows it."""

    id: str
    href: str
    name: str
    date: str
    status: str
    is_partial: bool
    is_baseline: bool
    is_chosen: bool
    """Whether it is to be shown beside others."""
    tags: tuple[str, ...]
    note: str
    cells: tuple[FigureCell | str | None, ...]
    """By column: a metric, or a text."""


@dataclass(frozen=True, slots=True)
class RunColumn:
    """A column of the list."""

    title: str
    trend: str
    """The address of the metric's trend; empty for what is no metric."""
    is_text: bool


@dataclass(frozen=True, slots=True)
class DataGroup:
    """The runs of one data set."""

    title: str
    place: str
    columns: tuple[RunColumn, ...]
    rows: tuple[RunRow, ...]


def render_runs(
    frame: ViewFrame,
    entries: Sequence[RunEntry],
    place: str,
    binned: Sequence[RunInfo],
    unread: int,
    trials: Container[str] = (),
    views: Sequence[SavedView] = (),
) -> str:
    """The page; `unread` is how many runs are still being summed up, `trials` are runs of searches for settings."""
    t, wanted = frame.t, frame.choose_kept("cols")
    # a search leaves dozens of runs on parts of the questions: they are listed with it
    hidden = [] if frame.get("trials") else [entry for entry in entries if entry.info.id in trials]
    if hidden:
        entries = [entry for entry in entries if entry.info.id not in trials]
    criteria = RunFilter(frame.get("q"), frame.get("data"), frame.get("tag"), frame.get("status"))
    chosen = list(criteria.select(entries))
    key, descending = frame.get("sort") or "date", frame.get("dir") != "up"
    ordered = sort_entries(chosen, key, descending=descending)
    page = frame.get_number("page", 1, 1 + len(ordered) // ROWS_PER_PAGE)
    shown = ordered[(page - 1) * ROWS_PER_PAGE : page * ROWS_PER_PAGE]
    everything = group_by_data(entries)
    groups = [
        _build_group(frame, some, everything[data]) for data, some in group_by_data(shown).items()
    ]
    return frame.fill(
        "view_runs.html.j2",
        title=t("runs"),
        place=place,
        total=t.count("view.run", len(entries)),
        is_empty=not entries and not hidden,
        hidden=t.count("view.hidden_trials", len(hidden)) if hidden else "",
        groups=groups,
        trend=_build_trend(frame, everything, criteria),
        wanted_trend=frame.get("trend"),
        **_list_filters(everything, t),
        chosen=criteria, sort=key, is_up=not descending,
        pages=build_pager(frame, page, len(ordered), ROWS_PER_PAGE),
        choosable=[(name, name_column(name, t), name in wanted) for name in list_choosable(entries)],
        views=[(view.id, view.name, view.address) for view in views],
        binned=[(info.id, shorten(info.name or info.id, 80)) for info in binned],
        unread=unread,
        is_live=bool(unread) or any(entry.is_partial for entry in entries),
    )  # fmt: skip


def _list_filters(groups: Mapping[str, Sequence[RunEntry]], t: Translator) -> dict[str, Any]:
    """What the list can be narrowed to and sorted by: each value as the form sends it, with its text."""
    entries = [entry for some in groups.values() for entry in some]
    names = {data: name_data(some[0].info) for data, some in groups.items()}
    metrics = dict.fromkeys(str(m["name"]) for entry in entries for m in entry.info.metrics)
    return {
        "data_sets": sorted(names.items(), key=lambda item: item[1]),
        "tags": sorted({tag for entry in entries for tag in entry.notes.tags}),
        "sorts": [(name, t(f"view.sort.{name}")) for name in SORTS] + [(name, name) for name in metrics],
    }  # fmt: skip


def build_pager(frame: ViewFrame, page: int, total: int, size: int) -> dict[str, str | int] | None:
    """Links to the page before and after, and where one is; None for a single page."""
    last = max(1, -(-total // size))
    if last == 1:
        return None
    values = {
        name: list(some) for name, some in frame.values.items() if name not in ("page", "lang")
    }

    def link(number: int) -> str:
        return frame.href(frame.page, **values, page=str(number)) if 1 <= number <= last else ""

    text = frame.t("view.page_of", page=frame.t.whole(page), last=frame.t.whole(last))
    return {"before": link(page - 1), "after": link(page + 1), "text": text}


def _build_trend(
    frame: ViewFrame, groups: dict[str, list[RunEntry]], criteria: RunFilter
) -> TrendView | None:
    """The trend that the address asks for: of the data set it names, else of the first that has the metric."""
    metric = frame.get("trend")
    for data, entries in groups.items() if metric else ():
        if criteria.data and data != criteria.data:
            continue
        if any(entry.find_metric(metric) is not None for entry in entries):
            trend = build_trend(entries, metric, name_data(entries[0].info))
            if trend.points:
                href = f"review?lang={frame.lang}&run=" if frame.lang else "review?run="
                return TrendView(trend, frame.t, href)
    return None


TEXT_COLUMNS = ("system", "judge", "tags")
PLAIN_COLUMNS = (*TEXT_COLUMNS, "samples", "cost")
SETTING = "setting."
"""Before the name of a setting of the system."""


def list_choosable(entries: Sequence[RunEntry]) -> list[str]:
    """What can be a column: facts of a run, any metric, settings of the system."""
    metrics = dict.fromkeys(str(m["name"]) for entry in entries for m in entry.info.metrics)
    settings = dict.fromkeys(
        f"{SETTING}{name}" for entry in entries for name in _get_settings(entry)
    )
    return [*PLAIN_COLUMNS, *metrics, *settings]


def name_column(name: str, t: Translator) -> str:
    """A column in words."""
    if name == "cost":
        return t("usd")
    if name in PLAIN_COLUMNS:
        return t(f"view.{name}")
    return name.removeprefix(SETTING)


def _get_settings(entry: RunEntry) -> Mapping[str, Any]:
    system = entry.info.plan.system
    return system.settings if system is not None else {}


def _build_group(
    frame: ViewFrame, entries: Sequence[RunEntry], group: Sequence[RunEntry]
) -> DataGroup:
    first = entries[0]
    known = {str(m["name"]) for entry in group for m in entry.info.metrics}
    known |= {
        *PLAIN_COLUMNS,
        *(f"{SETTING}{name}" for entry in group for name in _get_settings(entry)),
    }
    names = [name for name in frame.choose_kept("cols") if name in known]
    if not names:
        names = ["system", "samples", *choose_columns(group, frame.get("sort")), "cost"]
    columns = tuple(
        RunColumn(
            name_column(name, frame.t),
            ""
            if name in PLAIN_COLUMNS or name.startswith(SETTING)
            else frame.href("runs", trend=name, data=first.data),
            name in TEXT_COLUMNS or name.startswith(SETTING),
        )
        for name in names
    )
    rows = tuple(_build_row(frame, entry, group, names) for entry in entries)
    return DataGroup(name_data(first.info), first.data, columns, rows)


def _build_row(
    frame: ViewFrame, entry: RunEntry, group: Sequence[RunEntry], names: Sequence[str]
) -> RunRow:
    t, info, notes = frame.t, entry.info, entry.notes
    added = frame.get_all("add")
    return RunRow(
        id=info.id,
        href=frame.href("review", run=info.id),
        name=shorten(info.name or info.id, 80),
        date=format_moment(info.created),
        status=t("view.running" if entry.is_partial else "view.done"),
        is_partial=entry.is_partial,
        is_baseline=notes.is_baseline,
        is_chosen=info.id in added or (notes.is_baseline and not added),
        tags=notes.tags,
        note=shorten(notes.note, 160),
        cells=tuple(_build_cell(entry, group, name, frame) for name in names),
    )


def _build_cell(
    entry: RunEntry, group: Sequence[RunEntry], name: str, frame: ViewFrame
) -> FigureCell | str | None:
    t, info = frame.t, entry.info
    if name == "system":
        who = name_system(info) or t("view.answers_given")
        return f"{who} · {shorten(info.judge or t('no_judge'), 60)}"
    if name == "judge":
        return shorten(info.judge or t("no_judge"), 60)
    if name == "tags":
        return ", ".join(entry.notes.tags)
    if name == "samples":
        return _describe_size(entry, group, t)
    if name == "cost":
        return t.money(info.usage.usd) if info.usage.usd else "–"
    if name.startswith(SETTING):
        return shorten(str(_get_settings(entry).get(name.removeprefix(SETTING), "–")), 80)
    return _build_figure(entry, group, name, frame)


def _describe_size(entry: RunEntry, group: Sequence[RunEntry], t: Translator) -> str:
    """The samples of a run; of an unfinished one, how far it is if it takes as many as the last finished run on the data."""
    count = t.whole(entry.count_samples())
    limit = entry.info.plan.data.limit
    likely = next((other.info.total for other in group if not other.is_partial and other.info.plan.data.limit == limit), None)  # fmt: skip
    if not entry.is_partial or likely is None or likely < entry.count_samples():
        return count
    return t("view.so_far", n=count, total=t.whole(likely))


def _build_figure(
    entry: RunEntry, group: Sequence[RunEntry], name: str, frame: ViewFrame
) -> FigureCell | None:
    t, metric = frame.t, entry.find_metric(name)
    if metric is None or metric.mean is None:
        return None
    earlier = list_earlier(group, name, entry)[-SPARK_RUNS:]
    points = [SeriesPoint(0, 0, figures.mean) for figures in earlier]
    label = t("view.course_of", metric=name, n=t.whole(len(points)))
    # as tall as the interval at least: what lies within it must not look like a change
    width = 0.0 if metric.low is None or metric.high is None else metric.high - metric.low
    return FigureCell(
        t.number(metric.mean),
        t.interval(metric.low, metric.high) if metric.low is not None else "",
        draw_sparkline(points, label, 90.0, 22.0, width) if len(points) > 1 else None,
        metric.complete and not entry.is_partial,
    )
