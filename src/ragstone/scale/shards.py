"""One shard of a run, scored by whatever process has it: rows in, rows of the store's tables out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ragstone.data import RejectedRow
from ragstone.data.rows import RowMapper
from ragstone.data.strict_json import BadRow, parse_json
from ragstone.engine import sum_usage
from ragstone.engine.broker import AskBroker
from ragstone.engine.sample_scoring import score_sample
from ragstone.judges import Judge
from ragstone.metrics.scoring import build_starter, score_unjudged
from ragstone.registry import Metric
from ragstone.scale.batches import Batch
from ragstone.store import NewRow, set_language
from ragstone.store.rows import PreparedRows, prepare_rows
from ragstone.types import Sample, Score, Usage

_NO_STORE: Any = None
"""Stands for the store of a broker whose judge is local: it is never used."""


class ShardResult(NamedTuple):
    """A scored batch, as a worker sends it back."""

    rows: PreparedRows | None
    """None when a row of the batch is refused."""
    ids: Sequence[str] = ()
    """The ids of the samples; that of a row without one is its position."""
    failures: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0


class _NumberedSample(NamedTuple):
    sample: Sample
    position: int
    text: str


class ShardRunner:
    """The metrics and the judge of a run in one process; the judge, if there is one, is local."""

    def __init__(
        self,
        metrics: Sequence[Metric],
        judge: Judge | None,
        shape: Mapping[str, Any],
        language: str | None,
    ) -> None:
        self._metrics = {metric.name: metric for metric in metrics}
        self._starters = {metric.name: build_starter(metric) for metric in metrics}
        self._judge = judge
        self._shape = shape
        self._language = language

    async def run(self, batch: Batch) -> ShardResult:
        """Score a batch."""
        started = time.perf_counter()
        try:
            samples = list(self._read_samples(batch))
        except BadRow:  # the driver names all of them
            return ShardResult(None)
        scores = await self.score([item.sample for item in samples])
        return _build_result(samples, scores, started)

    def refuse(self, batch: Batch, score: Score) -> ShardResult:
        """The result of a batch that nobody could score: the same score for every metric."""
        samples = list(self._read_samples(batch))
        return _build_result(samples, [dict.fromkeys(self._metrics, score)] * len(samples))

    async def score(self, samples: Sequence[Sample]) -> list[dict[str, Score]]:
        """Score samples with every metric, in order."""
        samples = [set_language(sample, self._language) for sample in samples]
        if self._judge is None:
            return [score_unjudged(self._starters, sample) for sample in samples]
        async with AskBroker(self._judge, _NO_STORE, "") as broker:
            open_slots = asyncio.Semaphore(broker.max_open_samples)

            async def score_bounded(sample: Sample) -> dict[str, Score]:
                async with open_slots:
                    return await score_sample(sample, self._metrics, self._starters, broker)

            return list(await asyncio.gather(*map(score_bounded, samples)))

    def _read_samples(self, batch: Batch) -> Iterator[_NumberedSample]:
        mapper = RowMapper(self._shape)
        for position, text in enumerate(batch.rows, batch.first):
            if isinstance(text, RejectedRow):
                raise BadRow(text.reason)
            sample, _ = mapper(parse_json(text), position)
            yield _NumberedSample(sample, position, text)


def _build_result(
    samples: Sequence[_NumberedSample],
    scores: Sequence[Mapping[str, Score]],
    started: float | None = None,
) -> ShardResult:
    rows = [
        NewRow(item.position, item.sample.id, item.sample.group, item.text, sample_scores)
        for item, sample_scores in zip(samples, scores, strict=True)
    ]
    return ShardResult(
        # the rows themselves stay with the driver, which has them
        prepare_rows(rows)._replace(inputs=[]),
        [item.sample.id for item in samples],
        *sum_usage(scores),
        0.0 if started is None else time.perf_counter() - started,
    )
