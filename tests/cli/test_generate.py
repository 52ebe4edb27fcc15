"""`ragstone generate` and `ragstone testset check` as a person types them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from faults.server import FaultServer
from ragstone.cli import run
from ragstone.data import corpora
from waiting import wait_until

COUNTIES = str(corpora.documents())


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_test_set_that_is_scored_and_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "set.jsonl"
    assert run(["generate", COUNTIES, "-o", str(out), "-n", "30", "--seed", "2"]) == 0
    said = capsys.readouterr()
    assert "asked 30, made 30" in said.err
    assert f"wrote {out}" in said.err
    assert len(rows(out)) == 30
    assert run(["testset", "check", str(out), "--documents", COUNTIES]) in (0, 1)
    assert "30 questions" in capsys.readouterr().out
    assert run(["eval", str(out), "--system", "pipeline", "-m", "recall@5,token_f1", "-q"]) == 0


def test_without_a_file_the_rows_go_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["generate", COUNTIES, "-n", "5", "--lang", "es"]) == 0
    said = capsys.readouterr()
    found = [json.loads(line) for line in said.out.splitlines()]
    assert [row["language"] for row in found] == ["es"] * 5
    assert "asked 5, made 5" in said.err


def test_too_few_items_exit_with_three_and_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("The tower of Almere was built in 1902.", "utf-8")
    out = tmp_path / "set.jsonl"
    assert run(["generate", str(tmp_path / "a.txt"), "-o", str(out), "-n", "50"]) == 3
    assert "of the 50 wanted could be made" in capsys.readouterr().err


def test_nothing_at_all_exits_with_three_and_writes_no_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("Hm. Well. Ok.", "utf-8")
    out = tmp_path / "set.jsonl"
    assert (
        run(["generate", str(tmp_path / "a.txt"), "-o", str(out), "--kinds", "factual", "-q"]) == 3
    )
    assert "nothing was made" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no documents"),
        (["nowhere"], "no folder or file 'nowhere'"),
        ([COUNTIES, "--resume"], "give -o FILE"),
        ([COUNTIES, "--style", "x"], "give --judge too"),
        ([COUNTIES, "--kinds", "factuel"], "did you mean 'factual'"),
        ([COUNTIES, "-o", "x.jsonl", "--format", "beirr"], "did you mean 'beir'"),
        (["--review", "nowhere.jsonl"], "no test set 'nowhere.jsonl'"),
        ([COUNTIES, "--judge", "gpt"], "no judge 'gpt'"),
    ],
)
def test_a_mistake_is_one_sentence(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["generate", *arguments]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


def test_an_empty_folder_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["generate", str(tmp_path), "-o", str(tmp_path / "s.jsonl")]) == 2
    assert "holds no document" in capsys.readouterr().err


def test_a_dry_run_asks_nobody_and_is_about_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragstone.testset.estimate import estimate_generation
    from ragstone.testset.plan import TestsetPlan
    from ragstone.testset.sets import execute_testset_plan

    assert run(["generate", COUNTIES, "--dry-run", "-n", "40"]) == 0
    assert "nothing is paid" in capsys.readouterr().out
    with FaultServer() as server:
        judge = {
            "model": "openai:m", "base_url": server.url, "prices": {"input": 1.0, "output": 2.0},
        }  # fmt: skip
        plan = TestsetPlan((COUNTIES,), 40, judge=judge, store=str(tmp_path / "s.db"))
        guess = estimate_generation(plan)
        assert not server.calls
        made = asyncio.run(execute_testset_plan(plan))
    assert guess.usd is not None
    assert made.usage.calls == pytest.approx(guess.calls, rel=0.1)
    assert made.usage.input_tokens == pytest.approx(guess.input_tokens, rel=0.6)


def test_a_priced_dry_run_says_the_price(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    assert run(["generate", COUNTIES, "--dry-run", "--judge", "openai:gpt-4o-mini"]) == 0
    said = capsys.readouterr().out
    assert "USD" in said
    assert "Nothing was asked, written or paid." in said


def test_ctrl_c_says_how_to_go_on_and_resuming_ends_as_if_nothing_had_been(tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "set.jsonl"
    options = ["-n", "300", "--seed", "4", "-q", "--floor", "0"]
    command = [sys.executable, "-m", "ragstone", "generate", COUNTIES]
    assert run(["generate", COUNTIES, "-o", str(whole), *options]) == 0
    child = subprocess.Popen(
        [*command, "-o", str(out), *options], stderr=subprocess.PIPE, text=True
    )
    part = out.with_name("set.jsonl.part")
    wait_until(
        lambda: child.poll() is not None or (part.exists() and part.stat().st_size > 5000),
        "a part is written",
        every_seconds=0.005,
    )
    os.kill(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130, said
    assert "resume with --resume" in said
    assert not out.exists()
    assert run(["generate", COUNTIES, "-o", str(out), *options, "--resume"]) == 0
    assert out.read_bytes() == whole.read_bytes()
    assert not part.exists()


def test_a_killed_run_resumes_to_the_same_bytes_with_the_real_maker(tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "set.jsonl"
    options = ["-n", "300", "--seed", "9", "-q", "--floor", "0"]
    assert run(["generate", COUNTIES, "-o", str(whole), *options]) == 0
    command = [sys.executable, "-m", "ragstone", "generate", COUNTIES, "-o", str(out), *options]
    child = subprocess.Popen(command)
    part = out.with_name("set.jsonl.part")
    wait_until(
        lambda: child.poll() is not None or (part.exists() and part.stat().st_size > 20_000),
        "a part is written",
        every_seconds=0.005,
    )
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert not out.exists()
    assert run(["generate", COUNTIES, "-o", str(out), *options, "--resume"]) == 0
    assert out.read_bytes() == whole.read_bytes()
