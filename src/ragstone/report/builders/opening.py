"""How a report opens: what the leading metric says in a sentence or two, and the claims that are worst."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from ragstone.analysis.headline import FaultyClaim, Headline, find_headline
from ragstone.report import document as doc
from ragstone.report.builders.diagnosis import describe_slice
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

FIT_AUROC = 0.7
"""Agreement with people under which a mean of the embedded judge gets a mark."""
PROBED_ROWS = 20
"""Samples that tell the language of a run."""
MAX_CAUSES = 3
CLAIM_CHARS, QUOTE_CHARS = 200, 300
EMBEDDED = "offline "
"""How the name of the embedded judge begins; its version follows."""


def build_opening(run: StoredRun, summary: Summary, say: Words) -> tuple[list[doc.Node], list[doc.Node]]:  # fmt: skip
    """The verdict on a run in at most three sentences, and the worst claims with what decides them."""
    headline = find_headline(run, summary)
    language = _identify_run_language(run)
    weakness = _find_weakness(headline.metric, run, language, say)
    verdict = " ".join(_describe_verdict(headline, weakness, say))
    nodes: list[doc.Node] = [doc.Paragraph(verdict, style="strong")]
    judge = " ".join(filter(None, (_describe_judging(summary, language, say), weakness)))
    if judge:
        nodes.append(doc.Paragraph(judge, style="note"))
    return nodes, _build_claims(headline.claims, run, say)


def _describe_verdict(headline: Headline, weakness: str, say: Words) -> Iterator[str]:
    errors, n = headline.errors, say.whole(headline.samples)
    if errors is not None:
        question = shorten(errors.first.question or say("no_question"), 80)
        yield say(
            "headline.broken",
            failed=say.whole(errors.count),
            n=n,
            question=question,
            reason=shorten(say.message(errors.reason), 200).rstrip("."),
        )
    if headline.verdict == "broken":
        return
    figure = _describe_figure(headline, weakness, say)
    if headline.verdict == "healthy":
        yield say("headline.healthy", n=n, figure=figure)
        if headline.faulty:
            yield say("headline.doubts", faulty=say.whole(headline.faulty))
        return
    causes = [kind for kind in headline.causes if kind != "system_failure"]
    if causes and headline.failures is not None:
        counted = [
            say(f"fails.{kind}", n=say.whole(headline.failures.count(kind)))
            for kind in causes[:MAX_CAUSES]
        ]
        where = headline.slice
        yield say(
            "headline.failing" if where is None else "headline.failing_in_slice",
            failing=say.whole(headline.failing),
            n=n,
            causes="; ".join(counted),
            slice="" if where is None else describe_slice(where, say),
        )
    yield say("headline.figure", figure=figure) if headline.metric else say("opening.nothing")
    if headline.verdict == "open" and headline.metric is not None and headline.claims:
        counts = {"faulty": say.whole(headline.faulty), "n": say.whole(headline.metric.scored)}
        yield say("headline.faulty", **counts)


def _describe_figure(headline: Headline, weakness: str, say: Words) -> str:
    """The leading number with its interval, and how many samples it speaks of where not all."""
    metric = headline.metric
    if metric is None:
        return ""
    figure = say(
        "headline.mean" if metric.low is not None else "headline.mean_alone",
        metric=metric.metric,
        mean=say.number(metric.mean, 2) + ("†" if weakness else ""),
        low=say.number(metric.low, 2),
        high=say.number(metric.high, 2),
    )
    if metric.scored == headline.samples:
        return figure
    counts = {"scored": say.whole(metric.scored), "n": say.whole(headline.samples)}
    return say("headline.of_scored", figure=figure, **counts)


def _find_weakness(metric: MetricSummary | None, run: StoredRun, language: str, say: Words) -> str:
    """Why the embedded judge is not to be believed on this metric in this language; empty when it is, or another judged."""
    if metric is None or not metric.judged or not (run.info.judge or "").startswith(EMBEDDED):
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


def _build_claims(claims: Sequence[FaultyClaim], run: StoredRun, say: Words) -> list[doc.Node]:
    """The worst claims, each with the text that decides it, or the sentence that comes closest."""
    if not claims:
        return []
    items = [_build_claim(claim, run.row(claim.position), say) for claim in claims]
    title = say.count("worst_claims", len(items))
    return [build_panel("claims", title, build_list(items, style="claims"))]


def _build_claim(claim: FaultyClaim, row: StoredRow, say: Words) -> doc.ListItem:
    finding = claim.finding
    text = say("quoted", text=shorten(finding.text, CLAIM_CHARS))
    lines = describe_evidence(finding, row.sample, say)
    nodes = tuple(doc.Paragraph(line, style="soft") for line in lines)
    return doc.ListItem(
        text, choose_tone(finding.shown_verdict), id=shorten(claim.id, 40), nodes=nodes
    )


def describe_evidence(finding: Finding, sample: Sample, say: Words) -> list[str]:
    """The verdict with its reason, and the text that decides it or the sentence that comes closest."""
    verdict = say.translate("verdict", finding.shown_verdict)
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
