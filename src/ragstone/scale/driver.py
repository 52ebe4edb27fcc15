"""A run carried out on a cluster: pieces out, shards back, merged into the store in input order."""

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
from ragstone.errors import DataError, RagstoneError
from ragstone.judges.limits import Budget
from ragstone.locale.messages import compose
from ragstone.scale.cluster import NoCluster, connected, host_for, place, workers_expected
from ragstone.scale.counter import Counter
from ragstone.scale.jobs import Job
from ragstone.scale.merging import Merging, Rescoring
from ragstone.scale.pieces import (
    Piece,
    Sizes,
    digest_rows,
    from_failed,
    from_ranges,
    from_records,
)
from ragstone.scale.shards import Line, Shelf, encode_shard
from ragstone.scale.worker import put_away, score_piece, sees, version
from ragstone.store import encode_scores
from ragstone.types import NO_USAGE, Score

LIMITS = ("max_usd", "max_calls", "run_deadline", "rate")
"""Settings of a judge that hold for all workers together."""

KILLS = 2
"""Times that a sample alone must kill its worker before it is given up."""


@dataclass(slots=True)
class ClusterExecution(Execution):
    """One run being carried out by the workers of a Dask cluster."""

    on: str = "dask"
    plan: Plan = field(default_factory=Plan)
    """Names the judge that each worker makes for itself."""
    source: Any = None
    """The file that the samples come from, if it is one."""
    _client: Any = field(default=None, repr=False)
    _counter: Any = field(default=None, repr=False)
    _gate: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    _idle: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    _busy: int = 0
    _workers: frozenset[str] = frozenset()

    async def score_new(self, records: Iterable[Record]) -> int:
        """Score what is not stored yet; the number of samples the run then holds."""
        assert isinstance(records, Dataset)
        stored = self.run.count()
        self.done = stored
        shelf = Shelf(self.run.store.shard_folder(self.run.id))
        kept = shelf.kept(stored)
        async with AsyncExitStack() as stack:
            await self._open(stack)
            sizes = Sizes(stored, kept, self.total, max(1, len(self._workers)))
            ranges = plan_ranges(records, self.source, sizes.wanted)
            if ranges is not None and await self._seen_by_all():
                pieces = _past_stored(from_ranges(ranges, sizes), self.run, stored)
                seen = SeenIds()
                for position, sample_id, given in _stored_ids(self.run):
                    seen.add(sample_id if given else None, position)
            else:
                fresh = skip_stored(self.run, records, stored)
                pieces, seen = from_records(fresh, sizes, stored + 1), None
            merging = Merging(self, shelf, kept, stored, seen, records)
            try:
                await self._carry(pieces, sizes, merging)
            finally:
                await merging.settle()
        shelf.clear()
        self.report_progress(force=True)
        return self.done

    async def retry_failures(self) -> int:
        """Score again the stored samples that ended in a failure; how many there were."""
        rescoring = Rescoring(self.run)
        async with AsyncExitStack() as stack:
            await self._open(stack)
            sizes = Sizes(0, {})
            await self._carry(from_failed(iter_failed_rows(self.run), sizes), sizes, rescoring)
        return rescoring.count

    # ── the cluster ───────────────────────────────────────────────────────────────────────

    async def _open(self, stack: AsyncExitStack) -> None:
        """Connect to the workers and open the counter for them."""
        shared = self.judge is not None and not self.judge.local
        where = place(self.on)
        # two pieces at once keep a remote judge's lanes full while one of them ends
        self._client = await stack.enter_async_context(connected(where, 2 if shared else 1))
        with suppress(TimeoutError):  # those that are there will do
            await self._client.wait_for_workers(workers_expected(where), timeout=60)
        await self._look()
        if not self._workers:
            raise NoCluster(f"no worker has joined {self.on!r}; start `dask worker`")
        await self._meet()
        settings = self.plan.judge_settings() if self.judge is not None else {}
        budget = Budget(
            settings.get("max_usd"),
            settings.get("max_calls"),
            settings.get("run_deadline"),
            rate=settings.get("rate"),
        )
        name = self.judge.name if self.judge is not None else ""
        self._counter = Counter(
            self._job(settings, shared=shared), self.run.store, name, budget, self._alive
        )
        protocol = self._client.scheduler.address.partition("://")[0]
        await self._counter.open(host_for(self._client), protocol, self._client.security)
        stack.push_async_callback(self._counter.close)
        stack.push_async_callback(self._put_away)
        watching = asyncio.create_task(self._watch_workers())
        stack.callback(watching.cancel)
        self._gate.set()
        self._idle.set()

    def _job(self, settings: dict[str, Any], *, shared: bool) -> Job:
        concurrency = None
        if shared and self.judge is not None:
            whole = self.concurrency or self.judge.concurrency
            concurrency = max(1, whole // max(1, len(self._workers)))
            settings["concurrency"] = concurrency
        return Job(
            run=self.run.id,
            metrics=tuple(map(to_spec, self.metrics)),
            judge=settings if self.judge is not None else None,
            shared=shared,
            limited=any(settings.get(name) is not None for name in LIMITS),
            shape=dict(self.run.info.shape),
            language=self.run.info.plan.language,
            concurrency=concurrency,
            version=__version__,
            code_folders=self.plan.code_folders,
        )

    async def _put_away(self) -> None:
        """Have the workers let go of their judges; one that cannot be reached has let go of everything."""
        with suppress(OSError, TimeoutError):
            await self._client.run(put_away, self._counter.token, on_error="ignore")

    def _alive(self) -> frozenset[str]:
        return self._workers

    async def _watch_workers(self) -> None:
        while True:
            await asyncio.sleep(1)
            with suppress(
                OSError
            ):  # a scheduler that is gone is told of by those who wait for pieces
                await self._look()

    async def _look(self) -> None:
        """Who is there now, as the scheduler sees it."""
        self._workers = frozenset(await self._client.scheduler.ncores())

    async def _meet(self) -> None:
        """See that every worker has this ragstone; one that joins later is asked with its first piece."""
        for worker, said in (await self._client.run(version, on_error="return")).items():
            if said != __version__ and not isinstance(said, OSError):  # that one has just left
                found = f"ragstone {said}" if isinstance(said, str) else f"no ragstone ({said})"
                raise NoCluster(
                    f"the worker at {worker!r} has {found}, and this is {__version__}; "
                    "install the same on all of them, with the extra `dask`"
                )

    async def _seen_by_all(self) -> bool:
        """Whether every worker sees the input file as we do."""
        answers = await self._client.run(sees, *_facts(self.source))
        return all(answers.values())

    # ── pieces ────────────────────────────────────────────────────────────────────────────

    async def _carry(
        self, pieces: Iterator[Piece], sizes: Sizes, merging: Merging | Rescoring
    ) -> None:
        """Keep a bounded window of pieces in the workers' hands; merge what comes back."""
        under_way: set[asyncio.Task[list[tuple[Piece, dict[str, Any]]]]] = set()
        exhausted = False
        try:
            while not exhausted or under_way:
                window = 2 * max(1, len(self._workers)) + 2
                while not exhausted and len(under_way) < window and merging.waiting < 8 * window:
                    piece = next(pieces, None)
                    if piece is None:
                        exhausted = True
                    elif not await merging.there(piece):
                        under_way.add(asyncio.create_task(self._brought(piece)))
                    elif merging.waiting > 4 * window:
                        await merging.advance()
                if not under_way:
                    await merging.advance()
                    continue
                done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    for piece, result in task.result():
                        await merging.take(piece, result)
                        if "seconds" in result:
                            sizes.learn(len(piece.positions), result["seconds"])
                    under_way.discard(task)
                await merging.advance()
            await merging.advance()
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _brought(self, piece: Piece) -> list[tuple[Piece, dict[str, Any]]]:
        """The piece's result; one that kills its worker is halved until the sample that does it is alone."""
        from distributed import KilledWorker

        await self._gate.wait()
        try:
            result = await self._submitted(piece)
            if (
                "unseen" in result
            ):  # a worker that came later does not see the file: it is sent the rows
                piece = Piece(piece.positions, tuple(piece.texts()))
                result = await self._submitted(piece)
            return [(piece, result)]
        except KilledWorker:
            if len(piece.positions) == 1:
                return [(piece, await self._alone(piece))]
        return [found for half in piece.halves() for found in await self._brought(half)]

    async def _alone(self, piece: Piece) -> dict[str, Any]:
        """A suspect sample with nothing else under way, so that no other can be to blame."""
        from distributed import KilledWorker

        async with self._one_at_a_time:
            self._gate.clear()
            try:
                await self._idle.wait()
                for _ in range(KILLS):
                    try:
                        return await self._submitted(piece)
                    except KilledWorker:
                        continue
                return self._poison(piece)
            finally:
                self._gate.set()

    def _poison(self, piece: Piece) -> dict[str, Any]:
        sample = to_sample(piece.texts()[0], self.run.info.shape, piece.first)
        reason = compose("worker_killed", times=KILLS)
        scores = {m.name: Score(outcome="metric_error", reason=reason) for m in self.metrics}
        given = None if sample.id == str(piece.first) else sample.id
        line = Line(piece.first, given, sample.group, encode_scores(scores))
        shard = encode_shard([line], digest_rows(piece.texts()), len(self.metrics), NO_USAGE)
        return {"shard": shard}

    async def _submitted(self, piece: Piece) -> dict[str, Any]:
        from distributed import KilledWorker

        ticket = {"address": self._counter.address, "token": self._counter.token}
        future = self._client.submit(score_piece, ticket, piece.sent(), pure=False)
        self._busy += 1
        self._idle.clear()
        try:
            result: dict[str, Any] = await future
        except KilledWorker:
            await self._look()  # so that nobody waits for what the dead one was asking
            raise
        except (asyncio.CancelledError, RagstoneError):
            raise
        except FutureCancelled:  # by nobody here: the client has lost its scheduler and given up
            raise NoCluster(
                f"the scheduler at {self._client.scheduler.address!r} is gone; what came back is kept, "
                "go on with --resume when there is one again"
            ) from None
        except Exception as raised:
            raise RagstoneError(
                f"a worker raised {type(raised).__name__}: {raised}; is the same ragstone "
                f"({__version__}) installed on all of them?"
            ) from raised
        finally:
            self._busy -= 1
            if not self._busy:
                self._idle.set()
            future.release()
        if "error" in result:
            raise RagstoneError(f"on a worker: {result['error']}")
        return result


def _facts(source: Any) -> tuple[str, int, int]:
    facts = os.stat(source)
    return os.path.abspath(source), facts.st_size, facts.st_mtime_ns


def _past_stored(pieces: Iterator[Piece], run: Any, stored: int) -> Iterator[Piece]:
    """The pieces after those in the store, which must hold the same rows as then."""
    rows = run.store.input_rows(run.id)
    for piece in pieces:
        if piece.first > stored:
            yield piece
            continue
        for position, text in zip(piece.positions, piece.texts(), strict=True):
            if position <= stored and next(rows) != text:
                raise DataError(
                    f"sample {position} of {run.info.source} has changed since run {run.id} scored it; "
                    "start a new run without --resume"
                )
        if piece.last > stored:  # only a parquet row group can reach beyond
            rest = piece.texts()[stored - piece.first + 1 :]
            yield Piece(tuple(range(stored + 1, piece.last + 1)), tuple(rest))


def _stored_ids(run: Any) -> Iterator[tuple[int, str, bool]]:
    for position, sample_id, _, _ in run.store.score_rows(run.id):
        yield position, sample_id, sample_id != str(position)
