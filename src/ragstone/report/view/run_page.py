"""The page of a run: its figures as in the report, and all its samples: filtered, sorted, page by page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragstone.analysis.classes import Scales
from ragstone.analysis.scales import find_scales
from ragstone.analysis.summary import MetricSummary
from ragstone.labels import correct_run, load_labels
from ragstone.report.drawing.shapes import NARROW, WIDE
from ragstone.report.figures import describe_run, format_moment, list_run_facts
from ragstone.report.pages.run import RunPage
from ragstone.report.remarks import shorten
from ragstone.report.samples import choose_level
from ragstone.report.translator import Translator
from ragstone.report.view.catalogue import RunEntry
from ragstone.report.view.frame import ViewFrame
from ragstone.report.view.run_samples import POSITION, Cell, RunSamples, SampleQuery
from ragstone.report.view.runs_page import build_pager
from ragstone.report.view.sample_state import (
    LABELLED,
    SampleState,
    format_range,
    format_trait,
    read_state,
)
from ragstone.report.view.spread import compute_slices, draw_histograms
from ragstone.report.view.summaries import choose_headline
from ragstone.store import StoredRun
from ragstone.store.experiments import StoredExperiment

SAMPLES_PER_PAGE = 50
MAX_METRIC_COLUMNS = 6
MAX_CHOICES = 60
"""Values that a filter offers of one trait."""
READABLE_SAMPLES = 20_000
"""Beyond so many samples a page does not read the scores again for the opening sentences and the corrections by labels."""
SLICE_TRAITS = 5


@dataclass(frozen=True, slots=True)
class MetricCell:
    """A score in the list."""

    value: str
    level: str
    outcome: str


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A sample in the list."""

    position: int
    id: str
    title: str
    href: str
    kind: str
    cells: tuple[MetricCell, ...]
    is_labelled: bool


@dataclass(frozen=True, slots=True)
class SliceRow:
    """The samples with one value of a trait."""

    value: str
    href: str
    figures: tuple[str, ...]
    """How many they are, their mean and its interval."""
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class TraitChoice:
    """A trait that the list can be filtered by."""

    name: str
    title: str
    values: tuple[tuple[str, str, bool], ...]
    """Value as the form sends it, its text, whether it is chosen."""


def open_state(frame: ViewFrame, entry: RunEntry) -> SampleState:
    """The state of the list of a run's samples."""
    described = entry.info.metrics
    directions = {str(m["name"]): bool(m["higher_is_better"]) for m in described}
    lead = next(iter(choose_headline(described)), "")
    return read_state(frame, entry.run.id, directions, lead)


def resolve_query(state: SampleState, samples: RunSamples, run: StoredRun) -> SampleQuery:
    """The query with what follows from the labels, as which samples are labelled, looked up."""
    traits = dict(state.query.traits)
    wanted = traits.pop(LABELLED, None)
    if wanted is None:
        return state.query
    ids = sorted({label.sample for label in load_labels(run.store)})
    positions = tuple(samples.find_positions(ids).values())
    query = replace(state.query, traits=tuple(traits.items()))
    if wanted == "no":
        return replace(query, excluded_positions=positions)
    return replace(query, positions=positions)


def render_run(
    frame: ViewFrame,
    entry: RunEntry,
    samples: RunSamples,
    experiments: Sequence[StoredExperiment] = (),
    waiting: str = "",
) -> str:
    """The page; `experiments` are those that the run is part of, `waiting` says what cannot be filtered by yet."""
    t, run, info = frame.t, entry.run, entry.info
    assert entry.summary is not None
    state = open_state(frame, entry)
    query = resolve_query(state, samples, run)
    count = samples.count(query)
    page = min(state.page, max(1, -(-count // SAMPLES_PER_PAGE)))
    shown = samples.page(query, (page - 1) * SAMPLES_PER_PAGE, SAMPLES_PER_PAGE)
    metric = next((m for m in info.metrics if m["name"] == state.histogram), None)
    names = _choose_metrics(info.metrics, state)
    # once for a page and once for a phone, on which the letters of the first would be too small
    histograms = []
    if metric is not None:
        figures = entry.summary[str(metric["name"])]
        histograms = draw_histograms(samples, query, figures, state, (WIDE, NARROW))
    slices = _build_slices(samples, query, metric, state, entry)
    choices = _list_choices(samples, query, state)  # after the slices, which count too
    return frame.fill(
        "view_run.html.j2",
        entry=entry,
        state=state,
        title=shorten(info.name or info.id, 200),
        facts=[*list_run_facts(entry.summary, t), format_moment(info.created)],
        standing=describe_run(entry.summary, t),
        page=_open_page(entry, frame),
        is_folded=state.is_filtered or page > 1,
        metrics=[str(m["name"]) for m in info.metrics],
        names=names,
        rows=_build_rows(state, samples, entry, shown, names),
        heads=[_build_head(name, state, entry) for name in names],
        total=t.whole(samples.rows),
        count=t.whole(count),
        waiting=waiting,
        choices=choices,
        chosen=_list_chosen(state),
        histograms=histograms,
        slices=slices,
        pages=build_pager(frame, page, count, SAMPLES_PER_PAGE),
        exports=[
            (kind, state.href("export") + f"&format={kind}") for kind in ("csv", "jsonl", "json")
        ],
        is_partial=entry.is_partial,
        position=POSITION,
        experiments=[
            (frame.href("experiment", id=kept.id), t(f"view.kind.{kept.kind}"))
            for kept in experiments
        ],
        tags=", ".join(entry.notes.tags),
        format_range=format_range,
    )


def _choose_metrics(metrics: Sequence[Mapping[str, Any]], state: SampleState) -> list[str]:
    """The metrics of the list: those that tell most, and what it is sorted by."""
    names = choose_headline(metrics)[:MAX_METRIC_COLUMNS]
    sort = state.query.sort
    return names if sort in (*names, POSITION) else [sort, *names[:-1]]


def _open_page(entry: RunEntry, frame: ViewFrame) -> RunPage:
    """The figures as in the report."""
    summary, run = entry.summary, entry.run
    assert summary is not None
    is_opened = summary.samples <= READABLE_SAMPLES
    if is_opened:
        corrections = correct_run(run)
        metrics = tuple(replace(m, corrected=corrections.get(m.metric)) for m in summary.metrics)
        summary = replace(summary, metrics=metrics)
    return RunPage(frame.t, run, summary, is_opened=is_opened)


def _build_rows(
    state: SampleState,
    samples: RunSamples,
    entry: RunEntry,
    shown: Sequence[int],
    names: Sequence[str],
) -> list[SampleRow]:
    assert entry.summary is not None
    t = state.frame.t
    figures = {metric.metric: metric for metric in entry.summary.metrics}
    scales = find_scales(entry.run)
    ids = {label.sample for label in load_labels(entry.run.store)}
    scores = samples.read_cells(shown, names)
    kinds = samples.read_traits("class", shown)
    languages = samples.read_traits("language", shown)
    rows = []
    for head in samples.read_heads(shown):
        at = head.position
        cells = tuple(
            _build_cell(figures[name], scores.get((at, name)), scales, languages.get(at, ""), t)
            for name in names
        )
        kind = kinds.get(at, "")
        rows.append(
            SampleRow(
                at,
                head.id,
                head.title or t("no_question"),
                state.href("sample", at=at),
                t.translate("failure_class", kind)
                if kind not in ("", "fine", "unclassified")
                else "",
                cells,
                head.id in ids,
            )
        )
    return rows


def _build_cell(
    metric: MetricSummary, cell: Cell | None, scales: Scales, language: str, t: Translator
) -> MetricCell:
    if cell is None:
        return MetricCell("", "none", "–")
    if cell.value is None:
        return MetricCell("", "none", t.outcome(cell.outcome))
    level = choose_level(metric, cell.value, scales, language)
    return MetricCell(t.number(cell.value), level, "")


def _build_head(name: str, state: SampleState, entry: RunEntry) -> tuple[str, str, str]:
    """Name of a column, the address that sorts by it, and the arrow of the current order."""
    is_sorted = state.query.sort == name
    higher = next(
        (bool(m["higher_is_better"]) for m in entry.info.metrics if m["name"] == name), True
    )
    descending = not state.query.descending if is_sorted else not higher
    arrow = ("↓" if state.query.descending else "↑") if is_sorted else ""
    return (
        name,
        state.href(sort=name, descending=descending) + ("" if descending else "&dir=up"),
        arrow,
    )


def _list_choices(samples: RunSamples, query: SampleQuery, state: SampleState) -> list[TraitChoice]:
    """What the list can be filtered by, with how many samples fit of those that are shown."""
    t, chosen = state.frame.t, dict(state.query.traits)
    choices = []
    for trait in dict.fromkeys([*samples.list_traits(), *(t for t in chosen if t != LABELLED)]):
        counts = samples.count_trait(trait, query)[:MAX_CHOICES]
        values = [
            (
                format_trait(trait, c.value),
                f"{translate_trait(trait, c.value, t)} ({t.whole(c.count)})",
                chosen.get(trait) == c.value,
            )
            for c in counts
        ]
        if trait in chosen and not any(is_chosen for *_, is_chosen in values):
            word = chosen[trait]
            values.append((format_trait(trait, word), translate_trait(trait, word, t), True))
        # one value for all samples is nothing to choose from
        if len(values) > 1 or trait in chosen or trait.startswith(("outcome.", "verdict")):
            choices.append(TraitChoice(trait, name_trait(trait, t), tuple(values)))
    return choices


def name_trait(trait: str, t: Translator) -> str:
    """A trait in words."""
    kind, _, name = trait.partition(".")
    title = (
        t(f"view.trait.{kind}")
        if kind in ("verdict", "class", "language", "outcome", "label", LABELLED)
        else name
    )
    return f"{title}: {name}" if name and kind != "meta" else title


def translate_trait(trait: str, value: str, t: Translator) -> str:
    """A value of a trait in words."""
    kind = trait.partition(".")[0]
    if kind == "outcome":
        return t.outcome(value)
    if kind == "class":
        return t.translate("failure_class", value)
    if kind in ("verdict", "language", "label"):
        return t.translate(kind, value)
    return shorten(value, 60)


def _list_chosen(state: SampleState) -> list[tuple[str, str]]:
    """Each part of the filter in words, and the address without it."""
    t, query = state.frame.t, state.query
    parts = [(t("quoted", text=query.text), state.href(text=""))] if query.text else []
    for part in query.ranges:
        _, low, high = format_range(part).rsplit(":", 2)
        sign = "<" if part.excludes_high else "≤"
        text = f"{low + ' ≤ ' if low else ''}{part.metric}{f' {sign} ' + high.rstrip('-') if high else ''}"
        parts.append((text.replace(".", t("decimal")), state.drop_range(part.metric)))
    for trait, value in query.traits:
        text = f"{name_trait(trait, t)} = {translate_trait(trait, value, t)}"
        parts.append((text, state.drop_trait(trait)))
    return parts


def _build_slices(
    samples: RunSamples,
    query: SampleQuery,
    metric: Mapping[str, Any] | None,
    state: SampleState,
    entry: RunEntry,
) -> list[tuple[str, list[SliceRow]]]:
    """For each trait with several values, the mean of the shown metric by value."""
    t = state.frame.t
    if metric is None or entry.summary is None:
        return []
    is_grouped = entry.summary[str(metric["name"])].clusters is not None
    traits = [
        t
        for t in samples.list_traits()
        if t in ("language", "class") or t.startswith(("meta.", "label."))
    ]
    tables = []
    for trait in traits:
        # a class is chosen by the values themselves: an interval of its mean would say nothing
        slices = compute_slices(
            samples, query, trait, metric, state, is_grouped=is_grouped or trait == "class"
        )
        if len(slices) < 2:
            continue
        rows = [
            SliceRow(
                translate_trait(trait, part.value, t),
                part.href,
                (
                    t.whole(part.count),
                    t.number(part.mean),
                    t.interval(part.interval.low, part.interval.high),
                ),
                part.is_chosen,
            )
            for part in slices
        ]
        tables.append((name_trait(trait, t), rows))
        if len(tables) == SLICE_TRAITS:
            break
    return tables
