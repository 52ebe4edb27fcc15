"""The page that compares two slices, or two windows, of live traffic: independent sets, as `ragstone monitor compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragstone.analysis.compare import compare
from ragstone.config.durations import parse_duration
from ragstone.errors import RagstoneError
from ragstone.monitor import Archive
from ragstone.monitor.rollups import list_fields
from ragstone.monitor.windows.summary import summarise_between
from ragstone.monitor.windows.window_sample import MAX_COMPARED, Slice, choose_sides
from ragstone.report.monitor.live import Frame
from ragstone.report.monitor.query import LONGEST_WINDOW, WINDOWS
from ragstone.report.monitor.times import format_minute
from ragstone.report.pages.comparison import ComparisonPage
from ragstone.report.remarks import shorten

PAGE_WINDOW = "7d"
"""What is compared unless the address says otherwise."""
MAX_CHOICES = 20
"""Values of each field that the form offers."""


def render_traffic_comparison(archive: Archive, frame: Frame, values: Mapping[str, str]) -> str:
    """The form, and below it the comparison that the address asks for or why there is none.

    `a` and `b` are slices, `field:value`; without `b` the window is compared with the one before."""
    t, query = frame.t, frame.query
    if "window" not in values:
        query = replace(query, window=PAGE_WINDOW)
    until = query.bounds_at(frame.now)[1]
    slices = [read_slice(values.get(name, "")) for name in ("a", "b")]
    chosen = [item for item in slices if item is not None]
    page, newest, complaint = None, "", ""
    try:
        page, is_cut = _compare(archive, chosen, until, query.window, frame)
        newest = t("traffic_newest", n=t.whole(MAX_COMPARED)) if is_cut else ""
    except RagstoneError as error:
        complaint = str(error)
    length = parse_duration(query.window)
    return frame.fill(
        "monitor_compare.html.j2",
        "traffic",
        compared=page,
        newest=newest,
        complaint=complaint,
        windows=list(dict.fromkeys([*WINDOWS[2:], "14d", query.window])),
        window=query.window,
        until=format_minute(until, t),
        choices=_list_choices(archive, until - length, until),
        chosen=[":".join(item) if item else "" for item in slices],
        longest=LONGEST_WINDOW,
    )


def read_slice(text: str) -> Slice | None:
    """A slice of the address; None when it names none."""
    field, sign, value = text.replace("\x00", "").strip()[:300].partition(":")
    return (field, value) if field and sign else None


def _compare(
    archive: Archive, slices: Sequence[Slice], until: int, window: str, frame: Frame
) -> tuple[ComparisonPage, bool]:
    """The comparison, and whether it is of the newest interactions alone."""
    t = frame.t
    if len(slices) == 2 and slices[0] == slices[1]:
        raise RagstoneError(t("traffic_same"))
    sides = choose_sides(slices, until, parse_duration(window), frame.query.zone)
    samples = [side.read_sample(archive) for side in sides]
    for sample in samples:
        if not len(sample):
            raise RagstoneError(t("traffic_empty", name=shorten(sample.info.name, 80)))
    comparison = compare(samples, unpaired=True, anyway=True)
    page = ComparisonPage(t, comparison, {sample.info.id: sample for sample in samples})
    return page, any(len(sample) >= MAX_COMPARED for sample in samples)


def _list_choices(archive: Archive, since: int, until: int) -> list[tuple[str, str]]:
    """Values and texts of the slices that the form offers."""
    choices = []
    for field in list_fields(archive, since, until):
        for part in summarise_between(archive, since, until, by=field).slices[:MAX_CHOICES]:
            choices.append((f"{field}:{part.value}", f"{field} = {shorten(part.value, 60)}"))
    return choices
