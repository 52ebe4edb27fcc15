"""One sample as a page shows it: texts cut to size, evidence marked, every score with its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ragstone.report.excerpts import Mark, Piece, is_cut, pieces
from ragstone.report.figures import shortened
from ragstone.report.ledger import Entry, Ledger, ledger
from ragstone.report.words import Words
from ragstone.types import FAILURES, Chunk, Sample, Score


class Scored(Protocol):
    """A sample with its scores: a row of a run, or an interaction of a live system."""

    @property
    def position(self) -> int: ...
    @property
    def id(self) -> str: ...
    @property
    def sample(self) -> Sample: ...
    @property
    def scores(self) -> Mapping[str, Score]: ...


class Scale(Protocol):
    """What a view needs to know of a metric: where its values lie, and which of them are good."""

    @property
    def metric(self) -> str: ...
    @property
    def bounds(self) -> tuple[float, float] | None: ...
    @property
    def higher_is_better(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a sample is shown."""

    text: int
    """Characters of each text."""
    chunks: int
    findings: int

    def tighter(self) -> Limits:
        """A step less of everything, of texts most, down to a readable least."""
        return Limits(
            text=max(self.text * 2 // 3, min(self.text, 80)),
            chunks=max(self.chunks * 5 // 6, min(self.chunks, 2)),
            findings=max(self.findings * 5 // 6, min(self.findings, 2)),
        )

    def within(self, sample: Sample, findings: int) -> Limits:
        """No more than the sample has, so that the next step down is felt."""
        chunks = sample.contexts or ()
        texts = (sample.question, sample.answer, sample.reference, *(c.text for c in chunks))
        longest = max(len(text or "") for text in texts)
        return Limits(
            min(self.text, max(longest, 600)),  # findings are cut at 600 anyway
            min(self.chunks, max(len(chunks), len(sample.relevant or ()))),
            min(self.findings, findings),
        )


GENEROUS = Limits(text=20_000, chunks=50, findings=99)


@dataclass(frozen=True, slots=True)
class ScoreView:
    """One score of a sample in words."""

    metric: str
    value: str
    level: str
    """high, mid, low or none: how good the value is on its own scale."""
    share: float | None
    """Where the value lies on the metric's scale, 0 to 1."""
    outcome: str
    outcome_text: str
    reason: str
    label: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChunkView:
    """One retrieved chunk with the evidence in it."""

    rank: int
    id: str
    relevant: str
    score: str
    parts: list[Piece]
    numbers: list[int]
    """The findings that this chunk decides."""


@dataclass(frozen=True, slots=True)
class FindingView:
    """One line of the ledger."""

    number: int
    text: str
    verdict: str
    tone: str
    reason: str
    quote: str
    chunk_id: str
    chunk_rank: int | None
    unverified: bool
    metrics: str


@dataclass(frozen=True, slots=True)
class SampleView:
    """Everything the page shows of one sample."""

    position: int
    id: str
    group: str
    error: str
    title: str
    question: list[Piece]
    answer: list[Piece] | None
    reference: list[Piece] | None
    chunks: list[ChunkView] | None
    more_chunks: int
    missed: list[str]
    more_missed: int
    scores: list[ScoreView]
    findings: list[FindingView]
    more_findings: int
    values: list[float | None]
    outcomes: list[str]
    labels: list[str]
    cut: bool

    @property
    def chips(self) -> list[ScoreView]:
        """The scores worth a glance: what was scored or failed, not what does not apply."""
        return [one for one in self.scores if one.value or one.outcome in FAILURES]


def opened(row: Scored, metrics: Sequence[Scale]) -> Ledger:
    """The findings of a row, to be viewed within whatever limits."""
    return ledger(row.sample, _scores(row, metrics))


def view(
    row: Scored, book: Ledger, metrics: Sequence[Scale], limits: Limits, say: Words
) -> SampleView:
    """The sample within the limits."""
    sample, scores = row.sample, _scores(row, metrics)
    shown = book.entries[: limits.findings]
    chunk_views = _chunks(sample, book, limits, say)
    missed = _missed(sample)
    question = pieces(sample.question or "", (), limits.text)
    answer = _text(sample.answer, book.in_answer, limits)
    reference = _text(sample.reference, book.in_reference, limits)
    texts = [question, answer or [], reference or [], *(c.parts for c in chunk_views or ())]
    retrieved = len(sample.contexts or ())
    more = (retrieved - limits.chunks, len(book.entries) - len(shown), len(missed) - limits.chunks)
    return SampleView(
        position=row.position,
        id=shortened(row.id, 120),
        group=shortened(sample.group or "", 80),
        error=shortened(sample.error or "", 400),
        title=shortened(sample.question or "", min(limits.text, 240)),
        question=question,
        answer=answer,
        reference=reference,
        chunks=chunk_views,
        more_chunks=max(more[0], 0),
        missed=[shortened(one, 120) for one in missed[: limits.chunks]],
        more_missed=max(more[2], 0),
        scores=[_score(one, scores[one.metric], say) for one in metrics if one.metric in scores],
        findings=[_finding(entry, sample, limits, say) for entry in shown],
        more_findings=max(more[1], 0),
        values=[scores[one.metric].value if one.metric in scores else None for one in metrics],
        outcomes=[_outcome(scores.get(one.metric)) for one in metrics],
        labels=[_label(scores.get(one.metric)) for one in metrics],
        cut=any(is_cut(parts) for parts in texts) or any(extra > 0 for extra in more),
    )


def _scores(row: Scored, metrics: Sequence[Scale]) -> dict[str, Score]:
    return {one.metric: row.scores[one.metric] for one in metrics if one.metric in row.scores}


def _text(text: str | None, marks: Sequence[Mark], limits: Limits) -> list[Piece] | None:
    return None if text is None else pieces(text, marks, limits.text)


def _chunks(sample: Sample, book: Ledger, limits: Limits, say: Words) -> list[ChunkView] | None:
    if sample.contexts is None:
        return None
    grades = sample.relevant or {}
    return [
        ChunkView(
            rank=index + 1,
            id=shortened(chunk.id, 120),
            relevant=_relevance(grades.get(chunk.id, 0.0), say),
            score=_retriever_score(chunk, say),
            parts=pieces(chunk.text, book.in_chunks.get(index, ()), limits.text),
            numbers=[entry.number for entry in book.entries if entry.chunk == index],
        )
        for index, chunk in enumerate(sample.contexts[: limits.chunks])
    ]


def _relevance(grade: float, say: Words) -> str:
    if grade <= 0:
        return ""
    return say("relevant") if grade == 1 else say("grade", grade=f"{grade:g}")


def _retriever_score(chunk: Chunk, say: Words) -> str:
    return "" if chunk.score is None else say("chunk_score", score=say.number(chunk.score))


def _missed(sample: Sample) -> list[str]:
    """Relevant documents that were not retrieved."""
    if not sample.relevant or sample.contexts is None:
        return []
    found = set(sample.contexts.ids)
    return [name for name, grade in sample.relevant.items() if grade > 0 and name not in found]


def _score(one: Scale, score: Score, say: Words) -> ScoreView:
    share = level = None
    if score.value is not None and one.bounds is not None and one.bounds[1] > one.bounds[0]:
        low, high = one.bounds
        share = min(max((score.value - low) / (high - low), 0.0), 1.0)
        good = share if one.higher_is_better else 1 - share
        level = "low" if good < 1 / 3 else "mid" if good < 2 / 3 else "high"
    name = f"{score.outcome}: {score.kind}" if score.kind else score.outcome
    return ScoreView(
        metric=one.metric,
        value=say.number(score.value) if score.value is not None else "",
        level=level or "none",
        share=None if share is None else round(share, 3),
        outcome=score.outcome,
        outcome_text="" if score.ok else say.outcome(name),
        reason=shortened(say.message(score.reason), 300),
        label=say.known("label", score.label) if score.label else "",
        warnings=tuple(shortened(say.message(text), 200) for text in score.warnings[:5]),
    )


def _finding(entry: Entry, sample: Sample, limits: Limits, say: Words) -> FindingView:
    finding = entry.finding
    brief = min(limits.text, 600)
    return FindingView(
        number=entry.number,
        text=shortened(finding.text, brief),
        verdict=say.known("verdict", finding.verdict),
        tone=entry.tone,
        reason=shortened(say.message(finding.reason), brief),
        quote=shortened(finding.quote, brief),
        chunk_id=shortened(finding.chunk, 120),
        chunk_rank=entry.chunk + 1
        if entry.chunk is not None and entry.chunk < limits.chunks
        else None,
        unverified=finding.verified is False,
        metrics=", ".join(entry.metrics),
    )


def _outcome(score: Score | None) -> str:
    return "" if score is None or score.ok else score.outcome


def _label(score: Score | None) -> str:
    return (score.label or "") if score is not None else ""
