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
from ragstone.report.words import Words, load_words
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
    say = load_words(language)
    nodes: list[doc.Node] = [
        _symptom_in_text(n, d, failures, say) for n, d in enumerate(diagnoses, 1)
    ]
    if not diagnoses:
        remark = describe_silence(failures, say)
        nodes = [doc.Paragraph(remark.text, remark.tone)]
    nodes += [
        doc.Paragraph(note.text, note.tone, "note") for note in describe_withheld(failures, say)
    ]
    nodes.append(doc.Section((doc.Paragraph(""),)))  # a free line, for the prompt follows
    title = say("diagnosis")
    return doc.ReportDocument("diagnosis", say, title, title, (), tuple(nodes))


def build_diagnosis(
    diagnoses: Sequence[Diagnosis],
    failures: Failures,
    say: Words,
    link_class: Callable[[str], str] | None = None,
) -> doc.Section:
    """The causes with what shows them and what to try, for files; `link_class` gives the address of a class's samples."""
    nodes: list[doc.Node] = [doc.Heading(say("diagnosis"))]
    if not diagnoses:
        nodes.append(doc.Paragraph(describe_silence(failures, say).text, style="panel"))
    for number, diagnosis in enumerate(diagnoses, 1):
        nodes.append(_symptom_on_page(diagnosis, say, link_class))
        nodes.append(_symptom_in_text(number, diagnosis, failures, say))
    return doc.Section(tuple(nodes), id="diagnosis", where=doc.WRITTEN)


def describe_silence(failures: Failures, say: Words) -> doc.Remark:
    """Why there is no advice: nothing fails, no more than the judge errs, or nothing decides."""
    labels = {rate.label for rate in failures.rates}
    if labels <= UNKNOWN:
        return doc.Remark(say("nothing_decided"), "warn")
    key = "no_symptoms_shown" if labels - UNKNOWN - {"fine"} else "no_symptoms"
    return doc.Remark(say(key), "good")


def describe_withheld(failures: Failures, say: Words) -> Iterator[doc.Remark]:
    """Judged metrics that take part in no conclusion, and how to change that."""
    info = failures.run
    metrics: dict[tuple[str, str], list[str]] = {}
    for item in failures.withheld:
        metrics.setdefault((item.language, item.reason), []).append(item.metric)
    for (language, why), names in metrics.items():
        command = format_check(info, language)
        reason = why if command or why == "unfit" else "unnamed"
        text = say(
            f"withheld.{reason if language in LANGUAGES else 'no_controls'}",
            metrics=", ".join(names),
            language=language,
            judge=info.judge or say("unknown_judge"),
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


def name_class(kind: str, say: Words) -> str:
    """A class in words."""
    return say.translate("failure_class", kind)


def describe_slice(slice: Slice, say: Words) -> str:
    """A slice in words: a value of a field, a side of a count, a word of the question."""
    field, value = shorten(slice.field, 40), shorten(slice.value, 60)
    if slice.is_tagged:
        if slice.field == "language_pair":
            field = say("slice_field.language_pair")
        return say("slice_of", field=field, value=value)
    name = say(f"slice_field.{slice.field}")
    if slice.field == "word":
        return say("slice_word", field=name, value=value)
    side, _, limit = value.partition(" ")
    return say("slice_up_to" if side == "<=" else "slice_above", field=name, value=limit)


def list_ids(ids: Sequence[str]) -> str:
    """The first ids, and whether there are more."""
    shown = ", ".join(shorten(id, 40) for id in ids[:MAX_IDS])
    return f"{shown} …" if len(ids) > MAX_IDS else shown


def _symptom_on_page(
    diagnosis: Diagnosis, say: Words, link_class: Callable[[str], str] | None
) -> doc.Section:
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
    shown = []
    if link_class is not None and diagnosis.kind is not None:
        link = doc.Styled(say("view.show_samples"), "link", href=link_class(diagnosis.kind))
        shown = [doc.Paragraph(link)]
    return doc.Section(
        (
            doc.Heading((choose_text(diagnosis.title, say.language), *doubt), 3),
            build_list(_list_evidence(diagnosis, say), style="evidence"),
            *shown,
            build_list(advice, ordered=True),
        ),
        "panel symptom",
        where=doc.PAGE,
    )


def _symptom_in_text(
    number: int, diagnosis: Diagnosis, failures: Failures, say: Words
) -> doc.Section:
    title = choose_text(diagnosis.title, say.language) + (
        "" if diagnosis.sure else f" ({say('perhaps')})"
    )
    advice = [
        doc.ListItem(
            choose_text(item.cause, say.language), "plain", nodes=tuple(_build_advice(item, say))
        )
        for item in diagnosis.advice
    ]
    look = format_look(failures.run) if number == 1 else None
    return doc.Section(
        (
            doc.Heading(title, 3, where=doc.TEXT),
            doc.Heading(f"{number}. {title}", where=doc.TERMINAL),
            *(doc.Paragraph(remark.text) for remark in _list_evidence(diagnosis, say)),
            build_list(advice, ordered=True),
            *([doc.CodeLine(look, say("story_look"))] if look else []),
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


def _list_evidence(diagnosis: Diagnosis, say: Words) -> Iterator[doc.Remark]:
    for evidence in diagnosis.evidence:
        if evidence.what == diagnosis.kind:
            yield doc.Remark(_describe_class(diagnosis, evidence, say))
            yield doc.Remark(_describe_where(diagnosis, evidence, say))
        else:
            yield doc.Remark(_describe_metric(evidence, say))
    if not diagnosis.sure:
        yield doc.Remark(say("perhaps_note"))


def _describe_class(diagnosis: Diagnosis, evidence: SymptomEvidence, say: Words) -> str:
    """How many samples are of the class, and which part of all that fails that is."""
    interval = "–"
    if evidence.low is not None and evidence.high is not None:
        interval = f"{say.percent(evidence.low)} – {say.percent(evidence.high)}"
    text = say(
        "story_class",
        affected=say.whole(evidence.affected),
        samples=say.whole(evidence.samples),
        value=say.percent(evidence.value),
        interval=interval,
        share=say.percent(diagnosis.share or 0.0, 0),
    )
    if diagnosis.metric is None or diagnosis.expected < 0.5:
        return text
    return f"{text} {say('story_error', expected=say.whole(round(diagnosis.expected)))}"


def _describe_where(diagnosis: Diagnosis, evidence: SymptomEvidence, say: Words) -> str:
    """Where the class gathers, and some samples of it."""
    part = diagnosis.slice
    where = say("story_everywhere")
    if part is not None:
        where = say(
            "story_slice",
            slice=describe_slice(part, say),
            rate=say.percent(part.rate, 0),
            inside=say.whole(part.samples),
            rest=say.percent(part.rest_rate, 0),
        )
    return f"{where} {say('story_examples', examples=list_ids(evidence.examples))}"


def _describe_metric(evidence: SymptomEvidence, say: Words) -> str:
    limit = f"{evidence.limit:g}".replace(".", say("decimal"))
    return say(
        "evidence_metric",
        what=evidence.what,
        value=say.number(evidence.value),
        interval=say.interval(evidence.low, evidence.high),
        rule=say("above_limit" if evidence.above else "below_limit", limit=limit),
        affected=say.whole(evidence.affected),
        samples=say.whole(evidence.samples),
        examples=list_ids(evidence.examples) or "–",
    )
