"""How a report opens: what the leading metric says in a sentence or two, and the claims that are worst."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from ragstone.analysis.lead import CLAIM_FAULTS, RANKING_FAMILIES, FaultyClaim, Lead, find_lead
from ragstone.report import document as doc
from ragstone.report.builders.parts import build_list, build_panel
from ragstone.report.figures import describe_judge, shorten
from ragstone.report.ledger import choose_tone
from ragstone.text.content import find_closest_sentence
from ragstone.text.language import identify_sample_language, is_measured_language

if TYPE_CHECKING:
    from ragstone.analysis import MetricSummary, Summary
    from ragstone.report.words import Words
    from ragstone.store import StoredRow, StoredRun
    from ragstone.types import Finding, Sample

GRADES = (
    ("nearly", 0.9, 1.0),
    ("mostly", 0.7, 1.0),
    ("partly", 0.15, 0.85),
    ("hardly", 0.0, 0.3),
)
"""Words for a mean from 0 to 1, and the range that its whole 95 % interval must lie in; the first whose range holds it is used."""
FIT_AUROC = 0.7
"""Agreement with people from which a mean of the embedded judge is put into words."""
GRADED_FAMILIES = frozenset(
    {"faithfulness", "answer_correctness", "context_recall", "answer_relevance", "recall", "hit_rate"}
)  # fmt: skip
PROBED_ROWS = 20
"""Samples that tell the language of a run."""
CLAIM_CHARS, QUOTE_CHARS = 200, 300
EMBEDDED = "offline "
"""How the name of the embedded judge begins; its version follows."""


def build_opening(run: StoredRun, summary: Summary, say: Words) -> tuple[list[doc.Node], list[doc.Node]]:  # fmt: skip
    """The sentences that a report opens with, and the worst claims with what decides them."""
    lead = find_lead(run, summary)
    language = _identify_run_language(run)
    sentences = (
        [say("opening.nothing")] if lead is None else _describe_lead(lead, run, language, say)
    )
    nodes: list[doc.Node] = [doc.Paragraph(" ".join(sentences), style="strong")]
    judge = _describe_judging(summary, language, say)
    if judge:
        nodes.append(doc.Paragraph(judge, style="note"))
    return nodes, [] if lead is None else _build_claims(lead, run, say)


def _describe_lead(lead: Lead, run: StoredRun, language: str, say: Words) -> list[str]:
    metric = lead.metric
    figure = say(
        "opening.figure" if metric.low is not None else "opening.figure_alone",
        metric=metric.metric,
        mean=say.number(metric.mean, 2),
        low=say.number(metric.low, 2),
        high=say.number(metric.high, 2),
    )
    return [_grade_mean(lead, run, language, figure, say), *_count_faults(lead, run, say)]


def _grade_mean(lead: Lead, run: StoredRun, language: str, figure: str, say: Words) -> str:
    """The mean in words that hold for its whole interval; where none do, why."""
    metric, judge = lead.metric, run.info.judge
    weakness = _find_weakness(metric, run, language, say)
    if weakness and metric.complete:
        return say("opening.unfit", figure=figure, weakness=weakness)
    if metric.judged and judge:
        name = say("opening.embedded") if judge.startswith(EMBEDDED) else judge
        figure = say("opening.judged", figure=figure, judge=name)
    if not metric.complete:
        counts = {"scored": say.whole(metric.scored), "applicable": say.whole(metric.applicable)}
        return say("opening.incomplete", figure=figure, **counts)
    if lead.family not in GRADED_FAMILIES:
        return say("opening.plain", figure=figure)
    low, high = metric.low, metric.high
    for word, least, most in GRADES:
        if low is not None and high is not None and least <= low and high <= most:
            return say(f"opening.{lead.family}.{word}", figure=figure)
    return say("opening.unsettled", figure=figure, samples=say.count("sample", metric.scored))


def _find_weakness(metric: MetricSummary, run: StoredRun, language: str, say: Words) -> str:
    """Why the embedded judge is not to be believed on this metric in this language; empty when it is, or another judged."""
    if not metric.judged or not (run.info.judge or "").startswith(EMBEDDED):
        return ""
    from ragstone.judges.offline.quality import quality

    language_name = say.translate("language", language)
    rows = [
        row
        for row in quality([metric.metric], language)
        if row.language == language and row.auroc is not None
    ]
    if not rows:
        return say("opening.unmeasured", language=language_name)
    worst = min(rows, key=lambda row: row.auroc or 0.0)
    if (worst.auroc or 0.0) >= FIT_AUROC:
        return ""
    return say(
        "opening.weak", language=language_name, auroc=say.number(worst.auroc, 2), data=worst.data
    )


def _count_faults(lead: Lead, run: StoredRun, say: Words) -> Iterator[str]:
    """How many samples are at fault, and the worst of them."""
    n = lead.metric.scored
    family = "ranking" if lead.family in RANKING_FAMILIES else lead.family
    if family != "ranking" and family not in CLAIM_FAULTS:
        family = "other"
    if not lead.faulty and family != "other":
        yield say.count(f"faults.{family}.none", n)
        return
    if not lead.worst:
        return
    worst = lead.worst[0]
    yield say(
        f"faults.{family}.{'one' if lead.faulty == 1 else 'many'}",
        faulty=say.whole(lead.faulty),
        n=say.whole(n),
        id=shorten(worst.id, 40),
        text=shorten(_quote_worst(worst, run, say), 120),
    )


def _quote_worst(worst: FaultyClaim, run: StoredRun, say: Words) -> str:
    if worst.finding is not None:
        return worst.finding.text
    sample = run.row(worst.position).sample
    return sample.question or sample.answer or say("no_question")


def _describe_judging(summary: Summary, language: str, say: Words) -> str:
    """Who judged, and how to choose another; said where nobody chose one."""
    info = summary.run
    if info.plan.judge is None and describe_judge(summary, say):
        return say("opening.judged_by_embedded")
    is_foreign = not is_measured_language(language)
    if info.judge is None and info.facts.metrics_by_data and is_foreign:
        return say("opening.not_judged", language=language)
    return ""


def _identify_run_language(run: StoredRun) -> str:
    """The language of most of the first samples."""
    given = run.info.plan.language
    if given:
        return given.lower().split("-")[0]
    rows = islice(run.rows(), PROBED_ROWS)
    tags = [identify_sample_language(row.sample).lower().split("-")[0] for row in rows]
    return max(tags, key=tags.count, default="en")


def _build_claims(lead: Lead, run: StoredRun, say: Words) -> list[doc.Node]:
    """The worst claims, each with the text that decides it, or the sentence that comes closest."""
    claims = [claim for claim in lead.worst if claim.finding is not None]
    if not claims:
        return []
    items = [_build_claim(claim, run.row(claim.position), say) for claim in claims]
    title = say.count("worst_claims", len(items))
    return [build_panel("claims", title, build_list(items, style="claims"))]


def _build_claim(claim: FaultyClaim, row: StoredRow, say: Words) -> doc.ListItem:
    finding = claim.finding
    assert finding is not None
    text = say("quoted", text=shorten(finding.text, CLAIM_CHARS))
    lines = describe_evidence(finding, row.sample, say)
    nodes = tuple(doc.Paragraph(line, style="soft") for line in lines)
    return doc.ListItem(text, choose_tone(finding.verdict), id=shorten(claim.id, 40), nodes=nodes)


def describe_evidence(finding: Finding, sample: Sample, say: Words) -> list[str]:
    """The verdict with its reason, and the text that decides it or the sentence that comes closest."""
    verdict = say.translate("verdict", finding.verdict)
    reason = shorten(say.message(finding.reason), QUOTE_CHARS)
    lines = [f"{verdict}: {reason}" if reason else verdict]
    if finding.quote:
        quote = say("quoted", text=shorten(finding.quote, QUOTE_CHARS))
        lines.append(say("decided_by_text", source=_name_source(finding.chunk, say), quote=quote))
    elif finding.verdict == "not_found" and any(c.text for c in sample.contexts or ()):
        lines.append(_describe_closest(finding.text, sample, say))
    return lines


def _describe_closest(claim: str, sample: Sample, say: Words) -> str:
    """That no source says it, with the sentence of the sources that shares most of its words."""
    chunks = sample.contexts or ()
    closest = find_closest_sentence(claim, [chunk.text for chunk in chunks])
    if closest is None:
        return say("no_source")
    index, sentence = closest
    source = chunks[index].id or say("rank", n=index + 1)
    quote = say("quoted", text=shorten(sentence, QUOTE_CHARS))
    return say("no_source_closest", source=_name_source(source, say), quote=quote)


def _name_source(chunk: str, say: Words) -> str:
    """The chunk that holds a text; the answer and the reference are called by their names."""
    name = say.translate("source", chunk)
    return say("rank", n=name) if name.isdigit() else shorten(name, 60)


def build_next_commands(commands: Sequence[tuple[str, str]], say: Words) -> list[doc.Node]:
    """What to do next: each command under the reason to run it."""
    if not commands:
        return []
    items = [
        doc.ListItem(say(f"next.{key}"), nodes=(doc.CodeLine(text),)) for key, text in commands
    ]
    return [doc.Section((doc.Heading(say("next")), build_list(items)), where=doc.TERMINAL)]
