"""A worker's client of the coordinator: budget, rate limit and replies that all workers of a run share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from typing import Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.engine.broker import ask_timed, to_unusable_reply
from ragstone.engine.identity import identify_reply
from ragstone.errors import OutOfBudget
from ragstone.judges import Judge
from ragstone.judges.limits import Budget
from ragstone.locale.messages import message_from_json
from ragstone.scale.coordinator import BUSY, KNOWN
from ragstone.store.replies import decode_reply, encode_reply
from ragstone.types import NO_USAGE, Usage


class SharedJudge:
    """A judge whose replies the driver stores, so that no two workers pay for one question."""

    local = True
    """Tells the broker to look up and store nothing in this process: the driver does both."""

    def __init__(self, judge: Judge, client: CoordinatorClient) -> None:
        self._judge = judge
        self._client = client
        self.name = judge.name
        self.batch = judge.batch
        self.concurrency = judge.concurrency
        self.calibration = getattr(judge, "calibration", None)

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """The identity of the judge itself."""
        return self._judge.identity(ask)

    async def close(self) -> None:
        """The judge is closed by its owner."""

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Each reply from the driver's store, from this worker's judge, or from another worker that is asking already."""
        keys = [identify_reply(ask, self._judge) for ask in asks]
        answers: dict[str, Answered] = {}
        mine: dict[str, Ask] = {}
        busy: dict[str, Ask] = {}
        claimed = await self._client.claim(keys)
        for key, ask, status in zip(keys, asks, claimed, strict=True):
            if status[0] == KNOWN:
                answers[key] = decode_reply(status[1], Usage(*status[2]))
            else:
                (busy if status[0] == BUSY else mine)[key] = ask
        if mine:
            # our questions first: the replies of other workers have probably arrived by then
            answers |= await self._ask_judge(mine)
        for key, ask in busy.items():
            answers[key] = await self._await_reply(key, ask)
        return [answers[key] for key in keys]

    async def _await_reply(self, key: str, ask: Ask) -> Answered:
        """The reply that another worker is getting; if that worker dies or gets none, this worker asks."""
        while True:
            status = await self._client.wait(key)
            if status[0] == KNOWN:
                return decode_reply(status[1], Usage(*status[2]))
            if status[0] != BUSY:
                return (await self._ask_judge({key: ask}))[key]

    async def _ask_judge(self, mine: Mapping[str, Ask]) -> dict[str, Answered]:
        answered: dict[str, Answered] = {}
        try:
            got = await ask_timed(self._judge, list(mine.values()))
            answered = dict(zip(mine, got, strict=True))
        finally:
            # also after an error, which leaves `answered` empty: `keep` releases the claims
            rows = [_to_stored_row(key, mine[key], answer) for key, answer in answered.items()]
            await self._client.keep([row for row in rows if row is not None], list(mine))
        return answered


def _to_stored_row(key: str, ask: Ask, answered: Answered) -> list[Any] | None:
    """A reply as `Coordinator._store_replies` takes it: key, kind, text, usage; None for a failure that cost nothing."""
    if isinstance(answered, Reply):
        stored = (key, ask.kind, answered)
    elif (answered.usage or NO_USAGE) == NO_USAGE:
        return None
    else:
        stored = to_unusable_reply(key, ask, answered)
    return [stored[0], stored[1], encode_reply(stored[2]), list(astuple(stored[2].usage))]


class SharedBudget(Budget):
    """The driver's budget and rate limit; with `limited`, the driver is asked before each call."""

    def __init__(self, client: CoordinatorClient, *, limited: bool) -> None:
        super().__init__()
        self._client = client
        self._limited = limited

    async def admit(self, estimate: float) -> None:
        """Wait for the turn that the driver gives, or be refused."""
        if not self._limited:
            return
        status = await self._client.permit(estimate)
        if "refused" in status:
            raise OutOfBudget(message_from_json(status["refused"]))
        await asyncio.sleep(status["wait"])

    def settle(self, estimate: float, usage: Usage) -> None:
        """Tell the driver what the call took."""
        if self._limited:
            self._client.settle(estimate, usage.usd)


class CoordinatorClient:
    """A worker's connection to the coordinator; `driver` is Dask's rpc object, whose methods are the names in `Coordinator.open`."""

    def __init__(self, driver: Any, token: str, worker: str) -> None:
        self._driver = driver
        self._token = token
        self._worker = worker
        self._is_gone = False
        self._claims = _MessageBatcher(self._send_claims)
        self._replies = _MessageBatcher(self._send_replies)
        self._permits = _MessageBatcher(self._send_permits)
        self._bills = _MessageBatcher(self._send_bills)
        self._under_way: set[asyncio.Task[Any]] = set()
        """Referenced here because the event loop alone would let running tasks be collected."""

    async def claim(self, keys: Sequence[str]) -> list[list[Any]]:
        """What is known of these questions, or that they are this worker's to ask."""
        return await self._claims.put(keys)

    async def wait(self, key: str) -> list[Any]:
        """What is known of a question that another worker asks, when there is news."""
        return await self._call_driver("wait", worker=self._worker, key=key)  # type: ignore[no-any-return]

    async def keep(self, rows: Sequence[Sequence[Any]], asked: Sequence[str]) -> None:
        """Store replies and release the claims on what was asked."""
        await self._replies.put([(list(rows), list(asked))])

    async def permit(self, estimate: float) -> dict[str, Any]:
        """Permission to make a call."""
        return (await self._permits.put([estimate]))[0]  # type: ignore[no-any-return]

    def settle(self, estimate: float, usd: float) -> None:
        """Report what a call really cost, without waiting."""
        task = asyncio.ensure_future(self._send_bill(estimate, usd))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _send_bill(self, estimate: float, usd: float) -> None:
        with suppress(OSError):  # a driver that is gone has no bill any more
            await self._bills.put([(estimate, usd)])

    async def _send_claims(self, keys: list[str]) -> list[Any]:
        return await self._call_driver("claim", worker=self._worker, keys=keys)  # type: ignore[no-any-return]

    async def _send_replies(self, parts: list[tuple[list[Any], list[str]]]) -> list[Any]:
        rows = [row for part, _ in parts for row in part]
        asked = [key for _, keys in parts for key in keys]
        await self._call_driver("keep", worker=self._worker, rows=rows, asked=asked)
        return [None] * len(parts)

    async def _send_permits(self, estimates: list[float]) -> list[Any]:
        return await self._call_driver("permit", estimates=estimates)  # type: ignore[no-any-return]

    async def _send_bills(self, bills: list[tuple[float, float]]) -> list[Any]:
        await self._call_driver("settle", bills=[list(bill) for bill in bills])
        return [None] * len(bills)

    async def _call_driver(self, what: str, **arguments: Any) -> Any:
        # no second attempt, each of which takes seconds: the batch is to end soon
        if self._is_gone:
            raise ConnectionError("the driver of this run is gone")
        try:
            return await getattr(self._driver, what)(token=self._token, **arguments)
        except OSError:
            self._is_gone = True
            raise


class _MessageBatcher:
    """Combines messages of one kind: those that come up while one is in flight are sent together in the next.

    `send` must return one answer per item, in order."""

    def __init__(self, send: Callable[[list[Any]], Awaitable[list[Any]]]) -> None:
        self._send = send
        self._waiting: list[tuple[list[Any], asyncio.Future[list[Any]]]] = []
        self._sender_task: asyncio.Task[None] | None = None

    async def put(self, items: Sequence[Any]) -> list[Any]:
        """The answer to each item."""
        answered: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._waiting.append((list(items), answered))
        if self._sender_task is None:
            self._sender_task = asyncio.create_task(self._send_waiting())
        return await answered

    async def _send_waiting(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                try:
                    answers = await self._send([item for items, _ in batch for item in items])
                except Exception as broken:  # raised in those who wait, not in this task
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
            self._sender_task = None
