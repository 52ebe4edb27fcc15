"""kill -9 at random moments: nothing lost, nothing twice, the same bytes in the end."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragstone import Run

WORKER = Path(__file__).parent / "worker.py"
SAMPLES = 400
DISTINCT = SAMPLES - 7  # a few samples repeat an answer: their questions are put once
IN_FLIGHT = 8
KILLS_A_STORE = 25


def start(store: Path, log: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WORKER), str(store), str(log), str(SAMPLES)],
        stdout=subprocess.PIPE,
        text=True,
    )


def finish(store: Path, log: Path) -> bytes:
    worker = start(store, log)
    assert worker.wait() == 0
    return Path(f"{store}.jsonl").read_bytes()


def calls_in(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


def kill_in_the_middle(worker: subprocess.Popen[str], log: Path, dice: random.Random) -> None:
    """Kill when some more calls were made, or while starting up: moments of the work, not of the clock."""
    if dice.random() < 0.8:
        target = calls_in(log) + dice.randrange(1, 120)
        while worker.poll() is None and calls_in(log) < target:
            time.sleep(0.001)
    else:
        time.sleep(dice.random() * 0.4)
    worker.kill()


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.slow)])
def test_kill_9_at_random_moments(tmp_path: Path, kills: int) -> None:
    dice = random.Random(20260101)
    whole = finish(tmp_path / "whole.db", tmp_path / "whole.log")
    needed = calls_in(tmp_path / "whole.log")
    assert needed == 2 * DISTINCT

    done = study = 0
    while done < kills:
        study += 1
        store, log = tmp_path / f"{study}.db", tmp_path / f"{study}.log"
        here = 0
        while done < kills and here < KILLS_A_STORE:
            worker = start(store, log)
            kill_in_the_middle(worker, log, dice)
            if "finished" in worker.communicate()[0]:
                break
            done += 1
            here += 1
        assert finish(store, log) == whole
        assert needed <= calls_in(log) <= needed + here * IN_FLIGHT
        run = Run.open("killed", store=store)
        assert [position for position, *_ in run.stored.scores()] == list(range(1, SAMPLES + 1))
