"""A run on a real Dask cluster of two worker processes equals the run of one process, whatever happens to the workers."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.engine import Progress
from ragstone.errors import BadRows, RagstoneError
from ragstone.run import Run
from ragstone.scale.cluster import NoCluster, place
from ragstone.scale.shards import Shelf
from ragstone.store import Store

pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")

HERE = Path(__file__).parent
JUDGE = f"python:{HERE / 'judge_of_tests.py'}:judge"
METRICS = ["token_f1", "coherence"]


def rows(count: int, **odd: str) -> list[dict[str, Any]]:
    return [
        {
            "id": f"s{n}",
            "question": f"Who wrote book {n}?",
            "answer": f"Book {n} was written by Ann{' and Bo' * (n % 5)}. {odd.get(f's{n}', '')}",
            "contexts": [f"Book {n} was written by Ann."],
            "reference": "Ann",
        }
        for n in range(count)
    ]


def written(path: Path, data: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in data), encoding="utf-8")
    return str(path)


def kept(run: Run) -> list[Any]:
    """Everything the store holds of a run, as stored."""
    store = run.stored.store
    return [list(store.score_rows(run.id)), list(store.input_rows(run.id))]


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Counter[str]]:
    """How often the judge was asked each question, over all processes."""
    folder = tmp_path / "calls"
    folder.mkdir()
    monkeypatch.setenv("RAGSTONE_TEST_CALLS", str(folder))

    def counted() -> Counter[str]:
        found: Counter[str] = Counter()
        for path in folder.iterdir():
            found.update(line.split()[1] for line in path.read_text().splitlines())
            path.unlink()
        return found

    return counted


def worker_processes() -> list[Any]:
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if "spawn_main" in " ".join(child.cmdline())
    ]


def test_a_killed_worker_changes_nothing(tmp_path: Path, calls: Any) -> None:
    data = written(tmp_path / "data.jsonl", rows(2000))
    alone = ragstone.evaluate(data, METRICS, judge=JUDGE, store=tmp_path / "alone.db")
    wanted = calls()
    killed: list[int] = []

    def watch(progress: Progress) -> None:
        if progress.done >= 400 and not killed:
            victim = worker_processes()[0]
            killed.append(victim.pid)
            victim.send_signal(signal.SIGKILL)

    far = ragstone.evaluate(
        data, METRICS, judge=JUDGE, store=tmp_path / "far.db", on="dask:2", watch=watch
    )
    assert killed
    assert kept(far) == kept(alone)
    assert far.info.total == 2000
    asked = calls()
    assert asked.keys() == wanted.keys()
    # at most what was in flight on the killed worker is asked again
    assert sum(asked.values()) - sum(wanted.values()) <= 2 * 8
    assert not (tmp_path / "far.db.shards" / far.id).exists()


def test_a_sample_that_kills_its_worker_is_isolated(tmp_path: Path) -> None:
    data = rows(60, s37="poison")
    run = ragstone.evaluate(data, METRICS, judge=JUDGE, store=tmp_path / "a.db", on="dask:2")
    scores = run.scores()
    assert scores["s37"]["coherence"].outcome == "metric_error"
    assert "killed its worker" in scores["s37"]["coherence"].reason
    others = [one["coherence"].outcome for name, one in scores.items() if name != "s37"]
    assert others == ["ok"] * 59


def test_plain_metrics_and_rows_without_ids_are_the_same_too(tmp_path: Path) -> None:
    data = [{k: v for k, v in row.items() if k != "id"} for row in rows(300)]
    path = written(tmp_path / "data.jsonl", data)
    alone = ragstone.evaluate(path, ["token_f1"], store=tmp_path / "alone.db")
    far = ragstone.evaluate(path, ["token_f1"], store=tmp_path / "far.db", on="dask:1")
    assert kept(far) == kept(alone)
    in_memory = ragstone.evaluate(data, ["token_f1"], store=tmp_path / "third.db", on="dask:1")
    assert kept(in_memory)[0] == kept(alone)[0]


def test_shards_of_an_earlier_attempt_are_not_scored_again(tmp_path: Path, calls: Any) -> None:
    from ragstone.data.rows import sample_of
    from ragstone.scale.pieces import digest_rows
    from ragstone.scale.shards import Line, encode_shard
    from ragstone.types import NOTHING_USED

    path = written(tmp_path / "data.jsonl", rows(100))
    alone = ragstone.evaluate(path, METRICS, judge=JUDGE, store=tmp_path / "alone.db")
    calls()
    store = Store.open(tmp_path / "far.db")

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ragstone.evaluate(path, METRICS, judge=JUDGE, store=store, run_id="r", watch=stop)
    calls()
    done = store.run("r").count()
    assert done < 80
    stored = list(alone.stored.store.full_rows(alone.id))[79:99]
    lines = []
    for position, sample_id, row, scores in stored:
        assert sample_of(row, alone.info.shape, position).id == sample_id
        lines.append(Line(position, sample_id, None, scores))
    shard = encode_shard(lines, digest_rows(row for _, _, row, _ in stored), 0, NOTHING_USED)
    Shelf(store.shelf("r")).put(80, 99, shard)
    far = ragstone.evaluate(
        path, METRICS, judge=JUDGE, store=store, run_id="r", resume=True, on="dask:1"
    )
    assert kept(far) == kept(alone)
    texts = {f"book {n}?" for n in range(79, 99)}
    assert len(calls()) <= 100 - len(texts)


def test_changed_data_is_noticed_on_resume(tmp_path: Path) -> None:
    data = rows(50)
    path = written(tmp_path / "data.jsonl", data)
    store = tmp_path / "far.db"

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ragstone.evaluate(path, METRICS, judge=JUDGE, store=store, run_id="r", watch=stop)
    data[0]["answer"] = "Somebody else."
    written(tmp_path / "data.jsonl", data)
    with pytest.raises(RagstoneError, match=r"sample 1 of .* has changed"):
        ragstone.evaluate(
            path, METRICS, judge=JUDGE, store=store, run_id="r", resume=True, on="dask:1"
        )


def test_a_bad_row_is_named_by_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ragstone.run, "CHECK_FIRST_BYTES", 0)
    path = tmp_path / "data.jsonl"
    good = "".join(json.dumps(row) + "\n" for row in rows(30))
    path.write_text(good + '\n{"question": }\n', encoding="utf-8")
    with pytest.raises(BadRows, match=r"data\.jsonl:32: not JSON"):
        ragstone.evaluate(str(path), ["token_f1"], store=tmp_path / "a.db", on="dask:1")


def test_an_id_given_twice_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ragstone.run, "CHECK_FIRST_BYTES", 0)
    data = rows(40)
    data[33]["id"] = "s2"
    path = written(tmp_path / "data.jsonl", data)
    with pytest.raises(BadRows, match="'s2' was given to an earlier row"):
        ragstone.evaluate(path, ["token_f1"], store=tmp_path / "a.db", on="dask:1")


def test_a_metric_of_the_users_own_goes_along(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from ragstone import metric\n\n@metric\ndef words(answer: str) -> float:\n"
        '    """Hundreds of words of the answer."""\n    return len(answer.split()) / 100\n'
    )
    name = f"{tmp_path / 'mine.py'}:words"
    run = ragstone.evaluate(rows(5), [name], store=tmp_path / "a.db", on="dask:1")
    assert [one["words"].value for one in run.scores().values()] == [0.06, 0.08, 0.1, 0.12, 0.14]


def test_what_goes_wrong_on_a_worker_is_said(tmp_path: Path) -> None:
    gone = tmp_path / "gone.py"
    gone.write_text((HERE / "judge_of_tests.py").read_text())

    def vanish(stored: Any, reading: Any) -> None:
        gone.unlink()

    with pytest.raises(RagstoneError, match=r"on a worker: there is no file"):
        ragstone.evaluate(
            rows(5), METRICS, judge=f"python:{gone}:judge", store=tmp_path / "a.db", on="dask:1",
            started=vanish,
        )  # fmt: skip


def test_places_to_work_on() -> None:
    assert place("dask:3").workers == 3
    assert place("dask://127.0.0.1:8786").address == "tcp://127.0.0.1:8786"
    assert place("dask://10.1.2.3:8786").address == "tls://10.1.2.3:8786"
    assert place("tcp://10.1.2.3:8786").address == "tcp://10.1.2.3:8786"
    for wrong in ("spark", "dask:0", "dask:x", "http://a:1", "nothing.json"):
        with pytest.raises(NoCluster):
            place(wrong)


def test_a_judge_that_cannot_be_written_down_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RagstoneError, match="cannot be sent to workers"):
        ragstone.evaluate(
            rows(2), METRICS, judge=lambda ask: {"level": 0, "reason": ""},
            store=tmp_path / "a.db", on="dask:1",
        )  # fmt: skip


def test_no_scheduler_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragstone.scale.cluster.CONNECT_SECONDS", 1)
    with pytest.raises(NoCluster, match=r"no scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        ragstone.evaluate(rows(2), ["token_f1"], store=tmp_path / "a.db", on="dask://127.0.0.1:9")


SILENT: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@contextmanager
def joined(file: str) -> Iterator[None]:
    """A worker that an administrator starts for a scheduler."""
    dask = Path(sys.executable).parent / "dask"
    worker = subprocess.Popen(
        [dask, "worker", "--scheduler-file", file, "--host", "127.0.0.1", "--nthreads", "1",
         "--no-dashboard", "--death-timeout", "60"], **SILENT,
    )  # fmt: skip
    try:
        yield
    finally:
        worker.terminate()
        worker.wait(20)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """A scheduler and a worker started as an administrator would, on loopback."""
    dask = Path(sys.executable).parent / "dask"
    file = tmp_path / "scheduler.json"
    scheduler = subprocess.Popen(
        [dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
         "--scheduler-file", str(file)], **SILENT,
    )  # fmt: skip
    try:
        with joined(str(file)):
            for _ in range(600):
                if file.exists():
                    break
                time.sleep(0.05)
            yield str(file)
    finally:
        scheduler.terminate()
        scheduler.wait(20)


def started(path: str, store: Path, cluster: str) -> subprocess.Popen[str]:
    """A run with the slow judge on a running cluster, under way in a process of its own."""
    slow = f"{JUDGE.rpartition(':')[0]}:slow_judge"
    return subprocess.Popen(
        [sys.executable, "-m", "ragstone", "eval", path, "-m", "coherence", "--judge", slow, "-j", "2",
         "--store", str(store), "--run", "r", "--on", cluster],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def lives(folder: Path) -> list[tuple[str, str]]:
    """Process and thread of each call of the slow judge."""
    lines = (folder / "calls" / "lives").read_text().splitlines()
    return [(line.split()[0], line.split()[1]) for line in lines]


@pytest.mark.usefixtures("calls")
def test_two_runs_at_once_share_the_workers(tmp_path: Path, cluster: str) -> None:
    first = written(tmp_path / "first.jsonl", rows(150))
    second = written(tmp_path / "second.jsonl", rows(300)[150:])
    stores = [tmp_path / "first.db", tmp_path / "second.db"]
    runs = [
        started(path, store, cluster) for path, store in zip((first, second), stores, strict=True)
    ]
    for run in runs:
        _, said = run.communicate(timeout=300)
        assert run.returncode == 0, said
    made = lives(tmp_path)
    assert len({process for process, _ in made}) == 1
    turns = [one for one, before in zip(made, [None, *made], strict=False) if one != before]
    assert len(turns) > 2  # they took turns
    assert len(set(made)) == 2  # and neither made the worker load the other's judge again
    for path, store in zip((first, second), stores, strict=True):
        alone = ragstone.evaluate(path, ["coherence"], judge=JUDGE, store=tmp_path / "alone.db")
        assert kept(Run.open("r", store=store)) == kept(alone)


@pytest.mark.usefixtures("calls")
def test_a_worker_that_joins_late_gets_work(tmp_path: Path, cluster: str) -> None:
    path = written(tmp_path / "data.jsonl", rows(600))
    run = started(path, tmp_path / "far.db", cluster)
    for _ in range(1200):
        time.sleep(0.05)
        if (tmp_path / "far.db").exists() and _count(tmp_path / "far.db") >= 20:
            break
    with joined(cluster):
        _, said = run.communicate(timeout=300)
    assert run.returncode == 0, said
    assert len({process for process, _ in lives(tmp_path)}) == 2
    alone = ragstone.evaluate(path, ["coherence"], judge=JUDGE, store=tmp_path / "alone.db")
    assert kept(Run.open("r", store=tmp_path / "far.db")) == kept(alone)


def test_the_command_line_on_a_running_cluster_stopped_and_resumed(
    tmp_path: Path, cluster: str
) -> None:
    data = rows(400)
    for row in data:
        row["answer"] += " dawdle"
    path = written(tmp_path / "data.jsonl", data)
    words = [
        sys.executable, "-m", "ragstone", "eval", path, "-m", "coherence", "--judge", JUDGE, "-j", "2",
        "--store", str(tmp_path / "far.db"), "--run", "r", "--on", cluster,
    ]  # fmt: skip
    first = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for _ in range(1200):
        time.sleep(0.05)
        if (tmp_path / "far.db").exists() and _count(tmp_path / "far.db") >= 20:
            break
    first.send_signal(signal.SIGINT)
    _, said = first.communicate(timeout=60)
    assert first.returncode == 130, said
    assert "scored and kept; go on with" in said
    before = _count(tmp_path / "far.db")
    assert 20 <= before < 400
    again = subprocess.run([*words, "--resume"], capture_output=True, text=True, timeout=300)
    assert again.returncode == 0, again.stderr
    alone = ragstone.evaluate(path, ["coherence"], judge=JUDGE, store=tmp_path / "alone.db")
    assert kept(Run.open("r", store=tmp_path / "far.db")) == kept(alone)


def _count(path: Path) -> int:
    store = Store.open(path)
    try:
        return store.run("r").count()
    except RagstoneError:
        return 0
    finally:
        store.close()
