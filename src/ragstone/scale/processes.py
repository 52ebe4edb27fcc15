"""Worker processes of this machine, forked: metrics, judge and the weights that are loaded already are there at once
and share their memory."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import warnings
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from multiprocessing.connection import Connection

from ragstone.data import Dataset
from ragstone.errors import RagstoneError
from ragstone.scale.batches import Batch
from ragstone.scale.pools import WorkerDied
from ragstone.scale.shards import ShardResult, ShardRunner
from ragstone.store import Store


@asynccontextmanager
async def open_processes(
    workers: int, runner: ShardRunner, records: Dataset, store: Store
) -> AsyncIterator[ProcessPool]:
    """Fork so many workers for a run, and end them."""
    # a sample is scored and forgotten: what the judge loads for it is then shared by all workers
    await runner.score([record.sample for record in records.peek(1)])
    pool = ProcessPool(workers, runner, store)
    try:
        yield pool
    finally:
        pool.close()


class ProcessPool:
    """Forked processes that score batches, each one at a time; one that dies is replaced."""

    batch_seconds = 0.5

    def __init__(self, size: int, runner: ShardRunner, store: Store) -> None:
        self.size = size
        self._runner = runner
        self._store = store
        self._processes: list[WorkerProcess] = []
        # a thread for each process waits for its reply
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="ragstone-worker")
        self._idle: asyncio.Queue[WorkerProcess] = asyncio.Queue()
        for _ in range(size):
            self._start()

    async def score(self, batch: Batch) -> ShardResult:
        """Score a batch in the next process that is free."""
        process = await self._idle.get()
        try:
            loop = asyncio.get_running_loop()
            result = await loop.run_in_executor(self._threads, process.ask, batch)
        except (EOFError, OSError):
            process.close()
            self._processes.remove(process)
            self._start()
            raise WorkerDied from None
        self._idle.put_nowait(process)
        if isinstance(result, str):
            raise RagstoneError(f"in a worker process: {result}")
        return result

    def _start(self) -> None:
        ends = [process.connection for process in self._processes]
        process = WorkerProcess(self._runner, self._store, ends)
        self._processes.append(process)
        self._idle.put_nowait(process)

    def close(self) -> None:
        """End the processes, whatever they do."""
        for process in self._processes:
            process.close()
        self._threads.shutdown()


class WorkerProcess:
    """A forked process and the connection to it."""

    def __init__(
        self, runner: ShardRunner, store: Store, other_ends: Sequence[Connection] = ()
    ) -> None:
        context = multiprocessing.get_context("fork")
        self.connection, far_end = context.Pipe()
        self._process = context.Process(
            target=_serve,
            args=(runner, store, far_end, [self.connection, *other_ends]),
            daemon=True,
            name="ragstone-worker",
        )
        with warnings.catch_warnings():
            # Python 3.12 warns of forks beside threads: the locks of ours are not used in a worker
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        far_end.close()

    def ask(self, batch: Batch) -> ShardResult | str:
        """Send a batch and wait for its result, or a text that says what went wrong.

        Raises EOFError or OSError when the process has ended."""
        self.connection.send(batch)
        result: ShardResult | str = self.connection.recv()
        return result

    def close(self) -> None:
        """End the process."""
        # not by SIGTERM: a process that has just been forked still has the parent's handler, which swallows it
        self._process.kill()
        self._process.join()
        self.connection.close()


def _serve(
    runner: ShardRunner, store: Store, connection: Connection, ends_of_parent: Sequence[Connection]
) -> None:
    """Score what the parent sends until it closes the connection or is gone."""
    # copies that came with the fork: while one is open, nobody sees that the parent is gone
    for end in ends_of_parent:
        end.close()
    # Ctrl-C reaches every process of a terminal; the parent decides what becomes of the workers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    store.abandon()
    # one loop for all batches: a judge may be bound to it
    with suppress(EOFError, OSError), asyncio.Runner() as loop:  # the parent is gone
        while True:
            batch = connection.recv()
            result: ShardResult | str
            try:
                result = loop.run(runner.run(batch))
            except Exception as raised:  # as a text: not every exception survives pickling
                result = f"{type(raised).__name__}: {raised}"
            connection.send(result)
