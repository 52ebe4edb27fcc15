"""How fast the monitor takes interactions, what a kill -9 loses, and what happens at five times the load.

    python bench/ingest.py                 # all of it, on SQLite
    python bench/ingest.py --postgresql    # on a throw-away PostgreSQL cluster
    python bench/ingest.py --store URL     # on a store of yours
    python bench/ingest.py load --seconds 20

The load comes from a second process on loopback; every event has a question, five chunks of 300 characters and an answer.
An event counts when the server has answered 200, which it does when the disk has it. Afterwards the store is counted."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aiohttp

ROOT = Path(__file__).parents[1]
TEXT = " ".join(f"word{n}" for n in range(60))[:300]


def event(id: str) -> dict[str, Any]:
    """A usual interaction."""
    return {
        "id": id,
        "question": f"What does the manual say about part {id}?",
        "contexts": [{"id": f"d{n}", "text": TEXT, "score": 0.9 - n / 10} for n in range(5)],
        "answer": TEXT,
        "latency": 0.8,
        "cost": 0.001,
        "tokens": 900,
        "meta": {"model": "small", "prompt": "v3", "tenant": f"t{len(id) % 7}"},
    }


class Server:
    """`ragstone monitor serve` as a process of its own."""

    def __init__(self, store: str, port: int = 0) -> None:
        command = [
            sys.executable,
            "-m",
            "ragstone",
            "monitor",
            "serve",
            "--no-score",
            "--port",
            str(port),
        ]
        environment = {**os.environ, "RAGSTONE_STORE": store}
        self.process = subprocess.Popen(
            command, env=environment, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        found = re.search(r"http://[^,\s]+", line)
        assert found, line + self.process.stderr.read()
        self.url = found[0]
        self.port = int(self.url.rpartition(":")[2])

    def memory(self) -> float:
        """Resident megabytes now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]

    def cpu(self) -> float:
        """Seconds of processor time used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, how: int = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()


async def load(
    url: str,
    *,
    rate: float,
    batch: int,
    seconds: float,
    connections: int,
    tag: str,
    most: int = 5000,
) -> dict[str, Any]:
    """Post at a steady rate of events, with at most so many posts open; what came of it."""
    taken: list[str] = []
    times: list[float] = []
    statuses: Counter[str] = Counter()
    retry_after: Counter[str] = Counter()
    connector = aiohttp.TCPConnector(limit=connections)
    timeout = aiohttp.ClientTimeout(total=30)
    one = json.dumps(event("%s")).encode()  # once: the load must not be bound by writing JSON
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:

        async def post(number: int) -> None:
            ids = [f"{tag}-{number}-{n}" for n in range(batch)]
            data = b"[%s]" % b",".join(one.replace(b"%s", id.encode()) for id in ids)
            began = time.perf_counter()
            try:
                async with session.post(
                    f"{url}/v1/interactions",
                    data=data,
                    headers={"Content-Type": "application/json"},
                ) as answer:
                    await answer.read()
                    statuses[str(answer.status)] += 1
                    if answer.status == 200:
                        if not taken:
                            print(
                                "first", flush=True
                            )  # whoever wants to kill the server waits for it
                        times.append(time.perf_counter() - began)
                        taken.extend(ids)
                    elif answer.status == 429:
                        retry_after[answer.headers.get("Retry-After", "none")] += 1
            except (aiohttp.ClientError, TimeoutError, OSError) as broken:
                statuses[type(broken).__name__] += 1

        began = time.perf_counter()
        posts = 0
        tasks: set[asyncio.Task[None]] = set()
        while (now := time.perf_counter() - began) < seconds:
            while posts * batch < now * rate and len(tasks) < most:
                task = asyncio.create_task(post(posts))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
                posts += 1
            await asyncio.sleep(0.002)
        if tasks:
            await asyncio.wait(tasks)
        took = time.perf_counter() - began
    times.sort()
    return {
        "taken": taken,
        "events_per_second": len(taken) / took,
        "offered_per_second": posts * batch / took,
        "p50": times[len(times) // 2] if times else None,
        "p99": times[int(len(times) * 0.99)] if times else None,
        "statuses": dict(statuses),
        "retry_after": dict(retry_after),
    }


def from_outside(url: str, **how: Any) -> dict[str, Any]:
    """The load from a process of its own."""
    command = [sys.executable, __file__, "--client", json.dumps({"url": url, **how})]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def stored(store: str) -> Counter[str]:
    """How often each id stands in the store."""
    from ragstone.store import Store

    kept = Store.open(store)
    found = Counter(id for (id,) in kept.stream("SELECT id FROM interactions"))
    texts = kept.read("SELECT COUNT(*) FROM interaction_texts")[0][0]
    kept.close()
    assert texts == sum(found.values()), (texts, sum(found.values()))
    return found


def measure_load(store: str, seconds: float) -> None:
    server = Server(store)
    wanted = [("singly", 1, 520.0, 64), ("in batches of 20", 20, 2100.0, 16)]
    try:
        for name, batch, rate, connections in wanted:
            before = server.cpu()
            result = from_outside(
                server.url,
                rate=rate,
                batch=batch,
                seconds=seconds,
                connections=connections,
                tag=name[:2],
            )
            found = stored(store)
            missing = [id for id in result["taken"] if found[id] != 1]
            print(
                f"{name}: {result['events_per_second']:.0f} events/s taken of "
                f"{result['offered_per_second']:.0f} offered, p50 {result['p50'] * 1000:.0f} ms, "
                f"p99 {result['p99'] * 1000:.0f} ms, {result['statuses']}, "
                f"{len(missing)} acknowledged but not stored once, server {server.memory():.0f} MB and "
                f"{(server.cpu() - before) / len(result['taken']) * 1000:.2f} ms of processor an event"
            )
        for name, batch, connections in (("singly", 1, 64), ("in batches of 20", 20, 16)):
            result = from_outside(
                server.url, rate=1e5, batch=batch, seconds=min(5.0, seconds),
                connections=connections, tag=f"max{batch}",
                most=connections,
            )  # fmt: skip
            print(f"{name}, as fast as it goes: {result['events_per_second']:.0f} events/s")
    finally:
        server.stop()


def measure_kills(store: str, times: int) -> None:
    """Kill the server in the middle of load, again and again; every acknowledged event must be there once."""
    taken: list[str] = []
    port = 0
    for number in range(times):
        server = Server(store, port)
        port = server.port
        how = {"url": server.url, "rate": 1500.0, "batch": random.choice([1, 5, 20]), "seconds": 2.0,
               "connections": 32, "tag": f"kill{number}"}  # fmt: skip
        client = subprocess.Popen(
            [sys.executable, __file__, "--client", json.dumps(how)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert client.stdout is not None
        client.stdout.readline()
        time.sleep(random.uniform(0.05, 1.2))
        server.stop(signal.SIGKILL)
        said, _ = client.communicate()
        taken += json.loads(said.splitlines()[-1])["taken"]
    server = Server(store, port)  # it starts again on what was left
    server.stop()
    found = stored(store)
    lost = [id for id in taken if id not in found]
    twice = [id for id, count in found.items() if count > 1]
    print(
        f"{times} kills: {len(taken):,} acknowledged, {len(lost)} lost, {len(twice)} twice, "
        f"{sum(found.values()):,} stored"
    )
    assert not lost
    assert not twice


def measure_overload(store: str, seconds: float) -> None:
    """Five times what is promised, with many connections; then the usual load again."""
    server = Server(store)
    try:
        most = [0.0]
        done = threading.Event()

        def look() -> None:
            while not done.wait(0.05):
                most[0] = max(most[0], server.memory())

        looking = threading.Thread(target=look)
        looking.start()
        result = from_outside(
            server.url, rate=10_000.0, batch=20, seconds=seconds, connections=1000, tag="over"
        )
        done.set()
        looking.join()
        found = stored(store)
        missing = [id for id in result["taken"] if found[id] != 1]
        print(
            f"overload: {result['offered_per_second']:.0f} events/s offered, "
            f"{result['events_per_second']:.0f} taken, {result['statuses']}, "
            f"Retry-After {result['retry_after']}, at most {most[0]:.0f} MB, "
            f"{len(missing)} acknowledged but not stored once"
        )
        after = from_outside(
            server.url, rate=500.0, batch=1, seconds=3.0, connections=64, tag="after"
        )
        print(
            f"afterwards: {after['events_per_second']:.0f} events/s, p99 {(after['p99'] or 0) * 1000:.0f} ms, "
            f"{after['statuses']}, {server.memory():.0f} MB"
        )
    finally:
        server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["load", "kills", "overload"])
    parser.add_argument("--store", help="where to store; a temporary file by default")
    parser.add_argument("--postgresql", action="store_true", help="on a throw-away cluster")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--client", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.client:
        print(json.dumps(asyncio.run(load(**json.loads(given.client)))))
        return
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        store = given.store or str(Path(folder) / "bench.db")
        if given.postgresql:
            sys.path.insert(0, str(ROOT / "tests"))
            import postgres  # type: ignore[import-not-found, unused-ignore]

            store = stack.enter_context(postgres.cluster()).format("postgres")
        if "load" in given.what:
            measure_load(store, given.seconds)
        if "kills" in given.what:
            measure_kills(store, given.kills)
        if "overload" in given.what:
            measure_overload(store, given.seconds)


if __name__ == "__main__":
    main()
