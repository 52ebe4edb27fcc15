"""Scores all metrics of one sample, round by round: what several metrics ask is asked once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ragstone.asks import Answered, Ask, Asking, Reply
from ragstone.asks.kind import ExtractPart
from ragstone.engine.merge import merge_asks
from ragstone.errors import JudgeFailed
from ragstone.locale.messages import compose
from ragstone.metrics.scoring import Start, add_notes, build_finisher, to_outcome
from ragstone.registry import Metric
from ragstone.text.windows import cut_fields
from ragstone.types import NO_USAGE, Sample, Score, Usage


class AskAnswerer(Protocol):
    """Whatever answers the Asks of a sample: the broker, or an estimator that only counts them."""

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer the Asks, in order."""
        ...


@dataclass(slots=True)
class MetricRun:
    """A metric in progress on one sample."""

    metric: Metric
    generator: Asking[Any]
    inbox: tuple[Answered, ...] | None = None
    """The answers to `asks`, in order; None before the first round."""
    asks: tuple[Ask, ...] = ()
    usage: Usage = NO_USAGE
    notes: dict[str, None] = field(default_factory=dict)
    """Notes of the replies; a dict, as an ordered set."""

    def advance(self) -> Score | None:
        """Run the metric up to its next Asks; returns the Score when it has no more."""
        try:
            self.asks = (
                next(self.generator) if self.inbox is None else self.generator.send(self.inbox)
            )
        except StopIteration as stop:
            return self._complete(build_finisher(self.metric)(stop.value))
        except Exception as raised:
            return self._complete(to_outcome(raised))
        return None

    def _complete(self, score: Score) -> Score:
        if self.notes:
            score = add_notes(score, self.notes)
        if self.usage is NO_USAGE or self.usage == NO_USAGE:
            return score
        # by hand, so a new field of Score must be added here: dataclasses.replace takes 2.7 times as
        # long, and this runs for every judged score
        return Score(
            score.value, score.outcome, score.reason, score.kind, score.label, score.findings,
            score.warnings, self.usage, score.probability,
        )  # fmt: skip


async def score_sample(
    sample: Sample,
    metrics: Mapping[str, Metric],
    starts: Mapping[str, Start],
    answerer: AskAnswerer,
) -> dict[str, Score]:
    """Score every metric on one sample; the metric named first pays for what several ask."""
    scores: dict[str, Score] = {}
    runs: dict[str, MetricRun] = {}
    bounded, notes = _bound_texts(sample)
    for name, start in starts.items():
        is_judged = metrics[name].judged
        started = start(bounded if is_judged else sample)
        if isinstance(started, Score):
            scores[name] = started
        else:
            runs[name] = MetricRun(metrics[name], started, notes=dict.fromkeys(notes))
    # in rounds: all metrics stop at their next Asks before any is put, so that equal ones can be
    # merged
    while runs:
        for name, run in list(runs.items()):
            score = run.advance()
            if score is not None:
                scores[name] = score
                del runs[name]
        if runs:
            await _ask_round(runs.values(), answerer)
    # in the order of the metrics, as exports list them, not in the order in which they ended
    return {name: scores[name] for name in starts}


def _bound_texts(sample: Sample) -> tuple[Sample, list[str]]:
    """The sample with its long texts cut, and a note for each: the work on a row must have an end."""
    changes = cut_fields(sample)
    notes: list[str] = [
        compose("text_cut", field=name, n=len(text), total=len(getattr(sample, name)))
        for name, text in changes.items()
    ]
    return (replace(sample, **changes), notes) if changes else (sample, [])


async def _ask_round(runs: Collection[MetricRun], answerer: AskAnswerer) -> None:
    """Put the Asks of all metrics, merged, and fill each metric's inbox."""
    owners = [(run, index) for run in runs for index in range(len(run.asks))]
    # by id(): a MetricRun is mutable and not hashable; all of them live until the end of this
    # function
    inboxes: dict[int, list[Answered]] = {id(run): [_UNANSWERED] * len(run.asks) for run in runs}
    merged = merge_asks([run.asks[index] for run, index in owners])
    answers = await answerer.answer([whole.ask for whole in merged])
    for whole, answered in zip(merged, answers, strict=True):
        payer = owners[whole.parts[0][0]][0]  # the first in the order of the metrics
        if answered.usage is not None:  # failed calls cost too
            payer.usage = (
                answered.usage if payer.usage is NO_USAGE else payer.usage + answered.usage
            )
        extracted: dict[ExtractPart, Answered] = {}
        for number, extract in whole.parts:
            run, index = owners[number]
            part: Answered = answered
            if isinstance(answered, Reply):
                if answered.notes:
                    run.notes.update(dict.fromkeys(answered.notes))
                if extract not in extracted:  # metrics with the same Ask get the same Reply object
                    extracted[extract] = _extract_part(answered, extract)
                part = extracted[extract]
            inboxes[id(run)][index] = part
    for run in runs:
        run.inbox = tuple(inboxes[id(run)])


def _extract_part(answered: Reply, extract: ExtractPart) -> Answered:
    try:
        value = extract(answered.value)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        return JudgeFailed("incomplete", "reply_lacks_part", error=repr(error))
    return answered if value is answered.value else Reply(value, answered.usage, answered.notes)


_UNANSWERED = JudgeFailed("incomplete", "question_not_asked")
