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
from ragstone.report.ledger import choose_severity
from ragstone.text.content import find_closest_sentence
from ragstone.text.language import identify_sample_language, is_measured_language

if TYPE_CHECKING:
    from ragstone.analysis import MetricSummary, Summary
    from ragstone.report.translator import Translator
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


def build_opening(run: StoredRun, summary: Summary, t: Translator) -> tuple[list[doc.Node], list[doc.Node]]:  # fmt: skip
    """The verdict on a run in at most three sentences, and the worst claims with what decides them."""
    headline = find_headline(run, summary)
    language = _identify_run_language(run)
    weakness = _find_weakness(headline.metric, run, language, t)
    verdict = " ".join(_describe_verdict(headline, weakness, t))
    nodes: list[doc.Node] = [doc.Paragraph(verdict, style="strong")]
    judge = " ".join(filter(None, (_describe_judging(summary, language, t), weakness)))
    if judge:
        nodes.append(doc.Paragraph(judge, style="note"))
    return nodes, _build_claims(headline.claims, run, t)


def _describe_verdict(headline: Headline, weakness: str, t: Translator) -> Iterator[str]:
    errors, n = headline.errors, t.whole(headline.samples)
    if errors is not None:
        question = shorten(errors.first.question or t("no_question"), 80)
        yield t(
            "headline.broken",
            failed=t.whole(errors.count),
            n=n,
            question=question,
            reason=shorten(t.message(errors.reason), 200).rstrip("."),
        )
    if headline.verdict == "broken":
        return
    figure = _describe_figure(headline, weakness, t)
    if headline.verdict == "healthy":
        yield t("headline.healthy", n=n, figure=figure)
        if headline.faulty:
            yield t("headline.doubts", faulty=t.whole(headline.faulty))
        return
    causes = [kind for kind in headline.causes if kind != "system_failure"]
    if causes and headline.failures is not None:
        counted = [
            t(f"fails.{kind}", n=t.whole(headline.failures.count(kind)))
            for kind in causes[:MAX_CAUSES]
        ]
        where = headline.slice
        yield t(
            "headline.failing" if where is None else "headline.failing_in_slice",
            failing=t.whole(headline.failing),
            n=n,
            causes="; ".join(counted),
            slice="" if where is None else describe_slice(where, t),
        )
    yield t("headline.figure", figure=figure) if headline.metric else t("opening.nothing")
    if headline.verdict == "open" and headline.metric is not None and headline.claims:
        counts = {"faulty": t.whole(headline.faulty), "n": t.whole(headline.metric.scored)}
        yield t("headline.faulty", **counts)


def _describe_figure(headline: Headline, weakness: str, t: Translator) -> str:
    """The leading number with its interval, and how many samples it speaks of where not all."""
    metric = headline.metric
    if metric is None:
        return ""
    figure = t(
        "headline.mean" if metric.low is not None else "headline.mean_alone",
        metric=metric.metric,
        mean=t.number(metric.mean, 2) + ("†" if weakness else ""),
        low=t.number(metric.low, 2),
        high=t.number(metric.high, 2),
    )
    if metric.scored == headline.samples:
        return figure
    counts = {"scored": t.whole(metric.scored), "n": t.whole(headline.samples)}
    return t("headline.of_scored", figure=figure, **counts)


def _find_weakness(
    metric: MetricSummary | None, run: StoredRun, language: str, t: Translator
) -> str:
    """Why the embedded judge is not to be believed on this metric in this language; empty when it is, or another judged."""
    if metric is None or not metric.judged or not (run.info.judge or "").startswith(EMBEDDED):
        return ""
    from ragstone.judges.offline.quality import quality

    language_name = t.translate("language", language)
    rows = [
        row
        for row in quality([metric.metric], language)
        if row.language == language and row.auroc is not None
    ]
    if not rows:
        return t("opening.unmeasured", language=language_name)
    worst = min(rows, key=lambda row: row.auroc or 0.0)
    if (worst.auroc or 0.0) >= FIT_AUROC:
        return ""
    return t(
        "opening.weak", language=language_name, auroc=t.number(worst.auroc, 2), data=worst.data
    )


def _describe_judging(summary: Summary, language: str, t: Translator) -> str:
    """Who judged, and how to choose another; said where nobody chose one."""
    info = summary.run
    if info.plan.judge is None and describe_judge(summary, t):
        return t("opening.judged_by_embedded")
    is_foreign = not is_measured_language(language)
    if info.judge is None and info.facts.metrics_by_data and is_foreign:
        return t("opening.not_judged", language=language)
    return ""


def _identify_run_language(run: StoredRun) -> str:
    """The language of most of the first samples."""
    given = run.info.plan.language
    if given:
        return given.lower().split("-")[0]
    rows = islice(run.rows(), PROBED_ROWS)
    tags = [identify_sample_language(row.sample).lower().split("-")[0] for row in rows]
    return max(tags, key=tags.count, default="en")


def _build_claims(claims: Sequence[FaultyClaim], run: StoredRun, t: Translator) -> list[doc.Node]:
    """The worst claims, each with the text that decides it, or the sentence that comes closest."""
    if not claims:
        return []
    items = [_build_claim(claim, run.row(claim.position), t) for claim in claims]
    title = t.count("worst_claims", len(items))
    return [build_panel("claims", title, build_list(items, style="claims"))]


def _build_claim(claim: FaultyClaim, row: StoredRow, t: Translator) -> doc.ListItem:
    finding = claim.finding
    text = t("quoted", text=shorten(finding.text, CLAIM_CHARS))
    lines = describe_evidence(finding, row.sample, t)
    nodes = tuple(doc.Paragraph(line, style="soft") for line in lines)
    return doc.ListItem(
        text, choose_severity(finding.shown_verdict), id=shorten(claim.id, 40), nodes=nodes
    )


def describe_evidence(finding: Finding, sample: Sample, t: Translator) -> list[str]:
    """The verdict with its reason, and the text that decides it or the sentence that comes closest."""
    verdict = t.translate("verdict", finding.shown_verdict)
    reason = shorten(t.message(finding.reason), QUOTE_CHARS)
    lines = [f"{verdict}: {reason}" if reason else verdict]
    if finding.quote:
        quote = t("quoted", text=shorten(finding.quote, QUOTE_CHARS))
        lines.append(t("decided_by_text", source=_name_source(finding.chunk, t), quote=quote))
    elif finding.verdict == "not_found" and any(c.text for c in sample.contexts or ()):
        lines.append(_describe_closest(finding.text, sample, t))
    return lines


def _describe_closest(claim: str, sample: Sample, t: Translator) -> str:
    """That no source says it, with the sentence of the sources that shares most of its words."""
    chunks = sample.contexts or ()
    closest = find_closest_sentence(claim, [chunk.text for chunk in chunks])
    if closest is None:
        return t("no_source")
    index, sentence = closest
    source = chunks[index].id or t("rank", n=index + 1)
    quote = t("quoted", text=shorten(sentence, QUOTE_CHARS))
    return t("no_source_closest", source=_name_source(source, t), quote=quote)


def _name_source(chunk: str, t: Translator) -> str:
    """The chunk that holds a text; the answer and the reference are called by their names."""
    name = t.translate("source", chunk)
    return t("rank", n=name) if name.isdigit() else shorten(name, 60)


def build_next_commands(commands: Sequence[tuple[str, str]], t: Translator) -> list[doc.Node]:
    """What to do next: each command under the reason to run it."""
    if not commands:
        return []
    items = [doc.ListItem(t(f"next.{key}"), nodes=(doc.CodeLine(text),)) for key, text in commands]
    return [doc.Section((doc.Heading(t("next")), build_list(items)), where=doc.TERMINAL)]
