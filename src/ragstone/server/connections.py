"""Connections of the server: who may stay when there are too many, and how long each may make the server wait.

aiohttp limits the rest between two requests; here are the limits that it lacks, for the first head and for reading a response.
asyncio's own accept loop logs a traceback a thousand times a second while the process has no free file descriptor."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aiohttp import web
from aiohttp.http import HttpProcessingError

from ragstone.server.guard import Handler, has_token
from ragstone.server.responses import RequestError
from ragstone.server.settings import ServerSettings

log = logging.getLogger("ragstone.server")

KEEPALIVE_SECONDS = 75.0
"""Seconds from a response until the head of the next request must be complete; aiohttp's own limit."""
BACKLOG = 4096
"""Connections that may wait to be accepted. Where this queue is full, the kernel makes a client wait for seconds."""
ACCEPT_RETRY_SECONDS = 1.0
"""Pause after accepting failed: for want of files it fails again at once."""
ROOM_POLL_SECONDS = 0.05
"""Seconds between two looks for room while every connection is at work."""
RESERVED_FILES = 64
"""File descriptors kept for the store, its threads, calls to judges, and connections accepted before others are dropped."""
RESERVED_ANONYMOUS = 8
"""Connections without the token that are open even where those with it would fill the table: each begins without."""
CHUNK_BYTES = 65_536
"""Largest chunk of a body that is read at once."""


@dataclass(slots=True, eq=False)
class ClientConnection:
    """An accepted connection."""

    since: float
    """When it was accepted, or its last request was handled."""
    transport: asyncio.Transport | None = None
    """None until it is set up."""
    request: web.Request | None = None
    """The request in progress."""
    requests: int = 0
    """Requests whose heads are complete."""

    @property
    def is_closed(self) -> bool:
        # not `is_closing`: a closing transport keeps its file until the client has read the rest
        return self.transport is not None and (self.transport.get_extra_info("socket").fileno() < 0)

    @property
    def is_unread(self) -> bool:
        """Whether the client has not read all of a response."""
        return self.transport is not None and self.transport.get_write_buffer_size() > 0

    @property
    def waits_for_client(self) -> bool:
        """Whether the client has to act next: send the rest of a head or a body, or read."""
        if self.transport is None:
            return False
        return self.request is None or not self.request.content.is_eof() or self.is_unread


class ConnectionTable:
    """The open connections. Of too many, the one that has waited longest for its client is dropped, those without the token first.

    Without a token in the settings nobody has it, and all are alike."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self.limit = settings.connections
        # each in the order of `since`; anonymous are those whose last request did not show the token
        self._anonymous: dict[asyncio.BaseProtocol, ClientConnection] = {}
        self._authenticated: dict[asyncio.BaseProtocol, ClientConnection] = {}

    def __len__(self) -> int:
        return len(self._anonymous) + len(self._authenticated)

    def add(self, protocol: asyncio.BaseProtocol) -> ClientConnection:
        """Enter a connection that is being set up."""
        connection = self._anonymous[protocol] = ClientConnection(time.monotonic())
        return connection

    def remove(self, protocol: asyncio.BaseProtocol) -> None:
        """Forget a connection."""
        self._anonymous.pop(protocol, None)
        self._authenticated.pop(protocol, None)

    async def handle(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Handle a request. Its connection stays open afterwards if it shows the token, or, where there is none, for the API."""
        # before the next of several requests sent at once is handled, their client has to read
        await request.writer.drain()
        token = self._settings.token
        is_authenticated = token is not None and has_token(request, token)
        table = self._authenticated if is_authenticated else self._anonymous
        connection = self._get(request.protocol)
        if connection is not None:
            connection.request = request
            connection.requests += 1
            if request.protocol not in table:
                self.remove(request.protocol)
                table[request.protocol] = connection
        try:
            response = await handler(request)
            # whoever may ask anonymously gets one response a connection: pages and the health check
            if not (is_authenticated if token is not None else "/v1/" in request.path):
                response.force_close()
            return response
        finally:
            if connection is not None and self._get(request.protocol) is connection:
                connection.since, connection.request = time.monotonic(), None
                # to the end; not when the request began: a client that then sends no body would
                # be younger than one that has just been accepted
                table[request.protocol] = table.pop(request.protocol)

    def _get(self, protocol: asyncio.BaseProtocol) -> ClientConnection | None:
        return self._anonymous.get(protocol) or self._authenticated.get(protocol)

    def fit_limit(self) -> None:
        """Set the limit to what the process may open now."""
        self._forget_closed()
        self.limit = choose_connection_limit(self._settings.connections, len(self))

    @property
    def accept_batch(self) -> int:
        """Connections to accept in one turn of the event loop: few enough that a new one is read before it is the oldest."""
        return max(1, min(32, self.limit // 16))

    async def wait_for_room(self) -> None:
        """Drop connections until there is room for another; wait while all are at work."""
        while len(self) >= self.limit:
            self._forget_closed()
            if len(self) < self.limit:
                return
            log.warning("%d connections are open, the limit; those that wait longest for their client are dropped", self.limit)  # fmt: skip
            if not self.drop(len(self) - self.limit + 1):
                await asyncio.sleep(ROOM_POLL_SECONDS)

    def drop(self, count: int) -> int:
        """Drop up to `count` connections that wait for their clients; returns how many."""
        reserved = min(RESERVED_ANONYMOUS, self.limit // 2)
        for dropped in range(count):
            tables = [self._anonymous]
            if len(self._anonymous) <= reserved:
                tables.insert(0, self._authenticated)
            waiting = (
                protocol
                for table in tables
                for protocol, connection in table.items()
                if connection.waits_for_client
            )
            protocol = next(waiting, None)
            if protocol is None:
                return dropped
            self._abort(protocol)
        return count

    def close_overdue(self) -> None:
        """Drop connections whose first head, or the reading of whose response, takes too long."""
        self._forget_closed()
        now = time.monotonic()
        for protocol, connection in self._list():
            if connection.request is not None:
                continue
            if not connection.requests:
                limit = self._settings.header_seconds
            elif connection.is_unread:
                limit = self._settings.response_seconds
            else:
                continue
            if now - connection.since > limit:
                self._abort(protocol)

    def _list(self) -> list[tuple[asyncio.BaseProtocol, ClientConnection]]:
        return [*self._anonymous.items(), *self._authenticated.items()]

    def _forget_closed(self) -> None:
        for protocol, connection in self._list():
            if connection.is_closed:
                self.remove(protocol)

    def _abort(self, protocol: asyncio.BaseProtocol) -> None:
        connection = self._get(protocol)
        if connection is not None and connection.transport is not None:
            # abort, not close: close waits until the peer has read what is buffered
            connection.transport.abort()
            self.remove(protocol)


CONNECTIONS = web.AppKey("connections", ConnectionTable)


@web.middleware
async def track_connection(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Handle a request with its connection marked as at work."""
    return await request.app[CONNECTIONS].handle(request, handler)


async def read_chunks(request: web.Request, seconds: float) -> AsyncIterator[bytes]:
    """The body of a request in chunks; RequestError if all of it does not arrive in time."""
    end = time.monotonic() + seconds
    while True:
        try:
            async with asyncio.timeout(end - time.monotonic()):
                chunk = await request.content.read(CHUNK_BYTES)
        except TimeoutError:
            reason = f"the body did not arrive within {seconds:g} seconds; send less at once"
            raise RequestError(408, reason, "refused_slow") from None
        if not chunk:
            return
        yield chunk


def open_listeners(host: str, port: int) -> list[socket.socket]:
    """Listening sockets for each address that a host name has; OSError if one cannot be had."""
    listeners: list[socket.socket] = []
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    try:
        for family, _, _, _, address in dict.fromkeys(found):
            listener = socket.create_server(address[:2], family=family, backlog=BACKLOG)
            listener.setblocking(False)
            listeners.append(listener)
    except OSError:
        for listener in listeners:
            listener.close()
        raise
    return listeners


async def accept_connections(
    listener: socket.socket,
    build_protocol: Callable[[], asyncio.BaseProtocol],
    table: ConnectionTable,
) -> None:
    """Accept connections until cancelled; when there are too many, others are dropped for them."""
    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as setups:
        while True:
            await table.wait_for_room()
            try:
                for _ in range(table.accept_batch):
                    accepted, _ = await loop.sock_accept(listener)
                    protocol = build_protocol()
                    connection = table.add(protocol)
                    setups.create_task(_set_up(accepted, protocol, connection, table))
            except ConnectionAbortedError:  # the client left while it waited
                continue
            except OSError as error:
                log.warning("cannot accept connections (%s); trying again", error.strerror)
                # as many as are kept free: the store and the judges lack files as well
                has_freed = table.drop(RESERVED_FILES) > 0
                await asyncio.sleep(ROOM_POLL_SECONDS if has_freed else ACCEPT_RETRY_SECONDS)
                table.fit_limit()
            await asyncio.sleep(0)  # accepting does not yield while connections wait


async def _set_up(
    accepted: socket.socket,
    protocol: asyncio.BaseProtocol,
    connection: ClientConnection,
    table: ConnectionTable,
) -> None:
    loop = asyncio.get_running_loop()
    try:
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, accepted)
    except OSError:  # the client left meanwhile
        table.remove(protocol)
        accepted.close()
    else:
        connection.transport = transport


async def close_overdue_forever(table: ConnectionTable) -> None:
    """Look for overdue connections, and for how many may be open, every second until cancelled."""
    while True:
        await asyncio.sleep(1.0)
        table.close_overdue()
        table.fit_limit()


def choose_connection_limit(wanted: int, connections: int = 0) -> int:
    """The wanted limit, or fewer where the process may not open that many files; `connections` of its open files are such."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return wanted
    try:
        open_files = len(os.listdir("/dev/fd"))
    except OSError:  # not one file is left to list them
        open_files = limit
    return max(8, min(wanted, limit - (open_files - connections) - RESERVED_FILES))


@contextmanager
def limit_log_lines() -> Iterator[None]:
    """Limit what a server logs as long as the context lasts: whoever reaches it can cause lines."""
    filters = (strip_client_error, RepeatFilter())
    loggers = [logging.getLogger(name) for name in ("ragstone.server", "asyncio", "aiohttp.server")]
    for logger in loggers:
        for each in filters:
            logger.addFilter(each)
    try:
        yield
    finally:
        for logger in loggers:
            for each in filters:
                logger.removeFilter(each)


class RepeatFilter(logging.Filter):
    """Passes the first lines of a kind in each minute and counts the others; the next one that passes says how many there were.

    Lines of one message with different values are of one kind."""

    LINES = 2
    SECONDS = 60.0

    def __init__(self) -> None:
        super().__init__()
        self._windows: dict[object, tuple[float, int]] = {}
        """Message → when its minute began, and lines in it."""

    def filter(self, record: logging.LogRecord) -> bool:
        began, lines = self._windows.get(record.msg, (record.created, 0))
        if record.created - began < self.SECONDS:
            self._windows[record.msg] = began, lines + 1
            return lines < self.LINES
        self._windows[record.msg] = record.created, 1
        if lines > self.LINES:
            record.msg = (
                f"{record.getMessage()} ({lines - self.LINES} more such lines were left out)"
            )
            record.args = ()
        return True


def strip_client_error(record: logging.LogRecord) -> bool:
    """Reduce a malformed request to one line: aiohttp logs each with a traceback, as if it were the server's fault."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError):
        record.msg, record.args = "malformed request: %s", (" ".join(str(error).split())[:200],)
        record.exc_info = None
    return True
