"""The runner of a system under test: it asks each question once, stores the replies, and adds them to the records."""

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
from ragstone.data import Dataset, Record
from ragstone.data.objects import to_row_text
from ragstone.data.sources import RawRow, RejectedRow, RowSource, to_rejected_row
from ragstone.data.strict_json import reparse_json
from ragstone.errors import DataError
from ragstone.locale.messages import message_from_json, message_to_json
from ragstone.systems.protocol import (
    MEASURES,
    System,
    SystemFault,
    SystemReply,
    phrase_question,
)
from ragstone.types import ChatMessage, Sample

NATIVE_SHAPE: dict[str, Any] = {"format": "ragstone"}
"""Shape (see data/rows.py) of rows with ragstone columns: that of the rows written here."""
TIMEOUT_SECONDS = 120.0
"""Default limit of one attempt."""
MAX_PAUSE_SECONDS = 60.0
"""Upper limit of the pause that a system can request before a retry."""
_PERMANENT_ERRORS = (
    ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError,
    NotImplementedError, TypeError, ValueError,
)  # fmt: skip
"""Exceptions of a broken system, after which a retry would not help."""


class ReplyStore(Protocol):
    """The part of a store that the runner needs: replies by key."""

    def reply(self, key: str) -> Reply | None: ...

    def save_reply(
        self, key: str, reply: Reply, *, run: str, kind: str, judge: str
    ) -> Future[None]: ...


@dataclass(frozen=True, slots=True)
class AnswerProgress:
    """Progress of a runner, for display."""

    done: int
    failures: int
    asked: int
    """Questions sent to the system; the other replies came from the store."""


@dataclass(slots=True)
class SystemRunner:
    """Asks one system and stores its replies; within its scope it never asks the same question twice."""

    system: System
    store: ReplyStore
    run: str
    """Id of the run. Failures are stored under it, so that another run asks again."""
    concurrency: int | None = None
    """Questions in flight; None: the system's."""
    timeout: float | None = None
    """Seconds for one attempt; None: the system's, else TIMEOUT_SECONDS."""
    retries: int = 2
    """Further attempts after a transient fault."""
    scope: str | None = None
    """What replies are kept for, by default the id of a run; None shares them among all runs of a system that is the same
    by its identity, which cannot see what the system reads or calls."""
    warmup: int = 0
    """Calls before the first question that counts; their replies are not used. Counted down to 0 as they are made."""
    keep_answers: bool = False
    """Whether records that have an answer keep it."""
    on_progress: Callable[[AnswerProgress], None] | None = None
    # counters, not options: see AnswerProgress
    done: int = 0
    failures: int = 0
    asked: int = 0
    cold_start: float | None = None
    """Seconds of the first warm-up call; None without one, or when it failed."""
    _identity: Mapping[str, Any] = field(default_factory=dict)
    _in_flight: dict[str, asyncio.Task[SystemReply | SystemFault]] = field(default_factory=dict)
    _warming: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        if self.timeout is None:
            self.timeout = getattr(self.system, "timeout", TIMEOUT_SECONDS)
        if self.timeout <= 0 or self.retries < 0 or (self.concurrency or 1) < 1:
            raise DataError(
                f"timeout {self.timeout:g}, retries {self.retries}, concurrency {self.concurrency}: "
                "give a timeout above 0, retries from 0 and a concurrency from 1"
            )
        self._identity = self.system.identity()

    async def answer_records(
        self, records: Iterable[Record], shape: Mapping[str, Any]
    ) -> AsyncIterator[Record]:
        """Yield each record with its answer, in order, with up to `concurrency` questions in flight.

        `shape` is that of the records' rows; see Dataset.shape."""
        concurrency = self.concurrency or self.system.concurrency
        slots = asyncio.Semaphore(concurrency)
        pending: deque[tuple[Record, asyncio.Task[SystemReply | SystemFault] | None]] = deque()
        source = iter(records)
        try:
            while True:
                # looks ahead, so that one slow question does not leave slots idle
                while len(pending) < 4 * concurrency and (record := next(source, None)) is not None:
                    pending.append((record, self._start_task(record.sample, slots)))
                if not pending:
                    return
                record, task = pending.popleft()
                # shielded: the same task may answer several records, and only the `finally` below
                # may cancel it
                reply = None if task is None else await asyncio.shield(task)
                self._count_reply(reply)
                if reply is None:
                    yield Record(record.sample, _build_row(record.row, shape, record.sample))
                else:
                    sample = self.fill_history(record.sample)
                    yield add_reply(record._replace(sample=sample), shape, reply)
        finally:
            open_tasks = [task for _, task in pending if task is not None]
            for task in open_tasks:
                task.cancel()
            await asyncio.gather(*open_tasks, return_exceptions=True)

    async def ask_samples(self, samples: Iterable[Sample]) -> None:
        """Ask about these samples concurrently, so that their replies are in the store afterwards."""
        slots = asyncio.Semaphore(self.concurrency or self.system.concurrency)
        tasks = [
            task for sample in samples if (task := self._start_task(sample, slots)) is not None
        ]
        for reply in await asyncio.gather(*tasks):
            self._count_reply(reply)

    def load_reply(self, sample: Sample) -> SystemReply | SystemFault | None:
        """Return the stored reply to a sample, or its failure in this run."""
        key = self._reply_key(sample)
        reply = self.store.reply(self._to_scope_key(key))
        if reply is not None:
            return SystemReply.from_json(reply.value)
        failed = self.store.reply(self._to_fault_key(key))
        return SystemFault(message_from_json(failed.value["error"])) if failed is not None else None

    def fill_history(self, sample: Sample) -> Sample:
        """The sample with the system's own stored answers to the earlier questions that have none."""
        messages: list[ChatMessage] = []
        for message, question in _iter_messages(sample):
            messages.append(message)
            reply = self.load_reply(question) if question is not None else None
            if isinstance(reply, SystemReply) and reply.answer is not None:
                messages.append(ChatMessage("assistant", reply.answer))
        if len(messages) == len(sample.messages or ()):
            return sample
        return replace(sample, messages=tuple(messages))

    def is_asked(self, sample: Sample) -> bool:
        """Whether the system is asked about this sample at all."""
        return sample.question is not None and not (self.keep_answers and sample.answer is not None)

    def _start_task(
        self, sample: Sample, slots: asyncio.Semaphore
    ) -> asyncio.Task[SystemReply | SystemFault] | None:
        if not self.is_asked(sample):
            return None
        key = self._reply_key(sample)
        task = self._in_flight.get(key)
        if task is None or task.cancelled():  # else: the same question is already in flight
            task = asyncio.create_task(self._answer_once(key, sample, slots))
            self._in_flight[key] = task
            task.add_done_callback(lambda _: self._in_flight.pop(key, None))
        return task

    async def _answer_once(
        self, key: str, sample: Sample, slots: asyncio.Semaphore
    ) -> SystemReply | SystemFault:
        # before a slot is taken: the earlier questions need slots of their own
        earlier_fault = await self._ask_earlier(sample, slots)
        async with slots:
            stored = self.load_reply(sample)
            if stored is not None:
                return stored
            reply = earlier_fault or await self._ask_now(self.fill_history(sample))
        failed = isinstance(reply, SystemFault)
        # isinstance again, because mypy narrows `reply` by it and not by `failed`
        value = (
            {"error": message_to_json(reply.reason)}
            if isinstance(reply, SystemFault)
            else reply.to_json()
        )
        # a failure counts for this run alone: when this run is resumed, the question is not asked
        # again, but a new run asks it
        reply_key = self._to_fault_key(key) if failed else self._to_scope_key(key)
        write = self.store.save_reply(
            reply_key, Reply(value), run=self.run, kind="system", judge=self.system.name
        )
        # shielded: stopping the runner must not cancel a write that has begun
        await asyncio.shield(asyncio.wrap_future(write))
        return reply

    async def _ask_earlier(self, sample: Sample, slots: asyncio.Semaphore) -> SystemFault | None:
        """Ask the earlier questions of the conversation that have no answer; the fault of one is a fault of this."""
        for _, question in _iter_messages(sample):
            if question is None:
                continue
            task = self._start_task(question, slots)
            reply = None if task is None else await asyncio.shield(task)
            if isinstance(reply, SystemFault):
                return SystemFault("earlier_turn_failed", problem=reply.reason)
        return None

    async def _ask_now(self, sample: Sample) -> SystemReply | SystemFault:
        await self._warm_up(sample)
        self.asked += 1
        return await self._ask_with_retries(sample)

    async def _warm_up(self, sample: Sample) -> None:
        """Make the warm-up calls that are left, so that loading is not in the latency of a question."""
        async with self._warming:  # the other questions wait until it is warm
            while self.warmup > 0:
                self.warmup -= 1
                reply = await self._ask_with_retries(sample)
                # a failure shows again when the question itself is asked
                if self.cold_start is None and isinstance(reply, SystemReply):
                    self.cold_start = reply.latency

    async def _ask_with_retries(self, sample: Sample) -> SystemReply | SystemFault:
        fault = SystemFault("system_not_asked")  # replaced by the first failed attempt
        for attempt in range(1 + self.retries):
            started = time.perf_counter()
            limit = asyncio.timeout(self.timeout)
            try:
                async with limit:
                    question = phrase_question(self.system, sample)
                    reply = await self.system.answer(question, hide_expected(sample))
                if reply.latency is None:
                    reply = replace(reply, latency=round(time.perf_counter() - started, 6))
                return reply
            except SystemFault as raised:
                fault = raised
                if not fault.is_transient:
                    return fault
            except Exception as raised:
                # a TimeoutError of the system itself must not be taken for ours, so the limit is
                # asked, not the exception's type
                if limit.expired():
                    return SystemFault("system_too_slow", seconds=self.timeout)
                message = " ".join(str(raised).split())[:500]
                name = type(raised).__name__
                fault = SystemFault(f"{name}: {message}" if message else name)
                if isinstance(raised, _PERMANENT_ERRORS):
                    return fault
            if attempt < self.retries:
                await asyncio.sleep(_choose_pause(attempt, fault))
        if not self.retries:
            return fault
        return SystemFault("after_tries", problem=fault.reason, n=1 + self.retries)

    def _reply_key(self, sample: Sample) -> str:
        return digest(
            {
                "system": self._identity,
                # the reply's key holds nothing of reference or position: reordered or relabelled
                # data reuse all replies
                "question": sample.question,
                "sample": self.system.shown(sample),
                # left out without any, so that stored replies to other questions stay valid
                **({"history": _list_history(sample)} if sample.messages else {}),
            }
        )

    def _to_scope_key(self, key: str) -> str:
        return key if self.scope is None else digest({"system reply": key, "scope": self.scope})

    def _to_fault_key(self, key: str) -> str:
        return digest({"system fault": key, "run": self.run})

    def _count_reply(self, reply: SystemReply | SystemFault | None) -> None:
        self.done += 1
        self.failures += isinstance(reply, SystemFault)
        if self.on_progress is not None:
            self.on_progress(AnswerProgress(self.done, self.failures, self.asked))


async def answer_dataset(dataset: Dataset, runner: SystemRunner) -> Dataset:
    """Ask the system for every sample; the result can then be iterated several times."""
    async for _ in runner.answer_records(dataset, dataset.shape):
        pass
    # a lambda: each iteration of the new dataset reads the rows again, with replies from the store
    format_name = f"{dataset.format}, answered by {runner.system.name}"
    return Dataset(
        dataset.source,
        format_name,
        dict(NATIVE_SHAPE),
        dataset.skip_bad_rows,
        _row_source=RowSource(dataset.source, lambda: _iter_rows(dataset, runner), is_native=True),
    )


def _list_history(sample: Sample) -> list[list[str]]:
    return [[message.role, message.content] for message in sample.messages or ()]


def _iter_messages(sample: Sample) -> Iterator[tuple[ChatMessage, Sample | None]]:
    """The messages before the question; one of the user that has no answer comes with the sample that asks it."""
    messages = sample.messages or ()
    for index, message in enumerate(messages):
        following = messages[index + 1].role if index + 1 < len(messages) else "user"
        is_open = message.role == "user" and following == "user"
        yield (
            message,
            replace(
                sample, question=message.content, messages=messages[:index] or None, answer=None
            )
            if is_open
            else None,
        )


def hide_expected(sample: Sample) -> Sample:
    """Remove earlier answers, reference and relevant documents: what a system must not see."""
    return replace(
        sample,
        answer=None, contexts=None, reference=None, relevant=None, error=None, steps=None,
        expected_steps=None,
    )  # fmt: skip


def add_reply(record: Record, shape: Mapping[str, Any], reply: SystemReply | SystemFault) -> Record:
    """Add a reply to the record; its row keeps the input columns if they were ragstone columns."""
    sample = record.sample
    meta = {key: value for key, value in sample.meta.items() if key not in MEASURES}
    if isinstance(reply, SystemFault):
        answered = replace(
            sample, answer=None, contexts=None, steps=None, error=reply.reason, meta=meta
        )
    else:
        measures = {name: value for name in MEASURES if (value := getattr(reply, name)) is not None}
        answered = replace(
            sample,
            answer=reply.answer,
            contexts=reply.contexts,
            steps=reply.steps,
            error=None,
            meta=meta | measures,
        )
    return Record(answered, _build_row(record.row, shape, answered))


_SYSTEM_COLUMNS = frozenset(
    {"answer", "contexts", "context_ids", "error", "meta", "steps", *MEASURES}
)
"""Columns of an input row that are about an earlier reply, and so are replaced."""


def _build_row(row: str, shape: Mapping[str, Any], sample: Sample) -> str:
    text = to_row_text(sample)
    if isinstance(text, RejectedRow):
        raise DataError(f"sample {sample.id!r}: {text.reason}")
    # other columns than ragstone's have other meanings, so none of them is kept
    if dict(shape) != NATIVE_SHAPE:
        return text
    input_columns = {
        key: value for key, value in reparse_json(row).items() if key not in _SYSTEM_COLUMNS
    }
    new_columns = reparse_json(text)
    if "meta" in new_columns:
        # unmapped input columns are copied to meta for metrics; once in the row is enough
        new_columns["meta"] = {
            key: value
            for key, value in new_columns["meta"].items()
            if input_columns.get(key) != value
        }
        if not new_columns["meta"]:
            del new_columns["meta"]
    return json.dumps({**input_columns, **new_columns}, ensure_ascii=text.isascii())


def _iter_rows(dataset: Dataset, runner: SystemRunner) -> Iterator[RawRow]:
    for number, record in enumerate(dataset, 1):
        location = f"{dataset.source}: row {number}"
        if not runner.is_asked(record.sample):
            yield location, _build_row(record.row, dataset.shape, record.sample)
            continue
        reply = runner.load_reply(record.sample)
        if reply is None:
            yield (
                location,
                RejectedRow("the system's reply is gone from the store; start the run again"),
            )
        else:
            filled = record._replace(sample=runner.fill_history(record.sample))
            yield location, add_reply(filled, dataset.shape, reply).row
    yield from map(to_rejected_row, dataset.bad)


def _choose_pause(attempt: int, fault: SystemFault) -> float:
    if fault.retry_seconds is not None:
        return min(fault.retry_seconds, MAX_PAUSE_SECONDS)
    # full jitter: parallel questions that failed together do not come back together
    return random.uniform(0, min(10.0, 0.5 * 2.0**attempt))
