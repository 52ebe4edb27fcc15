"""Runs on a cluster that is there already, with all that may happen to it and to them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ragstone
from dask_cluster import (
    HOLD,
    JUDGE,
    SLOW_JUDGE,
    begun,
    command,
    count,
    kept,
    rows,
    scheduler,
    until_stored,
    worker,
    written,
)
from ragstone.errors import ClusterError
from ragstone.experiments.run import Run
from waiting import wait_until

pytest.importorskip("distributed")


def as_alone(path: str, folder: Path) -> list[Any]:
    return kept(ragstone.evaluate(path, ["coherence"], judge=JUDGE, store=folder / "alone.db"))


def until_both_wait(cluster: Path) -> None:
    """Wait until two runs have sent work to the scheduler."""
    from distributed import Client

    def count_senders(dask_scheduler: Any) -> int:
        return sum(bool(client.wants_what) for client in dask_scheduler.clients.values())

    with Client(scheduler_file=str(cluster)) as client:
        wait_until(lambda: client.run_on_scheduler(count_senders) == 2, "the runs meet")


def lives(calls_folder: Path) -> Counter[str]:
    """How often the slow judge was asked in each process."""
    return Counter((calls_folder / "lives").read_text().splitlines())


@pytest.mark.usefixtures("calls")
def test_stopped_and_resumed_from_the_command_line(tmp_path: Path, cluster: Path) -> None:
    path, store = written(tmp_path / "data.jsonl", rows(300)), tmp_path / "far.db"
    words = command(path, store, cluster)
    first = begun(words)
    until_stored(store, 20)
    first.send_signal(signal.SIGINT)
    _, said = first.communicate(timeout=120)
    assert first.returncode == 130, said
    assert "scored and kept; resume with" in said
    assert 20 <= count(store) < 300
    again = subprocess.run([*words, "--resume"], capture_output=True, text=True, timeout=300)
    assert again.returncode == 0, again.stderr
    assert kept(Run.open("r", store=store)) == as_alone(path, tmp_path)


@pytest.mark.slow
def test_two_runs_at_once_share_the_workers(
    tmp_path: Path, cluster: Path, calls: Any, calls_folder: Path
) -> None:
    first = written(tmp_path / "first.jsonl", rows(150))
    second = written(tmp_path / "second.jsonl", rows(300)[150:])
    stores = [tmp_path / "first.db", tmp_path / "second.db"]
    pairs = list(zip((first, second), stores, strict=True))
    hold = calls_folder / HOLD
    hold.touch()
    runs = [begun(command(path, store, cluster)) for path, store in pairs]
    until_both_wait(cluster)
    hold.unlink()
    for run in runs:
        _, said = run.communicate(timeout=300)
        assert run.returncode == 0, said
    assert len(lives(calls_folder)) == 1
    (notes,) = [path for path in calls_folder.iterdir() if path.name.isdecimal()]
    asked = [line.split()[1] for line in notes.read_text().splitlines()]
    calls()
    assert kept(Run.open("r", store=stores[0])) == as_alone(first, tmp_path)
    keys = calls().keys()
    of_first = [key in keys for key in asked]
    assert sum(a != b for a, b in pairwise(of_first)) > 2  # they took turns
    assert kept(Run.open("r", store=stores[1])) == as_alone(second, tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("calls")
def test_a_worker_that_joins_late_gets_work(
    tmp_path: Path, cluster: Path, calls_folder: Path
) -> None:
    path, store = written(tmp_path / "data.jsonl", rows(600)), tmp_path / "far.db"
    run = begun(command(path, store, cluster))
    until_stored(store, 20)
    with worker(cluster):
        _, said = run.communicate(timeout=300)
    assert run.returncode == 0, said
    assert len(lives(calls_folder)) == 2
    assert kept(Run.open("r", store=store)) == as_alone(path, tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("calls")
def test_a_scheduler_that_dies_loses_nothing(tmp_path: Path, calls_folder: Path) -> None:
    path, store = written(tmp_path / "data.jsonl", rows(300)), tmp_path / "far.db"
    file = tmp_path / "scheduler.json"
    with scheduler(file) as central, worker(file):
        run = begun(command(path, store, file))
        until_stored(store, 20)
        central.kill()
        _, said = run.communicate(timeout=120)
    assert run.returncode == 2
    assert "is gone; what came back is kept, resume with --resume" in said
    assert "Traceback" not in said
    before = count(store)
    assert 20 <= before < 300
    ragstone.evaluate(
        path, ["coherence"], judge=SLOW_JUDGE, store=store, run_id="r", resume=True, on="dask:1", concurrency=2,
    )  # fmt: skip
    assert kept(Run.open("r", store=store)) == as_alone(path, tmp_path)
    assert lives(calls_folder).total() <= 300 + 2  # only what was in flight is asked again


@pytest.mark.slow
@pytest.mark.usefixtures("calls")
def test_ctrl_c_of_a_terminal_is_the_drivers_alone(tmp_path: Path) -> None:
    path, store = written(tmp_path / "data.jsonl", rows(300)), tmp_path / "far.db"
    run = begun(command(path, store, "dask:2"), start_new_session=True)
    until_stored(store, 10)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does: to the workers too
    _, said = run.communicate(timeout=120)
    assert run.returncode == 130, said
    assert said.startswith("stopped; ")
    assert "Traceback" not in said


def test_a_worker_with_another_ragstone_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: Path
) -> None:
    monkeypatch.setattr("ragstone.scale.__version__", "9.9.9")
    with pytest.raises(ClusterError, match=r"worker at 'tcp://.*and the driver 9\.9\.9; install"):
        ragstone.evaluate(rows(2), ["token_f1"], store=":memory:", on=str(cluster))


def refused(tmp_path: Path, on: str) -> str:
    with pytest.raises(ClusterError) as wrong:
        ragstone.evaluate(rows(2), ["token_f1"], store=tmp_path / "a.db", on=on)
    return str(wrong.value)


def test_no_scheduler_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragstone.scale.cluster.CONNECT_SECONDS", 1)
    said = refused(tmp_path, "dask://127.0.0.1:9")
    assert said.startswith("no scheduler answers at 'tcp://127.0.0.1:9': Timed out")
    old = tmp_path / "old.json"
    old.write_text(json.dumps({"address": "tcp://127.0.0.1:9"}))
    assert f"(from '{old}')" in refused(tmp_path, str(old))
    old.write_text("[]")
    assert "is not a file that `dask scheduler --scheduler-file` wrote" in refused(
        tmp_path, str(old)
    )
    assert "there are no certificates to reach 'tls://127.0.0.1:9'" in refused(tmp_path, "tls://127.0.0.1:9")  # fmt: skip


def test_something_else_that_listens_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.scale.cluster.CONNECT_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        said = refused(tmp_path, f"tcp://127.0.0.1:{mute.getsockname()[1]}")
    assert said.startswith("no scheduler answers at 'tcp://127.0.0.1:")


def test_workers_that_cannot_start_are_one_sentence(tmp_path: Path) -> None:
    import dask

    with dask.config.set({"temporary-directory": "/proc/nowhere"}):
        assert refused(tmp_path, "dask:1").startswith("no workers could be started here: ")
