"""A worker's line to the driver: budget, pace and replies that all workers of a run have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from typing import Any

from ragstone.asks import Answered, Ask, Reply, digest
from ragstone.engine.broker import to_unusable_reply
from ragstone.errors import OutOfBudget
from ragstone.judges import Judge
from ragstone.judges.limits import Budget
from ragstone.locale.messages import message_from_json
from ragstone.scale.counter import BUSY, KNOWN
from ragstone.store.codec import decode_reply, encode_reply
from ragstone.types import NO_USAGE, Usage


class SharedJudge:
    """A judge whose replies are kept by the driver, so that no two workers pay for one question."""

    local = True
    """To the broker: there is nothing to look up or keep here."""

    def __init__(self, judge: Judge, wire: Wire) -> None:
        self._judge = judge
        self._wire = wire
        self.name = judge.name
        self.batch = judge.batch
        self.concurrency = judge.concurrency

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """The judge's own."""
        return self._judge.identity(ask)

    async def close(self) -> None:
        """The judge is closed by who made it."""

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Each from the driver's store, by this worker's judge, or by another worker that is already asking."""
        keys = [digest({"judge": self._judge.identity(ask), "ask": ask.key}) for ask in asks]
        answers: dict[str, Answered] = {}
        mine: dict[str, Ask] = {}
        busy: dict[str, Ask] = {}
        claimed = await self._wire.claim(keys)
        for key, ask, said in zip(keys, asks, claimed, strict=True):
            if said[0] == KNOWN:
                answers[key] = decode_reply(said[1], Usage(*said[2]))
            else:
                (busy if said[0] == BUSY else mine)[key] = ask
        if mine:
            answers |= await self._asked(mine)
        for key, ask in busy.items():
            answers[key] = await self._awaited(key, ask)
        return [answers[key] for key in keys]

    async def _awaited(self, key: str, ask: Ask) -> Answered:
        """The reply another worker is getting, or our own if that one died or got none."""
        while True:
            said = await self._wire.wait(key)
            if said[0] == KNOWN:
                return decode_reply(said[1], Usage(*said[2]))
            if said[0] != BUSY:
                return (await self._asked({key: ask}))[key]

    async def _asked(self, mine: Mapping[str, Ask]) -> dict[str, Answered]:
        answered: dict[str, Answered] = {}
        try:
            got = await self._judge.answer(list(mine.values()))
            answered = dict(zip(mine, got, strict=True))
        finally:
            rows = [_row(key, mine[key], one) for key, one in answered.items()]
            await self._wire.keep([row for row in rows if row is not None], list(mine))
        return answered


def _row(key: str, ask: Ask, answered: Answered) -> list[Any] | None:
    """A reply as the driver stores it; a failure only if it cost something."""
    if isinstance(answered, Reply):
        found = (key, ask.kind, answered)
    elif (answered.usage or NO_USAGE) == NO_USAGE:
        return None
    else:
        found = to_unusable_reply(key, ask, answered)
    return [found[0], found[1], encode_reply(found[2]), list(astuple(found[2].usage))]


class SharedBudget(Budget):
    """The driver's budget and pace, asked before each call if there is any."""

    def __init__(self, wire: Wire, *, limited: bool) -> None:
        super().__init__()
        self._wire = wire
        self._limited = limited

    async def admit(self, estimate: float) -> None:
        """Wait for the turn that the driver gives, or be refused."""
        if not self._limited:
            return
        said = await self._wire.permit(estimate)
        if "refused" in said:
            raise OutOfBudget(message_from_json(said["refused"]))
        await asyncio.sleep(said["wait"])

    def settle(self, estimate: float, usage: Usage) -> None:
        """Tell the driver what the call took."""
        if self._limited:
            self._wire.settle(estimate, usage.usd)


class Wire:
    """A worker's line to the driver's counter."""

    def __init__(self, driver: Any, token: str, worker: str) -> None:
        self._driver = driver
        self._token = token
        self._worker = worker
        self._gone = False
        self._claims = _Together(self._send_claims)
        self._kept = _Together(self._send_kept)
        self._permits = _Together(self._send_permits)
        self._bills = _Together(self._send_bills)
        self._under_way: set[asyncio.Task[Any]] = set()

    async def claim(self, keys: Sequence[str]) -> list[list[Any]]:
        """What is known of these questions, or that they are this worker's to ask."""
        return await self._claims.put(keys)

    async def wait(self, key: str) -> list[Any]:
        """What is known of a question that another worker asks, when there is news."""
        return await self._said("wait", worker=self._worker, key=key)  # type: ignore[no-any-return]

    async def keep(self, rows: Sequence[Sequence[Any]], asked: Sequence[str]) -> None:
        """Have replies stored, and what was asked let go of."""
        await self._kept.put([(list(rows), list(asked))])

    async def permit(self, estimate: float) -> dict[str, Any]:
        """Leave to make a call."""
        return (await self._permits.put([estimate]))[0]  # type: ignore[no-any-return]

    def settle(self, estimate: float, usd: float) -> None:
        """Say what a call really took; nobody waits for it."""
        telling = asyncio.ensure_future(self._told(estimate, usd))
        self._under_way.add(telling)
        telling.add_done_callback(self._under_way.discard)

    async def _told(self, estimate: float, usd: float) -> None:
        with suppress(OSError):  # a driver that is gone has no bill any more
            await self._bills.put([(estimate, usd)])

    async def _send_claims(self, keys: list[str]) -> list[Any]:
        return await self._said("claim", worker=self._worker, keys=keys)  # type: ignore[no-any-return]

    async def _send_kept(self, parts: list[tuple[list[Any], list[str]]]) -> list[Any]:
        rows = [row for part, _ in parts for row in part]
        asked = [key for _, keys in parts for key in keys]
        await self._said("keep", worker=self._worker, rows=rows, asked=asked)
        return [None] * len(parts)

    async def _send_permits(self, estimates: list[float]) -> list[Any]:
        return await self._said("permit", estimates=estimates)  # type: ignore[no-any-return]

    async def _send_bills(self, bills: list[tuple[float, float]]) -> list[Any]:
        await self._said("settle", bills=[list(bill) for bill in bills])
        return [None] * len(bills)

    async def _said(self, what: str, **arguments: Any) -> Any:
        if self._gone:  # not tried again and again: the piece is to end soon
            raise ConnectionError("the driver of this run is gone")
        try:
            return await getattr(self._driver, what)(token=self._token, **arguments)
        except OSError:
            self._gone = True
            raise


class _Together:
    """Messages of one kind: those that come up while one is under way go in the next one, together."""

    def __init__(self, send: Callable[[list[Any]], Awaitable[list[Any]]]) -> None:
        self._send = send
        self._waiting: list[tuple[list[Any], asyncio.Future[list[Any]]]] = []
        self._carrier: asyncio.Task[None] | None = None

    async def put(self, items: Sequence[Any]) -> list[Any]:
        """What came of each item."""
        answered: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._waiting.append((list(items), answered))
        if self._carrier is None:
            self._carrier = asyncio.create_task(self._carry())
        return await answered

    async def _carry(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                try:
                    answers = await self._send([item for items, _ in batch for item in items])
                except Exception as broken:  # it belongs to those who wait
                    for _, answered in batch:
                        if not answered.done():
                            answered.set_exception(broken)
                    continue
                at = 0
                for items, answered in batch:
                    if not answered.done():
                        answered.set_result(answers[at : at + len(items)])
                    at += len(items)
        finally:
            self._carrier = None
