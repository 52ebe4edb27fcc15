"""Between metrics and judge: each question is put once, kept once answered, never lost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from secrets import token_hex
from typing import Any

from ragstone.asks import Answered, Ask, Reply, digest
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges import Judge
from ragstone.store import Store
from ragstone.types import NOTHING_USED


class Desk:
    """Answers Asks from the store, from a call under way, or by handing them to the judge as they appear."""

    def __init__(
        self, judge: Judge, store: Store, run: str, concurrency: int | None = None
    ) -> None:
        self._judge = judge
        self._store = store
        self._run = run
        self.concurrency = max(1, concurrency or judge.concurrency)
        self._queue: asyncio.Queue[tuple[Ask, str, asyncio.Future[Answered]]] = asyncio.Queue()
        self._open: dict[str, asyncio.Future[Answered]] = {}
        self._workers: list[asyncio.Task[None]] = []
        self._unsaved: list[tuple[str, str, Reply]] = []
        self._saving: asyncio.Future[None] | None = None
        self.asked = 0
        """Asks handed to the judge."""
        self.found = 0
        """Asks answered from the store."""

    @property
    def window(self) -> int:
        """How many samples to keep open so that the judge is never idle."""
        return max(32, 2 * self.concurrency, 2 * self._judge.batch)

    async def __aenter__(self) -> Desk:
        self._workers = [asyncio.create_task(self._work()) for _ in range(self.concurrency)]
        return self

    async def __aexit__(self, *exc: object) -> None:
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)

    async def replies(self, asks: Sequence[Ask]) -> list[Answered]:
        """What came of each Ask, in order."""
        if len(asks) == 1:
            return [await self.reply(asks[0])]
        return list(await asyncio.gather(*(self.reply(one) for one in asks)))

    async def reply(self, ask: Ask) -> Answered:
        """What came of one Ask."""
        key = digest({"judge": self._judge.identity(ask), "ask": ask.key})
        waiting = self._open.get(key)
        if waiting is None:
            stored = None if self._judge.local else self._store.reply(key, self._run)
            if stored is not None:
                self.found += 1
                return stored
            waiting = self._open[key] = asyncio.get_running_loop().create_future()
            self._queue.put_nowait((ask, key, waiting))
        # shielded: others may be waiting for the same reply
        return await asyncio.shield(waiting)

    async def _work(self) -> None:
        while True:
            batch = [await self._queue.get()]
            while len(batch) < self._judge.batch and not self._queue.empty():
                batch.append(self._queue.get_nowait())
            self.asked += len(batch)
            answered = await self._answer([ask for ask, _, _ in batch])
            try:
                await self._keep(batch, answered)
            except (
                Exception
            ) as broken:  # the store's error belongs to those who wait, not to a task
                for _, key, waiting in batch:
                    del self._open[key]
                    if not waiting.done():
                        waiting.set_exception(broken)
                continue
            for (_, key, waiting), one in zip(batch, answered, strict=True):
                del self._open[key]
                if not waiting.done():
                    waiting.set_result(one)

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

    async def _keep(self, batch: Sequence[tuple[Ask, str, Any]], answered: list[Answered]) -> None:
        """Replies are kept before anyone reads them, so that none is paid for twice."""
        if self._judge.local:
            return
        fresh = [
            (key, ask.kind, one) if isinstance(one, Reply) else _unusable(key, ask, one)
            for (ask, key, _), one in zip(batch, answered, strict=True)
            if isinstance(one, Reply) or (one.usage or NOTHING_USED) != NOTHING_USED
        ]
        if fresh:
            self._unsaved += fresh
            if self._saving is None:
                # replies that came in the same turn of the loop go to the store together
                loop = asyncio.get_running_loop()
                self._saving = loop.create_future()
                loop.call_soon(self._save)
            await asyncio.shield(self._saving)

    def _save(self) -> None:
        replies, saving = self._unsaved, self._saving
        assert saving is not None
        self._unsaved, self._saving = [], None
        try:
            saved = asyncio.wrap_future(
                self._store.save_replies(replies, run=self._run, judge=self._judge.name)
            )
        except Exception as broken:
            saving.set_exception(broken)
            return

        def tell(done: asyncio.Future[None]) -> None:
            if saving.done():
                return
            fault = done.exception() if not done.cancelled() else None
            if fault is not None:
                saving.set_exception(fault)
            else:
                saving.set_result(None)

        saved.add_done_callback(tell)


def _unusable(key: str, ask: Ask, failed: JudgeFailed | OutOfBudget) -> tuple[str, str, Reply]:
    """What was paid for in vain, under a key that nobody asks for: it belongs on the run's bill."""
    return f"unusable {token_hex(8)} {key}", ask.kind, Reply(None, failed.usage, (failed.reason,))


def _checked(answered: object) -> Answered:
    if isinstance(answered, Reply | JudgeFailed | OutOfBudget):
        return answered
    return JudgeFailed("unparseable", f"the judge returned {type(answered).__name__}, not a Reply")
