"""Worker processes of this machine: the same result as one process, whatever becomes of a worker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone import Run, Score, metric, report
from ragstone.engine import Progress
from ragstone.errors import BadRows, RagstoneError
from ragstone.judges.offline import OfflineJudge
from ragstone.scale import MIN_FILE_BYTES, MIN_JUDGED_SAMPLES, choose_worker_count
from scripted import ScriptedJudge
from waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")

METRICS = ["token_f1", "recall@2"]


def write(path: Path, count: int, **changes: Any) -> str:
    rows = [
        {
            "id": f"s{n}",
            "question": f"Which book is number {n}?",
            "answer": f"It is book {n % 7}.",
            "reference": f"book {n % 5}",
            "contexts": [{"id": "a", "text": f"Number {n} is book {n % 7}."}, {"id": f"d{n % 3}", "text": "Else."}],
            "relevant": ["d1"] if n % 4 else [],
        }
        for n in range(count)
    ]  # fmt: skip
    for n, row in changes.items():
        rows[int(n.removeprefix("row"))] = row
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    )
    return str(path)


def export(run: Run, path: Path) -> bytes:
    report.write(run, path, explain=True)
    return path.read_bytes()


@pytest.mark.parametrize("ending", ["jsonl", "csv"])  # read by the workers, and by the parent
def test_two_processes_give_what_one_gives(tmp_path: Path, ending: str) -> None:
    source = write(tmp_path / "data.jsonl", 1300)
    if ending == "csv":
        report.write(ragstone.evaluate(source, METRICS, store=":memory:"), tmp_path / "data.csv")
        source = str(tmp_path / "data.csv")
    reports: list[Progress] = []
    one = ragstone.evaluate(source, METRICS, store=tmp_path / "1.db", workers=1)
    two = ragstone.evaluate(
        source, METRICS, store=tmp_path / "2.db", workers=2, watch=reports.append
    )
    assert export(two, tmp_path / "2.jsonl") == export(one, tmp_path / "1.jsonl")
    assert two.summary().metrics == one.summary().metrics
    assert reports[-1].done == 1300


def test_the_embedded_judge_in_two_processes(tmp_path: Path) -> None:
    source = write(tmp_path / "data.jsonl", 40)
    one, two = (
        ragstone.evaluate(source, ["faithfulness"], judge="offline", store=":memory:", workers=n)
        for n in (1, 2)
    )
    assert export(two, tmp_path / "2.jsonl") == export(one, tmp_path / "1.jsonl")
    assert two.scores()["s3"]["faithfulness"].findings


def test_bad_rows_are_named_as_by_one_process_and_what_came_before_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.experiments.execute.CHECK_FIRST_BYTES", 0)  # as a large file
    source = write(tmp_path / "data.jsonl", 1200, row900="not json", row1100='{"answer": NaN}')
    messages = []
    for workers in (1, 2):
        with pytest.raises(BadRows) as raised:
            ragstone.evaluate(source, METRICS, store=tmp_path / f"{workers}.db", workers=workers)
        messages.append(str(raised.value))
        assert 0 < Run.open(store=tmp_path / f"{workers}.db").stored.count() <= 900
    assert messages[0] == messages[1]
    assert "data.jsonl:901" in messages[1]


def test_an_id_given_twice_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragstone.experiments.execute.CHECK_FIRST_BYTES", 0)
    source = write(
        tmp_path / "data.jsonl", 1200, row1100={"id": "s3", "answer": "a", "reference": "b"}
    )
    with pytest.raises(BadRows, match=r"data.jsonl:1101: the id 's3' was given to an earlier row"):
        ragstone.evaluate(source, METRICS, store=":memory:", workers=2)


def test_a_worker_that_is_killed_is_replaced(tmp_path: Path) -> None:
    marker, parent = tmp_path / "killed", os.getpid()

    @metric
    def deadly(answer: str) -> Score:
        """Kills the first process that scores a certain answer."""
        if answer == "It is book 3." and os.getpid() != parent and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Score(1.0)

    source = write(tmp_path / "data.jsonl", 300)
    run = ragstone.evaluate(source, [deadly], store=":memory:", workers=2)
    assert marker.exists()
    assert run.summary()["deadly"].mean == 1.0
    assert [position for position, *_ in run.stored.scores()] == list(range(1, 301))


def test_a_sample_that_kills_every_worker_is_found_and_the_others_are_scored(
    tmp_path: Path,
) -> None:
    parent = os.getpid()

    @metric
    def mortal(answer: str, reference: str) -> Score:
        """Kills any other process at one sample."""
        if reference == "deadly" and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return Score(1.0)

    deadly = {"id": "deadly", "answer": "It is", "reference": "deadly"}
    source = write(tmp_path / "data.jsonl", 600, row450=deadly)
    run = ragstone.evaluate(source, [mortal], store=":memory:", workers=2)
    scores = run.scores()
    assert scores["deadly"]["mortal"].outcome == "metric_error"
    assert "killed its worker" in scores["deadly"]["mortal"].reason
    assert list(scores)[450] == "deadly"
    assert run.summary()["mortal"].scored == 599


def test_a_run_may_be_resumed_with_another_number_of_processes(tmp_path: Path) -> None:
    source, store = write(tmp_path / "data.jsonl", 3000), tmp_path / "s.db"

    @metric
    def unhurried(answer: str) -> float:
        """Length."""
        time.sleep(0.001)
        return len(answer) / 100

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ragstone.evaluate(source, [unhurried], store=store, run_id="r", workers=2, watch=stop)
    assert 0 < Run.open("r", store=store).stored.count() < 3000
    whole = ragstone.evaluate(source, [unhurried], store=store, run_id="r", resume=True, workers=3)
    alone = ragstone.evaluate(source, [unhurried], store=":memory:", workers=1)
    assert export(whole, tmp_path / "whole.jsonl") == export(alone, tmp_path / "alone.jsonl")


def is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_what_was_finished_is_kept_and_resumes_to_the_same_bytes(
    tmp_path: Path, stop: signal.Signals
) -> None:
    source = write(tmp_path / "data.jsonl", 3000)
    (tmp_path / "slow.py").write_text(
        "import time\ndef slow(answer: str) -> float:\n    'Slow.'\n    time.sleep(0.002)\n    return float(len(answer) % 2)\n"
    )
    command = [
        sys.executable, "-m", "ragstone", "eval", source, "-m", "slow.py:slow", "--store", "s.db",
        "--workers", "2", "-o", "out.jsonl",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    store = tmp_path / "s.db"

    def has_samples() -> bool:
        return store.exists() and bool(ragstone.Store.open(store).runs()) and Run.open(store=store).stored.count() > 0  # fmt: skip

    wait_until(has_samples, "something is scored", every_seconds=0.1)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.send_signal(stop)
    errors = process.communicate(timeout=60)[1]
    if stop is signal.SIGINT:
        assert process.returncode == 130, errors
        assert "Traceback" not in errors
        assert "--resume" in errors
    assert len(children) == 2
    wait_until(lambda: not any(map(is_running, children)), "the workers end", every_seconds=0.1)
    assert 0 < Run.open(store=store).stored.count() < 3000
    subprocess.run([*command, "--resume"], cwd=tmp_path, check=True, capture_output=True)
    whole = ragstone.evaluate(source, [f"{tmp_path / 'slow.py'}:slow"], store=":memory:", workers=1)
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["slow"] for row in rows] == [s["slow"].value for s in whole.scores().values()]


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.jsonl", ""), ("b.jsonl", "\n"), ("c.csv", "answer,reference\n"), ("d.json", "[]")],
)
def test_a_file_without_rows_is_said(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    messages = []
    for workers in (1, 2):
        with pytest.raises(RagstoneError) as raised:
            ragstone.evaluate(str(path), ["token_f1"], store=":memory:", workers=workers)
        messages.append(str(raised.value))
    assert messages[0] == messages[1]


def test_bad_rows_are_skipped_and_counted_as_by_one_process(tmp_path: Path) -> None:
    source = write(tmp_path / "data.jsonl", 600, row0="not json", row400='{"answer": NaN}')
    one, two = (
        ragstone.evaluate(source, METRICS, store=":memory:", workers=n, skip_bad_rows=True)
        for n in (1, 2)
    )
    assert two.info.bad == one.info.bad
    assert two.info.bad_count == 2
    assert export(two, tmp_path / "2.jsonl") == export(one, tmp_path / "1.jsonl")


def test_who_works_in_one_process() -> None:
    judge, cores = OfflineJudge(), len(os.sched_getaffinity(0))
    assert choose_worker_count(None, None, None, MIN_FILE_BYTES) == 1
    assert choose_worker_count(0, None, None, MIN_FILE_BYTES + 1) == cores
    assert choose_worker_count(None, judge, MIN_JUDGED_SAMPLES - 1, None) == 1
    assert choose_worker_count(None, judge, MIN_JUDGED_SAMPLES, None) == cores
    assert choose_worker_count(3, None, 10, 10) == 3
    waiting = ScriptedJudge(lambda ask: None)
    assert choose_worker_count(None, waiting, 10**6, None) == 1
    with pytest.raises(RagstoneError, match=r"--workers 2: the judge .* works in one process"):
        choose_worker_count(2, waiting, 10**6, None)
