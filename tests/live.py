"""A monitor's server for tests: in a thread of this process, or a process of its own."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from ragstone.server import ServerSettings, make_app
from ragstone.server.app import listen
from ragstone.store import Store


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Server:
    """Where a server is, and how to ask it."""

    host: str
    port: int
    app: web.Application | None = None

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        raw: bytes | None = None,
    ) -> Answer:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        sent = {"Content-Type": "application/json"} if body is not None else {}
        data = json.dumps(body).encode() if body is not None else raw
        try:
            connection.putrequest(method, path, skip_host="Host" in (headers or {}))
            for name, value in {**sent, **(headers or {})}.items():
                connection.putheader(name, value)
            if data is not None:
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.headers), answer.read())
        finally:
            connection.close()

    def post(self, path: str, body: Any, **more: str) -> Answer:
        return self.ask("POST", path, body, more)

    def get(self, path: str, **more: str) -> Answer:
        return self.ask("GET", path, None, more)


@contextmanager
def in_thread(settings: ServerSettings, store: Store, parts: Any = ()) -> Iterator[Server]:
    """A server in a thread of this process."""
    ready = threading.Event()
    found: list[Any] = []

    async def run() -> None:
        app = make_app(settings, store, parts)
        runner = web.AppRunner(app, access_log=None, auto_decompress=False, shutdown_timeout=5)
        stop = asyncio.Event()
        try:
            await runner.setup()
            async with listen(runner, replace(settings, port=0)) as url:
                address = urlsplit(url)
                server = Server(str(address.hostname), int(address.port or 0), app)
                found[:] = [server, asyncio.get_running_loop(), stop]
                ready.set()
                await stop.wait()
        finally:
            ready.set()
            await runner.cleanup()

    thread = threading.Thread(target=asyncio.run, args=(run(),), daemon=True)
    thread.start()
    assert ready.wait(30)
    server, loop, stop = found
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        assert not thread.is_alive()


@contextmanager
def process(store: str, *arguments: str, **environment: str) -> Iterator[tuple[Server, Any]]:
    """`ragstone monitor serve` as a process of its own."""
    command = [sys.executable, "-m", "ragstone", "monitor", "serve", "--port", "0", *arguments]
    running = subprocess.Popen(
        command,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "RAGSTONE_STORE": store,
            **environment,
        },
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stderr is not None
        line = running.stderr.readline()
        assert line.startswith("listening on "), line + running.stderr.read()
        parts = urlsplit(line.split()[2].rstrip(","))
        yield Server(str(parts.hostname), int(parts.port or 0)), running
    finally:
        if running.poll() is None:
            running.kill()
        running.wait()
        if running.stderr is not None:
            running.stderr.close()
