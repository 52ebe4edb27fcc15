"""From request to disk: a bounded queue, one commit for all who wait, and a clear no when there is too much."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp import web

from ragstone.errors import StoreError
from ragstone.monitor import Added, Archive, Feedback, Interaction
from ragstone.monitor.ingest.spans import Span
from ragstone.server.responses import Refused
from ragstone.server.settings import Settings

COMMIT = 1000
"""Rows in one commit at most."""

PIECE = 65_536


@dataclass(slots=True)
class Job:
    """What one request brought, waiting for the disk."""

    interactions: Sequence[Interaction]
    feedback: Sequence[Feedback]
    spans: Sequence[Span]
    done: asyncio.Future[Added] = field(repr=False)

    @property
    def rows(self) -> int:
        return len(self.interactions) + len(self.feedback) + len(self.spans)


class Intake:
    """Takes rows into the store; a request is answered once the disk has what it brought."""

    def __init__(self, archive: Archive, settings: Settings) -> None:
        self.archive = archive
        self.settings = settings
        self.counts: Counter[str] = Counter()
        """Refusals and the like that the store does not know of yet."""
        self.requests = 0
        self.bytes = 0
        self.rows = 0
        self._jobs: deque[Job] = deque()
        self._some = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self._rate = 1000.0
        """Rows a second that the disk took lately."""

    def start(self) -> None:
        """Begin to write."""
        self._task = asyncio.create_task(self._work())

    async def close(self) -> None:
        """Write what waits and stop."""
        self._closing = True
        self._some.set()
        if self._task is not None:
            await self._task

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """A request to write; refused at once when there are too many."""
        if self.requests >= self.settings.queue_requests:
            raise self.overloaded()
        self.requests += 1
        try:
            yield
        finally:
            self.requests -= 1

    async def body(self, request: web.Request) -> tuple[bytes, int]:
        """The unpacked body of a request and the bytes to give back to `release`; refused when too large."""
        declared = request.content_length
        if declared is not None and declared > self.settings.body_bytes:
            raise self.too_large()
        unpack = _unpacker(request.headers.get("Content-Encoding", "identity"))
        pieces: list[bytes] = []
        size = 0
        try:
            async for packed in request.content.iter_chunked(PIECE):
                for piece in unpack(packed):
                    size += len(piece)
                    self.bytes += len(piece)
                    if size > self.settings.body_bytes:
                        raise self.too_large()
                    if self.bytes > self.settings.queue_bytes:
                        raise self.overloaded()
                    pieces.append(piece)
            for _ in unpack(b""):
                pass
        except BaseException:
            self.bytes -= size
            raise
        return b"".join(pieces), size

    def release(self, size: int) -> None:
        """The bytes of a body are no longer held."""
        self.bytes -= size

    async def put(
        self,
        interactions: Sequence[Interaction] = (),
        feedback: Sequence[Feedback] = (),
        spans: Sequence[Span] = (),
    ) -> Added:
        """Wait until the disk has them; what was new and what was there."""
        job = Job(interactions, feedback, spans, asyncio.get_running_loop().create_future())
        if self.rows and self.rows + job.rows > self.settings.queue_events:
            raise self.overloaded()
        if self._closing:
            raise Refused(
                503, "the server is stopping; try again", "refused_stopping", retry_after=2
            )
        self.rows += job.rows
        self._jobs.append(job)
        self._some.set()
        return await asyncio.shield(job.done)

    def overloaded(self) -> Refused:
        """More than can be taken: come back when what waits is written."""
        wait = max(1, min(30, round(self.rows / self._rate)))
        return Refused(
            429, "too much at once; try again later", "refused_overload", retry_after=wait
        )

    def too_large(self) -> Refused:
        """A body beyond the limit."""
        most = self.settings.body_bytes
        return Refused(413, f"the body is larger than {most:,} bytes; send less at once", "refused_too_large")  # fmt: skip

    async def _work(self) -> None:
        while True:
            await self._some.wait()
            self._some.clear()
            while self._jobs:
                await self._commit(self._next())
            if self._closing:
                return

    def _next(self) -> list[Job]:
        jobs = [self._jobs.popleft()]
        rows = jobs[0].rows
        while self._jobs and rows + self._jobs[0].rows <= COMMIT:
            jobs.append(self._jobs.popleft())
            rows += jobs[-1].rows
        return jobs

    async def _commit(self, jobs: list[Job]) -> None:
        began = time.monotonic()
        rows = sum(job.rows for job in jobs)
        try:
            added = await asyncio.wrap_future(
                self.archive.add(
                    [one for job in jobs for one in job.interactions],
                    [one for job in jobs for one in job.feedback],
                    [one for job in jobs for one in job.spans],
                )
            )
        except Exception as broken:  # this task must outlive any fault of the store
            self.counts["refused_store"] += rows
            why = str(broken) if isinstance(broken, StoreError) else type(broken).__name__
            for job in jobs:
                _tell(job, Refused(503, f"not stored: {why}", "", retry_after=5))
        else:
            took = max(1e-6, time.monotonic() - began)
            self._rate += 0.1 * (rows / took - self._rate)
            left = set(added.ids)
            for job in jobs:  # of a repetition within one commit the first brought it
                ids = {one.id for one in job.interactions} & left
                left -= ids
                _tell(job, Added(len(ids), len(job.interactions) - len(ids)))
        finally:
            self.rows -= rows


def _tell(job: Job, result: Added | Refused) -> None:
    if job.done.done():
        return
    if isinstance(result, Refused):
        job.done.set_exception(result)
        job.done.exception()  # whoever asked may be gone: then nobody need hear of it
    else:
        job.done.set_result(result)


Unpack = Callable[[bytes], Iterator[bytes]]
"""A packed piece → its unpacked pieces, each small whatever it says; an empty one ends the body."""


def _unpacker(encoding: str) -> Unpack:
    match encoding.strip().lower():
        case "" | "identity":
            return lambda packed: iter((packed,) if packed else ())
        case "gzip" | "x-gzip":
            return _inflated(zlib.decompressobj(wbits=31))
        case "deflate":
            return _inflated(zlib.decompressobj(wbits=15))
    why = f"no Content-Encoding {encoding[:40]!r}; use gzip, deflate or none"
    raise Refused(415, why, "refused_invalid")


def _inflated(inflater: zlib._Decompress) -> Unpack:
    def unpack(packed: bytes) -> Iterator[bytes]:
        if not packed and not inflater.eof:
            raise Refused(400, "the packed body ends too early", "refused_invalid")
        while True:
            try:
                piece = inflater.decompress(packed, PIECE)
            except zlib.error:
                why = "the body is not what its Content-Encoding says"
                raise Refused(400, why, "refused_invalid") from None
            packed = inflater.unconsumed_tail
            if piece:
                yield piece
            elif not packed or inflater.eof:
                return

    return unpack
