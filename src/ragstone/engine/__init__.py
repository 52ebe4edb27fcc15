"""The engine: scores samples concurrently and writes them to the store in input order."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import chain, islice

from ragstone.data import Record
from ragstone.engine.broker import AskBroker as AskBroker
from ragstone.engine.reuse import (
    count_replies,
    count_same,
    find_earlier_run,
    iter_sound_batches,
)
from ragstone.engine.sample_scoring import score_sample
from ragstone.errors import DataError, RagstoneError
from ragstone.judges import Judge
from ragstone.metrics.scoring import Start as Start
from ragstone.metrics.scoring import build_starter, score_unjudged
from ragstone.registry import Metric
from ragstone.store import NewRow, StoredRun, set_language
from ragstone.store.rows import BATCH_SAMPLES, to_storable_json
from ragstone.types import FAILURES, NO_USAGE, Sample, Score, Usage

MAX_BATCH_SAMPLES = BATCH_SAMPLES
"""Samples written to the store in one transaction."""

FLUSH_SECONDS = 0.5
"""Scored samples wait no longer than this to be written."""

MAX_PENDING_WRITES = 2
"""Transactions that may be on their way to the disk while scoring goes on."""

PROGRESS_SECONDS = 0.1
"""Shortest time between two calls of the progress callback."""

YIELD_SAMPLES, YIELD_SECONDS = 256, 0.05
"""Unjudged samples, and how long they may take, before other tasks of the event loop get a turn."""

MAX_QUEUE_FACTOR = 8
"""A slow sample holds back the output of at most this many times the open samples."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run."""

    done: int
    total: int | None
    failures: int
    """Scores that ended in a failure so far."""
    usage: Usage
    """Usage of the samples scored in this process so far."""


ProgressCallback = Callable[[Progress], None]

Numbered = tuple[int, Record]
"""Position of a sample in the run, from 1, and its record."""


@dataclass(slots=True)
class Execution:
    """A run in progress."""

    run: StoredRun
    metrics: Sequence[Metric]
    judge: Judge | None = None
    concurrency: int | None = None
    """Asks in flight at once; None: as many as the judge prefers."""
    total: int | None = None
    """Samples of the whole run, if known; for progress only."""
    watch: ProgressCallback | None = None
    """Called with the progress, at most every PROGRESS_SECONDS."""
    done: int = 0
    """Samples that are scored, those of earlier attempts included."""
    failures: int = 0
    usage: Usage = NO_USAGE
    reported_at: float = 0.0
    """When progress was last reported (monotonic clock)."""

    async def score_new(self, records: Iterable[Record]) -> int:
        """Score the records that are not stored yet; returns the number of samples the run then holds."""
        # stored samples are always the first ones of the input (the writes below keep input order),
        # so their number alone says where to go on
        stored = self.run.count()
        fresh = skip_stored(self.run, records, stored)
        self.done = stored
        if not stored:
            fresh = await self._take_over(fresh)
        batch: list[NewRow] = []
        flushed = time.monotonic()
        pending: deque[Future[None]] = deque()
        try:
            async for rows in self._score_all(enumerate(fresh, self.done + 1)):
                batch += rows
                if len(batch) >= MAX_BATCH_SAMPLES or time.monotonic() - flushed > FLUSH_SECONDS:
                    pending.append(self.run.store.append(self.run.id, batch))
                    batch, flushed = [], time.monotonic()
                    # wait for the oldest write, not for each: scoring goes on during a commit, and
                    # unwritten rows stay few
                    if len(pending) > MAX_PENDING_WRITES:
                        await asyncio.wrap_future(pending.popleft())
        finally:
            # whatever stopped the run, the samples scored before it are stored
            if batch:
                pending.append(self.run.store.append(self.run.id, batch))
            for write in pending:
                write.result()
        self.report_progress(force=True)
        return self.done

    async def _take_over(self, records: Iterator[Record]) -> Iterator[Record]:
        """Copy what an earlier run scored, so far as it is the same; returns the records that remain."""
        earlier = find_earlier_run(self.run)
        if earlier is None:
            return records
        pending: deque[Future[None]] = deque()
        for batch in iter_sound_batches(earlier):
            read = list(islice(records, batch.count))
            same = count_same(batch, read)
            if same:
                last = batch.first + same - 1
                copied = self.run.store.append_copies(self.run.id, earlier.id, batch.first, last)
                pending.append(copied)
                self.add_counts(same, 0, Usage(hits=count_replies(batch, same)))
            if same < batch.count:
                records = chain(read[same:], records)
                break
            if len(pending) > MAX_PENDING_WRITES:
                await asyncio.wrap_future(pending.popleft())
        for write in pending:
            await asyncio.wrap_future(write)
        return records

    async def retry_failures(self) -> int:
        """Score again the stored samples that ended in a failure; returns how many there were."""
        retried = 0
        async for rows in self._score_all(iter_failed_rows(self.run)):
            for row in rows:
                saved = self.run.store.rescore(self.run.id, row.position, row.scores)
                await asyncio.wrap_future(saved)
            retried += len(rows)
        return retried

    async def replace_failed_answers(self, answered: Iterable[Record]) -> int:
        """Replace stored samples that have no answer by records with a new one, and score them; returns how many."""
        replaced = 0
        fresh = (
            (row.position, record)
            # not strict: a run that was stopped early has fewer rows than the data
            for row, record in zip(self.run.rows(), answered, strict=False)
            # the ids are compared because the data may have changed since
            if row.sample.error is not None and row.id == record.sample.id
        )
        async for rows in self._score_all(fresh):
            for row in rows:
                saved = self.run.store.rescore(self.run.id, row.position, row.scores, row=row.row)
                await asyncio.wrap_future(saved)
            replaced += len(rows)
        return replaced

    async def _score_all(self, items: Iterable[Numbered]) -> AsyncIterator[list[NewRow]]:
        """Yield the items with their scores, some at a time, in the order given."""
        starts = {metric.name: build_starter(metric) for metric in self.metrics}
        language = self.run.info.plan.language
        # without Asks there is nothing to wait for, and a task for each sample would cost more than
        # the scores
        if not any(metric.judged for metric in self.metrics):
            for rows, error in _score_unjudged(items, starts, language):
                yield rows
                self._count_scores(rows)
                if error is not None:  # after what was scored before it
                    raise error
                await asyncio.sleep(0)
            return
        if self.judge is None:
            names = ", ".join(metric.name for metric in self.metrics if metric.judged)
            raise RagstoneError(
                f"{names} must ask a judge and none is configured; name one with --judge"
            )
        async with AsyncExitStack() as stack:
            broker = await stack.enter_async_context(
                AskBroker(self.judge, self.run.store, self.run.id, self.concurrency)
            )
            metrics = {metric.name: metric for metric in self.metrics}

            def begin(sample: Sample) -> asyncio.Task[dict[str, Score]]:
                asked = set_language(sample, language)
                return asyncio.create_task(score_sample(asked, metrics, starts, broker))

            async for position, record, scores in _run_in_order(
                items, begin, broker.max_open_samples, broker.samples_per_turn
            ):
                rows = [_to_row(position, record, scores)]
                yield rows
                self._count_scores(rows)

    def add_counts(self, samples: int, failures: int, usage: Usage) -> None:
        """Count samples that other processes scored."""
        self.done += samples
        self.failures += failures
        self.usage = self.usage + usage
        self.report_progress()

    def _count_scores(self, rows: Sequence[NewRow]) -> None:
        self.add_counts(len(rows), *sum_usage(row.scores for row in rows))

    def report_progress(self, *, force: bool = False) -> None:
        """Call the progress callback, at most every PROGRESS_SECONDS unless forced."""
        now = time.monotonic()
        if self.watch is not None and (force or now - self.reported_at >= PROGRESS_SECONDS):
            self.reported_at = now
            self.watch(Progress(self.done, self.total, self.failures, self.usage))


def _score_unjudged(
    items: Iterable[Numbered], starts: Mapping[str, Start], language: str | None
) -> Iterator[tuple[list[NewRow], Exception | None]]:
    """Yield the items with their scores, some at a time; the last ones with the error that ended the items."""
    rows: list[NewRow] = []
    began = time.monotonic()
    try:
        for position, record in items:
            sample = set_language(record.sample, language)
            rows.append(_to_row(position, record, score_unjudged(starts, sample)))
            if len(rows) == YIELD_SAMPLES or time.monotonic() - began > YIELD_SECONDS:
                yield rows, None
                rows, began = [], time.monotonic()
    except Exception as error:
        yield rows, error
    else:
        yield rows, None


def _to_row(position: int, record: Record, scores: Mapping[str, Score]) -> NewRow:
    sample = record.sample
    return NewRow(position, sample.id, sample.group, record.row, scores)


def sum_usage(scores: Iterable[Mapping[str, Score]]) -> tuple[int, Usage]:
    """How many scores are failures, and what all of them used."""
    failures, usage = 0, NO_USAGE
    for sample_scores in scores:
        for score in sample_scores.values():
            if score.value is None:
                failures += score.outcome in FAILURES
            if score.usage is not NO_USAGE:
                usage = usage + score.usage
    return failures, usage


async def _run_in_order(
    items: Iterable[Numbered],
    begin: Callable[[Sample], asyncio.Task[dict[str, Score]]],
    max_open: int,
    per_turn: int,
) -> AsyncIterator[tuple[int, Record, dict[str, Score]]]:
    """Yield scored samples in input order, with up to `max_open` of them open at once.

    `begin` starts the task of a sample; after every `per_turn` of them the event loop gets a turn. A slow sample delays
    the output of later ones, but not the work on them."""
    source: Iterator[Numbered] = iter(items)
    max_queued = MAX_QUEUE_FACTOR * max_open
    queue: deque[tuple[int, Record, asyncio.Task[dict[str, Score]]]] = deque()
    working: set[asyncio.Task[dict[str, Score]]] = set()
    one_ended = asyncio.Event()
    exhausted = False

    def note_end(task: asyncio.Task[dict[str, Score]]) -> None:
        working.discard(task)
        one_ended.set()

    try:
        while True:
            while not exhausted and len(working) < max_open and len(queue) < max_queued:
                item = next(source, None)
                if item is None:
                    exhausted = True
                    break
                task = begin(item[1].sample)
                working.add(task)
                task.add_done_callback(note_end)
                queue.append((*item, task))
                if len(working) % per_turn == 0:
                    await asyncio.sleep(0)  # the first Asks are sent while later samples are read
            while queue and queue[0][2].done():
                position, record, task = queue.popleft()
                yield position, record, task.result()
            if not queue:
                if exhausted:
                    return
                continue
            # no await lies between the checks above and this wait, so no task can end unseen
            if len(working) >= max_open or exhausted or len(queue) >= max_queued:
                one_ended.clear()
                await one_ended.wait()
    finally:
        for task in working:
            task.cancel()
        # those that ended too: an error that stopped the run is in several of them
        await asyncio.gather(*(task for *_, task in queue), *working, return_exceptions=True)


def skip_stored(run: StoredRun, records: Iterable[Record], stored: int) -> Iterator[Record]:
    """Yield the records after those already stored; raises DataError when the stored ones have changed."""
    source = iter(records)
    check_stored(run, (record.row for record in islice(source, stored)))
    yield from source


def check_stored(run: StoredRun, texts: Iterator[str]) -> None:
    """Raise DataError unless the stored samples have these rows."""
    # row by row instead of a hash of the file: the file may have grown at its end, and any
    # row may come from a stream
    for position, row in enumerate(run.store.input_rows(run.id), 1):
        text = next(texts, None)
        if text is None or to_storable_json(text) != row:
            change = "is gone" if text is None else "has changed"
            raise DataError(
                f"sample {position} of {run.info.source} {change} since run {run.id} scored it; "
                "begin a new run with --restart"
            )


def iter_failed_rows(run: StoredRun) -> Iterator[Numbered]:
    """Yield the stored samples with a failed score; those whose system failed to answer are not retried."""
    for position in run.store.find_failed(run.id):
        row = run.row(position)
        # without an answer of the system there is nothing to score again; those are for
        # `replace_failed_answers`
        if row.sample.error is None:
            yield row.position, Record(row.sample, row.row)
