"""What can go wrong around a server: its file removed, its disk full, its database restarted; nothing acknowledged is lost."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

import postgres
from live import Server, in_thread, process
from ragstone.errors import StoreError
from ragstone.monitor import Archive
from ragstone.monitor.interactions import Interaction
from ragstone.server import ServerSettings
from ragstone.store import Store
from waiting import wait_until


def posted(server: Server, *ids: str) -> int:
    rows = [{"id": id, "question": "q" * 300, "answer": "a" * 300} for id in ids]
    return int(server.post("/v1/interactions", rows).status)


def kept(place: str | Path) -> Counter[str]:
    store = Store.open(place)
    counts = Counter(interaction.id for interaction in Archive(store).interactions())
    store.close()
    return counts


def test_a_store_that_is_removed_is_made_anew_and_takes_what_comes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "s.db"
    with in_thread(ServerSettings(), Store.open(place)) as server:
        assert posted(server, "before") == 200
        for file in tmp_path.glob("s.db*"):
            file.unlink()
        assert posted(server, "after") == 200
        found = server.get("/v1/interactions").json["interactions"]
        assert [one["id"] for one in found] == ["after"]
    assert kept(place) == {"after": 1}
    assert "went away while it was in use" in caplog.text


def test_a_store_that_is_put_back_from_a_copy_is_the_one_that_is_written(tmp_path: Path) -> None:
    place, copy = tmp_path / "s.db", tmp_path / "copy.db"
    store = Store.open(place)
    Archive(store).add([]).result()
    with in_thread(ServerSettings(), store) as server:
        assert posted(server, "old") == 200
        with closing(sqlite3.connect(place)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        for file in tmp_path.glob("s.db*"):
            file.unlink()
        copy.rename(place)
        assert posted(server, "new") == 200
    assert kept(place) == {"old": 1, "new": 1}


AWAY = "was removed or moved away"


def test_a_store_that_is_moved_away_and_put_back_keeps_all_that_was_acknowledged(
    tmp_path: Path,
) -> None:
    place, elsewhere = tmp_path / "s.db", tmp_path / "elsewhere.db"
    with process(str(place), "--no-score") as (server, _):
        for n in range(30):
            assert posted(server, f"before{n}") == 200
        for turn in range(2):  # first only looked at, then also written to
            place.rename(elsewhere)
            for path in ("/", "/?lang=es", "/v1/summary", "/v1/interactions", "/v1/interactions/x"):
                answer = server.get(path)
                assert answer.status == 503
                assert AWAY in answer.body.decode()
                assert "s.db-wal" in answer.body.decode()
                assert "disk is full" not in answer.body.decode()
            for n in range(3 * turn):
                answer = server.post("/v1/interactions", {"id": f"away{n}", "question": "q"})
                assert answer.status == 503
                assert AWAY in answer.json["error"]
                assert answer.headers["Retry-After"] == "5"
            assert not place.exists()
            elsewhere.rename(place)
            assert server.get("/").status == 200
            assert posted(server, f"after{turn}") == 200
            found = server.get("/v1/summary?window=1h").json["whole"]
            assert found["interactions"] == 31 + turn
    assert set(kept(place)) == {*(f"before{n}" for n in range(30)), "after0", "after1"}
    with closing(sqlite3.connect(place)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_server_that_ends_while_its_store_is_away_leaves_the_log_for_when_it_is_back(
    tmp_path: Path,
) -> None:
    place, elsewhere = tmp_path / "s.db", tmp_path / "elsewhere.db"
    with in_thread(ServerSettings(), Store.open(place)) as server:
        assert posted(server, "before") == 200
        place.rename(elsewhere)
        assert posted(server, "away") == 503
    for must_exist in (False, True):  # nor does any other command begin a new one
        with pytest.raises(StoreError, match=AWAY):
            Store.open(place, must_exist=must_exist)
    assert not place.exists()
    elsewhere.rename(place)
    assert kept(place) == {"before": 1}


def test_reading_makes_no_store_where_all_of_it_was_removed_but_writing_does(
    tmp_path: Path,
) -> None:
    place = tmp_path / "s.db"
    store = Store.open(place)
    archive = Archive(store)
    archive.add([Interaction(id="before", at=1, question="q")]).result()
    for file in tmp_path.glob("s.db*"):
        file.unlink()
    with pytest.raises(StoreError, match="begins a new one"):
        list(archive.interactions())
    with pytest.raises(StoreError, match="begins a new one"):
        store.read("SELECT 1")
    assert not list(tmp_path.glob("s.db*"))
    archive.add([Interaction(id="after", at=1, question="q")]).result()
    assert [interaction.id for interaction in archive.interactions()] == ["after"]
    assert store.read("SELECT COUNT(*) FROM interactions") == [(1,)]
    store.close()


def test_a_store_of_which_every_file_is_moved_and_put_back_one_by_one_is_whole(
    tmp_path: Path,
) -> None:
    place, elsewhere = tmp_path / "s.db", tmp_path / "elsewhere"
    elsewhere.mkdir()
    with in_thread(ServerSettings(), Store.open(place)) as server:
        assert posted(server, *(f"before{n}" for n in range(30))) == 200
        for file in tmp_path.glob("s.db*"):
            file.rename(elsewhere / file.name)
        assert posted(server, "away") == 200  # into a new one
        for end in ("", "-wal", "-shm"):
            (elsewhere / f"s.db{end}").replace(tmp_path / f"s.db{end}")
            if end != "-shm":
                assert posted(server, f"between{end}") in (200, 503)
        assert posted(server, "after") == 200
        assert server.get("/").status == 200
    assert {*(f"before{n}" for n in range(30)), "after"} <= set(kept(place))


def test_another_file_beside_the_old_log_is_not_spoiled_by_it(tmp_path: Path) -> None:
    place, other = tmp_path / "s.db", tmp_path / "other.db"
    store = Store.open(other)
    Archive(store).add([]).result()
    store.close()
    with in_thread(ServerSettings(), Store.open(place)) as server:
        assert posted(server, "old") == 200
        other.replace(place)
        answer = server.post("/v1/interactions", {"id": "x", "question": "q"})
        assert answer.status == 503
        assert "move the log away" in answer.json["error"]
        assert server.get("/").status == 503
        for end in ("wal", "shm"):
            Path(f"{place}-{end}").rename(tmp_path / end)
        assert posted(server, "new") == 200
        assert server.get("/").status == 200
    assert kept(place) == {"new": 1}


def test_a_full_disk_is_said_and_once_there_is_room_everything_goes_on(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a small disk needs root")
    try:
        with process(str(disk / "s.db"), "--no-score") as (server, _):
            taken: list[str] = []
            status = 200
            while status == 200 and len(taken) < 4000:
                ids = [f"i{len(taken)}-{n}" for n in range(40)]
                rows = [{"id": id, "question": "q" * 3000} for id in ids]
                answer = server.post("/v1/interactions", rows)
                status = answer.status
                if status == 200:
                    taken += ids
            assert status == 503
            assert "the disk is full" in answer.json["error"]
            assert answer.headers["Retry-After"] == "5"
            assert taken
            subprocess.run(["mount", "-o", "remount,size=60m", str(disk)], check=True)
            assert posted(server, "after") == 200
            assert server.get("/v1/status").json["counters"]["refused_store"] == 40
        found = kept(disk / "s.db")
        assert found == Counter([*taken, "after"])
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_two_servers_on_one_store_keep_everything_once(place: str) -> None:
    with process(place, "--no-score") as (one, _), process(place, "--no-score") as (other, _):
        statuses: Counter[int] = Counter()

        def send(server: Server, name: str) -> None:
            for n in range(40):  # half of the ids are sent to both
                statuses[posted(server, f"{name}{n}", f"both{n}")] += 1

        threads = [
            threading.Thread(target=send, args=(server, f"{server.port}-{n}-"))
            for server in (one, other)
            for n in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert statuses == {200: 160}
    found = kept(place)
    assert len(found) == 200
    assert set(found.values()) == {1}


@pytest.mark.slow
def test_a_database_that_is_killed_and_started_again_loses_and_doubles_nothing() -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    if postgres.programs() is None:
        pytest.skip("PostgreSQL is not installed")
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # a socket's path must be short
    cluster = postgres.Cluster(folder)
    cluster.start()
    place = cluster.url.format("postgres")
    try:
        with process(place, "--no-score") as (server, _):
            taken: list[str] = []
            refused: list[str] = []
            statuses: Counter[int] = Counter()
            stop = threading.Event()

            def send(name: str) -> None:
                number = 0
                while not stop.is_set():
                    ids = [f"{name}-{number}-{n}" for n in range(3)]
                    status = posted(server, *ids)
                    statuses[status] += 1
                    if status == 200:
                        taken.extend(ids)
                        number += 1
                    else:  # the same again: whether it was written is not known
                        refused.extend(ids)
                        time.sleep(0.05)

            threads = [threading.Thread(target=send, args=(f"t{n}",)) for n in range(4)]
            for thread in threads:
                thread.start()
            for _ in range(2):
                _more(taken, 60)
                cluster.stop("immediate")
                _more(refused, 1)
                cluster.start()
            _more(taken, 60)
            stop.set()
            for thread in threads:
                thread.join()
        assert set(statuses) == {200, 503}
        found = kept(place)
        assert not [id for id in taken if found[id] != 1]
        assert set(found.values()) == {1}
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _more(taken: list[str], count: int) -> None:
    goal = len(taken) + count
    wait_until(lambda: len(taken) >= goal, f"{count} more")


def test_purging_while_serving_forgets_what_was_asked_and_nothing_else(place: str) -> None:
    with process(place, "--no-score") as (server, _):
        assert posted(server, *(f"i{n}" for n in range(60))) == 200
        stop = threading.Event()
        taken: list[str] = []

        def send() -> None:
            while not stop.is_set():
                id = f"later{len(taken)}"
                if posted(server, id) == 200:
                    taken.append(id)

        thread = threading.Thread(target=send)
        thread.start()
        store = Store.open(place)
        assert Archive(store).purge(ids=[f"i{n}" for n in range(0, 60, 2)]) == 30
        store.close()
        wait_until(lambda: len(taken) > 3, "some are stored")
        stop.set()
        thread.join()
        found = server.get("/v1/summary?window=1h").json["whole"]
        assert found["interactions"] == 30 + len(taken)
        assert server.get("/v1/interactions/i0").status == 404
    assert set(kept(place)) == {*(f"i{n}" for n in range(1, 60, 2)), *taken}


ODD = [
    ({"at": "1970-01-01T00:00:00Z"}, "before 2000"),
    ({"at": "2999-01-01T00:00:00Z"}, "over a day ahead"),
    ({"at": 1_780_000_000_000_000}, "over a day ahead"),
    ({"latency": -1}, "latency"),
    ({"feedback": 7}, "from 0 to 1"),
]


@pytest.mark.parametrize(("facts", "why"), ODD)
def test_a_clock_or_a_number_that_is_off_is_named_and_the_rest_may_be_sent_again(
    tmp_path: Path, facts: dict[str, object], why: str
) -> None:
    with in_thread(ServerSettings(), Store.open(tmp_path / "s.db")) as server:
        rows = [{"id": "good", "question": "q"}, {"id": "bad", "question": "q", **facts}]
        answer = server.post("/v1/interactions", rows)
        assert answer.status == 422
        assert why in str(answer.json)
        assert server.get("/v1/interactions").json["interactions"] == []
        assert posted(server, "good") == 200


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_latency_that_is_no_number_is_refused(tmp_path: Path, number: str) -> None:
    with in_thread(ServerSettings(), Store.open(tmp_path / "s.db")) as server:
        raw = b'{"id": "a", "question": "q", "latency": %s}' % number.encode()
        head = {"Content-Type": "application/json"}
        answer = server.ask("POST", "/v1/interactions", headers=head, raw=raw)
        assert answer.status in (400, 422)
        assert "latency" in str(answer.json) or number in str(answer.json)


def test_an_answer_of_a_megabyte_is_kept_whole(place: str) -> None:
    with in_thread(ServerSettings(), Store.open(place)) as server:
        long = "wörter " * 150_000
        answer = server.post("/v1/interactions", {"id": "a", "question": "q", "answer": long})
        assert answer.status == 200
        assert server.get("/v1/interactions/a").json["answer"] == long


@pytest.mark.parametrize("window", ["0h", "-1h", "abc", "5", "99999d", ""])
def test_a_window_that_is_none_is_refused_with_a_remedy(tmp_path: Path, window: str) -> None:
    with in_thread(ServerSettings(), Store.open(tmp_path / "s.db")) as server:
        answer = server.get(f"/v1/summary?window={window}")
        assert answer.status == 422
        assert "write 5m, 1h" in answer.json["error"]


def test_a_field_that_nobody_has_is_refused_with_the_ones_there_are(tmp_path: Path) -> None:
    with in_thread(ServerSettings(), Store.open(tmp_path / "s.db")) as server:
        row = {"id": "a", "question": "q", "meta": {"model": "m", "tenant": "t"}}
        assert server.get("/v1/summary?by=nothing").status == 200  # nothing is there at all
        server.post("/v1/interactions", row)
        answer = server.get("/v1/summary?by=modle")
        assert answer.status == 422
        assert "did you mean 'model'?" in answer.json["error"]
        assert server.get("/v1/summary?slice=colour:red").status == 422
        assert server.get("/v1/summary?slice=model:x").json["whole"]["interactions"] == 0
