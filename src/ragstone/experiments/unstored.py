"""Samples scored without a run of their own: only the judge's replies are stored, so that nothing is paid twice."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ragstone.engine import Progress, ProgressCallback
from ragstone.engine.broker import AskBroker
from ragstone.engine.sample_scoring import score_sample
from ragstone.engine.sync import run_sync
from ragstone.experiments.inputs import new_run_id
from ragstone.judges import Judge
from ragstone.metrics.scoring import build_starter
from ragstone.registry import Metric
from ragstone.store import Store
from ragstone.types import FAILURES, NO_USAGE, Sample, Score


def score_unstored(
    samples: Sequence[Sample],
    metrics: Sequence[Metric],
    judge: Judge,
    store: Store,
    *,
    concurrency: int | None = None,
    watch: ProgressCallback | None = None,
) -> list[dict[str, Score]]:
    """Score samples, in their order, and close the judge's connections; also inside a running event loop."""

    async def score_all() -> list[dict[str, Score]]:
        try:
            async with AskBroker(judge, store, new_run_id(), concurrency) as broker:
                return await _score(samples, metrics, broker, watch)
        finally:
            await judge.close()

    return run_sync(score_all)


async def _score(
    samples: Sequence[Sample],
    metrics: Sequence[Metric],
    broker: AskBroker,
    watch: ProgressCallback | None,
) -> list[dict[str, Score]]:
    named = {metric.name: metric for metric in metrics}
    starts = {metric.name: build_starter(metric) for metric in metrics}
    places = asyncio.Semaphore(broker.max_open_samples)
    done: list[dict[str, Score]] = []

    async def score(sample: Sample) -> dict[str, Score]:
        async with places:
            scores = await score_sample(sample, named, starts, broker)
        done.append(scores)
        if watch is not None:
            watch(_count_progress(done, len(samples)))
        return scores

    return list(await asyncio.gather(*map(score, samples)))


def _count_progress(done: Sequence[dict[str, Score]], total: int) -> Progress:
    scores = [score for row in done for score in row.values()]
    usage = sum((score.usage for score in scores), NO_USAGE)
    return Progress(len(done), total, sum(score.outcome in FAILURES for score in scores), usage)
