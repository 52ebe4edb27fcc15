"""What runs in a worker's process: metrics and judge are built once per run, then batches of rows are scored."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ragstone._version import __version__
from ragstone.config.metric_specs import resolve_metrics
from ragstone.data.ranges import FileRange, read_range
from ragstone.data.rows import Mapper, compile_shape
from ragstone.data.sources import RejectedRow
from ragstone.data.strict_json import BadRow, parse_json, reparse_json
from ragstone.engine import sum_usage
from ragstone.engine.broker import AskBroker
from ragstone.engine.sample_scoring import score_sample
from ragstone.errors import DataError, RagstoneError
from ragstone.judges import Judge
from ragstone.metrics.scoring import build_starter, score_unjudged
from ragstone.scale.batches import digest_rows
from ragstone.scale.jobs import WorkerJob
from ragstone.scale.shards import ShardLine, encode_shard
from ragstone.scale.shared_judge import CoordinatorClient, SharedBudget, SharedJudge
from ragstone.store import set_language
from ragstone.store.score_json import encode_scores
from ragstone.types import Sample, Score

DRIVER_SECONDS = 10
"""How long a worker tries to reach the driver before it considers it dead."""

_NO_STORE: Any = None
"""Stands for the store of a broker that never uses it: its judge is local or keeps replies with the driver."""

# Token of a run → its session. Module state, because Dask calls functions, and a model must be
# loaded once.
_sessions: dict[str, WorkerSession] = {}
_sessions_lock = threading.Lock()


def score_batch(endpoint: Mapping[str, str], batch: Mapping[str, Any]) -> dict[str, Any]:
    """Score one batch (`RowBatch.to_json`); `endpoint` has the coordinator's address and token.

    The result is one of: {"shard": bytes, "seconds": float}; {"bad": rows that cannot be read, each with where and why};
    {"unseen": True} when the file is not here; {"error": text} when the run cannot be prepared."""
    started = time.perf_counter()
    try:
        session = _get_session(endpoint)
    except RagstoneError as wrong:  # as a text: its class may not survive the way to the driver
        return {"error": str(wrong)}
    try:
        samples, bad = read_samples(session.mapper, batch)
        if bad:
            return {"bad": bad}
        scores = session.score([row.sample for row in samples])
    except DataError:  # the file is not here, or this worker may not read it
        return {"unseen": True}
    finally:
        with _sessions_lock:
            session.users -= 1
    lines = [
        ShardLine(row.position, row.sample.id if row.given else None, row.sample.group, encode_scores(sample_scores))
        for row, sample_scores in zip(samples, scores, strict=True)
    ]  # fmt: skip
    failures, usage = sum_usage(scores)
    shard = encode_shard(lines, digest_rows(row.text for row in samples), failures, usage)
    return {"shard": shard, "seconds": time.perf_counter() - started}


def _get_session(endpoint: Mapping[str, str]) -> WorkerSession:
    """This run's session; those of runs whose driver is gone are closed when a new one is made."""
    with _sessions_lock:
        session = _sessions.get(endpoint["token"])
        if session is None:
            for token, old in list(_sessions.items()):  # a worker may outlive many runs
                if not old.users and not old.is_needed():
                    del _sessions[token]
                    old.close()
            session = _sessions[endpoint["token"]] = WorkerSession(endpoint)
        session.users += 1
        return session


def close_session(token: str) -> None:
    """Release what this worker holds for a run that is over."""
    with _sessions_lock:
        session = _sessions.pop(token, None)
        if session is not None:
            session.close()


def get_version() -> str:
    """The ragstone of this worker."""
    return __version__


def can_see_file(path: str, size: int, modified: int) -> bool:
    """Whether this worker has a file at this path with the same size and modification time (nanoseconds)."""
    import os

    try:
        facts = os.stat(path)
    except OSError:
        return False
    return (facts.st_size, facts.st_mtime_ns) == (size, modified)


class _ReadRow(NamedTuple):
    # the first two are what a Mapper returns, in its order
    sample: Sample
    given: bool
    """Whether the row gave the sample its id; otherwise the id is the position."""
    position: int
    text: str


def read_samples(
    mapper: Mapper, batch: Mapping[str, Any]
) -> tuple[list[_ReadRow], list[list[Any]]]:
    """The batch's samples, and the rows of a file that are refused, each with where it is and why."""
    rows: list[_ReadRow] = []
    if "rows" in batch:  # read and checked by the driver before
        for position, text in zip(batch["positions"], batch["rows"], strict=True):
            rows.append(_ReadRow(*mapper(reparse_json(text), position), position, text))
        return rows, []
    bad: list[list[Any]] = []
    position = batch["positions"][0]
    for at, raw in read_range(FileRange(**batch["range"])):
        try:
            if isinstance(raw, RejectedRow):
                raise BadRow(raw.reason)
            rows.append(_ReadRow(*mapper(parse_json(raw), position), position, raw))
        except BadRow as refused:
            bad.append([at, str(refused)])
        position += 1
    return rows, bad


class WorkerSession:
    """What a worker holds for one run: its metrics, its judge (a model is loaded once), and an event loop in a thread."""

    def __init__(self, endpoint: Mapping[str, str]) -> None:
        self.users = 0
        """Threads that are scoring in this session."""
        self._endpoint = endpoint
        self._address, self._connections = _describe_worker()
        # the loop runs in a separate thread: Dask calls `score_batch` from several threads, which
        # share one broker
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="ragstone-worker", daemon=True
        )
        self._thread.start()
        self._judge: Judge | None = None
        self._broker: AskBroker | None = None
        try:
            self._run_in_loop(self._prepare_run())
        except BaseException:
            self._end_loop()
            raise

    def score(self, samples: Sequence[Sample]) -> list[dict[str, Score]]:
        """Every metric on every sample, in order."""
        return self._run_in_loop(self._score_samples(samples))  # type: ignore[no-any-return]

    def is_needed(self) -> bool:
        """Whether the run's driver is still there: two runs that share a worker must not unload each other's model."""
        try:
            self._run_in_loop(self._fetch_job())
        except (OSError, TimeoutError, PermissionError):
            return False
        return True

    def close(self) -> None:
        """Close the judge and the loop."""
        self._run_in_loop(self._close_connections())
        self._end_loop()

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run_in_loop(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _prepare_run(self) -> None:
        from distributed.core import rpc

        self._driver = rpc(
            self._endpoint["address"],
            timeout=DRIVER_SECONDS,
            connection_args=self._connections,
            serializers=["msgpack"],
            deserializers=["msgpack"],
        )
        try:
            self._job = WorkerJob.from_json(await self._fetch_job())
        except (OSError, TimeoutError):
            raise RagstoneError(
                f"the driver does not answer at {self._endpoint['address']!r}; start it where workers can "
                "reach it, or name the network with RAGSTONE_INTERFACE"
            ) from None
        if self._job.version != __version__:
            raise RagstoneError(
                f"this worker has ragstone {__version__}, the driver {self._job.version}; install the same"
            )
        # before the metrics are resolved: they may be defined in the user's modules
        sys.path[:0] = [folder for folder in self._job.code_folders if folder not in sys.path]
        metrics = resolve_metrics(self._job.metrics)
        self._metrics = {metric.name: metric for metric in metrics}
        self._starters = {metric.name: build_starter(metric) for metric in metrics}
        self.mapper = compile_shape(self._job.shape)
        if self._job.judge is None:
            return
        from ragstone.judges.factory import make_judge

        client = CoordinatorClient(self._driver, self._endpoint["token"], self._address)
        budget = SharedBudget(client, limited=self._job.limited) if self._job.shared else None
        self._judge = make_judge(dict(self._job.judge), budget=budget)
        answering: Any = SharedJudge(self._judge, client) if self._job.shared else self._judge
        # without a store: the broker uses none for a judge whose `local` is true, as both kinds are
        self._broker = AskBroker(answering, _NO_STORE, self._job.run, self._job.concurrency)
        await self._broker.__aenter__()  # left in `_close_connections`, many calls later

    async def _fetch_job(self) -> dict[str, Any]:
        job: dict[str, Any] = await self._driver.hello(token=self._endpoint["token"])
        return job

    async def _score_samples(self, samples: Sequence[Sample]) -> list[dict[str, Score]]:
        with_language = [set_language(sample, self._job.language) for sample in samples]
        if self._broker is None:
            return [score_unjudged(self._starters, sample) for sample in with_language]
        broker, open_slots = self._broker, asyncio.Semaphore(self._broker.max_open_samples)

        async def score_bounded(sample: Sample) -> dict[str, Score]:
            async with open_slots:
                return await score_sample(sample, self._metrics, self._starters, broker)

        return list(await asyncio.gather(*map(score_bounded, with_language)))

    async def _close_connections(self) -> None:
        # the run may have been stopped: whoever waits for a score must not wait for ever
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if self._broker is not None:
            await self._broker.__aexit__(None, None, None)
        if self._judge is not None:
            await self._judge.close()
        await self._driver.close_rpc()


def _describe_worker() -> tuple[str, dict[str, Any]]:
    """The address of this worker, and Dask's arguments for opening connections (its certificates)."""
    from distributed import get_worker

    worker = get_worker()
    return worker.address, dict(worker.security.get_connection_args("worker"))
