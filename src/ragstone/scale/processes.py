"""A run on all cores of this machine: forked processes score batches of rows, and this one stores them in input order.

Forked, not spawned: metrics, judge and the weights that are loaded already are there at once and share their memory."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import time
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from ragstone.data import Dataset, Record
from ragstone.data.ids import SeenIds
from ragstone.data.ranges import plan_ranges
from ragstone.data.rows import compile_shape
from ragstone.engine import Execution, skip_stored, sum_usage
from ragstone.engine.broker import AskBroker
from ragstone.engine.sample_scoring import score_sample
from ragstone.errors import DataError, RagstoneError
from ragstone.judges import Judge
from ragstone.metrics.scoring import build_starter, score_unjudged
from ragstone.registry import Metric
from ragstone.scale.batches import (
    BatchSizer,
    RowBatch,
    from_ranges,
    from_records,
    iter_stored_ids,
    skip_stored_batches,
)
from ragstone.scale.worker import read_samples
from ragstone.store import NewRow, Store, set_language
from ragstone.store.rows import PreparedRows, prepare_rows
from ragstone.types import Sample, Score, Usage

BATCH_SECONDS = 0.5
"""How long a batch should take: a kill loses this much work, and at the end one worker waits so long for another."""
MAX_DEATHS = 2
"""How many workers may die over one batch."""

_NO_STORE: Any = None
"""Stands for the store of a broker whose judge is local: it is never used."""


class BatchResult(NamedTuple):
    """What a worker sends back for a batch."""

    rows: PreparedRows | None = None
    ids: Sequence[str | None] = ()
    """The ids that the rows give; None for a row without one."""
    failures: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0
    has_bad_rows: bool = False
    error: str = ""
    """What went wrong in the worker itself."""


@dataclass(slots=True)
class ProcessExecution(Execution):
    """One run being carried out by processes of this machine."""

    workers: int = 2
    source: Any = None
    """Path of the file that the samples come from, if they come from one."""
    _pool: WorkerPool = field(init=False, repr=False)

    async def score_new(self, records: Iterable[Record]) -> int:
        """Score what is not stored yet; the number of samples the run then holds."""
        assert isinstance(records, Dataset)  # as for a cluster: its file is cut into ranges
        stored = self.run.count()
        self.done = stored
        sizes = BatchSizer(stored, {}, self.total, self.workers, BATCH_SECONDS)
        ranges = plan_ranges(records, self.source, sizes.next_size)
        seen: SeenIds | None = None
        if ranges is not None:
            batches = skip_stored_batches(from_ranges(ranges, sizes), self.run, stored)
            seen = SeenIds()  # workers read the rows, so that nobody else sees all ids
            for position, sample_id, is_given in iter_stored_ids(self.run):
                seen.add(sample_id if is_given else None, position)
        else:
            batches = from_records(skip_stored(self.run, records, stored), sizes, stored + 1)
        await self._load_judge(records)
        worker = BatchWorker(self.metrics, self.judge, self.run.info.shape, self.run.info.plan.language, self.run.store)  # fmt: skip
        self._pool = WorkerPool(self.workers, worker)
        try:
            await self._run_batches(batches, sizes, seen, records)
        finally:
            self._pool.close()
        self.report_progress(force=True)
        return self.done

    async def _load_judge(self, records: Dataset) -> None:
        """Score a sample and forget it: what the judge loads for it is then shared by all workers."""
        if self.judge is not None:
            worker = BatchWorker(
                self.metrics, self.judge, {}, self.run.info.plan.language, _NO_STORE
            )
            async with AsyncExitStack() as stack:
                await worker.open(stack)
                await worker.score([record.sample for record in records.peek(1)])

    async def _run_batches(
        self,
        batches: Iterator[RowBatch],
        sizes: BatchSizer,
        seen: SeenIds | None,
        records: Dataset,
    ) -> None:
        """Keep every worker busy; store what comes back in the order of the batches."""
        in_flight: deque[asyncio.Task[BatchResult]] = deque()
        writes: deque[Future[None]] = deque()
        position = self.done + 1
        try:
            for batch in batches:
                in_flight.append(asyncio.create_task(self._pool.score(batch)))
                # results wait in memory for a slow one before them: not too many
                if len(in_flight) > 4 * self.workers:
                    result = await in_flight[0]
                    sizes.add_timing(len(result.ids), result.seconds)
                    position = self._store(in_flight.popleft(), position, seen, records, writes)
                elif len(in_flight) % self.workers == 0:
                    await asyncio.sleep(0)
                while len(writes) > 4:
                    await asyncio.wrap_future(writes.popleft())
            while in_flight:
                await in_flight[0]
                position = self._store(in_flight.popleft(), position, seen, records, writes)
        finally:
            # whatever stopped the run, what was scored in order before it is stored
            while in_flight and in_flight[0].done() and not in_flight[0].cancelled():
                if in_flight[0].exception() or in_flight[0].result().rows is None:
                    break
                position = self._store(in_flight.popleft(), position, seen, records, writes)
            for task in in_flight:
                task.cancel()
            for write in writes:
                write.result()

    def _store(
        self,
        task: asyncio.Task[BatchResult],
        position: int,
        seen: SeenIds | None,
        records: Dataset,
        writes: deque[Future[None]],
    ) -> int:
        """Store the result of the batch that starts at this position; returns where the next one starts."""
        result = task.result()
        if result.error:
            raise RagstoneError(f"in a worker process: {result.error}")
        is_refused = result.has_bad_rows
        if seen is not None:
            for at, sample_id in enumerate(result.ids, position):
                is_refused = not seen.add(sample_id, at) or is_refused
        if is_refused:
            records.check()  # names every bad row as one process does, and raises
            raise DataError(f"{records.source} changed while it was scored; start a new run")
        assert result.rows is not None
        writes.append(self.run.store.append_prepared(self.run.id, result.rows))
        self.add_counts(len(result.ids), result.failures, result.usage)
        return position + len(result.ids)


class BatchWorker:
    """Scores batches inside a worker process."""

    def __init__(
        self,
        metrics: Sequence[Metric],
        judge: Judge | None,
        shape: Mapping[str, Any],
        language: str | None,
        store: Store,
    ) -> None:
        self._metrics = {metric.name: metric for metric in metrics}
        self._starters = {metric.name: build_starter(metric) for metric in metrics}
        self._judge = judge
        self._shape = shape
        self._language = language
        self._store = store
        self._broker: AskBroker | None = None

    def run(self, connection: Connection, ends_of_parent: Sequence[Connection]) -> None:
        """Serve the parent until it closes the connection or is gone."""
        # copies that came with the fork: while one is open, nobody sees that the parent is gone
        for end in ends_of_parent:
            end.close()
        # Ctrl-C reaches every process of a terminal; the parent decides what becomes of the workers
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._store.abandon()
        with suppress(EOFError, OSError):  # the parent is gone
            asyncio.run(self._serve(connection))

    async def _serve(self, connection: Connection) -> None:
        mapper = compile_shape(self._shape)
        async with AsyncExitStack() as stack:
            await self.open(stack)
            while True:
                connection.send(await self._score_batch(mapper, connection.recv()))

    async def open(self, stack: AsyncExitStack) -> None:
        """Open the broker of the judge."""
        if self._judge is not None:
            broker = AskBroker(self._judge, _NO_STORE, "", None)
            self._broker = await stack.enter_async_context(broker)

    async def _score_batch(self, mapper: Any, batch: Mapping[str, Any]) -> BatchResult:
        started = time.perf_counter()
        try:
            rows, bad = read_samples(mapper, batch)
            if bad:
                return BatchResult(has_bad_rows=True)
            scores = await self.score([row.sample for row in rows])
        except Exception as raised:  # as a text: not every exception survives pickling
            return BatchResult(error=f"{type(raised).__name__}: {raised}")
        new = [
            NewRow(row.position, row.sample.id, row.sample.group, row.text, sample_scores)
            for row, sample_scores in zip(rows, scores, strict=True)
        ]
        return BatchResult(
            prepare_rows(new),
            [row.sample.id if row.given else None for row in rows],
            *sum_usage(scores),
            time.perf_counter() - started,
        )

    async def score(self, samples: Sequence[Sample]) -> list[dict[str, Score]]:
        """Score samples with every metric."""
        samples = [set_language(sample, self._language) for sample in samples]
        broker = self._broker
        if broker is None:
            return [score_unjudged(self._starters, sample) for sample in samples]
        open_slots = asyncio.Semaphore(broker.max_open_samples)

        async def score_bounded(sample: Sample) -> dict[str, Score]:
            async with open_slots:
                return await score_sample(sample, self._metrics, self._starters, broker)

        return list(await asyncio.gather(*map(score_bounded, samples)))


class WorkerPool:
    """Processes that score batches, each one at a time; one that dies is replaced."""

    def __init__(self, count: int, worker: BatchWorker) -> None:
        self._worker = worker
        self._processes: list[WorkerProcess] = []
        for _ in range(count):
            self._start()
        # a thread for each process waits for its reply
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="ragstone-worker")
        self._idle: asyncio.Queue[WorkerProcess] = asyncio.Queue()
        for process in self._processes:
            self._idle.put_nowait(process)

    async def score(self, batch: RowBatch) -> BatchResult:
        """Score a batch in the next process that is free."""
        for _ in range(MAX_DEATHS):
            process = await self._idle.get()
            try:
                loop = asyncio.get_running_loop()
                result = await loop.run_in_executor(self._threads, process.ask, batch.to_json())
                self._idle.put_nowait(process)
                return result
            except (EOFError, OSError):
                process.close()
                self._processes.remove(process)
                self._idle.put_nowait(self._start())
        raise RagstoneError(
            f"{MAX_DEATHS} worker processes ended while they scored samples {batch.first} to {batch.last} "
            "(killed, or out of memory?); what came before is stored: resume with --resume, or with --workers 1"
        )

    def _start(self) -> WorkerProcess:
        ends = [process.connection for process in self._processes]
        self._processes.append(WorkerProcess(self._worker, ends))
        return self._processes[-1]

    def close(self) -> None:
        """End the processes, whatever they do."""
        for process in self._processes:
            process.close()
        self._threads.shutdown()


class WorkerProcess:
    """A forked process and the connection to it."""

    def __init__(self, worker: BatchWorker, other_ends: Sequence[Connection]) -> None:
        context = multiprocessing.get_context("fork")
        self.connection, far_end = context.Pipe()
        self._process = context.Process(
            target=worker.run, args=(far_end, [self.connection, *other_ends]), daemon=True,
            name="ragstone-worker",
        )  # fmt: skip
        with warnings.catch_warnings():
            # Python 3.12 warns of forks beside threads: the locks of ours are not used in a worker
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        far_end.close()

    def ask(self, batch: Mapping[str, Any]) -> BatchResult:
        """Send a batch and wait for its result; raises EOFError or OSError when the process has ended."""
        self.connection.send(batch)
        result: BatchResult = self.connection.recv()
        return result

    def close(self) -> None:
        """End the process."""
        # not by SIGTERM: a process that has just been forked still has the parent's handler, which swallows it
        self._process.kill()
        self._process.join()
        self.connection.close()
