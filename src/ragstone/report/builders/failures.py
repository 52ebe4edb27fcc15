"""The report on failures: how many samples fail and why, where they fail more, examples, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.analysis.advice import choose_text
from ragstone.analysis.failures import CLASSES, CRITERIA, UNKNOWN
from ragstone.report import document as doc
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
    from ragstone.analysis.diagnose import Advice, Diagnosis, SymptomEvidence
    from ragstone.analysis.failures import Failure, Failures
    from ragstone.analysis.slices import Slice
    from ragstone.store import StoredRow, StoredRun

EXAMPLES_ON_PAGE, EXAMPLES_IN_TEXT, EXAMPLES_ON_TERMINAL = 20, 5, 2
MAX_IDS = 6
WIDE_COLUMNS = 100
"""Columns of a terminal from which the meaning of each class is shown."""


@dataclass(frozen=True, slots=True)
class FailureReport:
    """Why the samples of a run fail; None for the diagnoses leaves out what to do about it."""

    kind: ClassVar[str] = "failures"
    failures: Failures
    diagnoses: Sequence[Diagnosis] | None
    run: StoredRun
    language: str = "en"

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
            doc.Paragraph(note.text, note.tone, "note") for note in _describe_gaps(failures, say)
        ]
        classes: list[doc.Node] = [*build_classes(failures, say), *notes]
        body = (
            build_panel("classes", say("failures"), *classes, heading=doc.PAGE),
            _build_slices(failures, say),
            *([] if self.diagnoses is None else [build_diagnosis(self.diagnoses, say)]),
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
            examples = [_build_example(failure, self.run, say) for failure in failures]
            sections, items = [page for page, _ in examples], [item for _, item in examples]
            yield build_panel(f"e{number}", name, *sections, where=doc.PAGE)
            yield doc.Heading(f"{say('examples')}: {name}", where=doc.TEXT)
            yield build_list(items[:EXAMPLES_IN_TEXT], doc.TEXT)
            brief = build_list(items[:EXAMPLES_ON_TERMINAL])
            yield doc.Section((doc.Heading(name), brief), where=doc.TERMINAL)


def build_symptoms(diagnoses: Sequence[Diagnosis], language: str = "en") -> doc.ReportDocument:
    """The symptoms of a run with their evidence and what to try, for a terminal."""
    say = load_words(language)
    nodes: list[doc.Node] = [doc.Paragraph(say("no_symptoms"), "good")]
    if diagnoses:
        nodes = [_symptom_in_text(*numbered, say) for numbered in enumerate(diagnoses, 1)]
        nodes.append(doc.Section((doc.Paragraph(""),)))  # a free line, for the prompt follows
    title = say("diagnosis")
    return doc.ReportDocument("diagnosis", say, title, title, (), tuple(nodes))


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


def name_class(kind: str, say: Words) -> str:
    """A class in words."""
    return say.translate("failure_class", kind)


def _list_class_cells(rate: LabelRate, failures: Failures, say: Words) -> doc.Cells:
    tone: doc.Tone = "good" if rate.label == "fine" else "" if rate.label in UNKNOWN else "bad"
    meaning = doc.TableCell(_explain_class(rate.label, failures, say), style="soft")
    share = "–" if rate.rate is None else say.percent(rate.rate)
    name, interval = name_class(rate.label, say), format_percent_interval(rate, say)
    return [doc.TableCell(name, tone), meaning, say.whole(rate.count), share, interval, meaning]


def _explain_class(kind: str, failures: Failures, say: Words) -> str:
    # Only the four classes of CRITERIA are decided by a metric; errors, refusals and the rest are not.
    decider = next((d for name, d in failures.deciders.items() if name == kind), None)
    if decider is None:
        return say(f"class_means.{kind}", metric="", rule="").strip(" ,")
    rule = _format_limit(decider.criterion.limit, decider.criterion.above, say)
    return say(f"class_means.{kind}", metric=decider.metric, rule=rule)


def _format_limit(limit: float, above: bool, say: Words) -> str:
    text = f"{limit:g}".replace(".", say("decimal"))
    return say("above_limit" if above else "below_limit", limit=text)


def _describe_state(failures: Failures, say: Words) -> doc.Remark:
    bad = [r for r in failures.rates if r.label != "fine" and r.label not in UNKNOWN]
    count = sum(rate.count for rate in bad)
    if count:
        return doc.Remark(say.count("failing", count), "bad")
    known = any(rate.label == "fine" for rate in failures.rates)
    return doc.Remark(say("no_failures"), "good" if known else "warn")


def _describe_gaps(failures: Failures, say: Words) -> Iterator[doc.Remark]:
    """Classes that nothing in the run could show, and fields that were not sliced by."""
    either = " o " if say.language == "es" else " or "
    for kind, criteria in CRITERIA.items():
        if kind not in failures.deciders:
            metrics = either.join(criterion.family for criterion in criteria[:2])
            yield doc.Remark(say("no_decider", kind=name_class(kind, say), metrics=metrics), "warn")
    if failures.dropped:
        yield doc.Remark(say("dropped_fields", fields=", ".join(failures.dropped)))


# ── slices ────────────────────────────────────────────────────────────────────────────────


def _build_slices(failures: Failures, say: Words) -> doc.Section:
    key = "slices_note" if failures.worse else "slices_none"
    note = doc.Paragraph(say(key, n=say.whole(len(failures.slices))), style="note")
    if not failures.worse:
        return build_panel("slices", say("slices_worse"), note, heading=doc.PAGE)
    keys = ("samples", "fails", "interval_short", "rest", "p_corrected.holm")
    columns = (
        *build_text_columns(say, "slice"), *build_number_columns(say, *keys), *build_text_columns(say, "mostly"),
    )  # fmt: skip
    rows = (_list_slice_cells(slice, say) for slice in failures.worse)
    table = build_table(columns, rows, row_heads=False)
    return build_panel("slices", say("slices_worse"), table, note)


def _list_slice_cells(slice: Slice, say: Words) -> list[str]:
    mostly = next(iter(slice.classes), "")
    return [
        say("slice_of", field=shorten(slice.field, 40), value=shorten(slice.value, 60)),
        say.whole(slice.samples),
        say.percent(slice.rate),
        f"{say.percent(slice.low)} – {say.percent(slice.high)}",
        say.percent(slice.rest_rate),
        "<" + say.number(0.001, 3) if slice.adjusted < 0.001 else say.number(slice.adjusted, 3),
        name_class(mostly, say) if mostly else "",
    ]


# ── examples ──────────────────────────────────────────────────────────────────────────────


def _build_example(
    failure: Failure, run: StoredRun, say: Words
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
    details = [doc.Paragraph(text, style="soft") for text in _explain_failure(failure, row, say)]
    page = doc.Section(
        (
            doc.Paragraph(doc.Styled(question or say("no_question"), "strong")),
            *([doc.Paragraph(answer)] if answer else []),
            doc.Paragraph((doc.Styled(id, "mono"), f" · {values}" if values else ""), style="soft"),
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
            yield say("missed_documents", ids=_list_ids(failure.missed))
        if failure.instead:
            yield say("instead_documents", ids=_list_ids(failure.instead))
        elif not row.sample.contexts:
            yield say("nothing_came")
    if failure.claims:
        claims = (
            f"{shorten(claim.text, 160)} ({say.translate('verdict', claim.verdict)})"
            for claim in failure.claims[:4]
        )
        yield say("claims_against", claims="; ".join(claims))
    if failure.also:
        yield say("also_is", kinds=", ".join(name_class(kind, say) for kind in failure.also))
    if row.sample.error:
        yield shorten(say.system_error(row.sample, row.scores), 200)


def _list_ids(ids: Sequence[str]) -> str:
    shown = ", ".join(shorten(id, 40) for id in ids[:MAX_IDS])
    return f"{shown} …" if len(ids) > MAX_IDS else shown


# ── diagnosis ─────────────────────────────────────────────────────────────────────────────


def build_diagnosis(diagnoses: Sequence[Diagnosis], say: Words) -> doc.Section:
    """The symptoms with their evidence and what to try, for files."""
    nodes: list[doc.Node] = [doc.Heading(say("diagnosis"))]
    if not diagnoses:
        nodes.append(doc.Paragraph(say("no_symptoms"), style="panel"))
    for number, diagnosis in enumerate(diagnoses, 1):
        nodes.append(_symptom_on_page(diagnosis, say))
        nodes.append(_symptom_in_text(number, diagnosis, say))
    return doc.Section(tuple(nodes), id="diagnosis", where=doc.WRITTEN)


def _symptom_on_page(diagnosis: Diagnosis, say: Words) -> doc.Section:
    # `perhaps`: the figure is past its limit, but its interval reaches back over it.
    doubt = () if diagnosis.sure else (" ", doc.Styled(say("perhaps"), "badge", "warn"))
    advice = [
        doc.ListItem(
            nodes=(
                doc.Paragraph(
                    f"{say('because')}: {choose_text(item.cause, say.language)}", style="soft"
                ),
                *_build_advice(item, say),
            )
        )
        for item in diagnosis.advice
    ]
    return doc.Section(
        (
            doc.Heading((choose_text(diagnosis.title, say.language), *doubt), 3),
            build_list(_list_evidence(diagnosis, say, ""), style="evidence"),
            build_list(advice, ordered=True),
        ),
        "panel symptom",
        where=doc.PAGE,
    )


def _symptom_in_text(number: int, diagnosis: Diagnosis, say: Words) -> doc.Section:
    title = choose_text(diagnosis.title, say.language) + (
        "" if diagnosis.sure else f" ({say('perhaps')})"
    )
    advice = [
        doc.ListItem(
            choose_text(item.cause, say.language), "plain", nodes=tuple(_build_advice(item, say))
        )
        for item in diagnosis.advice
    ]
    return doc.Section(
        (
            doc.Heading(title, 3, where=doc.TEXT),
            doc.Heading(f"{number}. {title}", where=doc.TERMINAL),
            build_list(_list_evidence(diagnosis, say, "warn")),
            build_list(advice, ordered=True),
        ),
        where=doc.COMPACT,
    )


def _build_advice(advice: Advice, say: Words) -> Iterator[doc.Node]:
    yield doc.Paragraph(
        (
            doc.Styled(f"{say('then_try')}:", "strong"),
            f" {choose_text(advice.advice, say.language)}",
        )
    )
    if advice.command:
        yield doc.CodeLine(advice.command, say("test_it"))


def _list_evidence(diagnosis: Diagnosis, say: Words, tone: doc.Tone) -> Iterator[doc.Remark]:
    for evidence in diagnosis.evidence:
        yield doc.Remark(_describe_evidence(evidence, say), tone)
    if not diagnosis.sure:
        yield doc.Remark(say("perhaps_note"))


def _describe_evidence(evidence: SymptomEvidence, say: Words) -> str:
    facts = {
        "affected": say.whole(evidence.affected),
        "samples": say.whole(evidence.samples),
        "examples": _list_ids(evidence.examples) or "–",
    }
    if evidence.what in CLASSES:
        interval = "–"
        if evidence.low is not None and evidence.high is not None:
            interval = f"{say.percent(evidence.low)} – {say.percent(evidence.high)}"
        value = say.percent(evidence.value)
        name = name_class(evidence.what, say)
        return say("evidence_class", what=name, value=value, interval=interval, **facts)
    return say(
        "evidence_metric",
        what=evidence.what,
        value=say.number(evidence.value),
        interval=say.interval(evidence.low, evidence.high),
        rule=_format_limit(evidence.limit, evidence.above, say),
        **facts,
    )
