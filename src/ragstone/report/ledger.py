"""The findings of a sample as one list: each claim once, with the metrics that used it and where its evidence stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ragstone.report.excerpts import EvidenceMark
from ragstone.report.remarks import Severity
from ragstone.text.evidence import find_quote
from ragstone.text.words import fold_text
from ragstone.types import Finding, Sample, Score

GOOD_VERDICTS = frozenset(
    {"supported", "covered", "useful", "relevant", "correct", "right"}
) | frozenset({"on_topic", "consistent", "reached", "expected", "made", "done"})
BAD_VERDICTS = frozenset(
    {
        "contradicted",
        "wrong",
        "error",
        "noise",
        "evasive",
        "not_useful",
        "not_relevant",
        "off_topic",
        "not_reached",
        "failed",
    }
)
WARN_VERDICTS = frozenset(
    {
        "not_found",
        "missing",
        "omission",
        "addition",
        "partly_useful",
        "partly_relevant",
        "unexpected",
    }
)


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One finding with its number in the sample."""

    number: int
    finding: Finding
    metrics: list[str]
    severity: Severity
    chunk: int | None
    """Index of the chunk that decides it, when it is one of the sample's."""


@dataclass(slots=True)
class Ledger:
    """The entries of a sample, and what they mark in its texts."""

    entries: list[LedgerEntry] = field(default_factory=list)
    in_chunks: dict[int, list[EvidenceMark]] = field(default_factory=dict)
    in_answer: list[EvidenceMark] = field(default_factory=list)
    in_reference: list[EvidenceMark] = field(default_factory=list)


def build_ledger(sample: Sample, scores: Mapping[str, Score]) -> Ledger:
    """Every distinct finding of the sample's scores, numbered from 1."""
    ledger = Ledger()
    seen: dict[tuple[str, str, str, str], LedgerEntry] = {}
    for metric, score in scores.items():
        for finding in score.findings:
            # The same claim judged otherwise by another metric is another entry: readers must see
            # that they disagree.
            key = (finding.text, finding.verdict, finding.chunk, finding.quote)
            if key in seen:
                if metric not in seen[key].metrics:
                    seen[key].metrics.append(metric)
                continue
            entry = LedgerEntry(
                number=len(seen) + 1,
                finding=finding,
                metrics=[metric],
                severity=choose_severity(finding.shown_verdict),
                chunk=_find_chunk(finding, sample),
            )
            seen[key] = entry
            ledger.entries.append(entry)
            _mark_evidence(ledger, entry, sample)
    return ledger


def choose_severity(verdict: str) -> Severity:
    """How a verdict is coloured: good, bad, warn or plain."""
    word = fold_text(verdict).replace(" ", "_")
    return (
        "good"
        if word in GOOD_VERDICTS
        else "bad"
        if word in BAD_VERDICTS
        else "warn"
        if word in WARN_VERDICTS
        else "plain"
    )


def _mark_evidence(ledger: Ledger, entry: LedgerEntry, sample: Sample) -> None:
    finding = entry.finding
    if entry.chunk is not None and sample.contexts is not None:
        marks = ledger.in_chunks.setdefault(entry.chunk, [])
        _mark_quote(marks, entry, sample.contexts[entry.chunk].text)
    elif finding.chunk == "answer":
        _mark_quote(ledger.in_answer, entry, sample.answer or "")
    elif finding.chunk == "reference":
        _mark_quote(ledger.in_reference, entry, sample.reference or "")
    if finding.span is not None:
        mark = EvidenceMark(*finding.span, entry.number, entry.severity)
        (ledger.in_reference if _is_in_reference(finding, sample) else ledger.in_answer).append(
            mark
        )


def _mark_quote(marks: list[EvidenceMark], entry: LedgerEntry, text: str) -> None:
    place = _locate_quote(entry.finding, text)
    if place is not None:
        marks.append(EvidenceMark(*place, entry.number, entry.severity))


def _find_chunk(finding: Finding, sample: Sample) -> int | None:
    """The chunk with that id; a chunk without an id goes by its rank."""
    for rank, chunk in enumerate(sample.contexts or (), 1):
        # Judges are shown chunks without ids by their rank, so findings name them the same way.
        if finding.chunk and finding.chunk == (chunk.id or str(rank)):
            return rank - 1
    return None


def _locate_quote(finding: Finding, text: str) -> tuple[int, int] | None:
    """Where the quote stands: at the offsets given if they hold, else wherever it is found."""
    if not finding.quote:
        return None
    start, end = finding.start, finding.end
    if (
        start is not None
        and end is not None
        and 0 <= start < end <= len(text)
        and fold_text(text[start:end]) == fold_text(finding.quote)
    ):
        return start, end
    # Offsets may be of another text (of what the judge was shown, cut): they count only where the
    # quote stands there.
    return find_quote(finding.quote, text)


def _is_in_reference(finding: Finding, sample: Sample) -> bool:
    """Whether the span lies in the reference rather than the answer: where more of the claim's words stand."""
    assert finding.span is not None
    start, end = finding.span
    # A span does not say which text it is of; stores hold it as it was judged.
    wanted = _word_set(finding.text)
    answer, reference = (
        len(wanted & _word_set((text or "")[start:end]))
        for text in (sample.answer, sample.reference)
    )
    return reference > answer


def _word_set(text: str) -> set[str]:
    return set(re.findall(r"\w+", fold_text(text)))
