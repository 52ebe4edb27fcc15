from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import postgres
from ragstone import evaluate, report
from ragstone.asks import Reply
from ragstone.config import Plan
from ragstone.errors import RunNotFound, StoreError
from ragstone.store import NewRow, RunInfo, Store
from ragstone.types import Finding, Score, Usage
from waiting import wait_until


def info(run: str = "r1", name: str = "demo") -> RunInfo:
    metrics = tuple({"name": n} for n in ("recall", "plain", "with evidence", "failed"))
    return RunInfo(
        run, name, "2026-01-01T00:00:00+00:00", "running", Plan(), {}, "d.jsonl", "x", metrics
    )


def rows(count: int, start: int = 1) -> list[NewRow]:
    return [
        NewRow(n, f"s{n}", None, json.dumps({"id": f"s{n}"}), {"recall": Score(1 / n)})
        for n in range(start, start + count)
    ]


def test_scores_come_back_whole(place: str) -> None:
    scores = {
        "plain": Score(0.1 + 0.2),
        "with evidence": Score(
            1.0,
            label="answered",
            findings=(Finding("a\ud800", "supported", quote="q", start=1, end=2, span=(0, 3)),),
            warnings=("odd",),
            usage=Usage(1, 2, 3, 0.5),
        ),
        "failed": Score(outcome="judge_error", kind="refusal", reason="no"),
    }
    store = Store.open(place)
    run = store.create(info())
    store.append("r1", [NewRow(1, "s1", "g", "{}", scores)]).result()
    assert next(run.scores()) == (1, "s1", "g", scores)


def test_a_run_is_found_by_id_prefix_name_and_last(place: str) -> None:
    store = Store.open(place)
    store.create(info("2026-aa", "first"))
    store.create(info("2026-bb", "second"))
    assert store.run("2026-a").id == "2026-aa"
    assert store.run("first").id == "2026-aa"
    assert store.run("last").id == "2026-bb"
    with pytest.raises(RunNotFound, match="2 runs start with '2026'"):
        store.run("2026")
    with pytest.raises(RunNotFound, match="no run '%'"):
        store.run("%")


def test_deleting_a_run_leaves_the_others(place: str) -> None:
    store = Store.open(place)
    for run in ("a", "b"):
        store.create(info(run))
        store.append(run, rows(3)).result()
    store.delete("a")
    assert [one.id for one in store.runs()] == ["b"]
    assert store.count("b") == 3


def test_replies_are_kept_once_and_charged_to_the_run_that_paid(place: str) -> None:
    store = Store.open(place)
    store.create(info("a"))
    store.create(info("b"))
    reply = Reply({"level": 1}, Usage(1, 20, 5, 0.25), ("note",))
    for run in ("a", "b"):
        store.save_reply("k", reply, run=run, kind="rate", judge="j").result()
    assert store.reply("k") == reply
    assert store.reply("other") is None
    assert store.run("a").info.usage == reply.usage
    assert store.run("b").info.usage == Usage()


def test_the_same_sample_twice_is_refused_and_nothing_of_the_batch_is_kept(place: str) -> None:
    store = Store.open(place)
    store.create(info())
    store.append("r1", rows(2)).result()
    with pytest.raises(StoreError, match="has 2 samples and number 2 is to follow"):
        store.append("r1", rows(2, start=2)).result()
    assert store.count("r1") == 2


def test_whoever_stops_waiting_stops_nothing_else(place: str) -> None:
    store = Store.open(place)
    store.create(info())
    for n in range(1, 200):
        store.append("r1", rows(1, start=n)).cancel()
    store.append("r1", rows(1, start=200)).result(timeout=60)
    assert store.count("r1") == 200


def test_what_cannot_be_written_is_an_error_of_its_own_batch(place: str) -> None:
    store = Store.open(place)
    store.create(info())
    with pytest.raises(StoreError):
        store.append("r1", rows(1, start=7)).result(timeout=60)
    store.append("r1", rows(1)).result(timeout=60)
    assert store.count("r1") == 1


def test_a_memory_store_leaves_no_file() -> None:
    store = Store.open(":memory:")
    store.create(info())
    folder = Path(store.place).parent
    assert folder.exists()
    store.close()
    assert not folder.exists()


def test_a_store_of_the_future_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    Store.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="newer ragstone"):
        Store.open(path)


def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n" * 200)
    with pytest.raises(StoreError, match="not a ragstone store"):
        Store.open(path)
    assert path.read_text() == "my notes\n" * 200


def test_a_run_on_postgresql_is_the_same_bytes_as_on_sqlite(place: str, tmp_path: Path) -> None:
    samples = [
        {"id": f"é{n}", "answer": "a b\x00" * (n % 20), "reference": "a b", "group": f"g{n % 3}"}
        for n in range(2500)
    ]
    run = evaluate(samples, ["token_f1", "exact_match"], store=place)
    there = report.write(run, tmp_path / "there.jsonl").read_bytes()
    here = evaluate(samples, ["token_f1", "exact_match"], store=":memory:")
    assert there == report.write(here, tmp_path / "here.jsonl").read_bytes()
    assert run.summary()["token_f1"].clusters == 3


def test_a_server_that_is_not_there_is_one_sentence_without_the_password(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    with pytest.raises(StoreError, match="cannot reach the store") as error:
        Store.open(f"postgresql://me:hush@/db?host={tmp_path}")
    assert "hush" not in str(error.value)


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(StoreError, match="mysql"):
        Store.open("mysql://host/db")


def test_a_full_disk_is_one_sentence_and_earlier_work_stays_readable(tmp_path: Path) -> None:
    # a file-size limit stands in for a full disk: the same error path, without a mount
    script = """
        import resource, signal, sys
        from ragstone.errors import StoreError
        from ragstone.store import Store
        from test_store import info, rows
        store = Store.open(sys.argv[1])
        store.create(info())
        store.append("r1", rows(100)).result()
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
        try:
            for n in range(1, 1000):
                store.append("r1", rows(100, start=1 + 100 * n)).result()
        except StoreError as error:
            print(error)
            print(store.count("r1") % 100)
    """
    done = _python(script, str(tmp_path / "s.db"))
    sentence, rest = done.stdout.strip().splitlines()
    assert "the disk is full or failing" in sentence
    assert "--resume" in sentence
    assert rest == "0"
    assert Store.open(tmp_path / "s.db").count("r1") >= 100


def test_after_a_full_disk_the_next_writes_say_so_too(tmp_path: Path) -> None:
    script = """
        import resource, signal, sys
        from ragstone.errors import StoreError
        from ragstone.store import Store
        from test_store import info, rows
        store = Store.open(sys.argv[1])
        store.create(info())
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
        for start in range(1, 5000, 1000):
            try:
                store.append("r1", rows(1000, start=start)).result()
            except StoreError as error:
                print(error)
        try:
            store.append("r1", rows(1, start=5001)).result()
        except StoreError as error:
            print(error)
    """
    done = _python(script, str(tmp_path / "s.db"))
    sentences = done.stdout.strip().splitlines()
    assert len(sentences) > 1
    assert all("the disk is full or failing" in sentence for sentence in sentences)


def test_a_changed_byte_anywhere_in_a_file_is_damage_in_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "s.db"
    with closing(Store.open(file)) as store:
        store.create(info())
        store.append("r1", rows(3)).result()
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    whole = file.read_bytes()
    # a byte that is no UTF-8, in the schema: SQLite's own sentence about it cannot be read then
    places = [at for at in range(len(whole)) if whole.startswith(b"CREATE TABLE", at)]
    assert len(places) > 10
    for at in places:
        other = tmp_path / f"{at}.db"
        other.write_bytes(whole[: at + 7] + b"\xcb" + whole[at + 8 :])
        with pytest.raises(StoreError, match="damaged"), closing(Store.open(other)) as store:
            list(store.run("r1").rows())


def test_nothing_is_lost_or_written_twice_when_a_server_crashes_and_comes_back() -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    if postgres.programs() is None:
        pytest.skip("PostgreSQL is not installed (tests/install-system-packages.sh)")
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # a socket's path must be short
    cluster = postgres.Cluster(folder)
    cluster.start()
    try:
        with closing(Store.open(cluster.url.format("postgres"))) as store:
            store.wait_for_server(60)
            store.create(info())
            saved: list[str] = []
            stop = threading.Event()

            def save() -> None:
                while not stop.is_set():
                    number = len(saved)
                    key = f"k{number}"
                    store.append("r1", rows(1, start=number + 1)).result()
                    store.save_reply(
                        key, Reply({"n": number}), run="r1", kind="rate", judge="j"
                    ).result()
                    saved.append(key)

            with ThreadPoolExecutor(1) as pool:
                saving = pool.submit(save)
                for _ in range(2):
                    goal = len(saved) + 20
                    wait_until(lambda: len(saved) >= goal or saving.done(), "more are saved")  # noqa: B023
                    cluster.stop("immediate")
                    time.sleep(0.3)
                    cluster.start()
                goal = len(saved) + 20
                wait_until(lambda: len(saved) >= goal or saving.done(), "more are saved")
                stop.set()
                saving.result()
            assert store.count("r1") == len(saved)
            assert set(store.replies(saved)) == set(saved)
    finally:
        cluster.stop("immediate")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX users")
def test_a_read_only_folder_can_be_read_but_not_written() -> None:
    script = """
        import os, pwd, sys
        from ragstone.errors import StoreError
        from ragstone.store import Store
        from test_store import info
        Store.open(":memory:").close()  # while the source can still be read
        if os.geteuid() == 0:
            os.setuid(pwd.getpwnam("nobody").pw_uid)
        store = Store.open(sys.argv[1])
        print(store.run("last").id, store.count("r1"))
        try:
            store.create(info("r2"))
        except StoreError as error:
            print(error)
    """
    # not under tmp_path: each pytest that starts shuts its folder to other users again
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = Store.open(folder / "s.db")
        store.create(info())
        store.append("r1", rows(5)).result()
        store.close()
        for path in folder.parents:
            if path != Path("/") and path.owner() != "nobody" and os.access(path, os.W_OK):
                path.chmod(path.stat().st_mode | 0o055)
        (folder / "s.db").chmod(0o444)
        folder.chmod(0o555)
        try:
            lines = _python(script, str(folder / "s.db")).stdout.strip().splitlines()
        finally:
            folder.chmod(0o755)
    assert lines[0] == "r1 5"
    assert lines[1].startswith("cannot write to the store")


@pytest.mark.parametrize("processes", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_several_processes_write_to_one_store_and_nothing_is_lost(
    place: str, processes: int
) -> None:
    script = """
        import sys
        from ragstone.asks import Reply
        from ragstone.store import Store
        from ragstone.types import Usage
        from test_store import info, rows
        path, me = sys.argv[1:]
        store = Store.open(path)
        store.create(info(f"run-{me}"))
        for n in range(0, 1000, 10):
            store.append(f"run-{me}", rows(10, start=n + 1))
            store.save_reply(f"{me}-{n}", Reply(n, Usage(1)), run=f"run-{me}", kind="rate", judge="j")
        store.close()
    """
    workers = [_start(script, place, str(n)) for n in range(processes)]
    assert [worker.wait() for worker in workers] == [0] * processes
    store = Store.open(place)
    for n in range(processes):
        assert [position for position, *_ in store.run(f"run-{n}").scores()] == list(range(1, 1001))
        assert store.run(f"run-{n}").info.usage.calls == 100


def _environment() -> dict[str, str]:
    here = Path(__file__).parent
    folders = [str(here), str(here.parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}


def _start(script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *arguments], env=_environment(), text=True
    )


def _python(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        env=_environment(),
        text=True,
        capture_output=True,
        check=True,
    )


def test_a_run_whose_plan_names_a_secret_is_exported_without_it(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    run = evaluate([{"answer": "a", "reference": "a"}], ["token_f1"], store=path)
    with sqlite3.connect(path) as store:
        ((text,),) = store.execute("SELECT plan FROM runs")
        plan = json.loads(text) | {"store": "postgresql://me:${PW}@db/r"}
        store.execute("UPDATE runs SET plan = ?", (json.dumps(plan),))
    exported = json.dumps(Store.open(path).run(run.id).info.to_json())
    assert "PW" not in exported
    assert list(json.loads(exported)["plan"]) == [
        "source", "metrics", "judge", "language", "limit", "format", "fields", "skip_bad_rows", "floor",
        "gates", "command", "folder", "ragstone",
    ]  # fmt: skip


def test_a_new_store_can_be_read_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "s.db"
    store = Store.open(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    logs = list(path.parent.glob("s.db-*"))
    assert logs
    assert all(log.stat().st_mode & 0o077 == 0 for log in logs)
    store.close()
