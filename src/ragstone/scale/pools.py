"""What the driver needs of its workers, wherever they are, and how work that kills its worker is found."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, Self, TypeVar

from ragstone.scale.batches import Batch
from ragstone.scale.shards import ShardResult

MAX_KILLS = 2
"""How often work that cannot be halved must kill its worker, with nothing else in flight, before it is given up."""


class WorkerDied(Exception):
    """The worker ended while it had this work in its hands; something else may be to blame."""


class WorkerPool(Protocol):
    """Workers that score batches."""

    size: int
    """How many workers there are now."""
    batch_seconds: float
    """How long a batch should take: long compared with sending it, short compared with what a dead worker costs."""

    async def score(self, batch: Batch) -> ShardResult:
        """Score a batch on one of them; raises WorkerDied."""
        ...


class Divisible(Protocol):
    """Work that can be cut in two."""

    @property
    def count(self) -> int:
        """Into how many pieces it can be cut."""
        ...

    def halve(self) -> tuple[Self, Self]:
        """Both halves, in order."""
        ...


Work = TypeVar("Work", bound=Divisible)
Result = TypeVar("Result")


class Survivor:
    """Runs work; what kills its worker is halved until the piece that does it is alone.

    Such a piece is tried with nothing else in flight, so that nothing else can be to blame."""

    def __init__(self) -> None:
        self._in_flight: set[asyncio.Future[Any]] = set()
        self._gate = asyncio.Lock()
        """Held while a piece is tried alone."""

    async def run(
        self, work: Work, start: Callable[[Work], Awaitable[Result]]
    ) -> list[tuple[Work, Result | None]]:
        """The pieces of the work with their results, in order; None for what kills every worker."""
        async with self._gate:
            running = asyncio.ensure_future(start(work))
            self._in_flight.add(running)
        running.add_done_callback(self._in_flight.discard)
        try:
            return [(work, await running)]
        except WorkerDied:
            if work.count > 1:
                return [pair for half in work.halve() for pair in await self.run(half, start)]
        async with self._gate:
            if self._in_flight:
                await asyncio.wait(self._in_flight)
            for _ in range(MAX_KILLS):
                try:
                    return [(work, await start(work))]
                except WorkerDied:
                    continue
        return [(work, None)]
