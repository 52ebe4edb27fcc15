"""Connections of the server: a limit on how many are open, a time limit for headers, and accepting that survives a lack of files.

asyncio's own accept loop logs a traceback a thousand times a second while the process has no free file descriptor, and
aiohttp waits as long for the first request as for the next one on an idle connection."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aiohttp import web
from aiohttp.http import HttpProcessingError

from ragstone.server.guard import Handler

log = logging.getLogger("ragstone.server")

KEEPALIVE_SECONDS = 75.0
"""Seconds that a connection may rest between two requests."""
BACKLOG = 1024
"""Connections that may wait to be accepted."""
ACCEPT_RETRY_SECONDS = 1.0
"""Pause after accepting failed: for want of files it fails again at once."""
EVICTION_SECONDS = 0.25
"""Rest after which a connection may be closed in favour of a new one: time to send headers, or to be sent a response."""
ROOM_POLL_SECONDS = 0.05
"""Seconds between two looks for room while every connection is at work."""
RESERVED_FILES = 64
"""File descriptors kept for the store, its threads, and calls to judges."""


@dataclass(slots=True, eq=False)
class ClientConnection:
    """An accepted connection; at rest while none of its requests is being handled."""

    resting_since: float
    transport: asyncio.Transport | None = None
    """None until it is set up."""
    requests: int = 0
    """Requests whose headers are complete."""
    is_resting: bool = True

    @property
    def is_closed(self) -> bool:
        return self.transport is not None and self.transport.is_closing()


class ConnectionTable:
    """The open connections. When there is no room for another, the one that has rested longest is closed."""

    def __init__(self, limit: int, header_seconds: float) -> None:
        self.wanted = limit
        """The limit where the process may open as many files as it likes."""
        self.limit = limit
        self.header_seconds = header_seconds
        self._connections: dict[asyncio.BaseProtocol, ClientConnection] = {}

    def __len__(self) -> int:
        return len(self._connections)

    def add(self, protocol: asyncio.BaseProtocol) -> ClientConnection:
        """Enter a connection that is being set up."""
        connection = self._connections[protocol] = ClientConnection(time.monotonic())
        return connection

    def remove(self, protocol: asyncio.BaseProtocol) -> None:
        """Forget a connection that could not be set up."""
        self._connections.pop(protocol, None)

    @contextmanager
    def track_request(self, protocol: asyncio.BaseProtocol) -> Iterator[None]:
        """Mark a connection as at work while one of its requests is handled."""
        connection = self._connections.get(protocol)
        if connection is None:  # accepted by another listener than ours, as in tests
            yield
            return
        connection.requests += 1
        connection.is_resting = False
        try:
            yield
        finally:
            connection.is_resting = True
            connection.resting_since = time.monotonic()

    def fit_limit(self) -> None:
        """Set the limit to what the process may open now."""
        self.close_overdue()
        self.limit = choose_connection_limit(self.wanted, len(self))

    async def wait_for_room(self) -> None:
        """Wait until there is room for another connection, closing the one that has rested longest."""
        while len(self._connections) >= self.limit:
            self.close_overdue()
            if len(self._connections) < self.limit:
                return
            log.warning("%d connections are open, the limit; those that rest are closed for new ones", self.limit)  # fmt: skip
            if not self.close_resting(1):
                await asyncio.sleep(ROOM_POLL_SECONDS)

    def close_resting(self, count: int | None = None) -> bool:
        """Close the connections that have rested longest, `count` of them or all; False when none has rested long enough."""
        since = time.monotonic() - EVICTION_SECONDS
        resting = [
            connection
            for connection in self._connections.values()
            if connection.is_resting
            and not connection.is_closed
            and connection.resting_since <= since
        ]
        for connection in sorted(resting, key=lambda c: c.resting_since)[:count]:
            _abort(connection)
        return bool(resting)

    def close_overdue(self) -> None:
        """Close connections that sent no complete headers in time, or rested too long; forget closed ones."""
        now = time.monotonic()
        for protocol, connection in list(self._connections.items()):
            limit = KEEPALIVE_SECONDS if connection.requests else self.header_seconds
            if connection.is_resting and now - connection.resting_since > limit:
                _abort(connection)
            if connection.is_closed:
                del self._connections[protocol]


def _abort(connection: ClientConnection) -> None:
    # abort, not close: close waits until the peer has read what is buffered
    if connection.transport is not None:
        connection.transport.abort()


CONNECTIONS = web.AppKey("connections", ConnectionTable)


@web.middleware
async def track_connection(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Mark the request's connection as at work."""
    with request.app[CONNECTIONS].track_request(request.protocol):
        return await handler(request)


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
    """Accept connections until cancelled, at most as many as the table has room for."""
    loop = asyncio.get_running_loop()
    while True:
        await table.wait_for_room()
        try:
            accepted, _ = await loop.sock_accept(listener)
        except ConnectionAbortedError:  # the client left while it waited
            continue
        except OSError as error:
            log.warning("cannot accept connections (%s); trying again", error.strerror)
            # all of them: the store and the judges lack files as well
            has_freed = table.close_resting()
            await asyncio.sleep(ROOM_POLL_SECONDS if has_freed else ACCEPT_RETRY_SECONDS)
            table.fit_limit()
            continue
        await _set_up(accepted, build_protocol(), table)


async def _set_up(
    accepted: socket.socket, protocol: asyncio.BaseProtocol, table: ConnectionTable
) -> None:
    connection = table.add(protocol)
    loop = asyncio.get_running_loop()
    try:
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, accepted)
    except OSError:  # the client left meanwhile
        table.remove(protocol)
        accepted.close()
    else:
        connection.transport = transport


async def close_overdue_forever(table: ConnectionTable) -> None:
    """Look for overdue connections every second, until cancelled."""
    while True:
        await asyncio.sleep(1.0)
        table.close_overdue()


def choose_connection_limit(wanted: int, connections: int = 0) -> int:
    """The wanted limit, or fewer where the process may not open that many files; `connections` of its open files are such."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return wanted
    others = _count_open_files() - connections
    return max(8, min(wanted, limit - others - RESERVED_FILES))


def _count_open_files() -> int:
    try:
        return len(os.listdir("/dev/fd"))
    except OSError:
        return 32


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
