"""A run carried out on a cluster: batches are sent out, and their shards merged into the store in input order."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError as FutureCancelled
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from ragstone._version import __version__
from ragstone.config import Plan
from ragstone.config.metric_specs import to_spec
from ragstone.data import Dataset, Record, to_sample
from ragstone.data.ids import SeenIds
from ragstone.data.ranges import plan_ranges
from ragstone.engine import Execution, iter_failed_rows, skip_stored
from ragstone.errors import RagstoneError
from ragstone.judges.limits import Budget
from ragstone.locale.messages import compose
from ragstone.scale.batches import (
    BatchSizer,
    RowBatch,
    digest_rows,
    from_failed,
    from_ranges,
    from_records,
    iter_stored_ids,
    skip_stored_batches,
)
from ragstone.scale.cluster import (
    ClusterError,
    connect,
    count_expected_workers,
    find_driver_host,
    parse_location,
)
from ragstone.scale.coordinator import Coordinator
from ragstone.scale.jobs import WorkerJob
from ragstone.scale.merger import ShardMerger, ShardRescorer
from ragstone.scale.shards import ShardFolder, ShardLine, encode_shard
from ragstone.scale.worker import can_see_file, close_session, get_version, score_batch
from ragstone.store.score_json import encode_scores
from ragstone.types import NO_USAGE, Score

SHARED_LIMITS = ("max_usd", "max_calls", "run_deadline", "rate")
"""Settings of a judge that apply to all workers together."""

MAX_KILLS = 2
"""How often a sample alone must kill its worker before it counts as a metric error."""


@dataclass(slots=True)
class ClusterExecution(Execution):
    """One run being carried out by the workers of a Dask cluster."""

    on: str = "dask"
    plan: Plan = field(default_factory=Plan)
    """Names the judge that each worker makes for itself."""
    source: Any = None
    """Path of the file that the samples come from, if they come from one."""
    _client: Any = field(default=None, repr=False)
    _coordinator: Any = field(default=None, repr=False)
    _may_submit: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    """Cleared while a sample that may kill its worker is scored alone."""
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    """Held while such a sample is scored."""
    _none_in_flight: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    """Set while `_in_flight_count` is 0."""
    _in_flight_count: int = 0
    _workers: frozenset[str] = frozenset()
    """Addresses of the workers, refreshed every second."""

    async def score_new(self, records: Iterable[Record]) -> int:
        """Score what is not stored yet; the number of samples the run then holds."""
        # any records for the base class; here their source is named in errors, and their file is
        # cut into ranges
        assert isinstance(records, Dataset)
        stored = self.run.count()
        self.done = stored
        shards = ShardFolder(self.run.store.shard_folder(self.run.id))
        reusable = shards.list_pending(stored)
        async with AsyncExitStack() as stack:
            await self._open_cluster(stack)
            sizes = BatchSizer(stored, reusable, self.total, max(1, len(self._workers)))
            ranges = plan_ranges(records, self.source, sizes.next_size)
            if ranges is not None and await self._is_file_visible():
                batches = skip_stored_batches(from_ranges(ranges, sizes), self.run, stored)
                # workers read ranges of the file by themselves, so nobody but the merger sees all
                # ids
                seen = SeenIds()
                for position, sample_id, given in iter_stored_ids(self.run):
                    seen.add(sample_id if given else None, position)
            else:
                fresh = skip_stored(self.run, records, stored)
                batches, seen = from_records(fresh, sizes, stored + 1), None
            merger = ShardMerger(self, shards, reusable, stored, seen, records)
            try:
                await self._run_batches(batches, sizes, merger)
            finally:
                await merger.flush()
        shards.clear()
        self.report_progress(force=True)
        return self.done

    async def retry_failures(self) -> int:
        """Score again the stored samples that ended in a failure; how many there were."""
        rescoring = ShardRescorer(self.run)
        async with AsyncExitStack() as stack:
            await self._open_cluster(stack)
            sizes = BatchSizer(0, {})
            await self._run_batches(
                from_failed(iter_failed_rows(self.run), sizes), sizes, rescoring
            )
        return rescoring.count

    # ── the cluster ───────────────────────────────────────────────────────────────────────

    async def _open_cluster(self, stack: AsyncExitStack) -> None:
        """Connect to the workers and open the coordinator for them."""
        # replies of a local judge are not worth sharing: asking again costs no money
        shared = self.judge is not None and not self.judge.local
        where = parse_location(self.on)
        # with two batches at once a worker keeps a remote judge busy while one of them ends
        self._client = await stack.enter_async_context(connect(where, 2 if shared else 1))
        # after a minute the run starts with the workers that are there
        with suppress(TimeoutError):
            await self._client.wait_for_workers(count_expected_workers(where), timeout=60)
        await self._refresh_workers()
        if not self._workers:
            raise ClusterError(f"no worker has joined {self.on!r}; start `dask worker`")
        await self._check_versions()
        settings = self.plan.judge_settings() if self.judge is not None else {}
        budget = Budget(
            settings.get("max_usd"),
            settings.get("max_calls"),
            settings.get("run_deadline"),
            calls_per_second=settings.get("rate"),
        )
        name = self.judge.name if self.judge is not None else ""
        self._coordinator = Coordinator(
            # built after the workers are counted: each gets its share of the judge's concurrency
            self._build_job(settings, shared=shared),
            self.run.store,
            name,
            budget,
            self._list_workers,
        )
        protocol = self._client.scheduler.address.partition("://")[0]
        await self._coordinator.open(
            find_driver_host(self._client), protocol, self._client.security
        )
        stack.push_async_callback(self._coordinator.close)
        stack.push_async_callback(self._close_sessions)
        watching = asyncio.create_task(self._watch_workers())
        stack.callback(watching.cancel)
        self._may_submit.set()
        self._none_in_flight.set()

    def _build_job(self, settings: dict[str, Any], *, shared: bool) -> WorkerJob:
        concurrency = None
        if shared and self.judge is not None:
            whole = self.concurrency or self.judge.concurrency
            concurrency = max(1, whole // max(1, len(self._workers)))
            # changed in place on purpose: `settings` also goes to the workers, as `judge` below
            settings["concurrency"] = concurrency
        return WorkerJob(
            run=self.run.id,
            metrics=tuple(map(to_spec, self.metrics)),
            judge=settings if self.judge is not None else None,
            shared=shared,
            limited=any(settings.get(name) is not None for name in SHARED_LIMITS),
            shape=dict(self.run.info.shape),
            language=self.run.info.plan.language,
            concurrency=concurrency,
            version=__version__,
            code_folders=self.plan.code_folders,
        )

    async def _close_sessions(self) -> None:
        """Close the workers' sessions; a worker that cannot be reached has nothing left to close."""
        with suppress(OSError, TimeoutError):
            await self._client.run(close_session, self._coordinator.token, on_error="ignore")

    def _list_workers(self) -> frozenset[str]:
        return self._workers

    async def _watch_workers(self) -> None:
        while True:
            await asyncio.sleep(1)
            # a scheduler that is gone is reported by `_submit_batch`
            with suppress(OSError):
                await self._refresh_workers()

    async def _refresh_workers(self) -> None:
        """Ask the scheduler which workers there are."""
        self._workers = frozenset(await self._client.scheduler.ncores())

    async def _check_versions(self) -> None:
        """Check that every worker has this ragstone; one that joins later is checked with its first batch."""
        for worker, version in (await self._client.run(get_version, on_error="return")).items():
            # an OSError instead of a version: that worker has just left
            if version != __version__ and not isinstance(version, OSError):
                installed = (
                    f"ragstone {version}"
                    if isinstance(version, str)
                    else f"no ragstone ({version})"
                )
                raise ClusterError(
                    f"the worker at {worker!r} has {installed}, and this is {__version__}; "
                    "install the same on all of them, with the extra `dask`"
                )

    async def _is_file_visible(self) -> bool:
        """Whether every worker sees the input file as we do."""
        answers = await self._client.run(can_see_file, *_stat_file(self.source))
        return all(answers.values())

    # ── batches ────────────────────────────────────────────────────────────────────────────

    async def _run_batches(
        self, batches: Iterator[RowBatch], sizes: BatchSizer, merger: ShardMerger | ShardRescorer
    ) -> None:
        """Keep a bounded number of batches in flight; merge what comes back."""
        in_flight: set[asyncio.Task[list[tuple[RowBatch, dict[str, Any]]]]] = set()
        exhausted = False
        try:
            while not exhausted or in_flight:
                # computed anew each time: workers come and go
                window = 2 * max(1, len(self._workers)) + 2
                # `pending` results wait on disk for a slow earlier batch: no new ones beyond a limit
                while not exhausted and len(in_flight) < window and merger.pending < 8 * window:
                    batch = next(batches, None)
                    if batch is None:
                        exhausted = True
                    elif not await merger.reuse_shard(batch):
                        in_flight.add(asyncio.create_task(self._score_batch(batch)))
                    elif merger.pending > 4 * window:  # reused shards count as pending too
                        await merger.merge_ready()
                if not in_flight:
                    await merger.merge_ready()
                    continue
                done, _ = await asyncio.wait(in_flight, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    for batch, result in task.result():
                        await merger.add_result(batch, result)
                        if "seconds" in result:
                            sizes.add_timing(len(batch.positions), result["seconds"])
                    in_flight.discard(task)
                await merger.merge_ready()
            await merger.merge_ready()
        finally:
            for task in in_flight:
                task.cancel()
            await asyncio.gather(*in_flight, return_exceptions=True)

    async def _score_batch(self, batch: RowBatch) -> list[tuple[RowBatch, dict[str, Any]]]:
        """The batch and its result, as `score_batch` of the worker returns it.

        A batch that kills its worker is halved until the sample that does it is alone; the halves then have a result each."""
        from distributed import KilledWorker

        await self._may_submit.wait()
        try:
            result = await self._submit_batch(batch)
            # a worker that came later does not see the file: it is sent the rows
            if "unseen" in result:
                batch = RowBatch(batch.positions, tuple(batch.read_texts()))
                result = await self._submit_batch(batch)
            return [(batch, result)]
        except KilledWorker:
            if len(batch.positions) == 1:
                return [(batch, await self._score_alone(batch))]
        return [
            scored for half in batch.split_in_halves() for scored in await self._score_batch(half)
        ]

    async def _score_alone(self, batch: RowBatch) -> dict[str, Any]:
        """Score a suspect sample with nothing else in flight, so that no other sample can be to blame."""
        from distributed import KilledWorker

        async with self._one_at_a_time:
            self._may_submit.clear()
            try:
                await self._none_in_flight.wait()
                for _ in range(MAX_KILLS):
                    try:
                        return await self._submit_batch(batch)
                    except KilledWorker:
                        continue
                return self._build_killed_result(batch)
            finally:
                self._may_submit.set()

    def _build_killed_result(self, batch: RowBatch) -> dict[str, Any]:
        """The result of a batch of one sample that killed every worker it was given to."""
        sample = to_sample(batch.read_texts()[0], self.run.info.shape, batch.first)
        reason = compose("worker_killed", times=MAX_KILLS)
        scores = {m.name: Score(outcome="metric_error", reason=reason) for m in self.metrics}
        # a sample whose row gives no id has its position as id; a shard says None for that
        given_id = None if sample.id == str(batch.first) else sample.id
        line = ShardLine(batch.first, given_id, sample.group, encode_scores(scores))
        shard = encode_shard([line], digest_rows(batch.read_texts()), len(self.metrics), NO_USAGE)
        return {"shard": shard}

    async def _submit_batch(self, batch: RowBatch) -> dict[str, Any]:
        from distributed import KilledWorker

        endpoint = {"address": self._coordinator.address, "token": self._coordinator.token}
        # pure=False: Dask would otherwise answer an equal call from its cache
        future = self._client.submit(score_batch, endpoint, batch.to_json(), pure=False)
        self._in_flight_count += 1
        self._none_in_flight.clear()
        try:
            result: dict[str, Any] = await future
        except KilledWorker:
            await self._refresh_workers()  # so that nobody waits for what the dead one was asking
            raise
        except (asyncio.CancelledError, RagstoneError):
            raise
        except FutureCancelled:  # by nobody here: the client has lost its scheduler and given up
            raise ClusterError(
                f"the scheduler at {self._client.scheduler.address!r} is gone; what came back is kept, "
                "resume with --resume when there is one again"
            ) from None
        except Exception as raised:
            raise RagstoneError(
                f"a worker raised {type(raised).__name__}: {raised}; is the same ragstone "
                f"({__version__}) installed on all of them?"
            ) from raised
        finally:
            self._in_flight_count -= 1
            if not self._in_flight_count:
                self._none_in_flight.set()
            # else Dask would keep the shard's bytes in the memory of the worker
            future.release()
        if "error" in result:
            raise RagstoneError(f"on a worker: {result['error']}")
        return result


def _stat_file(source: Any) -> tuple[str, int, int]:
    """The arguments of `can_see_file`."""
    facts = os.stat(source)
    return os.path.abspath(source), facts.st_size, facts.st_mtime_ns
