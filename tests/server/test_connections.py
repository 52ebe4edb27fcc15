"""Connections that say nothing, too many of them, and requests that stop halfway: the server stays open and its log short."""

from __future__ import annotations

import asyncio
import errno
import gzip
import json
import logging
import os
import select
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from live import Server, in_thread, process
from ragstone.server import ServerSettings, app
from ragstone.server.connections import (
    CONNECTIONS,
    ConnectionTable,
    RepeatFilter,
    accept_connections,
    choose_connection_limit,
)
from ragstone.store import Store
from waiting import wait_until

HALF_A_REQUEST = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HEAD = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@contextmanager
def half_open(server: Server, count: int) -> Iterator[list[socket.socket]]:
    """That many connections with half a request each."""
    with ExitStack() as stack:
        clients = []
        for _ in range(count):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex((server.host, server.port))
            clients.append(client)
        for client in clients:
            wait_until(lambda client=client: is_writable(client), "a connection")
            try:
                client.send(HALF_A_REQUEST)
            except ConnectionError:  # closed already, in favour of the later ones
                continue
        yield clients


def is_writable(client: socket.socket) -> bool:
    poll = select.poll()  # `select.select` knows no descriptor above 1,023
    poll.register(client, select.POLLOUT)
    return bool(poll.poll(0))


def is_closed_by_peer(client: socket.socket) -> bool:
    try:
        return client.recv(1000) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


@pytest.mark.skipif(sys.platform == "win32", reason="file limits are POSIX")
def test_200_half_open_connections_do_not_shut_a_server_that_may_open_120_files(
    tmp_path: Path,
) -> None:
    import resource

    with process(str(tmp_path / "s.db"), "--no-score") as (server, running):
        # set late, so that the server counts on more than it gets: accepting fails too
        resource.prlimit(running.pid, resource.RLIMIT_NOFILE, (120, 120))
        with half_open(server, 200):
            for _ in range(3):
                assert server.get("/healthz").status == 200
            assert server.post("/v1/interactions", {"id": "x", "question": "q"}).status == 200
        running.terminate()
        _, log = running.communicate(timeout=60)
    assert "cannot accept connections" in log
    assert len(log) < 2000
    assert "Traceback" not in log


def test_a_worker_that_runs_out_of_files_is_restarted_with_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Worker:
        name = "watching"
        starts = 0

        async def run(self) -> None:
            self.starts += 1
            if self.starts < 3:
                raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(app, "RESTART_SECONDS", 0)
    worker = Worker()
    asyncio.run(app._restart_on_error(worker))
    assert worker.starts == 3
    assert [record.exc_info for record in caplog.records] == [None, None]


FORM = (
    b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\n"
)
SCRIPT = b"GET /page.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
TOKEN = "0123456789abcdef"
SHOWN = f"Authorization: Bearer {TOKEN}\r\n".encode()


@contextmanager
def held(server: Server, sent: bytes, count: int = 48) -> Iterator[list[socket.socket]]:
    """That many connections that send this, whole or byte by byte, and never read."""
    with ExitStack() as stack:
        clients = []
        for _ in range(count):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((server.host, server.port))
            with suppress(OSError):  # dropped already, in favour of the later ones
                client.sendall(sent)
            clients.append(client)
        yield clients


@pytest.mark.parametrize(
    "sent",
    [b"", HALF_A_REQUEST, FORM, FORM + b"x", SCRIPT, SCRIPT * 100],
    ids=["half-open", "head", "body", "part of a body", "unread", "pipelined"],
)
@pytest.mark.parametrize("token", [TOKEN, None])
def test_connections_that_make_the_server_wait_do_not_shut_it(
    tmp_path: Path, sent: bytes, token: str | None
) -> None:
    settings = ServerSettings(connections=16, token=token)
    with in_thread(settings, Store.open(tmp_path / "s.db")) as server, held(server, sent):
        assert server.get("/healthz").status == 200
        row = {"id": "x", "question": "q"}
        shown = {"Authorization": f"Bearer {TOKEN}"}
        assert server.post("/v1/interactions", row, **shown).status == 200


def test_a_connection_that_shows_the_token_outlives_those_that_do_not(tmp_path: Path) -> None:
    settings = ServerSettings(connections=16, token=TOKEN)
    request = b"GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\n" + SHOWN + b"\r\n"
    with (
        in_thread(settings, Store.open(tmp_path / "s.db")) as server,
        socket.create_connection((server.host, server.port), timeout=60) as kept,
    ):
        for _ in range(2):
            kept.sendall(request)
            assert kept.recv(100_000).startswith(b"HTTP/1.1 200 ")
            with held(server, FORM):
                assert server.get("/healthz").status == 200


def test_without_the_token_a_connection_serves_one_request(tmp_path: Path) -> None:
    settings = ServerSettings(token=TOKEN)
    with (
        in_thread(settings, Store.open(tmp_path / "s.db")) as server,
        socket.create_connection((server.host, server.port), timeout=60) as client,
    ):
        client.sendall(SCRIPT * 2)
        answers = b""
        with suppress(ConnectionError):  # the second request was not read
            while received := client.recv(100_000):
                answers += received
        assert answers.count(b"HTTP/1.1 200 ") == 1


@pytest.mark.parametrize("is_dripping", [False, True])
def test_a_form_that_does_not_come_in_time_is_answered_with_408(
    tmp_path: Path, is_dripping: bool
) -> None:
    settings = ServerSettings(body_seconds=0.5)
    with (
        in_thread(settings, Store.open(tmp_path / "s.db")) as server,
        socket.create_connection((server.host, server.port), timeout=60) as client,
    ):
        client.sendall(FORM)
        client.settimeout(0.05 if is_dripping else 60)
        while not is_readable(client):
            client.sendall(b"x")
        assert client.recv(100).startswith(b"HTTP/1.1 408 ")


def test_responses_that_are_not_read_in_time_end_the_connection(tmp_path: Path) -> None:
    settings = ServerSettings(response_seconds=0.2, token=TOKEN)
    request = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n" + SHOWN + b"\r\n"
    with in_thread(settings, Store.open(tmp_path / "s.db")) as server:
        assert server.app is not None
        table = server.app[CONNECTIONS]
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((server.host, server.port))
            client.setblocking(False)
            # until the server takes no more: all that lies between is full
            wait_until(lambda: not sends(client, request * 100), "a full connection", 0.1)
            wait_until(lambda: len(table) == 0, "closed")


def is_readable(client: socket.socket) -> bool:
    """Whether something came within the time-out of the socket; it is left there."""
    try:
        return bool(client.recv(1, socket.MSG_PEEK))
    except TimeoutError:
        return False


def sends(client: socket.socket, data: bytes) -> bool:
    try:
        client.send(data)
    except OSError:
        return False
    return True


def test_at_the_limit_the_longest_resting_connections_give_way(tmp_path: Path) -> None:
    with (
        in_thread(ServerSettings(connections=8), Store.open(tmp_path / "s.db")) as server,
        half_open(server, 24) as clients,
    ):
        assert server.get("/healthz").status == 200
        assert sum(is_closed_by_peer(client) for client in clients) >= 24 - 8


def test_headers_that_do_not_come_in_time_end_the_connection(tmp_path: Path) -> None:
    settings = ServerSettings(header_seconds=0.2)
    with (
        in_thread(settings, Store.open(tmp_path / "s.db")) as server,
        half_open(server, 2) as clients,
    ):
        wait_until(lambda: all(is_closed_by_peer(client) for client in clients), "closed")


def test_a_body_that_does_not_come_in_time_is_answered_with_408(tmp_path: Path) -> None:
    settings = ServerSettings(body_seconds=0.2)
    with in_thread(settings, Store.open(tmp_path / "s.db")) as server:
        with socket.create_connection((server.host, server.port), timeout=30) as client:
            client.sendall(HEAD % b"/v1/interactions" + b"Content-Length: 100\r\n\r\n{")
            assert client.recv(100).startswith(b"HTTP/1.1 408 ")
        assert server.get("/v1/status").json["counters"]["refused_slow"] == 1


def test_uploads_that_are_dropped_are_counted_and_leave_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    framings = (b"Content-Length: 100\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n5\r\n{", b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n{")  # fmt: skip
    paths = (b"/v1/interactions", b"/v1/feedback", b"/v1/traces")
    with in_thread(ServerSettings(), Store.open(tmp_path / "s.db")) as server:
        for path in paths:
            for framing in framings:
                for reset in (False, True):
                    client = socket.create_connection((server.host, server.port))
                    client.sendall(HEAD % path + framing)
                    if reset:
                        linger = struct.pack("ii", 1, 0)
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    client.close()
        assert server.get("/healthz").status == 200
    assert not [record for record in caplog.records if record.exc_info]


def test_what_follows_a_gzip_member_must_be_another(tmp_path: Path) -> None:
    body = json.dumps({"id": "x", "question": "q"}).encode()
    member = gzip.compress(body)
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    good = (member, gzip.compress(body[:9]) + gzip.compress(body[9:]))
    bad = [member + junk for junk in (b"junk", b"\0\0", b"\x1f", member)]
    with in_thread(ServerSettings(), Store.open(tmp_path / "s.db")) as server:
        for packed, status in [*((each, 200) for each in good), *((each, 400) for each in bad)]:
            answer = server.ask("POST", "/v1/interactions", headers=headers, raw=packed)
            assert answer.status == status, packed


def test_the_limit_leaves_files_for_the_store() -> None:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert choose_connection_limit(10) == 10
    assert choose_connection_limit(soft) < soft - 64


def test_a_log_line_is_shown_twice_a_minute_and_the_others_counted() -> None:
    def line(second: float, text: str = "accepting failed: %s") -> logging.LogRecord:
        record = logging.LogRecord("x", logging.WARNING, "", 0, text, ("EMFILE",), None)
        record.created = second
        return record

    repeats = RepeatFilter()
    passed = [repeats.filter(line(second)) for second in range(10)]
    assert passed == [True, True] + [False] * 8
    assert repeats.filter(line(3, "another: %s"))
    later = line(61)
    assert repeats.filter(later)
    assert later.getMessage() == "accepting failed: EMFILE (8 more such lines were left out)"


def test_accepting_pauses_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = 0

    async def run() -> None:
        async def fail(_: socket.socket) -> None:
            nonlocal attempts
            attempts += 1
            raise OSError(24, os.strerror(24))

        monkeypatch.setattr(asyncio.get_running_loop(), "sock_accept", fail, raising=False)
        listener = socket.socket()
        table = ConnectionTable(ServerSettings(connections=8))
        try:
            await asyncio.wait_for(accept_connections(listener, asyncio.Protocol, table), 0.3)
        except TimeoutError:
            pass
        finally:
            listener.close()

    asyncio.run(run())
    assert attempts == 1
