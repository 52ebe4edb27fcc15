"""What the server has answered for is on disk, whatever happens to the server; and it ends in good order."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from live import Server, in_thread, process
from ragstone.monitor import Archive
from ragstone.server import ServerSettings
from ragstone.store import Store
from waiting import LIMIT_SECONDS, wait_until


class Load:
    """Threads that post until they cannot; what was acknowledged."""

    def __init__(self, server: Server, tag: str, threads: int = 8, batch: int = 3) -> None:
        self.server = server
        self.tag = tag
        self.batch = batch
        self.taken: list[str] = []
        self.statuses: Counter[int] = Counter()
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self._post, args=(n,)) for n in range(threads)]
        for thread in self.threads:
            thread.start()

    def _post(self, thread: int) -> None:
        number = 0
        while not self.stop.is_set():
            ids = [f"{self.tag}-{thread}-{number}-{n}" for n in range(self.batch)]
            rows = [{"id": id, "question": "q" * 500, "answer": "a" * 500} for id in ids]
            try:
                answer = self.server.post("/v1/interactions", rows)
            except OSError:
                return
            except Exception:  # a reply cut off in the middle is no promise
                return
            self.statuses[answer.status] += 1
            if answer.status == 200:
                self.taken += ids
            number += 1

    def wait(self) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join(60)


def counted(place: str) -> Counter[str]:
    store = Store.open(place)
    counts = Counter(id for (id,) in store.read("SELECT id FROM interactions"))
    assert store.read("SELECT COUNT(*) FROM interaction_texts") == [(sum(counts.values()),)]
    store.close()
    return counts


@pytest.mark.parametrize("kills", [2, pytest.param(30, marks=pytest.mark.slow)])
def test_a_kill_loses_nothing_that_was_acknowledged_and_doubles_nothing(
    place: str, kills: int
) -> None:
    chance = random.Random(7)
    taken: list[str] = []
    for kill in range(kills):
        with process(place, "--no-score") as (server, running):
            load = Load(server, str(kill))
            wait_until(lambda load=load: load.taken, "something is acknowledged")
            time.sleep(chance.uniform(0.0, 0.5))
            running.send_signal(signal.SIGKILL)
            load.wait()
        assert load.taken
        taken += load.taken
    found = counted(place)
    assert not [id for id in taken if found[id] != 1]
    assert max(found.values()) == 1


def test_asked_to_stop_it_answers_what_is_under_way_and_writes_it(place: str) -> None:
    with process(place, "--no-score") as (server, running):
        load = Load(server, "stop")
        wait_until(lambda: len(load.taken) >= 30, "some are acknowledged")
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 0
        load.wait()
        assert "everything accepted is stored" in running.stderr.read()
    found = counted(place)
    assert not [id for id in load.taken if found[id] != 1]


def test_too_much_is_turned_away_and_then_taken_again(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    held = threading.Event()
    with in_thread(ServerSettings(queue_events=20), store) as server:
        store.write(lambda db: held.wait(LIMIT_SECONDS) and None)  # the disk is busy
        load = Load(server, "over", threads=24)
        wait_until(lambda: load.statuses[429] >= 50, "many are turned away")
        assert server.get("/v1/status").json["waiting"]["rows"] <= 24
        held.set()
        before = len(load.taken)
        wait_until(lambda: len(load.taken) > before, "some are taken again")
        load.wait()
        assert server.post("/v1/interactions", {"id": "after", "question": "q"}).status == 200
    archive = Archive(store)
    assert archive.counters()["refused_overload"] == load.statuses[429]
    assert {*load.taken, "after"} <= {interaction.id for interaction in archive.interactions()}
    assert set(load.statuses) == {200, 429}


def test_while_the_store_is_away_it_says_so_and_goes_on_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragstone.errors import StoreError

    store = Store.open(tmp_path / "s.db")
    real = store.write
    away = True

    def sometimes(*given: Any, **more: Any) -> Any:
        if away:
            raise StoreError("the store is away")
        return real(*given, **more)

    monkeypatch.setattr(store, "write", sometimes)
    with in_thread(ServerSettings(), store) as server:
        answer = server.post("/v1/interactions", {"id": "a", "question": "q"})
        assert answer.status == 503
        assert answer.headers["Retry-After"] == "5"
        away = False
        assert server.post("/v1/interactions", {"id": "a", "question": "q"}).json["accepted"] == 1
    assert Archive(store).counters()["refused_store"] == 1
