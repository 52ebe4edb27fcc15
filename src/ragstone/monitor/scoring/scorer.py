"""Scoring of sampled interactions: decide what is scored, claim some of the newest and some of the oldest, score them within
the daily budget, and store the scores.

A failure is stored as a failure, never as a score, and retried a few times; it concerns one interaction, not those claimed
with it. What the budget does not cover waits."""

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
from ragstone.judges.scale import fingerprint_judge
from ragstone.metrics.scoring import build_starter, score_unjudged
from ragstone.monitor.archive import Archive, ScoredInteraction
from ragstone.monitor.drift.references import note_value_version
from ragstone.monitor.interactions import now_micros
from ragstone.monitor.scoring.queue import (
    QueuedInteraction,
    claim_batch,
    count_waiting,
    decide_sampling,
    get_spent_today,
    release_claims,
    save_scorer_status,
)
from ragstone.monitor.scoring.sampling import SamplingPolicy
from ragstone.monitor.statements import DAY_MICROS, REPLIES_RUN_ID
from ragstone.registry import Metric
from ragstone.types import CLAIM_METRICS, Score

log = logging.getLogger("ragstone.monitor")

DEFAULT_METRICS = ("faithfulness", "answer_relevance", "context_relevance")
"""Metrics that need no reference."""

BATCH_SIZE = 32
"""Interactions claimed at a time; small, so that new interactions are scored soon."""

MAX_ATTEMPTS = 5
"""After so many failures the interaction is set aside: its failure stays."""
FIRST_RETRY_MICROS = 60_000_000
"""Delay before the judge is asked again after a failure; doubled each time."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An interaction that was scored, or failed."""

    item: QueuedInteraction
    scores: Mapping[str, Score]
    is_failed: bool
    """Whether it is to be scored again: the judge failed, or scoring itself. What a metric raises is its result, and final."""

    @property
    def is_last(self) -> bool:
        return self.item.tries + 1 >= MAX_ATTEMPTS

    def to_scored(self) -> ScoredInteraction:
        """What to store: the failure as well, which coverage counts until a retry replaces it."""
        item, retry_at = self.item, None
        if self.is_failed and not self.is_last:
            retry_at = now_micros() + FIRST_RETRY_MICROS * 2**item.tries
        return ScoredInteraction(
            item.interaction.id, self.scores, item.drawn, item.weight, retry_at
        )


@dataclass(slots=True)
class ScoringProgress:
    """Counts of what a scorer has done so far."""

    decided: int = 0
    scored: int = 0
    failed: int = 0
    """Failures of the judge, or of scoring itself, on an interaction."""
    set_aside: int = 0
    """Interactions whose failure stays after all attempts."""
    out_of_budget: bool = False


class Scorer:
    """Scores the queued interactions of an archive."""

    def __init__(
        self,
        archive: Archive,
        metrics: Sequence[Metric],
        judge: Judge | None,
        policy: SamplingPolicy,
        *,
        budget: Budget | None = None,
        newest: float = 0.7,
        language: str | None = None,
    ) -> None:
        """`newest` is the share of a batch that is taken from the newest interactions, `language` that of texts which name none."""
        self.archive = archive
        self.metrics = {metric.name: metric for metric in metrics}
        self.judge = judge
        self.policy = policy
        self.budget = budget or Budget()
        self.newest = newest
        self.language = language
        self.progress = ScoringProgress()
        self._starters = {metric.name: build_starter(metric) for metric in metrics}
        # the day, since 1970, that the next flag is about; and whether the budget of that day is spent
        self._budget_day, self._budget_spent = -1, False
        self._is_version_noted = False
        self._recorded_spending = (0, 0.0)
        """Calls and dollars of today in the store, as this scorer last read or wrote them."""

    async def step(self) -> int:
        """Decide on new interactions and score a batch; returns how many were decided on or scored."""
        # in threads, because the store is synchronous and the event loop has other work
        decided = await asyncio.to_thread(decide_sampling, self.archive, self.policy)
        self.progress.decided += decided
        if not await asyncio.to_thread(self._has_budget):
            return decided
        claimed = await asyncio.to_thread(claim_batch, self.archive, BATCH_SIZE, self.newest)
        if claimed:
            await self._score_batch(claimed)
        return decided + len(claimed)

    async def run_until_idle(self) -> ScoringProgress:
        """Score until the queue is empty or the budget is spent."""
        while await self.step():
            pass
        await asyncio.to_thread(self._save_status)
        return self.progress

    async def run_forever(self, pause: float = 1.0) -> None:
        """Score indefinitely, also across errors of the store or the judge."""
        while True:
            delay = pause
            try:
                done = await self.step()
                await asyncio.to_thread(self._save_status)
            except Exception:  # the store or the judge may be available again next time
                log.exception("scoring failed and is tried again")
                done, delay = 0, max(pause, 5.0)
            if not done:
                await asyncio.sleep(delay)

    # ── internals ─────────────────────────────────────────────────────────────────────────

    def _has_budget(self) -> bool:
        """Whether the daily budget has something left; it is shared with other scorers and renewed at midnight, UTC."""
        day = now_micros() // DAY_MICROS
        if day != self._budget_day:
            self._budget_day, self._budget_spent = day, False
        billed = get_spent_today(self.archive)
        # Only the difference is added, what other scorers spent (negative after midnight): what this one spent and could not
        # record, while the store was unavailable, still counts.
        self.budget.calls += billed[0] - self._recorded_spending[0]
        self.budget.usd = max(0.0, self.budget.usd + billed[1] - self._recorded_spending[1])
        self._recorded_spending = billed
        max_calls, max_usd = self.budget.max_calls, self.budget.max_usd
        is_spent = (
            self._budget_spent
            or (max_calls is not None and self.budget.calls >= max_calls)
            or (max_usd is not None and self.budget.usd >= max_usd)
        )
        self.progress.out_of_budget = is_spent
        return not is_spent

    async def _score_batch(self, claimed: Sequence[QueuedInteraction]) -> None:
        async with AsyncExitStack() as stack:
            broker = None
            if self.judge is not None:
                broker = await stack.enter_async_context(
                    # one id for all of the monitor's replies, so that a purge finds them
                    AskBroker(self.judge, self.archive.store, REPLIES_RUN_ID)
                )
            attempts = await asyncio.gather(
                *(self._score_interaction(item, broker) for item in claimed)
            )
        finished, unaffordable = [], []
        for attempt in attempts:
            if any(score.outcome == "skipped_budget" for score in attempt.scores.values()):
                unaffordable.append(attempt.item.number)
                # what is left of the budget is less than one interaction needs
                self._budget_spent = True
            else:
                finished.append(attempt)
        await self._save(finished)
        if unaffordable:
            await asyncio.to_thread(release_claims, self.archive, unaffordable)
            self.progress.out_of_budget = True
        self.progress.scored += len(finished)

    async def _save(self, finished: Sequence[Attempt]) -> None:
        """Store scores and what they cost; what cannot be stored with the others is stored alone, or as a failure."""
        calls, usd = self.budget.calls, self.budget.usd
        spent = {
            "judge_calls": calls - self._recorded_spending[0],
            "judge_microusd": round((usd - self._recorded_spending[1]) * 1e6),
        }
        try:
            await self._note_value_version(finished)
            # scores and bill in one transaction: a crash loses both or neither
            await self._save_attempts(finished, spent)
        except Exception:
            # raises if the store is away, and all wait until their claims expire
            await self._save_attempts((), spent)
            self._recorded_spending = (calls, usd)
            for attempt in finished:
                try:
                    await self._save_attempts([attempt])
                except Exception as error:
                    await self._save_attempts([self._fail(attempt.item, ascii(error))])
        self._recorded_spending = (calls, usd)

    async def _note_value_version(self, attempts: Sequence[Attempt]) -> None:
        """Before the first score that sums probabilities: streams begin a new reference where older scores counted verdicts."""
        if self._is_version_noted or not any(
            finding.probability is not None
            for attempt in attempts
            for name, score in attempt.scores.items()
            if self.metrics[name].family in CLAIM_METRICS
            for finding in score.findings
        ):
            return
        families = CLAIM_METRICS | {"overall"}
        names = [name for name, metric in self.metrics.items() if metric.family in families]
        await asyncio.to_thread(note_value_version, self.archive, names, now_micros())
        self._is_version_noted = True

    async def _save_attempts(
        self, attempts: Sequence[Attempt], spent: Mapping[str, int] | None = None
    ) -> None:
        failed = [attempt for attempt in attempts if attempt.is_failed]
        set_aside = sum(attempt.is_last for attempt in failed)
        counts = {**(spent or {}), "set_aside": set_aside}
        scored = [attempt.to_scored() for attempt in attempts]
        await asyncio.wrap_future(self.archive.save_scores(scored, counts))
        self.progress.failed += len(failed)
        self.progress.set_aside += set_aside

    async def _score_interaction(
        self, item: QueuedInteraction, broker: AskBroker | None
    ) -> Attempt:
        """Score an interaction; whatever that raises is its failure alone."""
        if item.tries >= MAX_ATTEMPTS:
            return self._fail(item, "scoring it ended the process each time")
        sample = item.interaction.sample
        try:
            if sample.language is None and self.language is not None:
                sample = replace(sample, language=self.language)
            if broker is None:
                scores = score_unjudged(self._starters, sample)
            else:
                scores = await score_sample(sample, self.metrics, self._starters, broker)
        except Exception as error:
            return self._fail(item, ascii(error))
        is_failed = any(score.outcome == "judge_error" for score in scores.values())
        return Attempt(item, scores, is_failed)

    def _fail(self, item: QueuedInteraction, reason: str) -> Attempt:
        log.warning("scoring interaction %r failed: %s", item.interaction.id, reason)
        score = Score(outcome="metric_error", reason=reason[:300])
        return Attempt(item, dict.fromkeys(self.metrics, score), is_failed=True)

    def _save_status(self) -> None:
        """Publish the status for `/v1/status`."""
        save_scorer_status(self.archive, self.get_status())

    def get_status(self) -> dict[str, Any]:
        """The status as JSON."""
        undecided, ready = count_waiting(self.archive)
        return {
            "metrics": list(self.metrics),
            "judge": self.judge.name if self.judge is not None else None,
            "judge_identity": None if self.judge is None else fingerprint_judge(self.judge),
            "undecided": undecided,
            "waiting": ready,
            "scored": self.progress.scored,
            "failed": self.progress.failed,
            "set_aside": self.progress.set_aside,
            "out_of_budget": self.progress.out_of_budget,
            "calls_today": self.budget.calls,
            "usd_today": round(self.budget.usd, 6),
        }
