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
from ragstone.report.translator import Translator, load_translator

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
        failures, t = self.failures, load_translator(self.language)
        info, state = failures.run, _describe_state(failures, t)
        name = shorten(info.name, 200)
        facts = (info.source, t.count("sample", failures.samples), name_judge(info, t))
        head = (
            doc.Heading(f"{t('failures')}: {shorten(info.name, 80)}", 1, where=doc.TEXT),
            doc.Heading(name, 1, where=doc.PAGE),
            doc.Heading(info.name, 1, where=doc.TERMINAL),
            doc.Byline(facts, where=doc.PAGE),
            doc.Status(state.text, state.severity, where=doc.WRITTEN),
        )
        notes = [
            doc.Paragraph(doc.Styled(note.text, "sentence"), note.severity, "note")
            for note in _describe_gaps(failures, t)
        ]
        classes: list[doc.Node] = [*build_classes(failures, t), *notes]
        diagnosis = []
        if self.diagnoses is not None:
            link_class = None if self.links is None else self.links.to_class
            diagnosis = [build_diagnosis(self.diagnoses, failures, t, link_class)]
        body = (
            build_panel("classes", t("failures"), *classes, heading=doc.PAGE),
            _build_slices(failures, t, self.links),
            *diagnosis,
            *self._build_examples(t),
            doc.Section((doc.Status(state.text, state.severity),), where=doc.TERMINAL),
        )
        return doc.ReportDocument("failures", t, f"{t('failures')}: {name}", t("failures"), head, body)  # fmt: skip

    def picture(self) -> Drawing:
        """The classes as bars."""
        return draw_classes(self.failures, load_translator(self.language), WIDE)

    def data(self) -> dict[str, Any]:
        """The analysis as JSON takes it."""
        plain = self.failures.to_dict()
        if self.diagnoses is not None:
            plain["diagnosis"] = [diagnosis.to_dict() for diagnosis in self.diagnoses]
        return plain

    def _build_examples(self, t: Translator) -> Iterator[doc.Node]:
        """Some samples of each failing class with what shows it."""
        kinds = [kind for kind in self.failures.examples if kind not in ("fine", "unclassified")]
        for number, kind in enumerate(kinds, 1):
            name = name_class(kind, t)
            failures = self.failures.examples[kind][:EXAMPLES_ON_PAGE]
            examples = [_build_example(failure, self.run, t, self.links) for failure in failures]
            sections, items = [page for page, _ in examples], [item for _, item in examples]
            yield build_panel(f"e{number}", name, *sections, where=doc.PAGE)
            yield doc.Heading(f"{t('examples')}: {name}", where=doc.TEXT)
            yield build_list(items[:EXAMPLES_IN_TEXT], doc.TEXT)
            brief = build_list(items[:EXAMPLES_ON_TERMINAL])
            yield doc.Section((doc.Heading(name), brief), where=doc.TERMINAL)


# ── classes ───────────────────────────────────────────────────────────────────────────────


def build_classes(failures: Failures, t: Translator) -> tuple[doc.Chart, doc.ReportTable]:
    """The classes that occur with their shares, as a picture and a table."""
    columns = (
        *build_text_columns(t, "class"),
        *build_text_columns(t, "meaning_column", where=doc.WRITTEN),
        *build_number_columns(t, "count", "rate", "interval"),
        *build_text_columns(t, "meaning_column", where=doc.wide_terminal(WIDE_COLUMNS)),
    )
    rows = (_list_class_cells(rate, failures, t) for rate in failures.rates)
    chart = build_chart(lambda width: draw_classes(failures, t, width))
    return chart, build_table(columns, rows)


def draw_classes(failures: Failures, t: Translator, width: float) -> Drawing:
    """The classes as bars."""
    return draw_failure_classes(
        [(name_class(rate.label, t), rate) for rate in failures.rates], t, width
    )


def _list_class_cells(rate: LabelRate, failures: Failures, t: Translator) -> doc.Cells:
    """A cell for each column of `build_classes`: the meaning twice, for media want it in different places."""
    is_shown = rate.label in failures.shown and rate.label not in UNKNOWN
    severity: doc.Severity = "good" if rate.label == "fine" else "bad" if is_shown else ""
    meaning = doc.TableCell(_explain_class(rate.label, failures, t), style="soft")
    share = "–" if rate.rate is None else t.percent(rate.rate)
    name, interval = name_class(rate.label, t), format_percent_interval(rate, t)
    return [doc.TableCell(name, severity), meaning, t.whole(rate.count), share, interval, meaning]


def _explain_class(kind: str, failures: Failures, t: Translator) -> str:
    # Only the classes of CRITERIA are decided by a metric; errors, refusals and the rest are not.
    # Searched, not looked up: `kind` is any text, and the keys are of the type FailureClass.
    decider = next((d for name, d in failures.deciders.items() if name == kind), None)
    if decider is None:
        return t(f"class_means.{kind}", metric="", rule="").strip(" ,")
    rule = _describe_rule(decider, t)
    text = t(f"class_means.{kind}", metric=decider.metric, rule=rule)
    expected = next((n for name, n in failures.expected.items() if name == kind), 0.0)
    if not decider.is_scaled or expected < 0.5:
        return text
    return f"{text}; {t('within_error', n=t.whole(round(expected)))}"


def _describe_rule(decider: Decider, t: Translator) -> str:
    """The limit of a decider: the criterion's, or the one measured for the judge in each language."""
    side = "above_limit" if decider.criterion.above else "below_limit"
    if not decider.is_scaled:
        return t(side, limit=_format_limit(decider.criterion.limit, t))
    limits = [
        t("limit_in", limit=_format_limit(round(scale.threshold, 2), t), language=language)
        for language, scale in sorted((decider.scales or {}).items())
        if decider.is_usable(language)
    ]
    return t(side, limit=", ".join(limits))


def _format_limit(limit: float, t: Translator) -> str:
    return f"{limit:g}".replace(".", t("decimal"))


def _describe_state(failures: Failures, t: Translator) -> doc.Remark:
    bad = [r for r in failures.rates if r.label != "fine" and r.label not in UNKNOWN]
    count = sum(rate.count for rate in bad if rate.label in failures.shown)
    if count:
        return doc.Remark(t.count("failing", count), "bad")
    if bad:
        return doc.Remark(t("no_failures_shown"), "good")
    known = any(rate.label == "fine" for rate in failures.rates)
    return doc.Remark(t("no_failures"), "good" if known else "warn")


def _describe_gaps(failures: Failures, t: Translator) -> Iterator[doc.Remark]:
    """What is within the judge's error, what nothing in the run could show, and fields that were not sliced by."""
    within = [
        name_class(rate.label, t)
        for rate in failures.rates
        if rate.label not in (*failures.shown, *UNKNOWN, "fine")
    ]
    if within:
        yield doc.Remark(t("within_error_note", kinds=", ".join(within)))
    either = " o " if t.language == "es" else " or "
    withheld = {item.metric for item in failures.withheld}
    for kind in ("retrieval_failure", "hallucination", "generation_failure"):
        families = [criterion.family for criterion in CRITERIA[kind]]
        # of metrics that the run has, but whose judge was not measured, `describe_withheld` speaks below
        if kind not in failures.deciders and withheld.isdisjoint(families):
            text = t("no_decider", kind=name_class(kind, t), metrics=either.join(families[:2]))
            yield doc.Remark(text, "warn")
    yield from describe_withheld(failures, t)
    if failures.dropped:
        yield doc.Remark(t("dropped_fields", fields=", ".join(failures.dropped)))


# ── slices ────────────────────────────────────────────────────────────────────────────────


def _build_slices(failures: Failures, t: Translator, links: FailureLinks | None) -> doc.Section:
    key = "slices_note" if failures.worse else "slices_none"
    note = doc.Paragraph(t(key, n=t.whole(len(failures.slices))), style="note")
    if not failures.worse:
        return build_panel("slices", t("slices_worse"), note, heading=doc.PAGE)
    keys = ("samples", "fails", "interval_short", "rest", "p_corrected.holm")
    columns = (
        *build_text_columns(t, "slice"), *build_number_columns(t, *keys), *build_text_columns(t, "mostly"),
    )  # fmt: skip
    rows = (_list_slice_cells(slice, t, links) for slice in failures.worse)
    table = build_table(columns, rows, row_heads=False)
    return build_panel("slices", t("slices_worse"), table, note)


def _list_slice_cells(slice: Slice, t: Translator, links: FailureLinks | None) -> doc.Cells:
    mostly = next(iter(slice.classes), "")
    return [
        doc.TableCell(describe_slice(slice, t), href=links.to_slice(slice) if links else ""),
        t.whole(slice.samples),
        t.percent(slice.rate),
        f"{t.percent(slice.low)} – {t.percent(slice.high)}",
        t.percent(slice.rest_rate),
        "<" + t.number(0.001, 3) if slice.adjusted < 0.001 else t.number(slice.adjusted, 3),
        name_class(mostly, t) if mostly else "",
    ]


# ── examples ──────────────────────────────────────────────────────────────────────────────


def _build_example(
    failure: Failure, run: StoredRun, t: Translator, links: FailureLinks | None
) -> tuple[doc.Section, doc.ListItem]:
    """A failing sample for a page, and for a list."""
    row = run.row(failure.position)
    sample = row.sample
    id, question = shorten(failure.id, 80), shorten(sample.question or "", 240)
    answer = shorten(sample.answer or "", 400)
    values = ", ".join(
        f"{name} {t.number(value) if isinstance(value, float) else t.outcome(value)}"
        for name, value in failure.values.items()
    )
    shown_id = doc.Styled(id, "mono")
    if links is not None:
        shown_id = doc.Styled(id, "link", href=links.to_sample(failure.position))
    details = [doc.Paragraph(text, style="soft") for text in _explain_failure(failure, row, t)]
    page = doc.Section(
        (
            doc.Paragraph(doc.Styled(question or t("no_question"), "strong")),
            *([doc.Paragraph(answer)] if answer else []),
            doc.Paragraph((shown_id, f" · {values}" if values else ""), style="soft"),
            *details,
        ),
        "example",
    )
    lines = [f"{t('answer')}: {answer}" if answer else "", values]
    nodes = (*(doc.Paragraph(line, style="soft") for line in lines if line), *details)
    return page, doc.ListItem(question, id=id, nodes=nodes)


def _explain_failure(failure: Failure, row: StoredRow, t: Translator) -> Iterator[str]:
    if failure.kind == "retrieval_failure":
        if failure.missed:
            yield t("missed_documents", ids=list_ids(failure.missed))
        if failure.instead:
            yield t("instead_documents", ids=list_ids(failure.instead))
        elif not row.sample.contexts:
            yield t("nothing_came")
    if failure.claims:
        claims = (
            f"{shorten(claim.text, 160)} ({t.translate('verdict', claim.shown_verdict)})"
            for claim in failure.claims[:4]
        )
        yield t("claims_against", claims="; ".join(claims))
    if failure.also:
        yield t("also_is", kinds=", ".join(name_class(kind, t) for kind in failure.also))
    if row.sample.error:
        yield shorten(t.system_error(row.sample, row.scores), 200)
