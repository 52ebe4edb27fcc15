"""The report on failures: how many samples fail and why, where they fail more, examples, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.analysis.advice import said
from ragstone.analysis.failures import CLASSES, CRITERIA, UNKNOWN
from ragstone.report import document as doc
from ragstone.report.builders.parts import build_chart, build_row, number_columns
from ragstone.report.drawing.charts import draw_failure_classes
from ragstone.report.drawing.shapes import WIDE, Drawing
from ragstone.report.figures import format_percent_interval, name_judge, shorten
from ragstone.report.words import Words, words

if TYPE_CHECKING:
    from ragstone.analysis import LabelRate
    from ragstone.analysis.diagnose import Diagnosis, Evidence
    from ragstone.analysis.failures import Failure, Failures
    from ragstone.analysis.slices import Slice
    from ragstone.store import StoredRun

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
        failures, say = self.failures, words(self.language)
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
        notes = (
            doc.Paragraph(note.text, note.tone, "note") for note in _describe_gaps(failures, say)
        )
        classes: tuple[doc.Node, ...] = (
            doc.Heading(say("failures"), where=doc.PAGE),
            *build_classes(failures, say),
            *notes,
        )
        body = (
            doc.Section(classes, "panel", "classes"),
            doc.Section(tuple(_build_slices(failures, say)), "panel", "slices"),
            *([] if self.diagnoses is None else [_build_diagnosis(self.diagnoses, say)]),
            *self._build_examples(say),
            doc.Section((doc.Status(state.text, state.tone),), where=doc.TERMINAL),
        )
        return doc.ReportDocument("failures", say, f"{say('failures')}: {name}", say("failures"), head, body)  # fmt: skip

    def picture(self) -> Drawing:
        """The classes as bars."""
        return draw_classes(self.failures, words(self.language), WIDE)

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
            examples = [_describe_example(failure, self.run, say) for failure in failures]
            on_page = (_example_on_page(example, say) for example in examples)
            yield doc.Section((doc.Heading(name), *on_page), "panel", f"e{number}", doc.PAGE)
            yield doc.Heading(f"{say('examples')}: {name}", where=doc.TEXT)
            in_text = (_example_in_text(example, say) for example in examples[:EXAMPLES_IN_TEXT])
            yield doc.BulletList(tuple(in_text), where=doc.TEXT)
            brief = (_example_on_terminal(e, say) for e in examples[:EXAMPLES_ON_TERMINAL])
            yield doc.Section((doc.Heading(name), doc.BulletList(tuple(brief))), where=doc.TERMINAL)


def build_symptoms(diagnoses: Sequence[Diagnosis], language: str = "en") -> doc.ReportDocument:
    """The symptoms of a run with their evidence and what to try, for a terminal."""
    say = words(language)
    nodes: list[doc.Node] = [
        _symptom_on_terminal(number, diagnosis, say) for number, diagnosis in enumerate(diagnoses, 1)
    ]  # fmt: skip
    # a free line after the last one, for the prompt follows
    end = (
        doc.Section((doc.Paragraph(""),))
        if diagnoses
        else doc.Paragraph(say("no_symptoms"), "good")
    )
    title = say("diagnosis")
    return doc.ReportDocument("diagnosis", say, title, title, (), (*nodes, end))


# ── classes ───────────────────────────────────────────────────────────────────────────────


def build_classes(failures: Failures, say: Words) -> tuple[doc.Chart, doc.ReportTable]:
    """The classes that occur with their shares, as a picture and a table."""
    columns = (
        doc.TableColumn(say("class")),
        doc.TableColumn(say("meaning_column"), where=doc.WRITTEN),
        *number_columns(say, "count", "rate"),
        doc.TableColumn(say("interval"), numeric=True, short=say("interval_short")),
        doc.TableColumn(say("meaning_column"), where=doc.wide_terminal(WIDE_COLUMNS)),
    )
    rows = tuple(_build_class_row(rate, failures, say) for rate in failures.rates)
    chart = build_chart(lambda width: draw_classes(failures, say, width))
    return chart, doc.ReportTable(columns, rows)


def draw_classes(failures: Failures, say: Words, width: float) -> Drawing:
    """The classes as bars."""
    return draw_failure_classes(
        [(name_class(rate.label, say), rate) for rate in failures.rates], say, width
    )


def name_class(kind: str, say: Words) -> str:
    """A class in words."""
    return say.known("failure_class", kind)


def _build_class_row(rate: LabelRate, failures: Failures, say: Words) -> doc.TableRow:
    tone: doc.Tone = "good" if rate.label == "fine" else "" if rate.label in UNKNOWN else "bad"
    meaning = doc.TableCell(_explain_class(rate.label, failures, say), style="soft")
    return build_row(
        doc.TableCell(name_class(rate.label, say), tone),
        meaning,
        say.whole(rate.count),
        "–" if rate.rate is None else say.percent(rate.rate),
        format_percent_interval(rate, say),
        meaning,
    )


def _explain_class(kind: str, failures: Failures, say: Words) -> str:
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


def _build_slices(failures: Failures, say: Words) -> Iterator[doc.Node]:
    yield doc.Heading(say("slices_worse"), where=doc.PAGE)
    if failures.worse:
        yield doc.Heading(say("slices_worse"), where=doc.COMPACT)
        keys = ("samples", "fails", "interval_short", "rest", "p_corrected.holm")
        columns = (doc.TableColumn(say("slice")), *number_columns(say, *keys), doc.TableColumn(say("mostly")))  # fmt: skip
        rows = tuple(_build_slice_row(slice, say) for slice in failures.worse)
        yield doc.ReportTable(columns, rows, row_heads=False)
    key = "slices_note" if failures.worse else "slices_none"
    yield doc.Paragraph(say(key, n=say.whole(len(failures.slices))), style="note")


def _build_slice_row(slice: Slice, say: Words) -> doc.TableRow:
    mostly = next(iter(slice.classes), "")
    return build_row(
        say("slice_of", field=shorten(slice.field, 40), value=shorten(slice.value, 60)),
        say.whole(slice.samples),
        say.percent(slice.rate),
        f"{say.percent(slice.low)} – {say.percent(slice.high)}",
        say.percent(slice.rest_rate),
        "<" + say.number(0.001, 3) if slice.adjusted < 0.001 else say.number(slice.adjusted, 3),
        name_class(mostly, say) if mostly else "",
    )


# ── examples ──────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class FailureExample:
    """One failing sample in words."""

    id: str
    question: str
    answer: str
    values: str
    details: tuple[str, ...]


def _describe_example(failure: Failure, run: StoredRun, say: Words) -> FailureExample:
    row = run.row(failure.position)
    sample = row.sample
    details = []
    if failure.kind == "retrieval_failure":
        if failure.missed:
            details.append(say("missed_documents", ids=_list_ids(failure.missed)))
        if failure.instead:
            details.append(say("instead_documents", ids=_list_ids(failure.instead)))
        elif not sample.contexts:
            details.append(say("nothing_came"))
    if failure.claims:
        claims = "; ".join(
            f"{shorten(claim.text, 160)} ({say.known('verdict', claim.verdict)})"
            for claim in failure.claims[:4]
        )
        details.append(say("claims_against", claims=claims))
    if failure.also:
        kinds = ", ".join(name_class(kind, say) for kind in failure.also)
        details.append(say("also_is", kinds=kinds))
    if sample.error:
        details.append(shorten(say.system_error(sample, row.scores), 200))
    values = ", ".join(
        f"{name} {say.number(value) if isinstance(value, float) else say.outcome(value)}"
        for name, value in failure.values.items()
    )
    return FailureExample(
        id=shorten(failure.id, 80),
        question=shorten(sample.question or "", 240),
        answer="" if sample.answer is None else shorten(sample.answer, 400),
        values=values,
        details=tuple(details),
    )


def _example_on_page(example: FailureExample, say: Words) -> doc.Section:
    values = f" · {example.values}" if example.values else ""
    return doc.Section(
        (
            doc.Paragraph(doc.Styled(example.question or say("no_question"), "strong")),
            *([doc.Paragraph(example.answer)] if example.answer else []),
            doc.Paragraph((doc.Styled(example.id, "mono"), values), style="soft"),
            *(doc.Paragraph(detail, style="soft") for detail in example.details),
        ),
        "example",
    )


def _example_in_text(example: FailureExample, say: Words) -> doc.ListItem:
    lines = [f"{say('answer')}: {example.answer}" if example.answer else "", example.values]
    return doc.ListItem(
        (doc.Styled(shorten(example.id, 60), "strong"), f" {example.question}"),
        nodes=tuple(doc.Paragraph(line) for line in (*lines, *example.details) if line),
    )


def _example_on_terminal(example: FailureExample, say: Words) -> doc.ListItem:
    answer = [f"{say('answer')}: {example.answer}"] if example.answer else []
    return doc.ListItem(
        f"{example.id}  {example.question}",
        nodes=tuple(
            doc.Paragraph(line, style="soft")
            for line in (*answer, example.values, *example.details)
        ),
    )


def _list_ids(ids: Sequence[str]) -> str:
    shown = ", ".join(shorten(id, 40) for id in ids[:MAX_IDS])
    return f"{shown} …" if len(ids) > MAX_IDS else shown


# ── diagnosis ─────────────────────────────────────────────────────────────────────────────


def _build_diagnosis(diagnoses: Sequence[Diagnosis], say: Words) -> doc.Section:
    none = [] if diagnoses else [doc.Paragraph(say("no_symptoms"), style="panel")]
    return doc.Section(
        (
            doc.Heading(say("diagnosis")),
            *none,
            *(_symptom_on_page(diagnosis, say) for diagnosis in diagnoses),
            *(node for diagnosis in diagnoses for node in symptom_in_text(diagnosis, say)),
        ),
        id="diagnosis",
        where=doc.WRITTEN,
    )


def _symptom_on_page(diagnosis: Diagnosis, say: Words) -> doc.Section:
    doubt = () if diagnosis.sure else (" ", doc.Styled(say("perhaps"), "badge", "warn"))
    evidence = [describe_evidence(evidence, say) for evidence in diagnosis.evidence]
    evidence += [] if diagnosis.sure else [say("perhaps_note")]
    advice = []
    for item in diagnosis.advice:
        nodes: list[doc.Node] = [
            doc.Paragraph(f"{say('because')}: {said(item.cause, say.language)}", style="soft"),
            doc.Paragraph((doc.Styled(f"{say('then_try')}:", "strong"), f" {said(item.advice, say.language)}")),
        ]  # fmt: skip
        if item.command:
            nodes.append(doc.CodeLine(item.command, say("test_it")))
        advice.append(doc.ListItem(nodes=tuple(nodes)))
    return doc.Section(
        (
            doc.Heading((said(diagnosis.title, say.language), *doubt), 3),
            doc.BulletList(tuple(map(doc.ListItem, evidence)), style="evidence"),
            doc.BulletList(tuple(advice), ordered=True),
        ),
        "panel symptom",
        where=doc.PAGE,
    )


def symptom_in_text(diagnosis: Diagnosis, say: Words) -> Iterator[doc.Node]:
    """A symptom with its evidence and what to try, for a text."""
    doubt = () if diagnosis.sure else (" ", doc.Styled(say("perhaps"), "badge"))
    yield doc.Heading((said(diagnosis.title, say.language), *doubt), 3, where=doc.TEXT)
    evidence = [doc.ListItem(describe_evidence(evidence, say)) for evidence in diagnosis.evidence]
    yield doc.BulletList(tuple(evidence), where=doc.TEXT)
    advice = [
        doc.ListItem(
            (
                f"{said(item.cause, say.language)}. ",
                doc.Styled(f"{say('then_try')}:", "strong"),
                f" {said(item.advice, say.language)}",
            ),
            nodes=(doc.CodeLine(item.command),) if item.command else (),
        )
        for item in diagnosis.advice
    ]
    yield doc.BulletList(tuple(advice), ordered=True, where=doc.TEXT)


def _symptom_on_terminal(number: int, diagnosis: Diagnosis, say: Words) -> doc.Section:
    doubt = "" if diagnosis.sure else f" ({say('perhaps')})"
    items = [doc.ListItem(describe_evidence(e, say), "warn") for e in diagnosis.evidence]
    if not diagnosis.sure:
        items.append(doc.ListItem(say("perhaps_note"), "plain"))
    for item in diagnosis.advice:
        advice = doc.Paragraph(f"{say('then_try')}: {said(item.advice, say.language)}")
        nodes = (advice, doc.CodeLine(item.command)) if item.command else (advice,)
        items.append(doc.ListItem(f"– {said(item.cause, say.language)}", "plain", nodes=nodes))
    heading = doc.Heading(f"{number}. {said(diagnosis.title, say.language)}{doubt}")
    return doc.Section((heading, doc.BulletList(tuple(items))), where=doc.TERMINAL)


def describe_evidence(evidence: Evidence, say: Words) -> str:
    """A piece of evidence for a symptom in words."""
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
