"""The watcher beside the server, and what Prometheus scrapes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from live import in_thread
from ragstone.config.alerts import Alerts, Channel, parse_threshold
from ragstone.monitor import Archive, Interaction, ScoredInteraction
from ragstone.monitor.interactions import now_micros
from ragstone.server import ServerSettings
from ragstone.server.alert_worker import AlertWorker
from ragstone.store import Store
from ragstone.types import Score
from waiting import wait_until


def filled(store: Store) -> Archive:
    archive = Archive(store)
    now = now_micros()
    some = [Interaction(f"i{n}", now - n * 1_000_000, "q", answer="a") for n in range(1, 31)]
    archive.add(some).result()
    archive.save_scores(
        [ScoredInteraction(one.id, {"faithfulness": Score(0.2)}) for one in some]
    ).result()
    return archive


def test_metrics_are_served(place: str) -> None:
    pytest.importorskip("prometheus_client")
    store = Store.open(place)
    filled(store)
    with in_thread(ServerSettings(), store) as server:
        answer = server.get("/metrics")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert 'ragstone_score_mean{metric="faithfulness"} 0.2' in answer.body.decode()
    assert "ragstone_interactions_total 30.0" in answer.body.decode()


def test_the_server_looks_by_itself_and_sends(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    filled(store)
    file = tmp_path / "alerts.jsonl"
    settings = Alerts(
        thresholds=(parse_threshold("faithfulness < 0.6"),),
        hold="1s",
        every="1s",
        questions=False,
        channels=(Channel("file", str(file)),),
    )
    part = AlertWorker(settings, store)

    async def until_told() -> None:
        work = asyncio.create_task(part.run())
        await asyncio.to_thread(
            wait_until, lambda: file.exists() and file.stat().st_size, "an alert is written"
        )
        work.cancel()

    asyncio.run(until_told())
    assert "faithfulness mean is 0.2" in file.read_text(encoding="utf-8")
    assert part.get_status()["state"] == "firing"
    assert part.get_status()["alerts"][0]["rule"] == "threshold:faithfulness < 0.6"
