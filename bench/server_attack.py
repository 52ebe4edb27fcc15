"""Whether anybody without the token can shut the monitor's server: 2,000 connections that make it wait.

    python -m bench.server_attack                 # each of the six kinds for 20 s, then all of them together for 120 s
    python -m bench.server_attack --files 120     # the server may open 120 files
    python -m bench.server_attack --no-token      # a server on loopback without a token

The attackers are a process of their own, on loopback; a connection that the server ends is opened again a second later
(`--pause 0`: at once, which is a flood of requests rather than connections that are held). Meanwhile an honest client asks
every second, each time on new connections: for /healthz, and to store an interaction with the token. A third request goes
over one connection that stays open and shows the token. Worst times in seconds; `lost` are requests that failed."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import cycle, islice
from typing import Any

import aiohttp

TOKEN = "a-token-for-the-attack"
HEAD = "Host: 127.0.0.1\r\n"
LOGIN = f"POST /login HTTP/1.1\r\n{HEAD}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\n"
SCRIPT = f"GET /page.js HTTP/1.1\r\n{HEAD}\r\n"
KINDS: dict[str, str] = {
    "half-open": "",
    "head": f"GET / HTTP/1.1\r\n{HEAD}",
    "body": LOGIN,
    "unread": SCRIPT,
    "pipelined": SCRIPT * 500,
    "drip": "",
}
"""Kind of attack → what its connections send; none of them ever reads."""
HOLD_SECONDS = 30.0
"""Then a connection is opened anew: where a response is unread, its client does not learn that the server has ended it."""
TIMEOUT_SECONDS = 15.0


# ── attackers, in a process of their own ──────────────────────────────────────────────────


async def attack_forever(port: int, kinds: Sequence[str], count: int, pause: float) -> None:
    """Hold that many connections, taking turns among the kinds."""
    await asyncio.gather(*(_hold(port, kind, pause) for kind in islice(cycle(kinds), count)))


async def _hold(port: int, kind: str, pause: float) -> None:
    """Open a connection, and again whenever it is dropped."""
    loop = asyncio.get_running_loop()
    while True:
        client = socket.socket()
        client.setblocking(False)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with suppress(OSError):
            await loop.sock_connect(client, ("127.0.0.1", port))
            if kind == "drip":
                for letter in cycle((LOGIN + "x" * 1000).encode()):
                    await loop.sock_sendall(client, bytes([letter]))
                    await asyncio.sleep(1)
            await loop.sock_sendall(client, KINDS[kind].encode())
            for _ in range(round(HOLD_SECONDS / 0.2)):
                await asyncio.sleep(0.2)
                if _is_dropped(client):
                    break
        client.close()
        await asyncio.sleep(pause)


def _is_dropped(client: socket.socket) -> bool:
    """Whether the server ended the connection; looks without reading."""
    poll = select.poll()
    poll.register(client, select.POLLRDHUP)
    return bool(poll.poll(0))


@contextmanager
def attackers(port: int, kinds: Sequence[str], count: int, pause: float) -> Iterator[None]:
    command = [sys.executable, "-m", "bench.server_attack", "--attack", str(port)]
    command += ["--connections", str(count), "--kinds", ",".join(kinds), "--pause", str(pause)]
    running = subprocess.Popen(command)
    try:
        yield
    finally:
        running.kill()
        running.wait()


# ── the server and its honest client ──────────────────────────────────────────────────────


@contextmanager
def server(folder: str, files: int | None, token: str | None) -> Iterator[int]:
    """`ragstone monitor serve` as a process of its own; its port."""
    environment = {**os.environ, "RAGSTONE_STORE": f"{folder}/store.db"}
    environment.pop("RAGSTONE_MONITOR_TOKEN", None)
    if token is not None:
        environment["RAGSTONE_MONITOR_TOKEN"] = token
    running = subprocess.Popen(
        [sys.executable, "-m", "ragstone", "monitor", "serve", "--no-score", "--port", "0"],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=files and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))),
    )
    assert running.stderr is not None
    try:
        line = running.stderr.readline()
        found = re.search(r"http://[^,\s]+:(\d+)", line)
        assert found, line + running.stderr.read()
        yield int(found[1])
    finally:
        running.kill()
        running.wait()
        running.stderr.close()


async def ask_every_second(port: int, seconds: float, token: str | None) -> dict[str, Any]:
    """Worst seconds of each honest request, and how many failed."""
    url = f"http://127.0.0.1:{port}"
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    worst = {"healthz": 0.0, "store": 0.0, "kept": 0.0}
    lost: list[str] = []
    timeout = aiohttp.ClientTimeout(TIMEOUT_SECONDS)

    async def ask(name: str, session: aiohttp.ClientSession, method: str, path: str, **more: Any) -> None:  # fmt: skip
        began = time.monotonic()
        try:
            async with session.request(method, url + path, **more) as response:
                await response.read()
                response.raise_for_status()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            lost.append(f"{name}: {error!r}")
        worst[name] = max(worst[name], time.monotonic() - began)

    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as kept:
        await ask("kept", kept, "GET", "/openapi.json")
        end, number = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            tick, number = time.monotonic() + 1, number + 1
            row = {
                "id": f"{os.getpid()}-{end}-{number}",
                "question": "Is it open?",
                "answer": "Yes.",
            }
            connector = aiohttp.TCPConnector(force_close=True)
            async with aiohttp.ClientSession(
                connector=connector, headers=headers, timeout=timeout
            ) as new:
                await asyncio.gather(
                    ask("healthz", new, "GET", "/healthz", headers={"Authorization": ""}),
                    ask("store", new, "POST", "/v1/interactions", json=row),
                    ask("kept", kept, "GET", "/openapi.json"),
                )
            await asyncio.sleep(max(0.0, tick - time.monotonic()))
    return {
        **{name: round(value, 3) for name, value in worst.items()},
        "lost": lost,
        "ticks": number,
    }


def measure(kinds: Sequence[str], seconds: float, options: argparse.Namespace) -> dict[str, Any]:
    """Honest times while a new server is attacked."""
    token = None if options.no_token else TOKEN
    with (
        tempfile.TemporaryDirectory(prefix="ragstone-attack-") as folder,
        server(folder, options.files, token) as port,
        attackers(port, kinds, options.connections, options.pause),
    ):
        time.sleep(min(3.0, seconds))  # until all of them are there
        return asyncio.run(ask_every_second(port, seconds, token))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=120.0, help="of all kinds together")
    parser.add_argument("--kind-seconds", type=float, default=20.0, help="of each kind alone")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--files", type=int, help="files that the server may open")
    parser.add_argument("--pause", type=float, default=1.0, help="until a dropped connection is opened again")  # fmt: skip
    parser.add_argument("--no-token", action="store_true")
    parser.add_argument("--attack", type=int, metavar="PORT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    kinds = options.kinds.split(",")
    if options.attack:
        asyncio.run(attack_forever(options.attack, kinds, options.connections, options.pause))
        return
    rounds = [([kind], options.kind_seconds) for kind in kinds if options.kind_seconds]
    rounds += [(kinds, options.seconds)] if options.seconds else []
    for attacked, seconds in rounds:
        name = attacked[0] if len(attacked) == 1 else "all"
        print(f"{name:<10} {json.dumps(measure(attacked, seconds, options))}", flush=True)


if __name__ == "__main__":
    main()
