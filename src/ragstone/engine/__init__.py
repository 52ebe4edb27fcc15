"""Samples through metrics into the store: many open at once, results in input order, nothing kept in memory."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack
from dataclasses import dataclass

from ragstone.data import Record
from ragstone.engine.broker import AskBroker
from ragstone.engine.sample_scoring import score_sample
from ragstone.errors import DataError, RagstoneError
from ragstone.judges import Judge
from ragstone.metrics.scoring import Start, plain_scores, starter
from ragstone.registry import Metric
from ragstone.store import NewRow, StoredRun, with_language
from ragstone.types import FAILURES, NOTHING_USED, Sample, Score, Usage

MAX_BATCH_SAMPLES = 500
"""Samples written in one go when nothing waits for them."""

FLUSH_SECONDS = 0.5
PROGRESS_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    done: int
    total: int | None
    failures: int
    """Scores that ended in a failure so far."""
    usage: Usage
    """What was used so far by the samples done in this process."""


ProgressCallback = Callable[[Progress], None]

Numbered = tuple[int, Record]


@dataclass(slots=True)
class Execution:
    """One run being carried out."""

    run: StoredRun
    metrics: Sequence[Metric]
    judge: Judge | None = None
    concurrency: int | None = None
    total: int | None = None
    watch: ProgressCallback | None = None
    done: int = 0
    failures: int = 0
    usage: Usage = NOTHING_USED
    shown: float = 0.0

    async def score_new(self, records: Iterable[Record]) -> int:
        """Score what is not stored yet; the number of samples the run then holds."""
        stored = self.run.count()
        fresh = skip_stored(self.run, records, stored)
        self.done = stored
        batch: list[NewRow] = []
        flushed = time.monotonic()
        pending: deque[Future[None]] = deque()
        try:
            async for position, record, scores in self._scored(enumerate(fresh, stored + 1)):
                sample = record.sample
                batch.append(NewRow(position, sample.id, sample.group, record.row, scores))
                if len(batch) >= MAX_BATCH_SAMPLES or time.monotonic() - flushed > FLUSH_SECONDS:
                    pending.append(self.run.store.append(self.run.id, batch))
                    batch, flushed = [], time.monotonic()
                    if len(pending) > 2:  # write-behind, but never far behind
                        await asyncio.wrap_future(pending.popleft())
        finally:
            # whatever stopped the run, what was finished before it is kept
            if batch:
                pending.append(self.run.store.append(self.run.id, batch))
            for write in pending:
                write.result()
        self._show(force=True)
        return self.done

    async def retry_failures(self) -> int:
        """Score again the stored samples that ended in a failure; how many there were."""
        retried = 0
        async for position, _, scores in self._scored(iter_failed_rows(self.run)):
            await asyncio.wrap_future(self.run.store.rescore(self.run.id, position, scores))
            retried += 1
        return retried

    async def replace_failed_answers(self, answered: Iterable[Record]) -> int:
        """Put the records that a system was asked again for in the place of stored ones without an answer, and score them."""
        taken = 0
        fresh = (
            (row.position, record)
            for row, record in zip(self.run.rows(), answered, strict=False)
            if row.sample.error is not None and row.id == record.sample.id
        )
        async for position, record, scores in self._scored(fresh):
            saved = self.run.store.rescore(self.run.id, position, scores, row=record.row)
            await asyncio.wrap_future(saved)
            taken += 1
        return taken

    async def _scored(
        self, items: Iterable[Numbered]
    ) -> AsyncIterator[tuple[int, Record, dict[str, Score]]]:
        """Each item with its scores, in the order given."""
        starts = {metric.name: starter(metric) for metric in self.metrics}
        language = self.run.info.plan.get("language")
        if not any(metric.judged for metric in self.metrics):
            for count, (position, record) in enumerate(items):
                scores = plain_scores(starts, with_language(record.sample, language))
                self._note(scores)
                yield position, record, scores
                if count % 256 == 255:  # others on this loop get their turn
                    await asyncio.sleep(0)
            return
        if self.judge is None:
            names = ", ".join(metric.name for metric in self.metrics if metric.judged)
            raise RagstoneError(
                f"{names} must ask a judge and none is configured; name one with --judge"
            )
        async with AsyncExitStack() as stack:
            desk = await stack.enter_async_context(
                AskBroker(self.judge, self.run.store, self.run.id, self.concurrency)
            )
            metrics = {metric.name: metric for metric in self.metrics}

            def begin(sample: Sample) -> asyncio.Task[dict[str, Score]]:
                asked = with_language(sample, language)
                return asyncio.create_task(score_sample(asked, metrics, starts, desk))

            async for position, record, scores in _in_order(
                items, begin, desk.max_open_samples, desk.samples_per_turn
            ):
                self._note(scores)
                yield position, record, scores

    def add_counts(self, samples: int, failures: int, usage: Usage) -> None:
        """Count samples that were scored elsewhere."""
        self.done += samples
        self.failures += failures
        self.usage = self.usage + usage
        self._show()

    def _note(self, scores: Mapping[str, Score]) -> None:
        self.done += 1
        for score in scores.values():
            if score.value is None and score.outcome in FAILURES:
                self.failures += 1
            if score.usage is not NOTHING_USED:
                self.usage = self.usage + score.usage
        if self.watch is not None and not self.done % 16:
            self._show()

    def _show(self, *, force: bool = False) -> None:
        now = time.monotonic()
        if self.watch is not None and (force or now - self.shown >= PROGRESS_SECONDS):
            self.shown = now
            self.watch(Progress(self.done, self.total, self.failures, self.usage))


async def _in_order(
    items: Iterable[Numbered],
    begin: Callable[[Sample], asyncio.Task[dict[str, Score]]],
    window: int,
    at_a_time: int,
) -> AsyncIterator[tuple[int, Record, dict[str, Score]]]:
    """Up to `window` samples open at once; a slow one holds back the order, not the work, of up to 8 × window."""
    source: Iterator[Numbered] = iter(items)
    line: deque[tuple[int, Record, asyncio.Task[dict[str, Score]]]] = deque()
    working: set[asyncio.Task[dict[str, Score]]] = set()
    ended = asyncio.Event()
    exhausted = False

    def end(task: asyncio.Task[dict[str, Score]]) -> None:
        working.discard(task)
        ended.set()

    try:
        while True:
            while not exhausted and len(working) < window and len(line) < 8 * window:
                item = next(source, None)
                if item is None:
                    exhausted = True
                    break
                task = begin(item[1].sample)
                working.add(task)
                task.add_done_callback(end)
                line.append((*item, task))
                if len(working) % at_a_time == 0:
                    await asyncio.sleep(0)  # the first questions leave while later samples are read
            while line and line[0][2].done():
                position, record, task = line.popleft()
                yield position, record, task.result()
            if not line:
                if exhausted:
                    return
                continue
            if len(working) >= window or exhausted or len(line) >= 8 * window:
                ended.clear()
                await ended.wait()
    finally:
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)


def skip_stored(run: StoredRun, records: Iterable[Record], stored: int) -> Iterator[Record]:
    """The records after those already scored, which must be the same as then."""
    source = iter(records)
    if stored:
        for position, row in enumerate(run.store.input_rows(run.id), 1):
            record = next(source, None)
            if record is None or record.row != row:
                found = "is gone" if record is None else "has changed"
                raise DataError(
                    f"sample {position} of {run.info.source} {found} since run {run.id} scored it; "
                    "start a new run without --resume"
                )
    yield from source


def iter_failed_rows(run: StoredRun) -> Iterator[Numbered]:
    """The stored samples that should have been scored and were not."""
    for row in run.rows():
        if row.sample.error is None and any(s.outcome in FAILURES for s in row.scores.values()):
            yield row.position, Record(row.sample, row.row)


__all__ = [
    "AskBroker",
    "Execution",
    "Progress",
    "ProgressCallback",
    "Start",
    "iter_failed_rows",
    "skip_stored",
]
