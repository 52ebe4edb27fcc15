"""The judge's work: decide what is judged, take some of the newest and some of the oldest, score, keep, within the day's budget.

What the judge fails on is kept as its failure, never as quality, and tried again later; what the budget does not cover
waits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

from ragstone.engine.broker import AskBroker
from ragstone.engine.sample_scoring import score_sample
from ragstone.judges import Judge
from ragstone.judges.limits import Budget
from ragstone.metrics.scoring import plain_scores, starter
from ragstone.monitor.archive import Archive, Scored
from ragstone.monitor.interactions import micros
from ragstone.monitor.scoring.queue import (
    DAY,
    Waiting,
    claim,
    decide,
    give_back,
    leave_word,
    spent_today,
    waiting,
)
from ragstone.monitor.scoring.sampling import Policy
from ragstone.monitor.statements import RUN
from ragstone.registry import Metric
from ragstone.types import Score

log = logging.getLogger("ragstone.monitor")

DEFAULT_METRICS = ("faithfulness", "answer_relevance", "context_relevance")
"""What needs no reference."""

BATCH = 32
"""Interactions taken at a time: small, so that new ones are seen soon."""

TRIES = 5
REST = 60_000_000
"""Microseconds before the judge is asked again about what it failed on; twice as long each time."""


@dataclass(slots=True)
class Progress:
    """What a scorer has done so far."""

    decided: int = 0
    scored: int = 0
    failed: int = 0
    """Interactions on which the judge failed."""
    out_of_budget: bool = False


class Scorer:
    """Scores what waits in an archive."""

    def __init__(
        self,
        archive: Archive,
        metrics: Sequence[Metric],
        judge: Judge | None,
        policy: Policy,
        *,
        budget: Budget | None = None,
        newest: float = 0.7,
        language: str | None = None,
    ) -> None:
        self.archive = archive
        self.metrics = {metric.name: metric for metric in metrics}
        self.judge = judge
        self.policy = policy
        self.budget = budget or Budget()
        self.newest = newest
        self.language = language
        self.progress = Progress()
        self._starts = {metric.name: starter(metric) for metric in metrics}
        self._day, self._spent = -1, False
        self._billed = (0, 0.0)

    async def step(self) -> int:
        """Decide on new interactions and score a batch; how many were decided on or scored."""
        decided = await asyncio.to_thread(decide, self.archive, self.policy)
        self.progress.decided += decided
        if not await asyncio.to_thread(self._has_budget):
            return decided
        taken = await asyncio.to_thread(claim, self.archive, BATCH, self.newest)
        if taken:
            await self._score(taken)
        return decided + len(taken)

    async def run_out(self) -> Progress:
        """Work until nothing waits or the budget is spent."""
        while await self.step():
            pass
        return self.progress

    async def follow(self, pause: float = 1.0) -> None:
        """Work for ever."""
        while True:
            rest = pause
            try:
                done = await self.step()
                await asyncio.to_thread(self._report)
            except Exception:  # the store may be back, the judge too
                log.exception("scoring failed and goes on")
                done, rest = 0, max(pause, 5.0)
            if not done:
                await asyncio.sleep(rest)

    # ── underneath ────────────────────────────────────────────────────────────────────────

    def _has_budget(self) -> bool:
        """Whether the day's budget has something left; a new day starts anew, and other scorers spend it too."""
        day = micros() // DAY
        if day != self._day:
            self._day, self._spent = day, False
        billed = spent_today(self.archive)
        # what was spent and could not be written down, the store being away, is still owed
        self.budget.calls += billed[0] - self._billed[0]
        self.budget.usd = max(0.0, self.budget.usd + billed[1] - self._billed[1])
        self._billed = billed
        most_calls, most_usd = self.budget.max_calls, self.budget.max_usd
        spent = (
            self._spent
            or (most_calls is not None and self.budget.calls >= most_calls)
            or (most_usd is not None and self.budget.usd >= most_usd)
        )
        self.progress.out_of_budget = spent
        return not spent

    async def _score(self, taken: Sequence[Waiting]) -> None:
        async with AsyncExitStack() as stack:
            desk = None
            if self.judge is not None:
                desk = await stack.enter_async_context(
                    AskBroker(self.judge, self.archive.store, RUN)
                )
            results = await asyncio.gather(*(self._scores(one, desk) for one in taken))
        finished, unpaid = [], []
        for one, scores in zip(taken, results, strict=True):
            if any(score.outcome == "skipped_budget" for score in scores.values()):
                unpaid.append(one.number)
                self._spent = True  # what is left is less than one interaction needs
            else:
                finished.append(self._scored(one, scores))
        calls, usd = self.budget.calls, self.budget.usd
        paid = {
            "judge_calls": calls - self._billed[0],
            "judge_microusd": round((usd - self._billed[1]) * 1e6),
        }
        await asyncio.wrap_future(self.archive.save_scores(finished, paid))
        self._billed = (calls, usd)
        if unpaid:
            await asyncio.to_thread(give_back, self.archive, unpaid)
            self.progress.out_of_budget = True
        self.progress.scored += len(finished)

    async def _scores(self, one: Waiting, desk: AskBroker | None) -> Mapping[str, Score]:
        sample = one.interaction.sample
        if sample.language is None and self.language is not None:
            sample = replace(sample, language=self.language)
        if desk is None:
            return plain_scores(self._starts, sample)
        return await score_sample(sample, self.metrics, self._starts, desk)

    def _scored(self, one: Waiting, scores: Mapping[str, Score]) -> Scored:
        """The scores, with a further attempt when the judge failed."""
        again = None
        if any(score.outcome == "judge_error" for score in scores.values()):
            self.progress.failed += 1
            if one.tries + 1 < TRIES:
                again = micros() + REST * 2**one.tries
        return Scored(one.interaction.id, scores, one.drawn, one.weight, again)

    def _report(self) -> None:
        """Leave word of how it goes, for `/v1/status`."""
        leave_word(self.archive, self.facts())

    def facts(self) -> dict[str, Any]:
        """How it goes, as JSON."""
        undecided, ready = waiting(self.archive)
        return {
            "metrics": list(self.metrics),
            "judge": self.judge.name if self.judge is not None else None,
            "undecided": undecided,
            "waiting": ready,
            "scored": self.progress.scored,
            "failed": self.progress.failed,
            "out_of_budget": self.progress.out_of_budget,
            "calls_today": self.budget.calls,
            "usd_today": round(self.budget.usd, 6),
        }
