"""A run whose rows are scored by worker processes: batches go out, and what comes back is stored in input order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ragstone.data import Dataset, Record
from ragstone.data.strict_json import BadRow
from ragstone.engine import Execution, check_stored
from ragstone.errors import DataError
from ragstone.locale.messages import compose
from ragstone.scale.batches import Batch, BatchSizer
from ragstone.scale.pools import MAX_KILLS, Survivor, WorkerPool
from ragstone.scale.shards import ShardResult, ShardRunner
from ragstone.store import Store
from ragstone.store.rows import to_storable_json
from ragstone.types import Score

BATCHES_PER_WORKER = 4
"""Batches in flight for each worker: it works on one; results of others wait in memory for a slow one before them."""
MAX_PENDING_WRITES = 4

Scored = list[tuple[Batch, ShardResult]]
OpenPool = Callable[[ShardRunner, Dataset, Store], AbstractAsyncContextManager[WorkerPool]]
"""Opens the workers of a run; forked ones inherit what the runner and the store of this process are."""


@dataclass(slots=True)
class ShardedExecution(Execution):
    """One run being scored by the workers of a pool."""

    open_pool: OpenPool = field(kw_only=True)
    _survivor: Survivor = field(default_factory=Survivor, repr=False)
    _runner: ShardRunner = field(init=False, repr=False)

    async def score_new(self, records: Iterable[Record]) -> int:
        """Score what is not stored yet; the number of samples the run then holds."""
        assert isinstance(
            records, Dataset
        )  # the base class takes any records; here their rows are cut
        stored = self.done = self.run.count()
        rows = records.iter_rows()
        check_stored(self.run, (str(row) for row in islice(rows, stored)))
        info = self.run.info
        self._runner = ShardRunner(self.metrics, self.judge, info.shape, info.plan.language)
        async with self.open_pool(self._runner, records, self.run.store) as pool:
            remaining = None if self.total is None else self.total - stored
            sizes = BatchSizer(remaining, pool.size, pool.batch_seconds)
            try:
                await self._run_batches(sizes.cut(rows, stored + 1), pool, sizes)
            except BadRow:
                records.check()  # names every bad row as one process does, and raises
                raise DataError(
                    f"{records.source} changed while it was scored; start a new run"
                ) from None
        if not self.done:
            records.check()  # says that there are no rows
        self.report_progress(force=True)
        return self.done

    def _read_stored_ids(self) -> set[str]:
        sql = "SELECT id FROM samples WHERE run = ?"
        number = self.run.store.find_number(self.run.id)
        return {sample_id for (sample_id,) in self.run.store.stream(sql, (number,))}

    async def _run_batches(
        self, batches: Iterator[Batch], pool: WorkerPool, sizes: BatchSizer
    ) -> None:
        """Keep every worker busy; store what comes back in the order of the batches."""
        seen = self._read_stored_ids()
        in_flight: deque[asyncio.Task[Scored]] = deque()
        writes: deque[Future[None]] = deque()
        is_refused = False

        def store_first() -> None:
            for batch, result in in_flight.popleft().result():
                if result.seconds:
                    sizes.add_timing(batch.count, result.seconds)
                writes.append(self._store(batch, result, seen))

        try:
            for batch in batches:
                in_flight.append(asyncio.create_task(self._score(batch, pool)))
                await asyncio.sleep(0)
                sizes.workers = max(1, pool.size)  # workers come and go
                while in_flight and (
                    in_flight[0].done() or len(in_flight) >= BATCHES_PER_WORKER * sizes.workers
                ):
                    await in_flight[0]
                    store_first()
                while len(writes) > MAX_PENDING_WRITES:
                    await asyncio.wrap_future(writes.popleft())
            while in_flight:
                await in_flight[0]
                store_first()
        except BadRow:
            is_refused = True
            raise
        finally:
            for task in in_flight:
                task.cancel()
            await asyncio.gather(*in_flight, return_exceptions=True)
            # whatever else stopped the run, what was scored in order before it is stored
            while in_flight and not is_refused and _is_scored(in_flight[0]):
                store_first()
            for write in writes:
                write.result()

    async def _score(self, batch: Batch, pool: WorkerPool) -> Scored:
        pieces = await self._survivor.run(batch, pool.score)
        return [
            (piece, self._give_up(piece) if result is None else result) for piece, result in pieces
        ]

    def _give_up(self, batch: Batch) -> ShardResult:
        """The result of a sample that kills every worker it is given to."""
        reason = compose("worker_killed", times=MAX_KILLS)
        return self._runner.refuse(batch, Score(outcome="metric_error", reason=reason))

    def _store(self, batch: Batch, result: ShardResult, seen: set[str]) -> Future[None]:
        if result.rows is None:
            raise BadRow("refused by a worker")
        for sample_id in result.ids:
            if sample_id in seen:
                raise BadRow(f"the id {sample_id!r} was given to an earlier row")
            seen.add(sample_id)
        inputs = [
            (position, to_storable_json(row))
            for position, row in enumerate(batch.rows, batch.first)
            if isinstance(row, str)  # a rejected one would have been refused
        ]
        rows = result.rows._replace(inputs=inputs)
        written = self.run.store.append_prepared(self.run.id, rows)
        self.add_counts(len(result.ids), result.failures, result.usage)
        return written


def _is_scored(task: asyncio.Task[Any]) -> bool:
    if not task.done() or task.cancelled() or task.exception() is not None:
        return False
    return all(result.rows is not None for _, result in task.result())
