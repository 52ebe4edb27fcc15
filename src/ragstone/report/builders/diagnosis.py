"""The story of a diagnosis: what explains most of a run's failures first, where, and what to try."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragstone.analysis.advice import choose_text
from ragstone.analysis.classes import UNKNOWN
from ragstone.locale.catalogue import LANGUAGES
from ragstone.report import document as doc
from ragstone.report.builders.parts import build_list
from ragstone.report.figures import shorten
from ragstone.report.translator import Translator, load_translator
from ragstone.store import default_place

if TYPE_CHECKING:
    from ragstone.analysis.diagnose import Advice, Diagnosis, SymptomEvidence
    from ragstone.analysis.failures import Failures
    from ragstone.analysis.slices import Slice
    from ragstone.store import RunInfo

MAX_IDS = 6


def build_story(
    diagnoses: Sequence[Diagnosis], failures: Failures, language: str = "en"
) -> doc.ReportDocument:
    """The causes of a run's failures with what shows them and what to try, for a terminal."""
    t = load_translator(language)
    nodes: list[doc.Node] = [
        _symptom_in_text(n, d, failures, t) for n, d in enumerate(diagnoses, 1)
    ]
    if not diagnoses:
        remark = describe_silence(failures, t)
        nodes = [doc.Paragraph(remark.text, remark.severity)]
    nodes += [
        doc.Paragraph(note.text, note.severity, "note") for note in describe_withheld(failures, t)
    ]
    nodes.append(doc.Section((doc.Paragraph(""),)))  # a free line, for the prompt follows
    title = t("diagnosis")
    return doc.ReportDocument("diagnosis", t, title, title, (), tuple(nodes))


def build_diagnosis(
    diagnoses: Sequence[Diagnosis],
    failures: Failures,
    t: Translator,
    link_class: Callable[[str], str] | None = None,
) -> doc.Section:
    """The causes with what shows them and what to try, for files; `link_class` gives the address of a class's samples."""
    nodes: list[doc.Node] = [doc.Heading(t("diagnosis"))]
    if not diagnoses:
        nodes.append(doc.Paragraph(describe_silence(failures, t).text, style="panel"))
    for number, diagnosis in enumerate(diagnoses, 1):
        nodes.append(_symptom_on_page(diagnosis, t, link_class))
        nodes.append(_symptom_in_text(number, diagnosis, failures, t))
    return doc.Section(tuple(nodes), id="diagnosis", where=doc.WRITTEN)


def describe_silence(failures: Failures, t: Translator) -> doc.Remark:
    """Why there is no advice: nothing fails, no more than the judge errs, or nothing decides."""
    labels = {rate.label for rate in failures.rates}
    if labels <= UNKNOWN:
        return doc.Remark(t("nothing_decided"), "warn")
    key = "no_symptoms_shown" if labels - UNKNOWN - {"fine"} else "no_symptoms"
    return doc.Remark(t(key), "good")


def describe_withheld(failures: Failures, t: Translator) -> Iterator[doc.Remark]:
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
        yield doc.Remark(text, "warn")


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


def describe_slice(slice: Slice, t: Translator) -> str:
    """A slice in words: a value of a field, a side of a count, a word of the question."""
    field, value = shorten(slice.field, 40), shorten(slice.value, 60)
    if slice.is_tagged:
        if slice.field == "language_pair":
            field = t("slice_field.language_pair")
        return t("slice_of", field=field, value=value)
    name = t(f"slice_field.{slice.field}")
    if slice.field == "word":
        return t("slice_word", field=name, value=value)
    side, _, limit = value.partition(" ")
    return t("slice_up_to" if side == "<=" else "slice_above", field=name, value=limit)


def list_ids(ids: Sequence[str]) -> str:
    """The first ids, and whether there are more."""
    shown = ", ".join(shorten(id, 40) for id in ids[:MAX_IDS])
    return f"{shown} …" if len(ids) > MAX_IDS else shown


def _symptom_on_page(
    diagnosis: Diagnosis, t: Translator, link_class: Callable[[str], str] | None
) -> doc.Section:
    # `perhaps`: the figure is past its limit, but its interval reaches back over it.
    doubt = () if diagnosis.sure else (" ", doc.Styled(t("perhaps"), "badge", "warn"))
    advice = [
        doc.ListItem(
            nodes=(
                doc.Paragraph(
                    f"{t('because')}: {choose_text(item.cause, t.language)}", style="soft"
                ),
                *_build_advice(item, t),
            )
        )
        for item in diagnosis.advice
    ]
    shown = []
    if link_class is not None and diagnosis.kind is not None:
        link = doc.Styled(t("view.show_samples"), "link", href=link_class(diagnosis.kind))
        shown = [doc.Paragraph(link)]
    return doc.Section(
        (
            doc.Heading((choose_text(diagnosis.title, t.language), *doubt), 3),
            build_list(_list_evidence(diagnosis, t), style="evidence"),
            *shown,
            build_list(advice, ordered=True),
        ),
        "panel symptom",
        where=doc.PAGE,
    )


def _symptom_in_text(
    number: int, diagnosis: Diagnosis, failures: Failures, t: Translator
) -> doc.Section:
    title = choose_text(diagnosis.title, t.language) + (
        "" if diagnosis.sure else f" ({t('perhaps')})"
    )
    advice = [
        doc.ListItem(
            choose_text(item.cause, t.language), "plain", nodes=tuple(_build_advice(item, t))
        )
        for item in diagnosis.advice
    ]
    look = format_look(failures.run) if number == 1 else None
    return doc.Section(
        (
            doc.Heading(title, 3, where=doc.TEXT),
            doc.Heading(f"{number}. {title}", where=doc.TERMINAL),
            *(doc.Paragraph(remark.text) for remark in _list_evidence(diagnosis, t)),
            build_list(advice, ordered=True),
            *([doc.CodeLine(look, t("story_look"))] if look else []),
        ),
        where=doc.COMPACT,
    )


def _build_advice(advice: Advice, t: Translator) -> Iterator[doc.Node]:
    yield doc.Paragraph(
        (
            doc.Styled(f"{t('then_try')}:", "strong"),
            f" {choose_text(advice.advice, t.language)}",
        )
    )
    if advice.command:
        yield doc.CodeLine(advice.command, t("test_it"))


def _list_evidence(diagnosis: Diagnosis, t: Translator) -> Iterator[doc.Remark]:
    for evidence in diagnosis.evidence:
        if evidence.what == diagnosis.kind:
            yield doc.Remark(_describe_class(diagnosis, evidence, t))
            yield doc.Remark(_describe_where(diagnosis, evidence, t))
        else:
            yield doc.Remark(_describe_metric(evidence, t))
    if not diagnosis.sure:
        yield doc.Remark(t("perhaps_note"))


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
