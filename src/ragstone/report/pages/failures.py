"""Why the samples of a run fail: how many and of which class, where they fail more, what to do about it, examples."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.analysis.advice import choose_text
from ragstone.analysis.classes import CRITERIA, UNKNOWN, Decider
from ragstone.locale.catalogue import LANGUAGES
from ragstone.report.drawing.shapes import WIDE, Drawing
from ragstone.report.figures import format_percent_interval, name_judge
from ragstone.report.pages import Page
from ragstone.report.remarks import Remark, Severity, shorten
from ragstone.report.slices import describe_slice
from ragstone.report.translator import Translator
from ragstone.store import default_place

if TYPE_CHECKING:
    from ragstone.analysis import LabelRate
    from ragstone.analysis.classify import Failure
    from ragstone.analysis.diagnose import Advice, Diagnosis, SymptomEvidence
    from ragstone.analysis.failures import Failures
    from ragstone.analysis.slices import Slice
    from ragstone.experiments.diagnosis import DiagnosisResult
    from ragstone.store import RunInfo, StoredRow, StoredRun

EXAMPLES_ON_PAGE = 20
MAX_IDS = 6


@dataclass(frozen=True, slots=True)
class FailureLinks:
    """Addresses of the samples behind a report on failures; an empty one is no link."""

    to_sample: Callable[[int], str]
    """By position."""
    to_class: Callable[[str], str]
    to_slice: Callable[[Slice], str]


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One class of failures."""

    kind: str
    name: str
    severity: Severity
    meaning: str
    count: str
    share: str
    interval: str
    where: str
    """The slice that it gathers in; of a class within the error of what decides it, that."""


@dataclass(frozen=True, slots=True)
class SliceRow:
    """A part of the samples that fails more often."""

    name: str
    href: str
    figures: tuple[str, ...]
    """Samples, share that fails, its interval, share of the rest, p."""
    mostly: str


@dataclass(frozen=True, slots=True)
class AdviceView:
    """A cause and what to try."""

    cause: str
    text: str
    command: str


@dataclass(frozen=True, slots=True)
class SymptomView:
    """A symptom with what shows it and what to try."""

    title: str
    doubt: str
    """`perhaps`, where the figure is past its limit but its interval reaches back over it."""
    evidence: tuple[str, ...]
    extent: str
    """How many samples show it, of how many."""
    where: str
    """The slice that it gathers in."""
    href: str
    """The samples behind it."""
    advice: tuple[AdviceView, ...]


@dataclass(frozen=True, slots=True)
class ExampleView:
    """A failing sample."""

    id: str
    href: str
    question: str
    answer: str
    values: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class FailurePage(Page):
    """Why the samples of a run fail; None for the diagnoses leaves out what to do about it."""

    kind: ClassVar[str] = "failures"
    template: ClassVar[str] = "failures"
    styles: ClassVar[tuple[str, ...]] = ("failures.css",)
    failures: Failures
    diagnoses: Sequence[Diagnosis] | None
    run: StoredRun | None = None
    """For the texts of the examples; None leaves them out."""
    links: FailureLinks | None = None

    @property
    def title(self) -> str:
        """What it is of."""
        return f"{self.t('failures')}: {self.heading}"

    @property
    def heading(self) -> str:
        """The run's name."""
        return shorten(self.failures.run.name, 200)

    @property
    def facts(self) -> tuple[str, ...]:
        """The data, how many samples, the judge."""
        info, t = self.failures.run, self.t
        return info.source, t.count("sample", self.failures.samples), name_judge(info, t)

    @cached_property
    def state(self) -> Remark:
        """How many samples fail."""
        return _describe_state(self.failures, self.t)

    @cached_property
    def gaps(self) -> list[Remark]:
        """What nothing could show, and fields that were not sliced by."""
        return [*_describe_gaps(self.failures, self.t)]

    @cached_property
    def classes(self) -> list[ClassRow]:
        """The classes that occur with their shares."""
        return [self._build_class(rate) for rate in self.failures.rates]

    def _build_class(self, rate: LabelRate) -> ClassRow:
        failures, t = self.failures, self.t
        is_shown = rate.label in failures.shown and rate.label not in UNKNOWN
        return ClassRow(
            kind=rate.label,
            name=name_class(rate.label, t),
            severity="good" if rate.label == "fine" else "bad" if is_shown else "",
            meaning=_explain_class(rate.label, failures, t),
            count=t.whole(rate.count),
            share="–" if rate.rate is None else t.percent(rate.rate),
            interval=format_percent_interval(rate, t),
            where=self._place_class(rate.label),
        )

    def _place_class(self, kind: str) -> str:
        if kind == "fine" or kind in UNKNOWN:
            return ""
        if kind not in self.failures.shown:
            return self.t("within_error_short")
        slices = next(
            (some for name, some in self.failures.class_slices.items() if name == kind), ()
        )
        return describe_slice(slices[0], self.t) if slices else ""

    def draw_classes(self, width: float) -> Drawing:
        """The classes as bars."""
        from ragstone.report.drawing.charts import draw_failure_classes

        named = [(name_class(rate.label, self.t), rate) for rate in self.failures.rates]
        return draw_failure_classes(named, self.t, width)

    def picture(self) -> Drawing:
        """The classes as bars."""
        return self.draw_classes(WIDE)

    @property
    def slices_note(self) -> str:
        """How many slices were tested, and whether one stands out."""
        key = "slices_note" if self.failures.worse else "slices_none"
        return self.t(key, n=self.t.whole(len(self.failures.slices)))

    @cached_property
    def slices(self) -> list[SliceRow]:
        """The slices that fail more than the rest."""
        return [self._build_slice(slice) for slice in self.failures.worse]

    def _build_slice(self, slice: Slice) -> SliceRow:
        t = self.t
        mostly = next(iter(slice.classes), "")
        figures = (
            t.whole(slice.samples),
            t.percent(slice.rate),
            f"{t.percent(slice.low)} – {t.percent(slice.high)}",
            t.percent(slice.rest_rate),
            "<" + t.number(0.001, 3) if slice.adjusted < 0.001 else t.number(slice.adjusted, 3),
        )
        href = self.links.to_slice(slice) if self.links else ""
        return SliceRow(
            describe_slice(slice, t), href, figures, name_class(mostly, t) if mostly else ""
        )

    @cached_property
    def symptoms(self) -> list[SymptomView]:
        """What explains most failures first."""
        return [self._view_symptom(diagnosis) for diagnosis in self.diagnoses or ()]

    @property
    def silence(self) -> Remark:
        """Why there is no advice."""
        return describe_silence(self.failures, self.t)

    @property
    def withheld(self) -> list[Remark]:
        """Judged metrics that take part in no conclusion, and how to change that."""
        return [*describe_withheld(self.failures, self.t)]

    @property
    def look(self) -> str:
        """The command that shows every failing sample on a page; empty for what is no stored run."""
        return format_look(self.failures.run) or ""

    def _view_symptom(self, diagnosis: Diagnosis) -> SymptomView:
        language = self.t.language
        href = ""
        if self.links is not None and diagnosis.kind is not None:
            href = self.links.to_class(diagnosis.kind)
        return SymptomView(
            title=choose_text(diagnosis.title, language),
            doubt="" if diagnosis.sure else self.t("perhaps"),
            evidence=tuple(self._list_evidence(diagnosis)),
            extent=self._format_extent(diagnosis),
            where="" if diagnosis.slice is None else describe_slice(diagnosis.slice, self.t),
            href=href,
            advice=tuple(self._view_advice(advice) for advice in diagnosis.advice),
        )

    def _format_extent(self, diagnosis: Diagnosis) -> str:
        t = self.t
        most = max(diagnosis.evidence, key=lambda evidence: evidence.affected)
        return t("story_extent", n=t.whole(most.affected), total=t.whole(most.samples))

    def _view_advice(self, advice: Advice) -> AdviceView:
        language = self.t.language
        return AdviceView(
            choose_text(advice.cause, language),
            choose_text(advice.advice, language),
            advice.command or "",
        )

    def _list_evidence(self, diagnosis: Diagnosis) -> Iterator[str]:
        for evidence in diagnosis.evidence:
            if evidence.what == diagnosis.kind:
                yield _describe_class(diagnosis, evidence, self.t)
                yield _describe_where(diagnosis, evidence, self.t)
            else:
                yield _describe_metric(evidence, self.t)
        if not diagnosis.sure:
            yield self.t("perhaps_note")

    @cached_property
    def examples(self) -> list[tuple[str, list[ExampleView]]]:
        """Some samples of each failing class, under its name, with what shows it."""
        run = self.run
        if run is None:
            return []
        kinds = [kind for kind in self.failures.examples if kind not in ("fine", "unclassified")]
        return [
            (
                name_class(kind, self.t),
                [
                    self._view_example(f, run)
                    for f in self.failures.examples[kind][:EXAMPLES_ON_PAGE]
                ],
            )
            for kind in kinds
        ]

    def _view_example(self, failure: Failure, run: StoredRun) -> ExampleView:
        t, row = self.t, run.row(failure.position)
        values = ", ".join(
            f"{name} {t.number(value) if isinstance(value, float) else t.outcome(value)}"
            for name, value in failure.values.items()
        )
        return ExampleView(
            id=shorten(failure.id, 80),
            href=self.links.to_sample(failure.position) if self.links else "",
            question=shorten(row.sample.question or "", 240),
            answer=shorten(row.sample.answer or "", 400),
            values=values,
            lines=tuple(_explain_failure(failure, row, t)),
        )

    def data(self) -> dict[str, Any]:
        """The analysis as JSON takes it."""
        plain = self.failures.to_dict()
        if self.diagnoses is not None:
            plain["diagnosis"] = [diagnosis.to_dict() for diagnosis in self.diagnoses]
        return plain


def open_page(result: DiagnosisResult, t: Translator) -> FailurePage:
    """The page of a diagnosis."""
    return FailurePage(t, result.failures, result.diagnoses, result.run)


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


def describe_unmatched(failures: Failures, t: Translator) -> str:
    """That retrieved and relevant ids have nothing in common; empty where they have."""
    if failures.unmatched is None:
        return ""
    retrieved, relevant = (shorten(id, 40) for id in failures.unmatched)
    return t("headline.unmatched", retrieved=retrieved, relevant=relevant)


def _describe_state(failures: Failures, t: Translator) -> Remark:
    bad = [r for r in failures.rates if r.label != "fine" and r.label not in UNKNOWN]
    count = sum(rate.count for rate in bad if rate.label in failures.shown)
    if count:
        text = t("failing", n=t.whole(count), total=t.whole(failures.samples))
        if failures.doubtful:
            text = f"{text}. {t('headline.doubtful', n=t.whole(failures.doubtful)).rstrip('.')}"
        unmatched = describe_unmatched(failures, t)
        return Remark(f"{text}. {unmatched}" if unmatched else text, "bad")
    if bad:
        return Remark(t("no_failures_shown"), "good")
    known = any(rate.label == "fine" for rate in failures.rates)
    return Remark(t("no_failures"), "good" if known else "warn")


def _describe_gaps(failures: Failures, t: Translator) -> Iterator[Remark]:
    """What nothing in the run could show, and fields that were not sliced by."""
    either = " o " if t.language == "es" else " or "
    withheld = {item.metric for item in failures.withheld}
    for kind in ("retrieval_failure", "hallucination", "generation_failure"):
        families = [criterion.family for criterion in CRITERIA[kind]]
        # of metrics that the run has, but whose judge was not measured, `describe_withheld` speaks below
        if kind not in failures.deciders and withheld.isdisjoint(families):
            text = t("no_decider", kind=name_class(kind, t), metrics=either.join(families[:2]))
            yield Remark(text, "warn")
    yield from describe_withheld(failures, t)
    if failures.dropped:
        yield Remark(t("dropped_fields", fields=", ".join(failures.dropped)))


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


def describe_silence(failures: Failures, t: Translator) -> Remark:
    """Why there is no advice: nothing fails, no more than the judge errs, or nothing decides."""
    labels = {rate.label for rate in failures.rates}
    if labels <= UNKNOWN:
        return Remark(t("nothing_decided"), "warn")
    key = "no_symptoms_shown" if labels - UNKNOWN - {"fine"} else "no_symptoms"
    return Remark(t(key), "good")


def describe_withheld(failures: Failures, t: Translator) -> Iterator[Remark]:
    """Judged metrics that take part in no conclusion, and how to change that."""
    info = failures.run
    metrics: dict[tuple[str, str], list[str]] = {}
    for item in failures.withheld:
        metrics.setdefault((item.language, item.reason), []).append(item.metric)
    for (language, why), names in metrics.items():
        command = format_check(info, language)
        reason = why if command or why == "unfit" else "unnamed"
        text = t(
            f"withheld.{reason if language in LANGUAGES else 'no_controls'}",
            metrics=", ".join(names),
            language=language,
            judge=info.judge or t("unknown_judge"),
            command=command or "",
        )
        yield Remark(text, "warn")


def format_check(info: RunInfo, language: str) -> str | None:
    """The command that measures the run's judge in a language; None for a judge without a name to type."""
    judge = info.plan.judge
    settings: Mapping[str, Any] = judge if isinstance(judge, Mapping) else {"model": judge}
    model = "offline" if (info.judge or "").startswith("offline ") else settings.get("model")
    if not isinstance(model, str):
        return None
    words = ["ragstone", "judge", "check", model, "--full"]
    if settings.get("base_url"):
        words += ["--base-url", str(settings["base_url"])]
    return shlex.join([*words, "--lang", language, *_list_store_flags(info)])


def format_look(info: RunInfo) -> str | None:
    """The command that shows every failing sample on a page; None for what is no stored run."""
    if not info.place:
        return None
    return shlex.join(
        ["ragstone", "failures", info.id, *_list_store_flags(info), "-o", "failures.html"]
    )


def _list_store_flags(info: RunInfo) -> list[str]:
    # The command must work when it is pasted, wherever the store is.
    return ["--store", info.place] if info.place and info.place != default_place() else []


def name_class(kind: str, t: Translator) -> str:
    """A class in words."""
    return t.translate("failure_class", kind)


def list_ids(ids: Sequence[str]) -> str:
    """The first ids, and whether there are more."""
    shown = ", ".join(shorten(id, 40) for id in ids[:MAX_IDS])
    return f"{shown} …" if len(ids) > MAX_IDS else shown


def _describe_class(diagnosis: Diagnosis, evidence: SymptomEvidence, t: Translator) -> str:
    """How many samples are of the class, and which part of all that fails that is."""
    interval = "–"
    if evidence.low is not None and evidence.high is not None:
        interval = f"{t.percent(evidence.low)} – {t.percent(evidence.high)}"
    text = t(
        "story_class",
        affected=t.whole(evidence.affected),
        samples=t.whole(evidence.samples),
        value=t.percent(evidence.value),
        interval=interval,
        share=t.percent(diagnosis.share or 0.0, 0),
    )
    if diagnosis.metric is None or diagnosis.expected < 0.5:
        return text
    return f"{text} {t('story_error', expected=t.whole(round(diagnosis.expected)))}"


def _describe_where(diagnosis: Diagnosis, evidence: SymptomEvidence, t: Translator) -> str:
    """Where the class gathers, and some samples of it."""
    part = diagnosis.slice
    where = t("story_everywhere")
    if part is not None:
        where = t(
            "story_slice",
            slice=describe_slice(part, t),
            rate=t.percent(part.rate, 0),
            inside=t.whole(part.samples),
            rest=t.percent(part.rest_rate, 0),
        )
    return f"{where} {t('story_examples', examples=list_ids(evidence.examples))}"


def _describe_metric(evidence: SymptomEvidence, t: Translator) -> str:
    limit = f"{evidence.limit:g}".replace(".", t("decimal"))
    return t(
        "evidence_metric",
        what=evidence.what,
        value=t.number(evidence.value),
        interval=t.interval(evidence.low, evidence.high),
        rule=t("above_limit" if evidence.above else "below_limit", limit=limit),
        affected=t.whole(evidence.affected),
        samples=t.whole(evidence.samples),
        examples=list_ids(evidence.examples) or "–",
    )
