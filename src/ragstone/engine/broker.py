"""The broker between metrics and judge: each Ask is put once, and its reply is stored before anyone reads it."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from secrets import token_hex

from ragstone.asks import Answered, Ask, Reply
from ragstone.engine.identity import identify_reply
from ragstone.errors import ClusterError, JudgeFailed, OutOfBudget
from ragstone.judges import Judge
from ragstone.judges.calibration import Calibration
from ragstone.store import Store
from ragstone.types import NO_USAGE, clean_usage


class _Waiter:
    """Waits until several Asks are settled, with one future for all of them."""

    __slots__ = ("future", "remaining")

    def __init__(self, remaining: int) -> None:
        self.remaining = remaining
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class _PendingAsk:
    """An Ask on its way to the judge and back."""

    __slots__ = ("answered", "ask", "key", "waiters")

    def __init__(self, ask: Ask, key: str) -> None:
        self.ask = ask
        self.key = key
        self.answered: Answered | None = None
        self.waiters: list[_Waiter] = []

    def settle(self, error: Exception | None = None) -> None:
        """Wake the waiters for whom this was the last open Ask; they read `answered`."""
        for waiter in self.waiters:
            waiter.remaining -= 1
            if waiter.future.done():  # cancelled, or woken by an earlier error
                continue
            if error is not None:
                waiter.future.set_exception(error)
            elif not waiter.remaining:
                waiter.future.set_result(None)

    def result(self) -> Answered:
        """Return the answer of a settled Ask."""
        assert self.answered is not None  # set before `settle` wakes the waiters
        return self.answered


class AskBroker:
    """Answers Asks from the store, from a call in flight, or by handing them to the judge.

    For a judge that is `local` (asking again costs nothing) the store is neither read nor written."""

    def __init__(
        self, judge: Judge, store: Store, run: str, concurrency: int | None = None
    ) -> None:
        self._judge = judge
        self._calibration: Calibration | None = getattr(judge, "calibration", None)
        self._store = store
        self._run = run
        self.concurrency = max(1, concurrency or judge.concurrency)
        self._queue: deque[_PendingAsk] = deque()
        self._idle_workers: list[asyncio.Future[None]] = []
        self._in_flight: dict[str, _PendingAsk] = {}
        self._workers: list[asyncio.Task[None]] = []
        # an encoder in this process needs no slot of the server: behind the server's queue it would stand idle at
        # first, and then hold the slots of others
        embeddings = getattr(judge, "embeddings", None)
        self._has_local_embeddings = bool(getattr(embeddings, "local", False))
        self._slotless: set[asyncio.Task[None]] = set()
        """Tasks of Asks that wait for no slot."""
        self._unsaved_replies: list[tuple[str, str, Reply]] = []
        """Key, kind and reply, as `Store.save_replies` takes them."""
        self._next_save: asyncio.Future[None] | None = None
        self.judged_count = 0
        """Asks handed to the judge so far."""
        self.cached_count = 0
        """Asks answered from the store so far."""

    @property
    def max_open_samples(self) -> int:
        """Samples to keep open so that the judge is never idle."""
        return max(32, 2 * self.concurrency, 2 * self._judge.batch)

    @property
    def samples_per_turn(self) -> int:
        """Samples to begin in one turn of the event loop: few, unless the judge answers many Asks at once."""
        return max(4, self._judge.batch)

    async def __aenter__(self) -> AskBroker:
        return self

    async def __aexit__(self, *exc: object) -> None:
        tasks = [*self._workers, *self._slotless]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer the Asks, in order."""
        keys = [identify_reply(ask, self._judge) for ask in asks]
        known: dict[str, Reply] = {}
        if not self._judge.local:
            new = [key for key in keys if key not in self._in_flight]
            if new:
                # keys in flight are not looked up: their answer is on its way, and is shared
                known = self._store.replies(new, self._run)
        self.cached_count += len(known)
        pending: dict[str, _PendingAsk] = {}
        for ask, key in zip(asks, keys, strict=True):
            if key not in known and key not in pending:
                # no await may come between the look-up above and this line: a reply that settled
                # meanwhile would be found neither in the store nor in flight, and asked for again
                pending[key] = self._in_flight.get(key) or self._enqueue(ask, key)
        if pending:
            waiter = _Waiter(len(pending))
            for pending_ask in pending.values():
                pending_ask.waiters.append(waiter)
            await waiter.future
        answers = [known[key] if key in known else pending[key].result() for key in keys]
        if self._calibration is None:
            return answers
        calibrate = self._calibration.calibrate_reply
        return [calibrate(ask, answer) for ask, answer in zip(asks, answers, strict=True)]

    def _enqueue(self, ask: Ask, key: str) -> _PendingAsk:
        """Queue an Ask and wake an idle worker, or start one."""
        pending = self._in_flight[key] = _PendingAsk(ask, key)
        if self._has_local_embeddings and ask.kind == "embed":
            task = asyncio.create_task(self._serve_batch([pending]))
            self._slotless.add(task)
            task.add_done_callback(self._slotless.discard)
            return pending
        self._queue.append(pending)
        while self._idle_workers:
            worker = self._idle_workers.pop()
            # a cancelled worker leaves a finished future behind
            if not worker.done():
                worker.set_result(None)
                return pending
        # workers are started as needed: most runs of a small data set never need all of them
        if len(self._workers) < self.concurrency:
            self._workers.append(asyncio.create_task(self._serve_queue()))
        return pending

    async def _serve_queue(self) -> None:
        while True:
            while not self._queue:
                idle = asyncio.get_running_loop().create_future()
                self._idle_workers.append(idle)
                await idle
            batch = [self._queue.popleft()]
            while len(batch) < self._judge.batch and self._queue:
                batch.append(self._queue.popleft())
            await self._serve_batch(batch)

    async def _serve_batch(self, batch: list[_PendingAsk]) -> None:
        self.judged_count += len(batch)
        fatal: Exception | None = None
        answers: list[Answered] = []
        try:
            answers = await self._ask_judge([pending.ask for pending in batch])
            await self._store_replies(batch, answers)
        except Exception as error:  # raised in those who wait, not in this task
            fatal = error
        for index, pending in enumerate(batch):
            # only now that the reply is stored: whoever asks from here on finds it in the store
            del self._in_flight[pending.key]
            pending.answered = answers[index] if answers else None
            pending.settle(fatal)

    async def _ask_judge(self, asks: list[Ask]) -> list[Answered]:
        try:
            answered = await ask_timed(self._judge, asks)
        except ClusterError:  # nobody is left who could be asked
            raise
        except Exception as raised:
            if len(asks) > 1:  # one of them may be to blame: each is asked alone
                return [(await self._ask_judge([ask]))[0] for ask in asks]
            fault = JudgeFailed(
                "transport", "judge_raised", error=type(raised).__name__, text=str(raised)
            )
            return [fault]
        if len(answered) != len(asks):
            given, asked = len(answered), len(asks)
            fault = JudgeFailed("incomplete", "replies_miscounted", given=given, asked=asked)
            return [fault] * len(asks)
        return [_check_type(answer) for answer in answered]

    async def _store_replies(self, batch: Sequence[_PendingAsk], answers: list[Answered]) -> None:
        """Store the replies before anyone reads them, so that none is paid for twice."""
        if self._judge.local:
            return
        fresh = [
            (pending.key, pending.ask.kind, answer)
            if isinstance(answer, Reply)
            else to_unusable_reply(pending.key, pending.ask, answer)
            for pending, answer in zip(batch, answers, strict=True)
            # a failure is never stored as an answer, so that the next run asks again; only what it
            # cost is
            if isinstance(answer, Reply) or (answer.usage or NO_USAGE) != NO_USAGE
        ]
        if fresh:
            self._unsaved_replies += fresh
            if self._next_save is None:
                # replies of the same turn of the event loop go to the store in one call
                loop = asyncio.get_running_loop()
                self._next_save = loop.create_future()
                loop.call_soon(self._save_collected_replies)
            await self._next_save

    def _save_collected_replies(self) -> None:
        replies, saving = self._unsaved_replies, self._next_save
        assert saving is not None
        self._unsaved_replies, self._next_save = [], None
        try:
            # None when the replies are already written, else a Future
            saved = self._store.save_replies(replies, run=self._run, judge=self._judge.name)
        except Exception as error:
            _settle_save(saving, error)
            return
        if saved is None:
            _settle_save(saving, None)
        else:
            asyncio.wrap_future(saved).add_done_callback(
                lambda done: _settle_save(saving, None if done.cancelled() else done.exception())
            )


async def ask_timed(judge: Judge, asks: Sequence[Ask]) -> list[Answered]:
    """Ask the judge; replies that will be stored say how long they took."""
    started = time.monotonic()
    answered = await judge.answer(asks)
    if judge.local:
        return answered
    seconds = round(time.monotonic() - started, 3)
    return [
        Reply(reply.value, reply.usage, reply.notes, seconds) if isinstance(reply, Reply) else reply
        for reply in answered
    ]


def _settle_save(saving: asyncio.Future[None], error: BaseException | None) -> None:
    if saving.done():  # cancelled: nobody waits any more
        return
    if error is None:
        saving.set_result(None)
    else:
        saving.set_exception(error)


def to_unusable_reply(
    key: str, ask: Ask, failure: JudgeFailed | OutOfBudget
) -> tuple[str, str, Reply]:
    """Return a row that keeps the usage of a failed call, under a key that nobody looks up."""
    return f"unusable {token_hex(8)} {key}", ask.kind, Reply(None, failure.usage, (failure.reason,))


def _check_type(answered: object) -> Answered:
    if isinstance(answered, Reply):
        usage = clean_usage(answered.usage)
        return answered if usage is answered.usage else replace(answered, usage=usage)
    if isinstance(answered, JudgeFailed | OutOfBudget):
        answered.usage = clean_usage(answered.usage)
        return answered
    return JudgeFailed("unparseable", "not_a_reply", type=type(answered).__name__)
