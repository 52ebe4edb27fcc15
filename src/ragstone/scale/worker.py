"""In a worker's process: metrics and judge made once a run, then piece after piece of rows scored."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from typing import Any, NamedTuple

from ragstone._version import __version__
from ragstone.asks import Answered, Ask, Reply, digest
from ragstone.data.containers import Refused
from ragstone.data.ranges import Range, rows_in
from ragstone.data.rows import Mapper, compile_shape
from ragstone.data.strict import BadRow, parse, reparse
from ragstone.engine.desk import Desk, unusable
from ragstone.engine.rounds import score_sample
from ragstone.engine.scoring import plain_scores, starter
from ragstone.errors import DataError, OutOfBudget, RagstoneError
from ragstone.judges import Judge
from ragstone.judges.limits import Budget
from ragstone.scale.counter import BUSY, KNOWN
from ragstone.scale.jobs import Job, found
from ragstone.scale.pieces import digest_rows
from ragstone.scale.shards import Line, encode_shard
from ragstone.store import with_language
from ragstone.store.codec import decode_reply, encode_reply, encode_scores
from ragstone.types import FAILURES, NOTHING_USED, Sample, Score, Usage

DRIVER_SECONDS = 10
"""How long a worker tries to reach the driver before it takes it for dead."""

_benches: dict[str, Bench] = {}
_making = threading.Lock()


def score_piece(ticket: Mapping[str, str], piece: Mapping[str, Any]) -> dict[str, Any]:
    """One piece of rows scored: the bytes of its shard, or the rows that cannot be read."""
    started = time.perf_counter()
    try:
        bench = _taken(ticket)
    except RagstoneError as wrong:  # as a text: its class may not survive the way to the driver
        return {"error": str(wrong)}
    try:
        samples, bad = _samples(bench.mapper, piece)
        if bad:
            return {"bad": bad}
        scores = bench.score([row.sample for row in samples])
    except DataError:  # the file is not here, or not to be read by us
        return {"unseen": True}
    finally:
        with _making:
            bench.users -= 1
    lines = [
        Line(row.position, row.sample.id if row.given else None, row.sample.group, encode_scores(one))
        for row, one in zip(samples, scores, strict=True)
    ]  # fmt: skip
    failures, usage = _tallied(scores)
    shard = encode_shard(lines, digest_rows(row.text for row in samples), failures, usage)
    return {"shard": shard, "seconds": time.perf_counter() - started}


def _taken(ticket: Mapping[str, str]) -> Bench:
    """This run's bench; those of other runs are closed, unless another thread is still at work on one."""
    with _making:
        bench = _benches.get(ticket["token"])
        if bench is None:
            for token, old in list(_benches.items()):  # a worker may outlive many runs
                if not old.users:
                    del _benches[token]
                    old.close()
            bench = _benches[ticket["token"]] = Bench(ticket)
        bench.users += 1
        return bench


def put_away(token: str) -> None:
    """Let go of what this worker keeps for a run that is over."""
    with _making:
        bench = _benches.pop(token, None)
        if bench is not None:
            bench.close()


def sees(path: str, size: int, changed: int) -> bool:
    """Whether this worker has the same file at the same place."""
    import os

    try:
        facts = os.stat(path)
    except OSError:
        return False
    return (facts.st_size, facts.st_mtime_ns) == (size, changed)


class _Row(NamedTuple):
    sample: Sample
    given: bool
    """Whether the row gave it its id."""
    position: int
    text: str


def _samples(mapper: Mapper, piece: Mapping[str, Any]) -> tuple[list[_Row], list[list[Any]]]:
    """The piece's samples, and the rows of a file that are refused, each with its place."""
    rows: list[_Row] = []
    if "rows" in piece:  # read and checked by the driver before
        for position, text in zip(piece["positions"], piece["rows"], strict=True):
            rows.append(_Row(*mapper(reparse(text), position), position, text))
        return rows, []
    bad: list[list[Any]] = []
    position = piece["positions"][0]
    for at, raw in rows_in(Range(**piece["range"])):
        try:
            if isinstance(raw, Refused):
                raise BadRow(raw.why)
            rows.append(_Row(*mapper(parse(raw), position), position, raw))
        except BadRow as refused:
            bad.append([at, str(refused)])
        position += 1
    return rows, bad


def _tallied(scores: Sequence[Mapping[str, Score]]) -> tuple[int, Usage]:
    failures, usage = 0, NOTHING_USED
    for one in scores:
        for score in one.values():
            failures += score.outcome in FAILURES
            if score.usage is not NOTHING_USED:
                usage = usage + score.usage
    return failures, usage


class Bench:
    """What a worker keeps for one run: its metrics, its judge (the model loaded once), an event loop of its own."""

    def __init__(self, ticket: Mapping[str, str]) -> None:
        self.users = 0
        """Threads that are scoring here now."""
        self._ticket = ticket
        self._address, self._connections = _this_worker()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="ragstone-bench", daemon=True
        )
        self._thread.start()
        self._judge: Judge | None = None
        self._desk: Desk | None = None
        self._wait(self._prepare())

    def score(self, samples: Sequence[Sample]) -> list[dict[str, Score]]:
        """Every metric on every sample, in order."""
        return self._wait(self._score(samples))  # type: ignore[no-any-return]

    def close(self) -> None:
        """Let go of the judge and the loop."""
        self._wait(self._put_away())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _prepare(self) -> None:
        from distributed.core import rpc

        self._driver = rpc(
            self._ticket["address"],
            timeout=DRIVER_SECONDS,
            connection_args=self._connections,
            serializers=["msgpack"],
            deserializers=["msgpack"],
        )
        self._job = Job.from_json(await self._driver.hello(token=self._ticket["token"]))
        if self._job.version != __version__:
            raise RagstoneError(
                f"this worker has ragstone {__version__}, the driver {self._job.version}; install the same"
            )
        metrics = found(self._job.metrics)
        self._metrics = {metric.name: metric for metric in metrics}
        self._starts = {metric.name: starter(metric) for metric in metrics}
        self.mapper = compile_shape(self._job.shape)
        if self._job.judge is None:
            return
        from ragstone.judges.choose import make_judge

        line = _Line(self._driver, self._ticket["token"], self._address)
        budget = SharedBudget(line, limited=self._job.limited) if self._job.shared else None
        self._judge = make_judge(dict(self._job.judge), budget=budget)
        answering: Any = SharedJudge(self._judge, line) if self._job.shared else self._judge
        # a judge that needs no store is handed to the desk: replies to be kept go to the driver
        self._desk = Desk(answering, _NO_STORE, self._job.run, self._job.concurrency)
        await self._desk.__aenter__()

    async def _score(self, samples: Sequence[Sample]) -> list[dict[str, Score]]:
        named = [with_language(sample, self._job.language) for sample in samples]
        if self._desk is None:
            return [plain_scores(self._starts, sample) for sample in named]
        desk, room = self._desk, asyncio.Semaphore(self._desk.window)

        async def one(sample: Sample) -> dict[str, Score]:
            async with room:
                return await score_sample(sample, self._metrics, self._starts, desk)

        return list(await asyncio.gather(*map(one, named)))

    async def _put_away(self) -> None:
        # the run may have been stopped: whoever waits for a score must not wait for ever
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if self._desk is not None:
            await self._desk.__aexit__(None, None, None)
        if self._judge is not None:
            await self._judge.close()
        await self._driver.close_rpc()


_NO_STORE: Any = None
"""Where a Desk would keep replies: nowhere, since its judge is local or keeps them with the driver."""


def _this_worker() -> tuple[str, dict[str, Any]]:
    """Its address, and how it opens connections (with which certificates)."""
    from distributed import get_worker

    worker = get_worker()
    return worker.address, dict(worker.security.get_connection_args("worker"))


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


class _Line:
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


class SharedBudget(Budget):
    """The driver's budget and pace, asked before each call if there is any."""

    def __init__(self, line: _Line, *, limited: bool) -> None:
        super().__init__()
        self._line = line
        self._limited = limited

    async def admit(self, estimate: float) -> None:
        """Wait for the turn that the driver gives, or be refused."""
        if not self._limited:
            return
        said = await self._line.permit(estimate)
        if "refused" in said:
            raise OutOfBudget(said["refused"])
        await asyncio.sleep(said["wait"])

    def leave(self, estimate: float, usage: Usage) -> None:
        """Tell the driver what the call took."""
        if self._limited:
            self._line.settle(estimate, usage.usd)


class SharedJudge:
    """A judge whose replies are kept by the driver, so that no two workers pay for one question."""

    local = True
    """To the desk: there is nothing to look up or keep here."""

    def __init__(self, judge: Judge, line: _Line) -> None:
        self._judge = judge
        self._line = line
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
        claimed = await self._line.claim(keys)
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
            said = await self._line.wait(key)
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
            await self._line.keep([row for row in rows if row is not None], list(mine))
        return answered


def _row(key: str, ask: Ask, answered: Answered) -> list[Any] | None:
    """A reply as the driver stores it; a failure only if it cost something."""
    if isinstance(answered, Reply):
        found = (key, ask.kind, answered)
    elif (answered.usage or NOTHING_USED) == NOTHING_USED:
        return None
    else:
        found = unusable(key, ask, answered)
    return [found[0], found[1], encode_reply(found[2]), list(astuple(found[2].usage))]
