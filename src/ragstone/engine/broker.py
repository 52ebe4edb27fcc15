"""Between metrics and judge: each question is put once, kept once answered, never lost."""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Any

from ragstone.asks import Answered, Ask, Reply, canonical
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges import Judge
from ragstone.store import Store
from ragstone.types import NOTHING_USED


class _Wait:
    """Someone who waits until several questions are settled: one future for all of them."""

    __slots__ = ("future", "left")

    def __init__(self, left: int) -> None:
        self.left = left
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class _Call:
    """A question on its way to the judge and back."""

    __slots__ = ("answered", "ask", "key", "waits")

    def __init__(self, ask: Ask, key: str) -> None:
        self.ask = ask
        self.key = key
        self.answered: Answered | None = None
        self.waits: list[_Wait] = []

    def settle(self, broken: Exception | None = None) -> None:
        """Wake those for whom this was the last open question; they read `answered`."""
        for wait in self.waits:
            wait.left -= 1
            if wait.future.done():  # given up, or already told of the fault
                continue
            if broken is not None:
                wait.future.set_exception(broken)
            elif not wait.left:
                wait.future.set_result(None)


class AskBroker:
    """Answers Asks from the store, from a call under way, or by handing them to the judge as they appear."""

    def __init__(
        self, judge: Judge, store: Store, run: str, concurrency: int | None = None
    ) -> None:
        self._judge = judge
        self._store = store
        self._run = run
        self.concurrency = max(1, concurrency or judge.concurrency)
        self._queue: deque[_Call] = deque()
        self._idle: list[asyncio.Future[None]] = []
        self._open: dict[str, _Call] = {}
        self._workers: list[asyncio.Task[None]] = []
        self._unsaved: list[tuple[str, str, Reply]] = []
        self._saving: asyncio.Future[None] | None = None
        self._identities: dict[int, tuple[Mapping[str, Any], str]] = {}
        self.judged_count = 0
        """Asks handed to the judge."""
        self.cached_count = 0
        """Asks answered from the store."""

    @property
    def max_open_samples(self) -> int:
        """How many samples to keep open so that the judge is never idle."""
        return max(32, 2 * self.concurrency, 2 * self._judge.batch)

    @property
    def samples_per_turn(self) -> int:
        """How many samples to begin in one turn of the loop: few, unless the judge likes many questions at once."""
        return max(4, self._judge.batch)

    async def __aenter__(self) -> AskBroker:
        return self

    async def __aexit__(self, *exc: object) -> None:
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """What came of each Ask, in order."""
        keys = [self._key(ask) for ask in asks]
        known: dict[str, Reply] = {}
        if not self._judge.local:
            new = [key for key in keys if key not in self._open]
            if new:
                known = self._store.replies(new, self._run)
        self.cached_count += len(known)
        calls: dict[str, _Call] = {}
        for ask, key in zip(asks, keys, strict=True):
            if key not in known and key not in calls:
                calls[key] = self._open.get(key) or self._put(ask, key)
        if calls:
            wait = _Wait(len(calls))
            for call in calls.values():
                call.waits.append(wait)
            await wait.future
        return [known[key] if key in known else _answer_of(calls[key]) for key in keys]

    def _key(self, ask: Ask) -> str:
        """The digest of {"ask": the Ask's key, "judge": the judge's identity}; identities are few and written once."""
        identity = self._judge.identity(ask)
        written = self._identities.get(id(identity))
        if written is None:
            if len(self._identities) >= _KEPT_IDENTITIES:
                self._identities.clear()
            # the identity is kept beside its text, so that no other object can take over its id
            written = self._identities[id(identity)] = (identity, canonical(identity))
        text = f'{{"ask":"{ask.key}","judge":{written[1]}}}'
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def _put(self, ask: Ask, key: str) -> _Call:
        call = self._open[key] = _Call(ask, key)
        self._queue.append(call)
        while self._idle:
            worker = self._idle.pop()
            if not worker.done():
                worker.set_result(None)
                return call
        if len(self._workers) < self.concurrency:
            self._workers.append(asyncio.create_task(self._work()))
        return call

    async def _work(self) -> None:
        while True:
            while not self._queue:
                idle = asyncio.get_running_loop().create_future()
                self._idle.append(idle)
                await idle
            batch = [self._queue.popleft()]
            while len(batch) < self._judge.batch and self._queue:
                batch.append(self._queue.popleft())
            self.judged_count += len(batch)
            broken: Exception | None = None
            answered = await self._answer([call.ask for call in batch])
            try:
                await self._keep(batch, answered)
            except Exception as fault:  # the store's error belongs to those who wait, not to a task
                broken = fault
            for call, one in zip(batch, answered, strict=True):
                del self._open[call.key]
                call.answered = one
                call.settle(broken)

    async def _answer(self, asks: list[Ask]) -> list[Answered]:
        try:
            answered = await self._judge.answer(asks)
        except Exception as raised:
            fault = JudgeFailed("transport", f"the judge raised {type(raised).__name__}: {raised}")
            return [fault] * len(asks)
        if len(answered) != len(asks):
            reason = f"the judge gave {len(answered)} replies to {len(asks)} questions"
            return [JudgeFailed("incomplete", reason)] * len(asks)
        return [_checked(one) for one in answered]

    async def _keep(self, batch: Sequence[_Call], answered: list[Answered]) -> None:
        """Replies are kept before anyone reads them, so that none is paid for twice."""
        if self._judge.local:
            return
        fresh = [
            (call.key, call.ask.kind, one)
            if isinstance(one, Reply)
            else to_unusable_reply(call.key, call.ask, one)
            for call, one in zip(batch, answered, strict=True)
            if isinstance(one, Reply) or (one.usage or NOTHING_USED) != NOTHING_USED
        ]
        if fresh:
            self._unsaved += fresh
            if self._saving is None:
                # replies that came in the same turn of the loop go to the store together
                loop = asyncio.get_running_loop()
                self._saving = loop.create_future()
                loop.call_soon(self._save)
            await self._saving

    def _save(self) -> None:
        replies, saving = self._unsaved, self._saving
        assert saving is not None
        self._unsaved, self._saving = [], None
        try:
            saved = self._store.keep(replies, run=self._run, judge=self._judge.name)
        except Exception as broken:
            _tell(saving, broken)
            return
        if saved is None:
            _tell(saving, None)
        else:
            asyncio.wrap_future(saved).add_done_callback(
                lambda done: _tell(saving, None if done.cancelled() else done.exception())
            )


def _tell(saving: asyncio.Future[None], broken: BaseException | None) -> None:
    if saving.done():  # nobody waits any more
        return
    if broken is None:
        saving.set_result(None)
    else:
        saving.set_exception(broken)


_KEPT_IDENTITIES = 256


def _answer_of(call: _Call) -> Answered:
    assert call.answered is not None
    return call.answered


def to_unusable_reply(
    key: str, ask: Ask, failed: JudgeFailed | OutOfBudget
) -> tuple[str, str, Reply]:
    """What was paid for in vain, under a key that nobody asks for: it belongs on the run's bill."""
    return f"unusable {token_hex(8)} {key}", ask.kind, Reply(None, failed.usage, (failed.reason,))


def _checked(answered: object) -> Answered:
    if isinstance(answered, Reply | JudgeFailed | OutOfBudget):
        return answered
    return JudgeFailed("unparseable", f"the judge returned {type(answered).__name__}, not a Reply")
