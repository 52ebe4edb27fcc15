"""One sample as a page shows it: texts cut to size, evidence marked, every score with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ragstone.analysis.classes import Scales, get_family, is_conclusive
from ragstone.analysis.classify import find_language
from ragstone.report.excerpts import EvidenceMark, Excerpt, cut_excerpts, is_cut
from ragstone.report.ledger import Ledger, LedgerEntry, build_ledger
from ragstone.report.remarks import shorten
from ragstone.report.translator import Translator
from ragstone.types import FAILURES, Chunk, Finding, Sample, Score, ToolStep


class ScoredSample(Protocol):
    """A sample with its scores: a row of a run, or an interaction of a live system."""

    @property
    def position(self) -> int: ...
    @property
    def id(self) -> str: ...
    @property
    def sample(self) -> Sample: ...
    @property
    def scores(self) -> Mapping[str, Score]: ...


class MetricDirection(Protocol):
    """What a view needs to know of a metric: where its values lie, and which of them are good."""

    @property
    def metric(self) -> str: ...
    @property
    def bounds(self) -> tuple[float, float] | None: ...
    @property
    def higher_is_better(self) -> bool: ...
    @property
    def judged(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a sample is shown."""

    text: int
    """Characters of each text."""
    chunks: int
    findings: int

    def tighten(self) -> Limits:
        """A step less of everything, of texts most, down to a readable least."""
        return Limits(
            text=max(self.text * 2 // 3, min(self.text, 80)),
            chunks=max(self.chunks * 5 // 6, min(self.chunks, 2)),
            findings=max(self.findings * 5 // 6, min(self.findings, 2)),
        )

    def narrow_to(self, sample: Sample, findings: int) -> Limits:
        """No more than the sample has, so that the next tighter limits make a difference."""
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
class SampleFilter:
    """What a reader can filter and sort the samples of a page by."""

    title: str
    total: int
    """Samples there are, shown or not."""
    metrics: tuple[tuple[str, bool], ...]
    """Each metric, and whether higher is better."""
    outcomes: tuple[tuple[str, str], ...]
    """Values and texts of the choice of outcomes."""


@dataclass(frozen=True, slots=True)
class SampleList:
    """Samples with their scores, claims and evidence; each is read when it is rendered, for a run may have a million."""

    positions: Sequence[int]
    open: Callable[[int], OpenSample]
    limits: Limits
    filter: SampleFilter | None = None


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
    parts: list[Excerpt]
    numbers: list[int]
    """The findings that this chunk decides."""


@dataclass(frozen=True, slots=True)
class FindingView:
    """One line of the ledger."""

    number: int
    text: str
    verdict: str
    severity: str
    reason: str
    quote: str
    chunk_id: str
    chunk_rank: int | None
    unverified: bool
    metrics: str


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message before the question."""

    role: str
    """As in the data: user, assistant, system."""
    author: str
    """The role in words."""
    parts: list[Excerpt]


@dataclass(frozen=True, slots=True)
class StepView:
    """One call of a tool."""

    call: str
    result: str
    error: str
    took: str
    """How long it took; empty where that was not recorded."""
    start: float
    """Where it begins on the time of all steps, 0 to 100: one after the other."""
    share: float


@dataclass(frozen=True, slots=True)
class SampleView:
    """Everything the page shows of one sample."""

    position: int
    id: str
    group: str
    error: str
    title: str
    messages: list[MessageView]
    """What was said before, the last ones."""
    more_messages: int
    steps: list[StepView]
    question: list[Excerpt]
    answer: list[Excerpt] | None
    reference: list[Excerpt] | None
    chunks: list[ChunkView] | None
    more_chunks: int
    missed: list[str]
    more_missed: int
    scores: list[ScoreView]
    findings: list[FindingView]
    more_findings: int
    metric_scores: list[Score | None]
    """One for each metric of the list, by which a page filters and sorts."""
    cut: bool

    @property
    def values(self) -> list[float | None]:
        """The value by each metric."""
        return [score.value if score else None for score in self.metric_scores]

    @property
    def outcomes(self) -> list[str]:
        """The outcome by each metric; empty for a value."""
        return [score.outcome if score and not score.ok else "" for score in self.metric_scores]

    @property
    def labels(self) -> list[str]:
        """The category by each metric."""
        return [(score.label or "") if score else "" for score in self.metric_scores]

    @property
    def chips(self) -> list[ScoreView]:
        """The scores worth a glance: what was scored or failed, not what does not apply."""
        return [s for s in self.scores if s.value or s.outcome in FAILURES]


@dataclass(frozen=True, slots=True)
class OpenSample:
    """A sample with its ledger of findings, to be viewed within whatever limits."""

    row: ScoredSample
    metrics: Sequence[MetricDirection]
    ledger: Ledger
    t: Translator
    scales: Scales

    def fit_limits(self, limits: Limits) -> Limits:
        """The limits, no wider than the sample needs."""
        return limits.narrow_to(self.row.sample, len(self.ledger.entries))

    def build_view(self, limits: Limits) -> SampleView:
        """The sample within the limits."""
        sample, ledger, metrics, t = self.row.sample, self.ledger, self.metrics, self.t
        language = find_language(sample)
        scores = _choose_scores(self.row, metrics)
        known = [scores.get(metric.metric) for metric in metrics]
        shown = ledger.entries[: limits.findings]
        chunks = _view_chunks(sample, ledger, limits, t)
        missed = _list_missed(sample)
        question = cut_excerpts(sample.question or "", (), limits.text)
        answer = _cut_text(sample.answer, ledger.in_answer, limits)
        reference = _cut_text(sample.reference, ledger.in_reference, limits)
        # Titles and short fields are cut for the layout; only these cuts are announced to the
        # reader.
        texts = [question, answer, reference, *(chunk.parts for chunk in chunks or ())]
        more_chunks = max(len(sample.contexts or ()) - limits.chunks, 0)
        more_findings = len(ledger.entries) - len(shown)
        more_missed = max(len(missed) - limits.chunks, 0)
        return SampleView(
            position=self.row.position,
            id=shorten(self.row.id, 120),
            group=shorten(sample.group or "", 80),
            error=shorten(t.system_error(sample, self.row.scores), 400),
            title=shorten(sample.question or "", min(limits.text, 240)),
            messages=_view_messages(sample, limits, t),
            more_messages=max(len(sample.messages or ()) - MAX_MESSAGES, 0),
            steps=_view_steps(sample, limits, t),
            question=question,
            answer=answer,
            reference=reference,
            chunks=chunks,
            more_chunks=more_chunks,
            missed=[shorten(id, 120) for id in missed[: limits.chunks]],
            more_missed=more_missed,
            scores=[
                _view_score(m, s, choose_level(m, s.value, self.scales, language), t)
                for m, s in zip(metrics, known, strict=True)
                if s
            ],
            findings=[view_finding(entry, limits, t) for entry in shown],
            more_findings=more_findings,
            metric_scores=known,
            cut=any(map(is_cut, filter(None, texts)))
            or more_chunks + more_findings + more_missed > 0,
        )


def open_sample(
    row: ScoredSample, metrics: Sequence[MetricDirection], t: Translator, scales: Scales
) -> OpenSample:
    """Read the findings of a row once, for views of any size; `scales` are those of the judge."""
    ledger = build_ledger(row.sample, _choose_scores(row, metrics))
    return OpenSample(row, metrics, ledger, t, scales)


def _choose_scores(row: ScoredSample, metrics: Sequence[MetricDirection]) -> dict[str, Score]:
    return {m.metric: row.scores[m.metric] for m in metrics if m.metric in row.scores}


def _cut_text(
    text: str | None, marks: Sequence[EvidenceMark], limits: Limits
) -> list[Excerpt] | None:
    return None if text is None else cut_excerpts(text, marks, limits.text)


def _view_messages(sample: Sample, limits: Limits, t: Translator) -> list[MessageView]:
    """The last messages before the question: those that it most likely refers to."""
    shown = (sample.messages or ())[-MAX_MESSAGES:]
    return [
        MessageView(
            message.role,
            t.translate("role", message.role),
            cut_excerpts(message.content, (), min(limits.text, MESSAGE_CHARS)),
        )
        for message in shown
    ]


def _view_steps(sample: Sample, limits: Limits, t: Translator) -> list[StepView]:
    shown = (sample.steps or ())[:MAX_MESSAGES]
    total = sum(step.seconds or 0.0 for step in shown)
    views, begin = [], 0.0
    for step in shown:
        share = 100 * (step.seconds or 0.0) / total if total else 0.0
        views.append(_view_step(step, limits, round(begin, 1), round(share, 1), t))
        begin += share
    return views


def _view_step(
    step: ToolStep, limits: Limits, start: float, share: float, t: Translator
) -> StepView:
    brief = min(limits.text, MESSAGE_CHARS)
    arguments = ", ".join(f"{name}={value!r}" for name, value in (step.arguments or {}).items())
    return StepView(
        shorten(f"{step.tool}({arguments})", brief),
        shorten(step.result or "", brief),
        shorten(step.error or "", brief),
        f"{t.number(step.seconds)} s" if step.seconds is not None else "",
        start,
        share,
    )


MAX_MESSAGES = 12
"""Messages before the question that are shown."""
MESSAGE_CHARS = 2_000
"""Characters of an earlier message, or of what a tool returned: they are beside the point of a sample."""


def _view_chunks(
    sample: Sample, ledger: Ledger, limits: Limits, t: Translator
) -> list[ChunkView] | None:
    if sample.contexts is None:
        return None
    grades = sample.relevant or {}
    return [
        ChunkView(
            rank=index + 1,
            id=shorten(chunk.id, 120),
            relevant=_describe_relevance(grades.get(chunk.id, 0.0), t),
            score=_describe_chunk_score(chunk, t),
            parts=cut_excerpts(chunk.text, ledger.in_chunks.get(index, ()), limits.text),
            numbers=[entry.number for entry in ledger.entries if entry.chunk == index],
        )
        for index, chunk in enumerate(sample.contexts[: limits.chunks])
    ]


def _describe_relevance(grade: float, t: Translator) -> str:
    if grade <= 0:
        return ""
    return t("relevant") if grade == 1 else t("grade", grade=f"{grade:g}")


def _describe_chunk_score(chunk: Chunk, t: Translator) -> str:
    return "" if chunk.score is None else t("chunk_score", score=t.number(chunk.score))


def _list_missed(sample: Sample) -> list[str]:
    """Relevant documents that were not retrieved."""
    if not sample.relevant or sample.contexts is None:
        return []
    retrieved = set(sample.contexts.ids)
    return [name for name, grade in sample.relevant.items() if grade > 0 and name not in retrieved]


def choose_level(
    metric: MetricDirection, value: float | None, scales: Scales, language: str
) -> str:
    """How a value is coloured: `low`, `mid`, `high`, or `none` where nothing says what it is worth.

    A judged value goes by the scale of its judge, as failure classes do; the thirds of a metric without a judge are a
    look, not a verdict."""
    share = _locate_value(metric, value)
    if value is None or share is None:
        return "none"
    if metric.judged:
        scale = scales.get((language, get_family(metric.metric)))
        if scale is None or not is_conclusive(scale):
            return "none"
        return "low" if scale.is_bad(value) else "high"
    good = share if metric.higher_is_better else 1 - share
    return "low" if good < 1 / 3 else "mid" if good < 2 / 3 else "high"


def _locate_value(metric: MetricDirection, value: float | None) -> float | None:
    """Where a value lies between the ends of its metric, 0 to 1."""
    if value is None or metric.bounds is None or metric.bounds[1] <= metric.bounds[0]:
        return None
    low, high = metric.bounds
    return min(max((value - low) / (high - low), 0.0), 1.0)


def _view_score(metric: MetricDirection, score: Score, level: str, t: Translator) -> ScoreView:
    share = _locate_value(metric, score.value)
    name = f"{score.outcome}: {score.kind}" if score.kind else score.outcome
    return ScoreView(
        metric=metric.metric,
        value=t.number(score.value) if score.value is not None else "",
        level=level,
        share=None if share is None else round(share, 3),
        outcome=score.outcome,
        outcome_text="" if score.ok else t.outcome(name),
        reason=shorten(t.message(score.reason), 300),
        label=t.translate("label", score.label) if score.label else "",
        warnings=tuple(shorten(t.message(text), 200) for text in score.warnings[:5]),
    )


def _explain_finding(finding: Finding, t: Translator) -> str:
    """The judge's reason, and of a cascade who decided and what the other judge said."""
    reason = t.message(finding.reason)
    opinion = finding.opinion
    if opinion is None:
        return reason
    key = "opinion_both" if opinion.first and opinion.second else "opinion_second" if opinion.second else "opinion_first"  # fmt: skip
    verdicts = {
        name: t.translate("verdict", verdict)
        for name, verdict in (("first", opinion.first), ("second", opinion.second))
    }
    return f"{reason} ({t(key, **verdicts)})" if reason else t(key, **verdicts)


def view_finding(entry: LedgerEntry, limits: Limits, t: Translator) -> FindingView:
    """A line of the ledger in words."""
    finding = entry.finding
    brief = min(limits.text, 600)
    return FindingView(
        number=entry.number,
        text=shorten(finding.text, brief),
        verdict=t.translate("verdict", finding.shown_verdict),
        severity=entry.severity,
        reason=shorten(_explain_finding(finding, t), brief),
        quote=shorten(finding.quote, brief),
        chunk_id=shorten(finding.chunk, 120),
        # A rank only for chunks that the page shows: it becomes a link to them.
        chunk_rank=entry.chunk + 1
        if entry.chunk is not None and entry.chunk < limits.chunks
        else None,
        unverified=finding.verified is False,
        metrics=", ".join(entry.metrics),
    )
