"""Questions through a system: records without answers in, records with answers out, each asked once."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ragstone.asks import Reply, digest
from ragstone.data import Reading, Record
from ragstone.data.containers import Container, Raw, Refused
from ragstone.data.objects import text_of_object
from ragstone.data.strict import reparse
from ragstone.errors import DataError
from ragstone.systems.protocol import System, SystemFault, SystemReply
from ragstone.types import Sample

SHAPE: dict[str, Any] = {"format": "ragstone"}
"""How filled rows map to samples."""
LONGEST_PAUSE = 60.0
_LASTING = (
    ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError,
    NotImplementedError, TypeError, ValueError,
)  # fmt: skip
"""What a system raises when it is broken, not busy: asking again would not help."""


class Replies(Protocol):
    """What is needed of a store: replies under keys."""

    def reply(self, key: str) -> Reply | None: ...

    def save_reply(
        self, key: str, reply: Reply, *, run: str, kind: str, judge: str
    ) -> Future[None]: ...


@dataclass(frozen=True, slots=True)
class Filled:
    """How far the filling is."""

    done: int
    failures: int
    asked: int
    """Questions that went to the system; the others were answered from the store."""


@dataclass(slots=True)
class Filling:
    """Asks one system, keeps its replies, and never asks it the same twice."""

    system: System
    store: Replies
    run: str
    """Whose failures are kept: another run asks again what failed in this one."""
    concurrency: int | None = None
    timeout: float = 120.0
    """Seconds for one try."""
    retries: int = 2
    """How often a question is asked again after a fault that may pass."""
    reuse: bool = True
    """Whether replies of earlier runs count."""
    keep_given: bool = False
    """Whether records that have an answer keep it."""
    watch: Callable[[Filled], None] | None = None
    done: int = 0
    failures: int = 0
    asked: int = 0
    _identity: Mapping[str, Any] = field(default_factory=dict)
    _open: dict[str, asyncio.Task[SystemReply | SystemFault]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.timeout <= 0 or self.retries < 0 or (self.concurrency or 1) < 1:
            raise DataError(
                f"timeout {self.timeout:g}, retries {self.retries}, concurrency {self.concurrency}: "
                "give a timeout above 0, retries from 0 and a concurrency from 1"
            )
        self._identity = self.system.identity()

    async def fill(
        self, records: Iterable[Record], shape: Mapping[str, Any]
    ) -> AsyncIterator[Record]:
        """Each record with its answer, in order, up to `concurrency` questions at a time."""
        width = self.concurrency or self.system.concurrency
        lanes = asyncio.Semaphore(width)
        line: deque[tuple[Record, asyncio.Task[SystemReply | SystemFault] | None]] = deque()
        source = iter(records)
        try:
            while True:
                while len(line) < 4 * width and (record := next(source, None)) is not None:
                    line.append((record, self._begin(record.sample, lanes)))
                if not line:
                    return
                record, task = line.popleft()
                reply = None if task is None else await asyncio.shield(task)
                self._note(reply)
                yield (
                    Record(record.sample, _row(record.row, shape, record.sample))
                    if reply is None
                    else with_reply(record, shape, reply)
                )
        finally:
            left = [task for _, task in line if task is not None]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    def stored(self, sample: Sample) -> SystemReply | SystemFault | None:
        """What was kept for a sample: the reply, or the failure of this very run."""
        key = self._key(sample)
        reply = self.store.reply(key) if self.reuse else self.store.reply(self._of_run(key))
        if reply is not None and "error" not in reply.value:
            return SystemReply.from_json(reply.value)
        failed = self.store.reply(self._of_run(key))
        return SystemFault(failed.value["error"]) if failed is not None else None

    def wants(self, sample: Sample) -> bool:
        """Whether the system is asked about this sample at all."""
        return sample.question is not None and not (self.keep_given and sample.answer is not None)

    def _begin(
        self, sample: Sample, lanes: asyncio.Semaphore
    ) -> asyncio.Task[SystemReply | SystemFault] | None:
        if not self.wants(sample):
            return None
        key = self._key(sample)
        task = self._open.get(key)
        if task is None or task.cancelled():  # else: the same question is under way already
            task = asyncio.create_task(self._answered(key, sample, lanes))
            self._open[key] = task
            task.add_done_callback(lambda _: self._open.pop(key, None))
        return task

    async def _answered(
        self, key: str, sample: Sample, lanes: asyncio.Semaphore
    ) -> SystemReply | SystemFault:
        async with lanes:
            kept = self.stored(sample)
            if kept is not None:
                return kept
            self.asked += 1
            reply = await self._asked(sample)
        failed = isinstance(reply, SystemFault)
        value = {"error": reply.reason} if isinstance(reply, SystemFault) else reply.to_json()
        place = self._of_run(key) if failed or not self.reuse else key
        saved = self.store.save_reply(
            place, Reply(value), run=self.run, kind="system", judge=self.system.name
        )
        # shielded: a write that has begun is not taken back when the filling is stopped
        await asyncio.shield(asyncio.wrap_future(saved))
        return reply

    async def _asked(self, sample: Sample) -> SystemReply | SystemFault:
        fault = SystemFault("the system was not asked")
        for attempt in range(1 + self.retries):
            started = time.perf_counter()
            limit = asyncio.timeout(self.timeout)
            try:
                async with limit:
                    reply = await self.system.answer(sample.question or "", blind(sample))
                if reply.latency is None:
                    reply = replace(reply, latency=round(time.perf_counter() - started, 6))
                return reply
            except SystemFault as raised:
                fault = raised
                if not fault.passing:
                    return fault
            except Exception as raised:
                if limit.expired():
                    return SystemFault(f"no answer within {self.timeout:g} s")
                said = " ".join(str(raised).split())[:500]
                name = type(raised).__name__
                fault = SystemFault(f"{name}: {said}" if said else name)
                if isinstance(raised, _LASTING):
                    return fault
            if attempt < self.retries:
                await asyncio.sleep(_pause(attempt, fault))
        tries = f" ({1 + self.retries} tries)" if self.retries else ""
        return SystemFault(f"{fault.reason}{tries}")

    def _key(self, sample: Sample) -> str:
        return digest(
            {
                "system": self._identity,
                "question": sample.question,
                "sample": self.system.shown(sample),
            }
        )

    def _of_run(self, key: str) -> str:
        return digest({"system reply": key, "run": self.run})

    def _note(self, reply: SystemReply | SystemFault | None) -> None:
        self.done += 1
        self.failures += isinstance(reply, SystemFault)
        if self.watch is not None:
            self.watch(Filled(self.done, self.failures, self.asked))


async def filled(reading: Reading, filling: Filling) -> Reading:
    """The same samples answered: the system is asked for all of them, then they can be read as often as wanted."""
    async for _ in filling.fill(reading, reading.shape):
        pass
    shown = f"{reading.format}, answered by {filling.system.name}"
    return Reading(
        reading.source,
        shown,
        dict(SHAPE),
        reading.skip_bad_rows,
        _container=Container(reading.source, lambda: _rows(reading, filling), own=True),
    )


def blind(sample: Sample) -> Sample:
    """The sample as a system may see it: without answers given before and without what is wanted."""
    return replace(sample, answer=None, contexts=None, reference=None, relevant=None, error=None)


def with_reply(
    record: Record, shape: Mapping[str, Any], reply: SystemReply | SystemFault
) -> Record:
    """The record with what the system gave; its row keeps the input's columns if they were ours."""
    sample = record.sample
    meta = {key: value for key, value in sample.meta.items() if key not in _MEASURED}
    if isinstance(reply, SystemFault):
        answered = replace(sample, answer=None, contexts=None, error=reply.reason, meta=meta)
    else:
        taken = {name: value for name in _MEASURED if (value := getattr(reply, name)) is not None}
        answered = replace(
            sample, answer=reply.answer, contexts=reply.contexts, error=None, meta=meta | taken
        )
    return Record(answered, _row(record.row, shape, answered))


_MEASURED = ("latency", "tokens", "cost")
_GIVEN = frozenset({"answer", "contexts", "context_ids", "error", "meta", *_MEASURED})


def _row(row: str, shape: Mapping[str, Any], sample: Sample) -> str:
    text = text_of_object(sample)
    if isinstance(text, Refused):
        raise DataError(f"sample {sample.id!r}: {text.why}")
    if dict(shape) != SHAPE:
        return text
    before = {key: value for key, value in reparse(row).items() if key not in _GIVEN}
    after = reparse(text)
    if "meta" in after:
        # columns of the input's own stand in meta too, for metrics; one place in the row is enough
        after["meta"] = {
            key: value for key, value in after["meta"].items() if before.get(key) != value
        }
        if not after["meta"]:
            del after["meta"]
    return json.dumps({**before, **after}, ensure_ascii=text.isascii())


def _rows(reading: Reading, filling: Filling) -> Iterator[Raw]:
    for number, record in enumerate(reading, 1):
        place = f"{reading.source}: row {number}"
        if not filling.wants(record.sample):
            yield place, _row(record.row, reading.shape, record.sample)
            continue
        reply = filling.stored(record.sample)
        if reply is None:
            yield place, Refused("the system's reply is gone from the store; start the run again")
        else:
            yield place, with_reply(record, reading.shape, reply).row
    for complaint in reading.bad:
        place, _, why = complaint.partition(": ")
        yield place, Refused(why)


def _pause(attempt: int, fault: SystemFault) -> float:
    if fault.wait is not None:
        return min(fault.wait, LONGEST_PAUSE)
    return random.uniform(0, min(10.0, 0.5 * 2.0**attempt))
