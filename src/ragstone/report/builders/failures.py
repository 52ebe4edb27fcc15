"""The report on failures: how many samples fail and why, where they fail more, examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.analysis.classes import CRITERIA, UNKNOWN, Decider
from ragstone.report import document as doc
from ragstone.report.builders.diagnosis import (
    build_diagnosis,
    describe_slice,
    describe_withheld,
    list_ids,
    name_class,
)
from ragstone.report.builders.parts import (
    build_chart,
    build_list,
    build_number_columns,
    build_panel,
    build_table,
    build_text_columns,
)
from ragstone.report.drawing.charts import draw_failure_classes
from ragstone.report.drawing.shapes import WIDE, Drawing
from ragstone.report.figures import format_percent_interval, name_judge, shorten
from ragstone.report.words import Words, load_words

if TYPE_CHECKING:
    from ragstone.analysis import LabelRate
    from ragstone.analysis.classify import Failure
    from ragstone.analysis.diagnose import Diagnosis
    from ragstone.analysis.failures import Failures
    from ragstone.analysis.slices import Slice
    from ragstone.store import StoredRow, StoredRun

EXAMPLES_ON_PAGE, EXAMPLES_IN_TEXT, EXAMPLES_ON_TERMINAL = 20, 5, 2
WIDE_COLUMNS = 100
"""Columns of a terminal from which the meaning of each class is shown."""


@dataclass(frozen=True, slots=True)
class FailureLinks:
    """Addresses of the samples behind a report on failures; an empty one is no link."""

    to_sample: Callable[[int], str]
    """By position."""
    to_class: Callable[[str], str]
    to_slice: Callable[[Slice], str]


@dataclass(frozen=True, slots=True)
class FailureReport:
    """Why the samples of a run fail; None for the diagnoses leaves out what to do about it."""

    kind: ClassVar[str] = "failures"
    failures: Failures
    diagnoses: Sequence[Diagnosis] | None
    run: StoredRun
    language: str = "en"
    links: FailureLinks | None = None

    def document(self) -> doc.ReportDocument:
        """The report as a tree."""
        failures, say = self.failures, load_words(self.language)
        info, state = failures.run, _describe_state(failures, say)
        name = shorten(info.name, 200)
        facts = (info.source, say.count("sample", failures.samples), name_judge(info, say))
        head = (
            doc.Heading(f"{say('failures')}: {shorten(info.name, 80)}", 1, where=doc.TEXT),
            doc.Heading(name, 1, where=doc.PAGE),
            doc.Heading(info.name, 1, where=doc.TERMINAL),
            doc.Byline(facts, where=doc.PAGE),
            doc.Status(state.text, state.tone, where=doc.WRITTEN),
        )
        notes = [
            doc.Paragraph(doc.Styled(note.text, "sentence"), note.tone, "note")
            for note in _describe_gaps(failures, say)
        ]
        classes: list[doc.Node] = [*build_classes(failures, say), *notes]
        diagnosis = []
        if self.diagnoses is not None:
            link_class = None if self.links is None else self.links.to_class
            diagnosis = [build_diagnosis(self.diagnoses, failures, say, link_class)]
        body = (
            build_panel("classes", say("failures"), *classes, heading=doc.PAGE),
            _build_slices(failures, say, self.links),
            *diagnosis,
            *self._build_examples(say),
            doc.Section((doc.Status(state.text, state.tone),), where=doc.TERMINAL),
        )
        return doc.ReportDocument("failures", say, f"{say('failures')}: {name}", say("failures"), head, body)  # fmt: skip

    def picture(self) -> Drawing:
        """The classes as bars."""
        return draw_classes(self.failures, load_words(self.language), WIDE)

    def data(self) -> dict[str, Any]:
        """The analysis as JSON takes it."""
        plain = self.failures.to_dict()
        if self.diagnoses is not None:
            plain["diagnosis"] = [diagnosis.to_dict() for diagnosis in self.diagnoses]
        return plain

    def _build_examples(self, say: Words) -> Iterator[doc.Node]:
        """Some samples of each failing class with what shows it."""
        kinds = [kind for kind in self.failures.examples if kind not in ("fine", "unclassified")]
        for number, kind in enumerate(kinds, 1):
            name = name_class(kind, say)
            failures = self.failures.examples[kind][:EXAMPLES_ON_PAGE]
            examples = [_build_example(failure, self.run, say, self.links) for failure in failures]
            sections, items = [page for page, _ in examples], [item for _, item in examples]
            yield build_panel(f"e{number}", name, *sections, where=doc.PAGE)
            yield doc.Heading(f"{say('examples')}: {name}", where=doc.TEXT)
            yield build_list(items[:EXAMPLES_IN_TEXT], doc.TEXT)
            brief = build_list(items[:EXAMPLES_ON_TERMINAL])
            yield doc.Section((doc.Heading(name), brief), where=doc.TERMINAL)


# ── classes ───────────────────────────────────────────────────────────────────────────────


def build_classes(failures: Failures, say: Words) -> tuple[doc.Chart, doc.ReportTable]:
    """The classes that occur with their shares, as a picture and a table."""
    columns = (
        *build_text_columns(say, "class"),
        *build_text_columns(say, "meaning_column", where=doc.WRITTEN),
        *build_number_columns(say, "count", "rate", "interval"),
        *build_text_columns(say, "meaning_column", where=doc.wide_terminal(WIDE_COLUMNS)),
    )
    rows = (_list_class_cells(rate, failures, say) for rate in failures.rates)
    chart = build_chart(lambda width: draw_classes(failures, say, width))
    return chart, build_table(columns, rows)


def draw_classes(failures: Failures, say: Words, width: float) -> Drawing:
    """The classes as bars."""
    return draw_failure_classes(
        [(name_class(rate.label, say), rate) for rate in failures.rates], say, width
    )


def _list_class_cells(rate: LabelRate, failures: Failures, say: Words) -> doc.Cells:
    """A cell for each column of `build_classes`: the meaning twice, for media want it in different places."""
    is_shown = rate.label in failures.shown and rate.label not in UNKNOWN
    tone: doc.Tone = "good" if rate.label == "fine" else "bad" if is_shown else ""
    meaning = doc.TableCell(_explain_class(rate.label, failures, say), style="soft")
    share = "–" if rate.rate is None else say.percent(rate.rate)
    name, interval = name_class(rate.label, say), format_percent_interval(rate, say)
    return [doc.TableCell(name, tone), meaning, say.whole(rate.count), share, interval, meaning]


def _explain_class(kind: str, failures: Failures, say: Words) -> str:
    # Only the classes of CRITERIA are decided by a metric; errors, refusals and the rest are not.
    # Searched, not looked up: `kind` is any text, and the keys are of the type FailureClass.
    decider = next((d for name, d in failures.deciders.items() if name == kind), None)
    if decider is None:
        return say(f"class_means.{kind}", metric="", rule="").strip(" ,")
    rule = _describe_rule(decider, say)
    text = say(f"class_means.{kind}", metric=decider.metric, rule=rule)
    expected = next((n for name, n in failures.expected.items() if name == kind), 0.0)
    if not decider.is_scaled or expected < 0.5:
        return text
    return f"{text}; {say('within_error', n=say.whole(round(expected)))}"


def _describe_rule(decider: Decider, say: Words) -> str:
    """The limit of a decider: the criterion's, or the one measured for the judge in each language."""
    side = "above_limit" if decider.criterion.above else "below_limit"
    if not decider.is_scaled:
        return say(side, limit=_format_limit(decider.criterion.limit, say))
    limits = [
        say("limit_in", limit=_format_limit(round(scale.threshold, 2), say), language=language)
        for language, scale in sorted((decider.scales or {}).items())
        if decider.is_usable(language)
    ]
    return say(side, limit=", ".join(limits))


def _format_limit(limit: float, say: Words) -> str:
    return f"{limit:g}".replace(".", say("decimal"))


def _describe_state(failures: Failures, say: Words) -> doc.Remark:
    bad = [r for r in failures.rates if r.label != "fine" and r.label not in UNKNOWN]
    count = sum(rate.count for rate in bad if rate.label in failures.shown)
    if count:
        return doc.Remark(say.count("failing", count), "bad")
    if bad:
        return doc.Remark(say("no_failures_shown"), "good")
    known = any(rate.label == "fine" for rate in failures.rates)
    return doc.Remark(say("no_failures"), "good" if known else "warn")


def _describe_gaps(failures: Failures, say: Words) -> Iterator[doc.Remark]:
    """What is within the judge's error, what nothing in the run could show, and fields that were not sliced by."""
    within = [
        name_class(rate.label, say)
        for rate in failures.rates
        if rate.label not in (*failures.shown, *UNKNOWN, "fine")
    ]
    if within:
        yield doc.Remark(say("within_error_note", kinds=", ".join(within)))
    either = " o " if say.language == "es" else " or "
    withheld = {item.metric for item in failures.withheld}
    for kind in ("retrieval_failure", "hallucination", "generation_failure"):
        families = [criterion.family for criterion in CRITERIA[kind]]
        # of metrics that the run has, but whose judge was not measured, `describe_withheld` speaks below
        if kind not in failures.deciders and withheld.isdisjoint(families):
            text = say("no_decider", kind=name_class(kind, say), metrics=either.join(families[:2]))
            yield doc.Remark(text, "warn")
    yield from describe_withheld(failures, say)
    if failures.dropped:
        yield doc.Remark(say("dropped_fields", fields=", ".join(failures.dropped)))


# ── slices ────────────────────────────────────────────────────────────────────────────────


def _build_slices(failures: Failures, say: Words, links: FailureLinks | None) -> doc.Section:
    key = "slices_note" if failures.worse else "slices_none"
    note = doc.Paragraph(say(key, n=say.whole(len(failures.slices))), style="note")
    if not failures.worse:
        return build_panel("slices", say("slices_worse"), note, heading=doc.PAGE)
    keys = ("samples", "fails", "interval_short", "rest", "p_corrected.holm")
    columns = (
        *build_text_columns(say, "slice"), *build_number_columns(say, *keys), *build_text_columns(say, "mostly"),
    )  # fmt: skip
    rows = (_list_slice_cells(slice, say, links) for slice in failures.worse)
    table = build_table(columns, rows, row_heads=False)
    return build_panel("slices", say("slices_worse"), table, note)


def _list_slice_cells(slice: Slice, say: Words, links: FailureLinks | None) -> doc.Cells:
    mostly = next(iter(slice.classes), "")
    return [
        doc.TableCell(describe_slice(slice, say), href=links.to_slice(slice) if links else ""),
        say.whole(slice.samples),
        say.percent(slice.rate),
        f"{say.percent(slice.low)} – {say.percent(slice.high)}",
        say.percent(slice.rest_rate),
        "<" + say.number(0.001, 3) if slice.adjusted < 0.001 else say.number(slice.adjusted, 3),
        name_class(mostly, say) if mostly else "",
    ]


# ── examples ──────────────────────────────────────────────────────────────────────────────


def _build_example(
    failure: Failure, run: StoredRun, say: Words, links: FailureLinks | None
) -> tuple[doc.Section, doc.ListItem]:
    """A failing sample for a page, and for a list."""
    row = run.row(failure.position)
    sample = row.sample
    id, question = shorten(failure.id, 80), shorten(sample.question or "", 240)
    answer = shorten(sample.answer or "", 400)
    values = ", ".join(
        f"{name} {say.number(value) if isinstance(value, float) else say.outcome(value)}"
        for name, value in failure.values.items()
    )
    shown_id = doc.Styled(id, "mono")
    if links is not None:
        shown_id = doc.Styled(id, "link", href=links.to_sample(failure.position))
    details = [doc.Paragraph(text, style="soft") for text in _explain_failure(failure, row, say)]
    page = doc.Section(
        (
            doc.Paragraph(doc.Styled(question or say("no_question"), "strong")),
            *([doc.Paragraph(answer)] if answer else []),
            doc.Paragraph((shown_id, f" · {values}" if values else ""), style="soft"),
            *details,
        ),
        "example",
    )
    lines = [f"{say('answer')}: {answer}" if answer else "", values]
    nodes = (*(doc.Paragraph(line, style="soft") for line in lines if line), *details)
    return page, doc.ListItem(question, id=id, nodes=nodes)


def _explain_failure(failure: Failure, row: StoredRow, say: Words) -> Iterator[str]:
    if failure.kind == "retrieval_failure":
        if failure.missed:
            yield say("missed_documents", ids=list_ids(failure.missed))
        if failure.instead:
            yield say("instead_documents", ids=list_ids(failure.instead))
        elif not row.sample.contexts:
            yield say("nothing_came")
    if failure.claims:
        claims = (
            f"{shorten(claim.text, 160)} ({say.translate('verdict', claim.shown_verdict)})"
            for claim in failure.claims[:4]
        )
        yield say("claims_against", claims="; ".join(claims))
    if failure.also:
        yield say("also_is", kinds=", ".join(name_class(kind, say) for kind in failure.also))
    if row.sample.error:
        yield shorten(say.system_error(row.sample, row.scores), 200)
