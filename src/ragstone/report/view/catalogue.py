"""The runs of a store as a list: what each is of, its headline figures, what people noted, and how it stands in time."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ragstone.analysis.summary import MetricSummary, Summary
from ragstone.report.remarks import shorten
from ragstone.report.view.summaries import SummaryShelf, choose_headline
from ragstone.store import RunInfo, Store, StoredRun
from ragstone.store.run_notes import RunNotes, load_run_notes

NO_NOTES = RunNotes()
MAX_HEADLINES = 4
"""Metrics shown of each data set unless others are asked for."""


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run of the list."""

    run: StoredRun
    notes: RunNotes
    summary: Summary | None
    """None while it is not at hand."""

    @property
    def info(self) -> RunInfo:
        """The facts of the run."""
        return self.run.info

    @property
    def is_partial(self) -> bool:
        """Whether the run is unfinished, so that its figures are of a part."""
        return self.run.info.status != "done"

    @property
    def data(self) -> str:
        """What tells data sets apart: the whole path of a file."""
        return self.info.facts.source or self.info.source

    def find_metric(self, name: str) -> MetricSummary | None:
        """The figures of a metric, if they are at hand."""
        metrics = self.summary.metrics if self.summary is not None else ()
        return next((metric for metric in metrics if metric.metric == name), None)

    def count_samples(self) -> int:
        """Samples that are scored."""
        if self.summary is not None:
            return self.summary.samples
        return self.info.total if self.info.total is not None else self.run.count()


def load_entries(
    store: Store,
    shelf: SummaryShelf,
    *,
    make: bool,
    left_out: Container[str] = (),
) -> list[RunEntry]:
    """Every run, newest first; `make` sums up the runs that have no summary at hand, which reads their scores.

    `left_out` are ids of runs that are not listed."""
    notes = load_run_notes(store)
    infos = [info for info in store.runs() if info.id not in left_out]
    entries = []
    for info in infos:
        run, note = StoredRun(store, info), notes.get(info.id, NO_NOTES)
        summary = shelf.make(run, note) if make else shelf.find(run, note)
        entries.append(RunEntry(run, note, summary))
    return entries


def name_data(info: RunInfo) -> str:
    """The data set as a list shows it: the file without its folder."""
    return shorten(PurePath(info.source).name or info.source, 60)


def name_system(info: RunInfo) -> str:
    """The system under test; empty for answers that came with the data."""
    named = info.facts.system or (info.plan.system.spec if info.plan.system is not None else "")
    kind, colon, place = str(named).partition(":")
    if "/" in place and not place.startswith("//"):  # a file, as data sets are: without its folder
        named = f"{kind}{colon}{PurePath(place).name}"
    return shorten(str(named), 60)


def group_by_data(entries: Iterable[RunEntry]) -> dict[str, list[RunEntry]]:
    """The runs of each data set, in the order of the list."""
    groups: dict[str, list[RunEntry]] = {}
    for entry in entries:
        groups.setdefault(entry.data, []).append(entry)
    return groups


def choose_columns(entries: Sequence[RunEntry], wanted: str = "") -> list[str]:
    """The metrics that a group of runs is shown by: those of its newest run that tell most, and the one asked for."""
    names = choose_headline(entries[0].info.metrics)[:MAX_HEADLINES] if entries else []
    has_wanted = any(wanted == metric["name"] for entry in entries for metric in entry.info.metrics)
    return names if not has_wanted or wanted in names else [wanted, *names[: MAX_HEADLINES - 1]]


def list_earlier(entries: Sequence[RunEntry], metric: str, until: RunEntry) -> list[MetricSummary]:
    """A metric in the finished runs of a data set, given newest first, up to one of them: oldest first, that one last."""
    figures = []
    # not by `created`: runs of one experiment begin in the same second
    for entry in reversed(entries):
        summary = entry.find_metric(metric)
        is_known = summary is not None and summary.mean is not None
        if summary is not None and is_known and (not entry.is_partial or entry is until):
            figures.append(summary)
        if entry is until:
            break
    return figures


@dataclass(frozen=True, slots=True)
class RunFilter:
    """What a list of runs is narrowed to."""

    text: str = ""
    data: str = ""
    tag: str = ""
    status: str = ""

    def select(self, entries: Iterable[RunEntry]) -> Iterator[RunEntry]:
        """The entries that fit."""
        words = self.text.casefold().split()
        for entry in entries:
            info = entry.info
            if self.data and entry.data != self.data:
                continue
            if self.tag and self.tag not in entry.notes.tags:
                continue
            if self.status and info.status != self.status:
                continue
            place = (
                info.id, info.name, info.source, name_system(info), info.judge or "",
                *entry.notes.tags, entry.notes.note,
            )  # fmt: skip
            haystack = " ".join(place).casefold()
            if all(word in haystack for word in words):
                yield entry


def sort_entries(entries: Sequence[RunEntry], key: str, *, descending: bool) -> list[RunEntry]:
    """The entries by date, name, samples, cost or a metric's mean; those without a value come last."""

    def read(entry: RunEntry) -> float | str | None:
        if key == "date":
            return entry.info.created
        if key == "name":
            return entry.info.name.casefold()
        if key == "samples":
            return float(entry.count_samples())
        if key == "cost":
            return entry.info.usage.usd
        metric = entry.find_metric(key)
        return None if metric is None else metric.mean

    values = [(read(entry), entry) for entry in entries]
    known = [(value, entry) for value, entry in values if value is not None]
    known.sort(key=lambda pair: pair[0], reverse=descending)
    return [entry for _, entry in known] + [entry for value, entry in values if value is None]
