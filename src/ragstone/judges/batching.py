"""A language model asked through the batch API of its provider: requests are collected in rounds, each sent as one job.

A round ends when no further request has come for a while: every open sample then waits for a reply. Jobs are noted in a
ledger, so that another process finds the replies of jobs that this one sent."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from ragstone.asks import digest
from ragstone.asks.fences import make_secret, use_secret
from ragstone.errors import JudgeFailed
from ragstone.judges.completion import Completion, CompletionRequest
from ragstone.judges.dialects.batches import BatchApi, JobResult, JobState
from ragstone.judges.http import MalformedReply, RequestRejected, ResourceMissing, describe_status
from ragstone.judges.prices import compute_usage, estimate_usd
from ragstone.judges.remote import RemoteModel
from ragstone.types import NO_USAGE

QUIET_SECONDS = 2.0
"""How long no request comes before a round ends."""
MAX_JOB_REQUESTS, MAX_JOB_BYTES = 5_000, 50 * 2**20
"""A job takes no more, far below what the providers allow, so that its results fit into memory."""
MAX_OPEN_REQUESTS = 2 * MAX_JOB_REQUESTS
"""Requests that may wait at once."""
FIRST_POLL_SECONDS, MAX_POLL_SECONDS = 5.0, 60.0
"""How often a job is looked up: at first, and after a while."""
MAX_FAILED_POLLS = 60
"""A provider that cannot be reached this many times in a row is given up; its jobs stay in the ledger."""
MAX_TRIES = 2
"""How often a request is put into a job when the provider did not get to it."""


@dataclass(frozen=True)
class BatchJob:
    """A job at a provider."""

    id: str
    place: str
    """Dialect, URL and model."""
    keys: tuple[str, ...]
    """Keys of its requests."""
    submitted: float
    """Seconds since 1970."""


class JobLedger(Protocol):
    """Where the jobs of a run are noted."""

    secret: bytes
    """What nonces are made with, so that another process can read the replies."""

    def load(self, place: str) -> list[BatchJob]:
        """The jobs sent to a place so far."""
        ...

    def add(self, job: BatchJob) -> None:
        """Note a job; returns when the note is safe."""
        ...

    def mark_collected(self, job: BatchJob) -> None:
        """Note that the results of a job were read; they may be read again."""
        ...

    def remove(self, job: BatchJob) -> None:
        """Forget a job of which the provider knows nothing."""
        ...


class MemoryLedger:
    """A ledger that ends with the process."""

    def __init__(self) -> None:
        self.secret = make_secret()

    def load(self, place: str) -> list[BatchJob]:
        """No job of an earlier process is known."""
        return []

    def add(self, job: BatchJob) -> None:
        """Nothing to note: the queue knows its own jobs."""

    mark_collected = remove = add


_LEDGER: ContextVar[JobLedger | None] = ContextVar("job_ledger", default=None)


@contextmanager
def keep_jobs(ledger: JobLedger) -> Iterator[None]:
    """Note the jobs of the current task, and of those that it starts, in this ledger."""
    token = _LEDGER.set(ledger)
    try:
        with use_secret(ledger.secret):
            yield
    finally:
        _LEDGER.reset(token)


class BatchedModel(RemoteModel):
    """A language model behind the batch API of its provider; its replies are cached like those of single calls."""

    is_batched = True

    def __init__(self, *given: Any, batches: BatchApi, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.concurrency = MAX_OPEN_REQUESTS
        self._batches = batches
        self._memory = MemoryLedger()
        self._queues: dict[JobLedger, BatchQueue] = {}

    async def close(self) -> None:
        """Stop waiting for jobs, which go on at the provider, and close the connections."""
        for queue in self._queues.values():
            queue.close()
        self._queues.clear()
        await self._batches.client.close()
        await super().close()

    async def _call(self, build_body: Callable[[], Any], request: CompletionRequest) -> Completion:
        ledger = _LEDGER.get() or self._memory
        queue = self._queues.get(ledger)
        if queue is None:
            place = f"{self.dialect.name} {self.client.base_url.url} {self.model}"
            queue = self._queues[ledger] = BatchQueue(self._batches, ledger, place)
        characters = len(request.system) + len(request.user)
        estimate = estimate_usd(self.price, characters, int(self._mean_output_tokens))
        self.client.budget.reserve(estimate)
        usage = NO_USAGE
        try:
            reply = self.dialect.parse_reply(await queue.ask(build_body()))
            usage = compute_usage(self.price, reply.input_tokens, reply.output_tokens)
        except MalformedReply as fault:
            raise JudgeFailed("unparseable", fault.reason) from None
        finally:
            self.client.budget.settle(estimate, usage)
        self._mean_output_tokens += 0.1 * (reply.output_tokens - self._mean_output_tokens)
        return Completion(reply.text, reply.finish, usage, reply.first_tokens)


@dataclass
class _Round:
    """Requests that are collected for the next job."""

    bodies: dict[str, Any] = field(default_factory=dict)
    bytes: int = 0


class BatchQueue:
    """The requests of one run to one model, on their way into jobs and back."""

    def __init__(self, api: BatchApi, ledger: JobLedger, place: str) -> None:
        self._api, self._ledger, self._place = api, ledger, place
        self._round = _Round()
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: dict[str, asyncio.Future[JobResult]] = {}
        self._earlier = {key: job for job in ledger.load(place) for key in job.keys}
        """Jobs of an earlier process, by the keys that nobody has asked for yet."""
        self._results: dict[str, JobResult] = {}
        """Results of those jobs that nobody has asked for yet."""
        self._followed: set[str] = set()

    async def ask(self, body: Mapping[str, Any]) -> Any:
        """Return the provider's reply to one request; raises RequestRejected or JudgeFailed."""
        key = digest(body)
        for _ in range(MAX_TRIES):
            result = await self._find_result(key, body)
            if result.status == 200:
                return result.reply
            reason = self._describe(result)
            if result.status in (400, 422):
                raise RequestRejected(result.status, reason, result.parameter)
            if result.status and result.status < 500 and result.status != 429:
                break
        raise JudgeFailed("transport", reason)

    def close(self) -> None:
        """Stop collecting and waiting."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()

    def _describe(self, result: JobResult) -> str:
        text = self._api.client.redact(" ".join(result.message.split()))[:200]
        return describe_status(result.status, text) if result.status else text

    async def _find_result(self, key: str, body: Mapping[str, Any]) -> JobResult:
        """The result of a request from an earlier job, from the round that waits, or from a new one."""
        job = self._earlier.pop(key, None)
        if key in self._results:
            return self._results.pop(key)
        future = self._waiting.get(key)
        if future is None:
            future = self._waiting[key] = asyncio.get_running_loop().create_future()
            if job is None:
                self._collect(key, body)
            elif job.id not in self._followed:
                self._followed.add(job.id)
                self._start(self._follow(job), job.keys)
        result = await asyncio.shield(future)
        if job is not None and result.status != 200:
            # an earlier process was told of this failure; whoever asks now wants another try
            return await self._find_result(key, body)
        return result

    def _collect(self, key: str, body: Mapping[str, Any]) -> None:
        self._round.bodies[key] = body
        self._round.bytes += len(json.dumps(body, ensure_ascii=False))
        if self._timer is not None:
            self._timer.cancel()
        is_full = len(self._round.bodies) >= MAX_JOB_REQUESTS or self._round.bytes >= MAX_JOB_BYTES
        delay = 0.0 if is_full else QUIET_SECONDS
        self._timer = asyncio.get_running_loop().call_later(delay, self._end_round)

    def _end_round(self) -> None:
        bodies, self._round = self._round.bodies, _Round()
        if bodies:
            self._start(self._send(bodies), tuple(bodies))

    def _start(self, work: Coroutine[Any, Any, None], keys: tuple[str, ...]) -> None:
        """Do the work of a job in a task; if it fails, so do the requests."""

        async def run() -> None:
            try:
                await work
            except Exception as error:
                self._settle(keys, error)

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, bodies: Mapping[str, Any]) -> None:
        job_id = await self._api.submit(bodies)
        job = BatchJob(job_id, self._place, tuple(bodies), time.time())
        await asyncio.to_thread(self._ledger.add, job)
        await self._follow(job)

    async def _follow(self, job: BatchJob) -> None:
        """Wait until a job has ended, and hand out its results."""
        try:
            state = await self._wait(job)
            results = {} if state.status == "failed" else await self._api.fetch(job.id, state)
        except ResourceMissing:
            # the provider keeps results for a month; then the requests go into a new job
            await asyncio.to_thread(self._ledger.remove, job)
            self._settle(job.keys, {})
            return
        await asyncio.to_thread(self._ledger.mark_collected, job)
        if state.status != "ended" and not results:
            code = "batch_failed" if state.status == "failed" else "batch_cancelled"
            text = self._api.client.redact(state.message)[:200]
            self._settle(job.keys, JudgeFailed("transport", code, job=job.id, text=text))
            return
        self._settle(job.keys, results)

    async def _wait(self, job: BatchJob) -> JobState:
        seconds, failed = FIRST_POLL_SECONDS, 0
        while True:
            try:
                state = await self._api.look_up(job.id)
                failed = 0
                if state.status != "waiting":
                    return state
            except ResourceMissing:
                raise
            except JudgeFailed:  # a laptop that was asleep, a provider that is down
                failed += 1
                if failed >= MAX_FAILED_POLLS:
                    raise
            await asyncio.sleep(seconds)
            seconds = min(1.5 * seconds, MAX_POLL_SECONDS)

    def _settle(self, keys: tuple[str, ...], outcome: Mapping[str, JobResult] | Exception) -> None:
        """Hand each request its result; those without one were not tried."""
        for key in keys:
            future = self._waiting.pop(key, None)
            if isinstance(outcome, Exception):
                self._earlier.pop(key, None)
                if future is not None and not future.done():
                    future.set_exception(outcome)
                continue
            result = outcome.get(key, JobResult(None, 0, "expired"))
            if future is not None and not future.done():
                future.set_result(result)
            elif self._earlier.pop(key, None) is not None and result.status == 200:
                self._results[key] = result
