"""The review page: a row a question, a column a run (of one run a column a metric), and the chosen sample beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from ragstone.analysis.compare import compare
from ragstone.analysis.comparison import Difference
from ragstone.analysis.scales import find_scales
from ragstone.analysis.summary import COVERAGE_FLOOR
from ragstone.errors import RagstoneError
from ragstone.labels import load_labels
from ragstone.report.comparison.sentences import describe_verdict
from ragstone.report.figures import describe_run, list_run_facts
from ragstone.report.html import mark_safe
from ragstone.report.pages.run import RunPage
from ragstone.report.remarks import Remark, shorten, shorten_middle
from ragstone.report.samples import choose_level
from ragstone.report.translator import Translator
from ragstone.report.view.catalogue import RunEntry
from ragstone.report.view.frame import ViewFrame
from ragstone.report.view.run_samples import (
    CHANGE,
    POSITION,
    SPREAD,
    Cell,
    Moved,
    Place,
    RowHead,
    RunSamples,
    SampleQuery,
)
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
from ragstone.store import RunInfo, StoredRow, StoredRun
from ragstone.store.experiments import StoredExperiment

MAX_RUNS = 20
SAMPLES_PER_PAGE = 40
MAX_METRIC_COLUMNS = 6
HEAT_COLUMNS = 7
"""From so many columns on a cell is a colour with its value, without the words of its failure."""
MAX_CHOICES = 60
"""Values that a filter offers of one trait."""
MAX_CHIPS = 12
MAX_VERDICTS = 4
"""Runs up to which each has a sentence above the list."""
SLICE_TRAITS = 5
READABLE_SAMPLES = 20_000
"""Beyond so many samples a page does not read the scores again for the opening sentences and the corrections by labels."""
QUICK_SAMPLES = 5_000
"""Up to so many samples that fit, the verdict on each run is of them; of more, only that of the listed run, and from
READABLE_SAMPLES on how many it fixes and breaks."""


@dataclass(frozen=True, slots=True)
class ReviewCell:
    """What stands where a question meets a run or a metric."""

    text: str
    level: str
    """`low`, `mid`, `high` or `none` for a value, `out` where there is none, `field` for what is no score."""
    kind: str = ""
    """The failure class in words."""


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A question."""

    position: int
    id: str
    title: str
    href: str
    kind: str
    is_labelled: bool
    cells: tuple[ReviewCell, ...]


@dataclass(frozen=True, slots=True)
class ReviewHead:
    """A column."""

    title: str
    href: str
    """Sorts by the metric, or leads to the run alone."""
    figure: str
    """The mean."""
    aside: str
    """Its interval."""
    remark: Remark | None
    """Against the baseline."""
    arrow: str = ""
    """How it is sorted by this column."""
    is_run: bool = False


@dataclass(frozen=True, slots=True)
class Chip:
    """A value of a trait with the number of samples that have it; it switches the filter on and off."""

    text: str
    count: str
    href: str
    is_chosen: bool
    severity: str = ""


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

    title: str
    values: tuple[tuple[str, str, bool], ...]
    """Value as the form sends it, its text, whether it is chosen."""


def choose_shared(entries: Sequence[RunEntry]) -> list[str]:
    """The metrics that all runs have, those that tell most first."""
    names = [{str(m["name"]) for m in entry.info.metrics} for entry in entries]
    return [
        name
        for name in choose_headline(entries[-1].info.metrics)
        if all(name in some for some in names)
    ]


def open_state(frame: ViewFrame, entries: Sequence[RunEntry], of: RunEntry) -> SampleState:
    """The state of the page; `entries` are its columns, `of` the run whose samples are listed."""
    directions = {str(m["name"]): bool(m["higher_is_better"]) for m in of.info.metrics}
    shared = choose_shared(entries)
    lead = next(iter(shared if len(entries) > 1 else choose_headline(of.info.metrics)), "")
    return read_state(frame, [e.info.id for e in entries], of.info.id, directions, lead, shared)


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


@dataclass(frozen=True, slots=True)
class ReviewList:
    """A page of the list."""

    count: int
    """Samples that fit."""
    page: int
    shown: Sequence[int]
    """Their positions on this page."""

    def find_place(self, position: int) -> Place | None:
        """Where a sample stands, if that follows from this page: it is not an end of it behind which the list goes on."""
        if position not in self.shown:
            return None
        index = self.shown.index(position)
        rank = (self.page - 1) * SAMPLES_PER_PAGE + index
        is_first, is_last = index == 0, index == len(self.shown) - 1
        if (is_first and rank > 0) or (is_last and rank < self.count - 1):
            return None
        before = None if is_first else self.shown[index - 1]
        return Place(rank, before, None if is_last else self.shown[index + 1])


@dataclass(frozen=True)
class ReviewData:
    """What the page is made of."""

    frame: ViewFrame
    entries: Sequence[RunEntry]
    """The columns, the baseline first."""
    of: RunEntry
    """The run whose samples are listed."""
    samples: RunSamples
    state: SampleState
    query: SampleQuery
    waiting: str = ""
    """What cannot be filtered by yet."""
    experiments: Sequence[StoredExperiment] = ()

    @property
    def is_single(self) -> bool:
        """Whether it is of one run: its columns are metrics then."""
        return len(self.entries) == 1

    @property
    def peers(self) -> list[RunEntry]:
        """The other runs, in the order that `RunSamples` has them."""
        return [entry for entry in self.entries if entry is not self.of]

    @property
    def is_brief(self) -> bool:
        """Whether what is only behind a click is left out: several large runs, of which some samples are chosen."""
        is_large = self.samples.rows > READABLE_SAMPLES
        return is_large and not self.is_single and self.state.is_filtered

    @cached_property
    def moved(self) -> Moved:
        """How many samples that fit are better and worse than in the baseline."""
        return self.samples.count_moved(self.query)

    def list_page(self) -> ReviewList:
        """The page of the list that the address names, or the last one."""
        count = self.samples.count(self.query)
        page = min(self.state.page, max(1, -(-count // SAMPLES_PER_PAGE)))
        first = (page - 1) * SAMPLES_PER_PAGE
        shown = self.samples.page(self.query, first, SAMPLES_PER_PAGE)
        return ReviewList(count, page, shown)


def render_review(data: ReviewData, listed: ReviewList, pane: str, at: int) -> str:
    """The page; `pane` is the HTML of the sample at position `at`."""
    frame, of, state, count = data.frame, data.of, data.state, listed.count
    t, summary = frame.t, data.of.summary
    assert summary is not None
    columns = choose_columns(data)
    slices = _list_slices(data)  # before what counts the same
    names = [name for name in columns if any(m.metric == name for m in summary.metrics)]
    drawn = names if data.is_single else choose_headline(of.info.metrics)[:MAX_METRIC_COLUMNS]
    differences = {} if data.is_single else _compare_selection(data, count)
    titles = [shorten(entry.info.name or entry.info.id, 120) for entry in data.entries]
    return frame.fill(
        "view_review.html.j2",
        entry=of,
        state=state,
        pane=mark_safe(pane),
        at=at,
        is_single=data.is_single,
        is_chosen=bool(frame.get("at") or frame.get("id")),
        title=titles[0]
        if data.is_single
        else t("against", run=", ".join(titles[1:]), baseline=titles[0]),
        standing=describe_run(summary, t),
        facts=list_run_facts(summary, t),
        verdict=list(_describe_selection(data, count, differences)),
        heads=_build_heads(data, columns, differences),
        rows=_build_rows(data, listed.shown, columns),
        is_heat=len(columns if data.is_single else data.entries) >= HEAT_COLUMNS,
        classes=_list_chips(data, "class"),
        changes=_list_chips(data, CHANGE),
        histograms=draw_histograms(
            data.samples, data.query, [summary[name] for name in drawn], state
        ),
        slices=slices,
        runs=[
            (entry.info.id, title, entry is of)
            for entry, title in zip(data.entries, titles, strict=True)
        ],
        metrics=[str(m["name"]) for m in of.info.metrics]
        if data.is_single
        else choose_shared(data.entries),
        all_metrics=[str(m["name"]) for m in of.info.metrics],
        choosable=[(name, name in columns) for name in list_choosable(data)],
        sorts=_list_sorts(data),
        choices=_list_choices(data),
        chosen=_list_chosen(state),
        waiting=data.waiting,
        count=t.whole(count),
        total=t.whole(data.samples.rows),
        pages=build_pager(frame, listed.page, count, SAMPLES_PER_PAGE),
        exports=[
            (kind, state.href("export") + f"&format={kind}") for kind in ("csv", "jsonl", "json")
        ],
        experiments=[
            (frame.href("experiment", id=kept.id), t(f"view.kind.{kept.kind}"))
            for kept in data.experiments
        ],
        figures_href=frame.href("figures", run=state.runs),
        tags=", ".join(of.notes.tags),
        address=state.href(at=at, number=listed.page),
        short=frame.get("shared"),
        testset=frame.testset,
        format_range=format_range,
        POSITION=POSITION,
    )


# ── columns ───────────────────────────────────────────────────────────────────────────────


def list_choosable(data: ReviewData) -> list[str]:
    """What can be a column: metrics of one run, and traits of the questions."""
    metrics = [str(m["name"]) for m in data.of.info.metrics] if data.is_single else []
    traits = [
        name
        for name in data.samples.list_traits()
        if name == "language" or name.startswith("meta.")
    ]
    return [*metrics, *traits]


def choose_columns(data: ReviewData) -> list[str]:
    """The columns that are wanted, else those of the last visit, else the metrics that tell most."""
    offered = list_choosable(data)
    wanted = [name for name in data.frame.choose_kept("cols") if name in offered]
    if wanted or not data.is_single:
        return wanted
    names = choose_headline(data.of.info.metrics)[:MAX_METRIC_COLUMNS]
    sort = data.query.sort
    return names if sort in (*names, POSITION) else [sort, *names[:-1]]


def _build_heads(
    data: ReviewData, columns: Sequence[str], differences: Mapping[str, Difference]
) -> list[ReviewHead]:
    t, state = data.frame.t, data.state
    heads = []
    for name in columns:
        figures = data.of.find_metric(name)
        if figures is None:
            heads.append(ReviewHead(name_trait(name, t), "", "", "", None))
            continue
        is_sorted = state.query.sort == name
        descending = not state.query.descending if is_sorted else not figures.higher_is_better
        arrow = ("↓" if state.query.descending else "↑") if is_sorted else ""
        heads.append(
            ReviewHead(
                name,
                state.href(sort=name, descending=descending),
                t.number(figures.mean),
                t.interval(figures.low, figures.high),
                None,
                arrow,
            )
        )
    for entry in () if data.is_single else data.entries:
        figures = entry.find_metric(state.metric)
        difference = differences.get(entry.info.id)
        remark = None
        if difference is not None:
            verdict = describe_verdict(difference, COVERAGE_FLOOR, t)
            remark = Remark(t(f"verdict_word.{difference.verdict}"), verdict.severity)
        elif entry is data.entries[0]:
            remark = Remark(t("baseline"))
        heads.append(
            ReviewHead(
                shorten_middle(entry.info.name or entry.info.id, 40),
                data.frame.href("review", run=entry.info.id),
                t.number(figures.mean) if figures else "–",
                t.interval(figures.low, figures.high) if figures else "",
                remark,
                is_run=True,
            )
        )
    return heads


def _list_sorts(data: ReviewData) -> list[tuple[str, str, bool]]:
    """What the list can be sorted by: name, direction and text of each choice, and whether it is chosen."""
    t, query = data.frame.t, data.query
    choices: list[tuple[str, bool, str]] = []
    if not data.is_single:
        choices.append((SPREAD, True, t("view.sort.disagreement")))
    for m in data.of.info.metrics:
        worst, name = not m["higher_is_better"], str(m["name"])
        choices.append((name, worst, t("view.sort.worst", metric=name)))
        choices.append((name, not worst, t("view.sort.best", metric=name)))
    choices.append((POSITION, False, t("view.position")))
    return [
        (f"{name}:{'down' if down else 'up'}", text, (name, down) == (query.sort, query.descending))
        for name, down, text in choices
    ]


# ── rows ──────────────────────────────────────────────────────────────────────────────────


def _build_rows(data: ReviewData, shown: Sequence[int], columns: Sequence[str]) -> list[ReviewRow]:
    t, samples, state = data.frame.t, data.samples, data.state
    heads = samples.read_heads(shown)
    ids = {label.sample for label in load_labels(data.of.run.store)}
    kinds = samples.read_traits("class", shown)
    languages = samples.read_traits("language", shown)
    own = [name for name in columns if data.of.find_metric(name) is not None]
    parts = (
        [_build_score_cells(data.of, samples, shown, own, languages, {}, t)]
        if data.is_single
        else []
    )
    fields = {name: samples.read_traits(name, shown) for name in columns if name not in own}
    for entry in () if data.is_single else data.entries:
        parts.append(_build_run_cells(data, entry, heads, languages))
    rows = []
    for head in heads:
        at = head.position
        scores = {name: cell for part in parts for name, cell in part.get(at, {}).items()}
        cells = [
            scores.get(name, _EMPTY)
            if name in own
            else ReviewCell(translate_trait(name, fields[name].get(at, ""), t) or "–", "field")
            for name in columns
        ]
        if not data.is_single:
            cells += [scores.get(entry.info.id, _EMPTY) for entry in data.entries]
        kind = name_failure(kinds.get(at, ""), t)
        rows.append(
            ReviewRow(
                at,
                head.id,
                head.title or t("no_question"),
                state.href(at=at, number=state.page),
                kind,
                head.id in ids,
                tuple(cells),
            )
        )
    return rows


_EMPTY = ReviewCell("–", "out")


def _build_run_cells(
    data: ReviewData, entry: RunEntry, heads: Sequence[RowHead], languages: Mapping[int, str]
) -> dict[int, dict[str, ReviewCell]]:
    """The scores of a run in the compared metric, by the position of the question in the listed run."""
    t, metric = data.frame.t, data.state.metric
    if entry is data.of:
        samples, places = data.samples, {head.position: head.position for head in heads}
    else:
        samples, places = RunSamples(entry.run), data.samples.find_in_peer(entry.run, heads)
    there = list(places.values())
    kinds = samples.read_traits("class", there)
    spoken = {places[at]: word for at, word in languages.items() if at in places}
    cells = _build_score_cells(entry, samples, there, [metric], spoken, kinds, t)
    return {
        at: {entry.info.id: cells.get(place, {}).get(metric, _EMPTY)}
        for at, place in places.items()
    }


def _build_score_cells(
    entry: RunEntry,
    samples: RunSamples,
    positions: Sequence[int],
    names: Sequence[str],
    languages: Mapping[int, str],
    kinds: Mapping[int, str],
    t: Translator,
) -> dict[int, dict[str, ReviewCell]]:
    scales = find_scales(entry.run)
    cells: dict[int, dict[str, ReviewCell]] = {}
    for (at, name), cell in samples.read_cells(positions, names).items():
        figures = entry.find_metric(name)
        kind = name_failure(kinds.get(at, ""), t)
        level = (
            "out"
            if figures is None or cell.value is None
            else choose_level(figures, cell.value, scales, languages.get(at, ""))
        )
        cells.setdefault(at, {})[name] = ReviewCell(_describe_cell(cell, t), level, kind)
    return cells


def _describe_cell(cell: Cell, t: Translator) -> str:
    return t.outcome(cell.outcome) if cell.value is None else t.number(cell.value)


def name_failure(kind: str, t: Translator) -> str:
    """A failure class in words; nothing where there is no failure."""
    return "" if kind in ("", "fine", "unclassified") else t.translate("failure_class", kind)


# ── what the selection comes to ───────────────────────────────────────────────────────────


@dataclass(frozen=True)
class MetricColumn:
    """One metric of some samples of a run, to be compared."""

    run: StoredRun
    metric: str
    rows: Sequence[tuple[int, str, str | None, float | str]]

    @property
    def info(self) -> RunInfo:
        """The facts of the run, with this metric alone."""
        described = tuple(m for m in self.run.info.metrics if m["name"] == self.metric)
        return replace(self.run.info, metrics=described)

    def values(self) -> Iterator[tuple[int, str, str | None, Mapping[str, float | str]]]:
        """Position, id, group and value of each sample."""
        for at, id, group, value in self.rows:
            yield at, id, group, {self.metric: value}

    def row(self, position: int) -> StoredRow:
        """A whole sample."""
        return self.run.row(position)


def _compare_selection(data: ReviewData, count: int) -> dict[str, Difference]:
    """Run → the difference to the baseline in the compared metric, among the samples that fit."""
    baseline = data.entries[0]
    is_everything = data.samples.is_everything(data.query)
    wanted = data.entries[1:]
    if not is_everything and count > QUICK_SAMPLES:
        wanted = [entry for entry in wanted if entry is data.of and count <= READABLE_SAMPLES]
    if not wanted or not data.state.metric:
        return {}
    if not is_everything:
        return _compare_columns(data, [baseline, *wanted])
    stamps = tuple(
        (e.run.store.place, e.info.id, e.notes.finished, e.run.count()) for e in data.entries
    )
    return _compare_cached(_Whole((stamps, data.of.info.id, data.state.metric), data))


class _Whole:
    """A page without a filter as a key of the cache: equal when runs, the states they are in and the metric are."""

    def __init__(self, key: object, data: ReviewData) -> None:
        self.key, self.data = key, data

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Whole) and self.key == other.key


@lru_cache(maxsize=64)
def _compare_cached(whole: _Whole) -> dict[str, Difference]:
    data = whole.data
    whole.data = None  # type: ignore[assignment]  # the cache keeps the key, not what it was made of
    return _compare_columns(data, data.entries)


def _compare_columns(data: ReviewData, entries: Sequence[RunEntry]) -> dict[str, Difference]:
    metric, peers = data.state.metric, data.peers
    columns = [
        MetricColumn(
            entry.run,
            metric,
            data.samples.read_column(
                metric, data.query, None if entry is data.of else peers.index(entry)
            ),
        )
        for entry in entries
    ]
    try:
        compared = compare(columns, metrics=[metric], samples=0, anyway=True)
    except RagstoneError:  # no sample in common, or none that fits
        return {}
    return {versus.run.id: versus[metric] for versus in compared.versus}


def _describe_selection(
    data: ReviewData, count: int, differences: Mapping[str, Difference]
) -> Iterator[Remark]:
    """The verdict on what is selected."""
    t, entry = data.frame.t, data.of
    if not data.is_single:
        # of many the one that is listed; the others have theirs in the heads of their columns
        others = data.entries[1:] if len(data.entries) <= MAX_VERDICTS else [entry]
        for other in others:
            difference = differences.get(other.info.id)
            if difference is not None:
                yield _describe_difference(difference, other, t)
        if not differences and (count <= READABLE_SAMPLES or data.of is data.entries[0]):
            yield Remark(t("view.nothing_shared"), "warn")
        elif not differences:
            moved = data.moved
            name = shorten_middle(entry.info.name or entry.info.id, 40)
            figures = {"fixed": t.whole(moved.better), "broken": t.whole(moved.worse)}
            yield Remark(t("view.fixes_only", run=name, metric=data.state.metric, **figures))
        return
    assert entry.summary is not None
    if data.state.is_filtered:
        yield Remark(
            t(
                "view.selected",
                n=t.whole(count),
                total=t.whole(data.samples.rows),
                share=t.percent(count / max(data.samples.rows, 1)),
            )
        )
    elif entry.summary.samples <= READABLE_SAMPLES:
        text = _describe_whole_run(OpenedRun(entry), t)
        if text:
            yield Remark(text)


def _describe_difference(difference: Difference, entry: RunEntry, t: Translator) -> Remark:
    """`v7 fixes 9, breaks 2 in recall: too few to tell; about 40 more questions would`."""
    said = describe_verdict(difference, COVERAGE_FLOOR, t)
    words = said.text
    missing = (difference.needed or 0) - difference.pairs
    if difference.verdict == "unclear" and missing > 0 and difference.unchanged < difference.pairs:
        words = t("view.too_few", n=t.whole(missing))
    text = t(
        "view.fixes",
        run=shorten_middle(entry.info.name or entry.info.id, 40),
        fixed=t.whole(difference.improved),
        broken=t.whole(difference.worsened),
        metric=difference.metric,
        verdict=words,
    )
    return Remark(text, said.severity)


class OpenedRun:
    """A run as a key of the cache: equal when store, id, time of completion and number of samples are."""

    def __init__(self, entry: RunEntry) -> None:
        self.entry = entry
        self._key = (
            entry.run.store.place,
            entry.run.id,
            entry.notes.finished,
            entry.count_samples(),
        )

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenedRun) and self._key == other._key


@lru_cache(maxsize=64)
def _describe_whole_run(opened: OpenedRun, t: Translator) -> str:
    entry = opened.entry
    assert entry.summary is not None
    return RunPage(t, entry.run, entry.summary).verdict


# ── what there is to filter by ────────────────────────────────────────────────────────────


def _list_chips(data: ReviewData, trait: str) -> list[Chip]:
    """The values of a trait among the samples that fit, the largest first."""
    t, state = data.frame.t, data.state
    chosen = dict(state.query.traits).get(trait)
    if trait == CHANGE:
        if data.of is data.entries[0]:
            return []
        moved = data.moved
        counts = [("better", moved.better, "good"), ("worse", moved.worse, "bad")]
    else:
        found = data.samples.count_trait(trait, data.query)
        counts = [
            (c.value, c.count, "" if c.value in ("fine", "unclassified") else "bad") for c in found
        ]
        # what fails first
        counts.sort(key=lambda part: (part[0] in ("fine", "unclassified"), -part[1]))
    return [
        Chip(
            translate_trait(trait, value, t),
            t.whole(n),
            state.drop_trait(trait) if value == chosen else state.add_trait(trait, value),
            value == chosen,
            severity,
        )
        for value, n, severity in counts[:MAX_CHIPS]
    ]


def _list_choices(data: ReviewData) -> list[TraitChoice]:
    """What the list can be filtered by, with how many samples fit of those that are shown."""
    samples, state, t = data.samples, data.state, data.frame.t
    chosen = dict(state.query.traits)
    shown = [trait for trait in chosen if trait not in (LABELLED, CHANGE)]
    choices = []
    query = SampleQuery() if data.is_brief else data.query
    for trait in dict.fromkeys([*samples.list_traits(), *shown]):
        counts = samples.count_trait(trait, query)[:MAX_CHOICES]
        values = [
            (
                format_trait(trait, c.value),
                translate_trait(trait, c.value, t) + f" ({t.whole(c.count)})" * (not data.is_brief),
                chosen.get(trait) == c.value,
            )
            for c in counts
        ]
        if trait in chosen and not any(is_chosen for *_, is_chosen in values):
            word = chosen[trait]
            values.append((format_trait(trait, word), translate_trait(trait, word, t), True))
        # one value for all samples is nothing to choose from
        if len(values) > 1 or trait in chosen or trait.startswith(("outcome.", "verdict")):
            choices.append(TraitChoice(name_trait(trait, t), tuple(values)))
    return choices


def _list_slices(data: ReviewData) -> list[tuple[str, list[SliceRow]]]:
    """For each trait with several values, the mean of the compared metric by value."""
    t, state, figures = data.frame.t, data.state, data.of.find_metric(data.state.metric)
    if figures is None or data.is_brief:
        return []
    described = next(m for m in data.of.info.metrics if m["name"] == state.metric)
    tables = []
    for trait in data.samples.list_traits():
        if not (trait in ("language", "class") or trait.startswith(("meta.", "label."))):
            continue
        # a class is chosen by the values themselves: an interval of its mean would say nothing
        is_grouped = figures.clusters is not None or trait == "class"
        slices = compute_slices(
            data.samples, data.query, trait, described, state, is_grouped=is_grouped
        )
        if len(slices) > 1:
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


def name_trait(trait: str, t: Translator) -> str:
    """A trait in words."""
    kind, _, name = trait.partition(".")
    known = ("verdict", "class", "language", "outcome", "label", LABELLED, CHANGE)
    title = t(f"view.trait.{kind}") if kind in known else name
    return f"{title}: {name}" if name and kind != "meta" else title


def translate_trait(trait: str, value: str, t: Translator) -> str:
    """A value of a trait in words."""
    kind = trait.partition(".")[0]
    if kind == "outcome":
        return t.outcome(value)
    if kind == "class":
        return t.translate("failure_class", value)
    if kind == CHANGE:
        return t.translate("view.change", value)
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
