"""What is said of failure classes, slices, examples and advice, whatever it is printed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.analysis.advice import said
from ragstone.analysis.failures import CLASSES, CRITERIA, UNKNOWN
from ragstone.report.drawing.charts import failure_classes
from ragstone.report.drawing.shapes import Drawing
from ragstone.report.figures import Line, percent_interval, shortened
from ragstone.report.words import Words

if TYPE_CHECKING:
    from ragstone.analysis import LabelRate
    from ragstone.analysis.diagnose import Diagnosis, Evidence
    from ragstone.analysis.failures import Failure, FailureClass, Failures
    from ragstone.analysis.slices import Slice
    from ragstone.store import StoredRun


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One class in words."""

    name: str
    means: str
    count: str
    share: str
    interval: str
    tone: str


@dataclass(frozen=True, slots=True)
class ExampleView:
    """One failing sample in words."""

    id: str
    question: str
    answer: str
    values: str
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AdviceView:
    """A piece of advice in words."""

    cause: str
    advice: str
    command: str


@dataclass(frozen=True, slots=True)
class DiagnosisView:
    """A symptom in words."""

    title: str
    sure: bool
    evidence: tuple[str, ...]
    advice: tuple[AdviceView, ...]


def state(failures: Failures, say: Words) -> Line:
    """How many samples fail."""
    bad = [r for r in failures.rates if r.label != "fine" and r.label not in UNKNOWN]
    count = sum(rate.count for rate in bad)
    if count:
        return Line(say.count("failing", count), "bad")
    known = any(rate.label == "fine" for rate in failures.rates)
    return Line(say("no_failures"), "good" if known else "warn")


def class_rows(failures: Failures, say: Words) -> list[ClassRow]:
    """The classes that occur, with their shares."""
    return [
        ClassRow(
            name=class_name(rate.label, say),
            means=_means(rate.label, failures, say),
            count=say.whole(rate.count),
            share="–" if rate.rate is None else say.percent(rate.rate),
            interval=percent_interval(rate, say),
            tone="good" if rate.label == "fine" else "plain" if rate.label in UNKNOWN else "bad",
        )
        for rate in failures.rates
    ]


def class_name(kind: str, say: Words) -> str:
    """A class in words."""
    return say.known("failure_class", kind)


def notes(failures: Failures, say: Words) -> list[Line]:
    """Classes that nothing in the run could show, and fields that were not sliced by."""
    lines = []
    for kind, criteria in CRITERIA.items():
        if kind not in failures.deciders:
            metrics = say_or([one.family for one in criteria[:2]], say)
            lines.append(
                Line(say("no_decider", kind=class_name(kind, say), metrics=metrics), "warn")
            )
    if failures.dropped:
        lines.append(Line(say("dropped_fields", fields=", ".join(failures.dropped))))
    return lines


def say_or(names: Sequence[str], say: Words) -> str:
    """Alternatives in a row."""
    return (" o " if say.language == "es" else " or ").join(names)


def slice_name(one: Slice, say: Words) -> str:
    """A slice in words."""
    return say("slice_of", field=shortened(one.field, 40), value=shortened(one.value, 60))


def slice_cells(one: Slice, say: Words) -> list[str]:
    """A slice's name and figures, as cells of a table."""
    mostly = next(iter(one.classes), "")
    return [
        slice_name(one, say),
        say.whole(one.samples),
        say.percent(one.rate),
        f"{say.percent(one.low)} – {say.percent(one.high)}",
        say.percent(one.rest_rate),
        "<" + say.number(0.001, 3) if one.adjusted < 0.001 else say.number(one.adjusted, 3),
        class_name(mostly, say) if mostly else "",
    ]


def slice_heads(say: Words) -> list[str]:
    """The headings over `slice_cells`."""
    keys = ("slice", "samples", "fails", "interval_short", "rest", "p_corrected.holm", "mostly")
    return [say(key) for key in keys]


def slices_note(failures: Failures, say: Words) -> str:
    """How many slices were tested."""
    key = "slices_note" if failures.worse else "slices_none"
    return say(key, n=say.whole(len(failures.slices)))


def examples(
    failures: Failures, run: StoredRun, say: Words, most: int
) -> list[tuple[FailureClass, list[ExampleView]]]:
    """Some samples of each failing class with what shows it."""
    found = []
    for kind, some in failures.examples.items():
        if kind not in ("fine", "unclassified"):
            found.append((kind, [_example(one, run, say) for one in some[:most]]))
    return found


def diagnosis_views(diagnoses: Sequence[Diagnosis], say: Words) -> list[DiagnosisView]:
    """The symptoms in words."""
    return [
        DiagnosisView(
            title=said(one.title, say.language),
            sure=one.sure,
            evidence=tuple(_evidence(e, say) for e in one.evidence),
            advice=tuple(
                AdviceView(
                    said(a.cause, say.language), said(a.advice, say.language), a.command or ""
                )
                for a in one.advice
            ),
        )
        for one in diagnoses
    ]


def picture(failures: Failures, say: Words, width: float) -> Drawing:
    """The classes as bars."""
    named: list[tuple[str, LabelRate]] = [
        (class_name(rate.label, say), rate) for rate in failures.rates
    ]
    return failure_classes(named, say, width)


def _means(kind: str, failures: Failures, say: Words) -> str:
    decider = next((one for name, one in failures.deciders.items() if name == kind), None)
    if decider is None:
        return say(f"class_means.{kind}", metric="", rule="").strip(" ,")
    limit = f"{decider.criterion.limit:g}".replace(".", say("decimal"))
    rule = say("above_limit" if decider.criterion.above else "below_limit", limit=limit)
    return say(f"class_means.{kind}", metric=decider.metric, rule=rule)


def _example(one: Failure, run: StoredRun, say: Words) -> ExampleView:
    row = run.row(one.position)
    sample = row.sample
    details = []
    if one.kind == "retrieval_failure":
        if one.missed:
            details.append(say("missed_documents", ids=_ids(one.missed)))
        came = say("instead_documents", ids=_ids(one.instead)) if one.instead else ""
        details.append(came or ("" if sample.contexts else say("nothing_came")))
    if one.claims:
        claims = "; ".join(
            f"{shortened(f.text, 160)} ({say.known('verdict', f.verdict)})" for f in one.claims[:4]
        )
        details.append(say("claims_against", claims=claims))
    if one.also:
        kinds = ", ".join(class_name(kind, say) for kind in one.also)
        details.append(say("also_is", kinds=kinds))
    if sample.error:
        details.append(shortened(say.system_error(sample, row.scores), 200))
    values = ", ".join(
        f"{name} {say.number(v) if isinstance(v, float) else say.outcome(v)}"
        for name, v in one.values.items()
    )
    return ExampleView(
        id=shortened(one.id, 80),
        question=shortened(sample.question or "", 240),
        answer="" if sample.answer is None else shortened(sample.answer, 400),
        values=values,
        details=tuple(text for text in details if text),
    )


def _ids(ids: Sequence[str]) -> str:
    shown = ", ".join(shortened(one, 40) for one in ids[:6])
    return f"{shown} …" if len(ids) > 6 else shown


def _evidence(one: Evidence, say: Words) -> str:
    facts = {
        "affected": say.whole(one.affected),
        "samples": say.whole(one.samples),
        "examples": _ids(one.examples) or "–",
    }
    if one.what in CLASSES:
        named = class_name(one.what, say)
        ends = (
            "–"
            if one.low is None or one.high is None
            else f"{say.percent(one.low)} – {say.percent(one.high)}"
        )
        return say(
            "evidence_class", what=named, value=say.percent(one.value), interval=ends, **facts
        )
    limit = f"{one.limit:g}".replace(".", say("decimal"))
    rule = say("above_limit" if one.above else "below_limit", limit=limit)
    return say(
        "evidence_metric",
        what=one.what,
        value=say.number(one.value),
        interval=say.interval(one.low, one.high),
        rule=rule,
        **facts,
    )
