"""`ragstone eval -c config.yaml` with a paid judge, as people run it: columns written back, killed and resumed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faults.scoring import SAMPLE
from faults.server import FaultServer

Serve = Callable[..., FaultServer]
METRICS = ["faithfulness", "context_precision", "answer_relevance", "answer_correctness"]
IN_FLIGHT = 4


def prepared(folder: Path, url: str, count: int, **more: Any) -> Path:
    """A data set and a config beside it."""
    rows = []
    for n in range(count):
        question = f"Where is the tower number {n} and when was it built?"
        row = SAMPLE | {
            "id": f"s{n}",
            "question": question,
            "answer": f"{SAMPLE['answer']} It has {n} steps.",
        }
        rows.append(json.dumps(row))
    (folder / "data.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    config = {
        "data": "data.jsonl",
        "judge": {"model": "openai:m", "base_url": url, "api_key": "${MY_KEY}", **more},
        "embeddings": {"model": "openai:e", "base_url": url},
        "language": "en",
        "metrics": METRICS,
        "concurrency": IN_FLIGHT,
        "store": str(folder / "runs.db"),
        "output": "scored.jsonl",
    }
    path = folder / "config.yaml"
    path.write_text(json.dumps(config), "utf-8")  # JSON is YAML
    return path


def start(config: Path, *flags: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "ragstone", "eval", "-c", str(config), "--quiet", *flags],
        cwd=config.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-canary-of-the-whole-run")


def test_a_config_writes_the_data_back_with_one_column_per_metric(
    serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    done = start(prepared(tmp_path, server.url, 5))
    out, err = done.communicate(timeout=120)
    assert done.returncode == 0, out + err
    rows = [
        json.loads(line) for line in (tmp_path / "scored.jsonl").read_text("utf-8").splitlines()
    ]
    assert len(rows) == 5
    for row in rows:
        assert row["answer"].startswith(SAMPLE["answer"])
        assert row["faithfulness"] == pytest.approx(0.2)
        assert set(METRICS) <= set(row)
    chats = [call for call in server.calls if call.path.endswith("completions")]
    assert len(chats) <= 5 * 6  # one each to make the question stand alone, then five
    assert {call.headers["authorization"] for call in chats} == {
        "Bearer sk-canary-of-the-whole-run"
    }
    written = [path.read_bytes() for path in tmp_path.iterdir() if path.is_file()]
    assert not any(b"canary" in blob for blob in written)
    assert "canary" not in out + err


def test_a_budget_ends_in_a_typed_outcome_and_exit_3(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    done = start(prepared(tmp_path, server.url, 5), "--max-calls", "7")
    done.communicate(timeout=120)
    assert done.returncode == 3
    assert len([call for call in server.calls if call.path.endswith("completions")]) <= 7


@pytest.mark.parametrize("attempts", [1, pytest.param(8, marks=pytest.mark.slow)])
def test_kill_and_resume_pay_only_for_what_was_in_flight(
    serve: Serve, tmp_path: Path, attempts: int
) -> None:
    server = serve(delay=0.02)
    whole = tmp_path / "whole"
    whole.mkdir()
    assert start(prepared(whole, server.url, 40)).wait(timeout=120) == 0
    needed = len(server.calls)
    truth = (whole / "scored.jsonl").read_bytes()
    dice = random.Random(5)
    folder = tmp_path / "killed"
    folder.mkdir()
    config = prepared(folder, server.url, 40)
    before, kills = len(server.calls), 0
    for _ in range(attempts):
        seen = len(server.calls)
        run = start(config, "--resume")
        target = seen + dice.randrange(1, 60)  # a moment of the work, not of the clock
        while len(server.calls) < target and run.poll() is None:
            time.sleep(0.01)
        if run.poll() is not None:
            break
        run.kill()
        run.communicate()
        kills += 1
    assert kills
    done = start(config, "--resume")
    out, err = done.communicate(timeout=120)
    assert done.returncode == 0, out + err
    calls = len(server.calls) - before
    assert needed <= calls <= needed + kills * IN_FLIGHT
    assert (folder / "scored.jsonl").read_bytes() == truth
