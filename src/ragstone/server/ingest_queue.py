"""Ingest queue: bounded in requests, rows and bytes; one commit for all waiting requests, and 429 when it is full."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp import web

from ragstone.data.spans import TraceSpan
from ragstone.errors import StoreError
from ragstone.monitor import AddResult, Archive, Feedback, Interaction
from ragstone.server.connections import CHUNK_BYTES, read_chunks
from ragstone.server.responses import RequestError
from ragstone.server.settings import ServerSettings

ROWS_PER_COMMIT = 1000
"""Rows in one commit at most."""


@dataclass(slots=True)
class IngestJob:
    """The rows of one request, waiting for the commit."""

    interactions: Sequence[Interaction]
    feedback: Sequence[Feedback]
    spans: Sequence[TraceSpan]
    done: asyncio.Future[AddResult] = field(repr=False)

    @property
    def rows(self) -> int:
        return len(self.interactions) + len(self.feedback) + len(self.spans)


class IngestQueue:
    """Writes rows to the store; a request is answered once its rows are on disk."""

    def __init__(self, archive: Archive, settings: ServerSettings) -> None:
        self.archive = archive
        self.settings = settings
        self.counts: Counter[str] = Counter()
        """Counts of refusals that are not in the store yet."""
        self.requests = 0
        """Write requests in progress."""
        self.bytes = 0
        """Bytes of their bodies, decompressed."""
        self.rows = 0
        """Rows that wait for a commit or are in one."""
        self._jobs: deque[IngestJob] = deque()
        self._has_jobs = asyncio.Event()
        self._commit_task: asyncio.Task[None] | None = None
        self._closing = False
        self._rows_per_second = 1000.0
        """Rows a second written recently, for Retry-After."""

    def start(self) -> None:
        """Start the writing task."""
        self._commit_task = asyncio.create_task(self._commit_until_closed())

    async def close(self) -> None:
        """Write what is queued and stop."""
        self._closing = True
        self._has_jobs.set()
        if self._commit_task is not None:
            await self._commit_task

    @contextmanager
    def admit_request(self) -> Iterator[None]:
        """Count a write request in progress; refused at once when there are too many."""
        if self.requests >= self.settings.queue_requests:
            raise self.build_overload_error()
        self.requests += 1
        try:
            yield
        finally:
            self.requests -= 1

    async def read_body(self, request: web.Request) -> tuple[bytes, int]:
        """The decompressed body of a request, and the bytes to pass to `release_bytes`; refused when too large."""
        declared = request.content_length
        if declared is not None and declared > self.settings.body_bytes:
            raise self.build_size_error()
        decompress = _choose_decompressor(request.headers.get("Content-Encoding", "identity"))
        chunks: list[bytes] = []
        size = 0
        try:
            async for compressed in read_chunks(request, self.settings.body_seconds):
                for chunk in decompress(compressed):
                    size += len(chunk)
                    self.bytes += len(chunk)
                    if size > self.settings.body_bytes:
                        raise self.build_size_error()
                    if self.bytes > self.settings.queue_bytes:
                        raise self.build_overload_error()
                    chunks.append(chunk)
            # an empty chunk checks that the compressed body was complete; it raises if not
            for _ in decompress(b""):
                pass
        except BaseException:
            self.bytes -= size
            raise
        return b"".join(chunks), size

    def release_bytes(self, size: int) -> None:
        """Release the bytes of a body."""
        self.bytes -= size

    async def add(
        self,
        interactions: Sequence[Interaction] = (),
        feedback: Sequence[Feedback] = (),
        spans: Sequence[TraceSpan] = (),
    ) -> AddResult:
        """Queue rows and wait until they are on disk; how many were new and how many repeated."""
        job = IngestJob(interactions, feedback, spans, asyncio.get_running_loop().create_future())
        # a single request above the limit is taken when nothing waits, else it could never be
        if self.rows and self.rows + job.rows > self.settings.queue_events:
            raise self.build_overload_error()
        if self._closing:
            raise RequestError(
                503, "the server is stopping; try again", "refused_stopping", retry_after=2
            )
        self.rows += job.rows
        self._jobs.append(job)
        self._has_jobs.set()
        # the rows are written even when the client goes away: part of the batch may be on its way
        # to the disk
        return await asyncio.shield(job.done)

    def build_overload_error(self) -> RequestError:
        """429 with the time after which the queued rows will probably be written."""
        seconds = max(1, min(30, round(self.rows / self._rows_per_second)))
        return RequestError(
            429, "too much at once; try again later", "refused_overload", retry_after=seconds
        )

    def build_size_error(self) -> RequestError:
        """413 for a body beyond the limit."""
        limit = self.settings.body_bytes
        return RequestError(413, f"the body is larger than {limit:,} bytes; send less at once", "refused_too_large")  # fmt: skip

    async def _commit_until_closed(self) -> None:
        while True:
            await self._has_jobs.wait()
            self._has_jobs.clear()
            while self._jobs:
                await self._commit_jobs(self._take_jobs())
            if self._closing:
                return

    def _take_jobs(self) -> list[IngestJob]:
        jobs = [self._jobs.popleft()]
        rows = jobs[0].rows
        while self._jobs and rows + self._jobs[0].rows <= ROWS_PER_COMMIT:
            jobs.append(self._jobs.popleft())
            rows += jobs[-1].rows
        return jobs

    async def _commit_jobs(self, jobs: list[IngestJob]) -> None:
        started = time.monotonic()
        rows = sum(job.rows for job in jobs)
        try:
            added = await asyncio.wrap_future(
                self.archive.add(
                    [item for job in jobs for item in job.interactions],
                    [item for job in jobs for item in job.feedback],
                    [item for job in jobs for item in job.spans],
                )
            )
        except Exception as error:  # this task must survive any fault of the store
            self.counts["refused_store"] += rows
            reason = str(error) if isinstance(error, StoreError) else type(error).__name__
            for job in jobs:
                _resolve_job(job, RequestError(503, f"not stored: {reason}", retry_after=5))
        else:
            elapsed = max(1e-6, time.monotonic() - started)
            # a moving average: one slow commit should not make clients wait half a minute
            self._rows_per_second += 0.1 * (rows / elapsed - self._rows_per_second)
            new_ids = set(added.ids)
            for job in jobs:  # an id repeated within one commit counts as new for its first job
                ids = {item.id for item in job.interactions} & new_ids
                new_ids -= ids
                _resolve_job(job, AddResult(len(ids), len(job.interactions) - len(ids)))
        finally:
            self.rows -= rows


def _resolve_job(job: IngestJob, result: AddResult | RequestError) -> None:
    if job.done.done():  # cancelled when the server stops
        return
    if isinstance(result, RequestError):
        job.done.set_exception(result)
        job.done.exception()  # marks it as retrieved: the client may have disconnected
    else:
        job.done.set_result(result)


Decompressor = Callable[[bytes], Iterator[bytes]]
"""A compressed chunk → decompressed chunks of bounded size, whatever the compression ratio. Called with an empty chunk at the
end of the body, it raises if the body is incomplete."""


def _choose_decompressor(encoding: str) -> Decompressor:
    match encoding.strip().lower():
        case "" | "identity":
            return lambda compressed: iter((compressed,) if compressed else ())
        case "gzip" | "x-gzip":
            return _build_inflater(GZIP_WINDOW_BITS)
        case "deflate":
            return _build_inflater(ZLIB_WINDOW_BITS)
    reason = f"no Content-Encoding {encoding[:40]!r}; use gzip, deflate or none"
    raise RequestError(415, reason, "refused_invalid")


GZIP_WINDOW_BITS = 31
"""16 + 15: gzip's header, largest window."""
ZLIB_WINDOW_BITS = 15
"""zlib's header, which HTTP calls deflate."""


def _build_inflater(window_bits: int) -> Decompressor:
    inflater = zlib.decompressobj(window_bits)

    def decompress(compressed: bytes) -> Iterator[bytes]:
        nonlocal inflater
        if not compressed and not inflater.eof:
            raise RequestError(400, "the packed body ends too early", "refused_invalid")
        while True:
            if compressed and inflater.eof and window_bits == GZIP_WINDOW_BITS:
                # gzip may have several members; bytes that begin none are refused below
                inflater = zlib.decompressobj(window_bits)
            try:
                chunk = inflater.decompress(compressed, CHUNK_BYTES)
            except zlib.error:
                raise _build_encoding_error() from None
            compressed = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            if compressed and inflater.eof and window_bits == ZLIB_WINDOW_BITS:
                raise _build_encoding_error()
            if chunk:
                yield chunk
            elif not compressed:
                return

    return decompress


def _build_encoding_error() -> RequestError:
    return RequestError(400, "the body is not what its Content-Encoding says", "refused_invalid")
