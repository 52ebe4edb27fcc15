"""Workers share one rate limit, one budget and one memory of replies."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragstone
from faults import honest

pytest.importorskip("distributed")


class Server:
    """An OpenAI-compatible endpoint on loopback that notes when it was asked."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.url = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()

    async def _start(self) -> str:
        from aiohttp import web

        app = web.Application(client_max_size=1 << 24)
        app.router.add_post("/v1/chat/completions", self._answer)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        return f"http://127.0.0.1:{port}/v1"

    async def _answer(self, request: Any) -> Any:
        from aiohttp import web

        self.times.append(time.monotonic())
        body = await request.json()
        system, user = (message["content"] for message in body["messages"])
        text = json.dumps(honest.reply(system, user))
        return web.json_response(
            {
                "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5},
            }
        )

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {"id": str(n), "question": f"Who wrote book {n}?", "answer": f"Ann wrote it, {n} times."}
        for n in range(count)
    ]


def judge(server: Server, **more: Any) -> dict[str, Any]:
    return {"model": "openai:tiny", "base_url": server.url, **more}


@pytest.mark.slow
def test_one_rate_limit_for_all_workers(
    tmp_path: Path, server: Server, cluster_of_two: Path
) -> None:
    count, per_second = 200, 50
    run = ragstone.evaluate(
        rows(count), ["coherence"], judge=judge(server, rate=per_second), concurrency=16,
        store=tmp_path / "a.db", on=str(cluster_of_two),
    )  # fmt: skip
    assert all(score["coherence"].ok for score in run.scores().values())
    times = sorted(server.times)
    assert len(times) == count
    # a slow machine is late, never early; two limits of their own would let twice as many through
    whole = (count - 1) / per_second
    for number, at in enumerate(times):
        assert at - times[0] >= number / per_second - 0.25 * whole


@pytest.mark.slow
def test_one_budget_for_all_workers(tmp_path: Path, server: Server, cluster_of_two: Path) -> None:
    run = ragstone.evaluate(
        rows(120), ["coherence"], judge=judge(server, max_calls=50), store=tmp_path / "a.db", on=str(cluster_of_two),
    )  # fmt: skip
    outcomes = [score["coherence"].outcome for score in run.scores().values()]
    assert len(server.times) == 50
    assert outcomes.count("ok") == 50
    assert outcomes.count("skipped_budget") == 70


def test_a_reply_is_paid_once_whichever_worker_asks(
    tmp_path: Path, server: Server, cluster_of_two: Path
) -> None:
    same = [{**row, "id": f"{row['id']}-{n}"} for row in rows(20) for n in range(10)]
    first = ragstone.evaluate(
        same, ["coherence"], judge=judge(server), store=tmp_path / "a.db", on=str(cluster_of_two)
    )
    assert len(server.times) == 20
    again = ragstone.evaluate(
        same, ["coherence"], judge=judge(server), store=tmp_path / "a.db", on=str(cluster_of_two)
    )
    assert len(server.times) == 20
    assert {k: v["coherence"].value for k, v in first.scores().items()} == {
        k: v["coherence"].value for k, v in again.scores().items()
    }


@pytest.mark.slow
def test_a_key_reaches_the_server_and_no_file(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = "sk-" + "canary" * 5
    ragstone.evaluate(
        rows(40), ["coherence"], judge=judge(server, api_key=canary), store=tmp_path / "a.db", on="dask:2",
    )  # fmt: skip
    assert len(server.times) == 40
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert canary.encode() not in path.read_bytes(), path
