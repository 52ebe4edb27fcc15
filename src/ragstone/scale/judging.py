"""A judge whose replies are kept, on a cluster: the driver runs the metrics and keeps the replies as in any run, and only
the questions for models that run in a process go to the workers. APIs are asked by the driver itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from typing import Any

from ragstone.asks import Answered, Ask
from ragstone.errors import JudgeFailed
from ragstone.judges import Judge
from ragstone.judges.cascade import Cascade
from ragstone.judges.factory import LOCAL_KINDS
from ragstone.judges.jury import Jury
from ragstone.scale.cluster import DaskPool, open_cluster
from ragstone.scale.pools import MAX_KILLS, Survivor
from ragstone.scale.worker import Questions, WorkerJob, list_members

LIMITS = ("max_usd", "max_calls", "run_deadline", "rate")
"""Settings of a judge that one process keeps to the call; with any of them the driver asks."""
WORKER_KINDS = ("offline", "local", "python", *LOCAL_KINDS)
"""Prefixes of judges that work where they are made; any other is behind an API."""
MIN_TASKS = 32
"""Tasks in flight at least: Dask holds those that no worker has taken, so that one that joins finds work."""


@asynccontextmanager
async def open_worker_judge(
    on: str, job: WorkerJob, judge: Judge, settings: Mapping[str, Any]
) -> AsyncIterator[tuple[Judge, int | None]]:
    """The judge with its models in the workers of a cluster, and how many calls of it may run at once."""
    concurrency: int | None = settings.get("concurrency")
    is_limited = any(settings.get(name) is not None for name in LIMITS)
    if is_limited or not any(_iter_local_models(settings)):
        yield judge, concurrency
        return
    async with open_cluster(on, job) as pool:
        moved = _move_to_workers(judge, settings, pool, concurrency)
        wanted = max(MIN_TASKS, 2 * pool.size)
        yield moved, wanted if concurrency is None else max(1, concurrency // moved.batch)


def _move_to_workers(
    judge: Judge, settings: Any, pool: DaskPool, concurrency: int | None, path: tuple[int, ...] = ()
) -> Judge:
    """The judge with each model that runs in a process replaced by one that asks the workers."""
    pairs = zip(list_members(judge), _list_member_settings(settings), strict=True)
    moved = [
        _move_to_workers(member, spec, pool, concurrency, (*path, index))
        for index, (member, spec) in enumerate(pairs)
    ]
    judge = copy(judge)  # its owner may ask it again
    if isinstance(judge, Jury):
        judge.members = tuple(moved)
    elif isinstance(judge, Cascade):
        judge.first, judge.second = moved
    elif any(_iter_local_models(settings)):
        return WorkerJudge(judge, pool, concurrency, path)
    return judge


def _iter_local_models(settings: Any) -> Iterator[str]:
    """The names of models that run in a process, not behind an API."""
    members = _list_member_settings(settings)
    for member in members:
        yield from _iter_local_models(member)
    model = str(settings.get("model") if isinstance(settings, Mapping) else settings)
    if not members and model.partition(":")[0] in WORKER_KINDS:
        yield model


def _list_member_settings(settings: Any) -> Sequence[Any]:
    if not isinstance(settings, Mapping):
        return ()
    if "first" in settings:
        return (settings["first"], settings["then"])
    return settings.get("jury", ())  # type: ignore[no-any-return]


class WorkerJudge:
    """A judge that works in the processes of a cluster; texts are embedded here."""

    def __init__(
        self, judge: Judge, pool: DaskPool, concurrency: int | None, path: tuple[int, ...]
    ) -> None:
        self._judge = judge
        self._pool = pool
        self._path = path
        self._survivor = Survivor()
        self.name = judge.name
        self.local = judge.local
        self.batch = judge.batch * judge.concurrency  # a worker asks so many at once
        if concurrency is not None:
            self.batch = max(1, min(self.batch, concurrency // (2 * pool.size)))
        self.concurrency = judge.concurrency
        self.calibration = getattr(judge, "calibration", None)
        self.embeddings = getattr(judge, "embeddings", None)

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """The identity of the judge itself."""
        return self._judge.identity(ask)

    async def close(self) -> None:
        """The judge of this process is closed by its owner."""

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer the Asks, in order; raises ClusterError when nobody is left to answer."""
        kept = [ask for ask in asks if self._stays(ask)]
        sent = tuple(ask for ask in asks if not self._stays(ask))
        here = iter(await self._judge.answer(kept) if kept else ())
        there = iter(await self._send(Questions(sent, self._path)) if sent else ())
        return [next(here if self._stays(ask) else there) for ask in asks]

    def _stays(self, ask: Ask) -> bool:
        return ask.kind == "embed" and not getattr(self._judge, "embeds", False)

    async def _send(self, questions: Questions) -> list[Answered]:
        answers: list[Answered] = []
        for piece, answered in await self._survivor.run(questions, self._pool.answer):
            killed = JudgeFailed("transport", "worker_killed", times=MAX_KILLS)
            answers += [killed] * piece.count if answered is None else answered
        return answers
