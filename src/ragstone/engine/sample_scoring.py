"""All metrics of one sample, round by round: what they ask together is asked once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragstone.asks import Answered, Ask, Asking, Reply
from ragstone.engine.broker import AskBroker
from ragstone.engine.merge import ExtractPart, merge_asks
from ragstone.errors import JudgeFailed
from ragstone.metrics.scoring import Start, finisher, outcome_of, with_notes
from ragstone.registry import Metric
from ragstone.types import NOTHING_USED, Sample, Score, Usage


@dataclass(slots=True)
class MetricRun:
    """A metric in progress on one sample."""

    metric: Metric
    generator: Asking[Any]
    inbox: tuple[Answered, ...] | None = None
    asks: tuple[Ask, ...] = ()
    usage: Usage = NOTHING_USED
    notes: dict[str, None] = field(default_factory=dict)

    def advance(self) -> Score | None:
        """Up to its next questions; the Score when it has no more."""
        try:
            self.asks = (
                next(self.generator) if self.inbox is None else self.generator.send(self.inbox)
            )
        except StopIteration as stop:
            return self._closed(finisher(self.metric)(stop.value))
        except Exception as raised:
            return self._closed(outcome_of(raised))
        return None

    def _closed(self, score: Score) -> Score:
        if self.notes:
            score = with_notes(score, self.notes)
        if self.usage is NOTHING_USED or self.usage == NOTHING_USED:
            return score
        return Score(
            score.value, score.outcome, score.reason, score.kind, score.label, score.findings,
            score.warnings, self.usage,
        )  # fmt: skip


async def score_sample(
    sample: Sample, metrics: Mapping[str, Metric], starts: Mapping[str, Start], desk: AskBroker
) -> dict[str, Score]:
    """Every metric on one sample; the metric named first pays for what several ask."""
    scores: dict[str, Score] = {}
    askers: dict[str, MetricRun] = {}
    for name, start in starts.items():
        begun = start(sample)
        if isinstance(begun, Score):
            scores[name] = begun
        else:
            askers[name] = MetricRun(metrics[name], begun)
    while askers:
        for name, asker in list(askers.items()):
            score = asker.advance()
            if score is not None:
                scores[name] = score
                del askers[name]
        if askers:
            await _ask_round(askers.values(), desk)
    return {name: scores[name] for name in starts}


async def _ask_round(askers: Collection[MetricRun], desk: AskBroker) -> None:
    owners = [(asker, place) for asker in askers for place in range(len(asker.asks))]
    boxes: dict[int, list[Answered]] = {
        id(asker): [_UNANSWERED] * len(asker.asks) for asker in askers
    }
    merged = merge_asks([asker.asks[place] for asker, place in owners])
    for whole, answered in zip(merged, await desk.answer([one.ask for one in merged]), strict=True):
        payer = owners[whole.parts[0][0]][0]  # the first in the order of the metrics
        if answered.usage is not None:  # failed calls cost too
            payer.usage = (
                answered.usage if payer.usage is NOTHING_USED else payer.usage + answered.usage
            )
        taken: dict[ExtractPart, Answered] = {}
        for index, take in whole.parts:
            asker, place = owners[index]
            part: Answered = answered
            if isinstance(answered, Reply):
                if answered.notes:
                    asker.notes.update(dict.fromkeys(answered.notes))
                if take not in taken:  # metrics that put the same question are sent the same reply
                    taken[take] = _part(answered, take)
                part = taken[take]
            boxes[id(asker)][place] = part
    for asker in askers:
        asker.inbox = tuple(boxes[id(asker)])


def _part(answered: Reply, take: ExtractPart) -> Answered:
    try:
        value = take(answered.value)
    except (KeyError, IndexError, TypeError, ValueError) as bad:
        return JudgeFailed("incomplete", f"the reply lacks a part: {bad!r}")
    return answered if value is answered.value else Reply(value, answered.usage, answered.notes)


_UNANSWERED = JudgeFailed("incomplete", "the question was not put")
