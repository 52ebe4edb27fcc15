"""kill -9 at random moments: nothing lost, nothing twice, the same bytes in the end."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from ragstone import Run

WORKER = Path(__file__).parent / "worker.py"
KILLS = 100
SAMPLES = 400
DISTINCT = SAMPLES - 7  # a few samples repeat an answer: their questions are put once
IN_FLIGHT = 8


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


def test_kill_9_at_100_random_moments(tmp_path: Path) -> None:
    dice = random.Random(20260101)
    whole = finish(tmp_path / "whole.db", tmp_path / "whole.log")
    needed = (tmp_path / "whole.log").read_bytes().count(b"\n")
    assert needed == 2 * DISTINCT

    kills = study = 0
    while kills < KILLS:
        study += 1
        store, log = tmp_path / f"{study}.db", tmp_path / f"{study}.log"
        here = 0
        while kills < KILLS and here < 25:
            worker = start(store, log)
            assert worker.stdout is not None
            if dice.random() < 0.8:  # in the middle of scoring, else while starting up
                worker.stdout.readline()
                time.sleep(dice.random() * 0.15)
            else:
                time.sleep(dice.random() * 0.4)
            worker.kill()
            if "finished" in worker.communicate()[0]:
                break
            kills += 1
            here += 1
        assert finish(store, log) == whole
        calls = log.read_bytes().count(b"\n")
        assert needed <= calls <= needed + here * IN_FLIGHT
        run = Run.open("killed", store=store)
        assert [position for position, *_ in run.stored.scores()] == list(range(1, SAMPLES + 1))
