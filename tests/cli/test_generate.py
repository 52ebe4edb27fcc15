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

from faults.server import FaultServer, honestly
from ragstone.cli import run
from ragstone.data import corpora
from waiting import wait_until

COUNTIES = str(corpora.documents())


@pytest.fixture
def pages(tmp_path: Path) -> str:
    """A folder of pages that ask, in two languages."""
    folder = tmp_path / "pages"
    folder.mkdir()
    for n in range(10):
        english = (
            f"# Hut {n}\n\n## How many beds has hut {n}?\n\nHut {n} has {n + 12} beds.\n\n## Who keeps hut "
            f"{n} in winter?\n\nKeeper{n} does.\n"
        )
        (folder / f"hut{n}.md").write_text(english, "utf-8")
        spanish = (
            f"# Refugio {n}\n\n## ¿Quién guarda el refugio {n} en invierno?\n\nLo guarda Guarda{n} con su "
            "familia.\n"
        )
        (folder / f"refugio{n}.md").write_text(spanish, "utf-8")
    return str(folder)


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_test_set_that_is_scored_and_checked(
    pages: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "set.jsonl"
    assert run(["generate", pages, "-o", str(out), "-n", "30", "--seed", "2"]) == 0
    said = capsys.readouterr()
    assert "asked 30, made 30" in said.err
    assert f"wrote {out}" in said.err
    assert len(rows(out)) == 30
    assert run(["testset", "check", str(out), "--documents", pages]) in (0, 1)
    assert "30 questions" in capsys.readouterr().out
    system = ["--system", f"pipeline:{pages}"]
    assert run(["eval", str(out), *system, "-m", "recall@5,token_f1", "-q"]) == 0


def test_without_a_file_the_rows_go_to_standard_output(
    pages: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["generate", pages, "-n", "5", "--lang", "es"]) == 0
    said = capsys.readouterr()
    found = [json.loads(line) for line in said.out.splitlines()]
    assert [row["language"] for row in found] == ["es"] * 5
    assert "asked 5, made 5" in said.err


def test_too_few_items_exit_with_three_and_say_so(
    pages: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "set.jsonl"
    assert run(["generate", pages, "-o", str(out), "-n", "50"]) == 3
    assert "the documents hold no more questions" in capsys.readouterr().err


def test_nothing_at_all_exits_with_three_and_says_what_would_help(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("Hm. Well. Ok.", "utf-8")
    out = tmp_path / "set.jsonl"
    assert run(["generate", str(tmp_path / "a.txt"), "-o", str(out), "-q"]) == 3
    said = capsys.readouterr().err
    assert "nothing was made" in said
    assert "--from-log" in said
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no documents"),
        (["nowhere"], "no folder or file 'nowhere'"),
        ([COUNTIES, "--resume"], "give -o FILE"),
        ([COUNTIES, "--style", "x"], "give --judge too"),
        ([COUNTIES, "--kinds", "factual"], "give --judge too"),
        (
            [
                COUNTIES,
                "--judge",
                "openai:m",
                "--base-url",
                "http://127.0.0.1:9/v1",
                "--kinds",
                "factuel",
            ],
            "did you mean 'factual'",
        ),
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
            "model": "openai:m",
            "base_url": server.url,
            "prices": {"input": 1.0, "output": 2.0},
        }
        plan = TestsetPlan((COUNTIES,), 40, judge=judge, store=str(tmp_path / "s.db"))
        guess = estimate_generation(plan)
        assert not server.calls
        made = asyncio.run(execute_testset_plan(plan))
    assert guess.usd is not None
    # a perfect writer is refused less than the estimate assumes; kinds that do not come cost more
    assert made.usage.calls == pytest.approx(guess.calls, rel=0.4)
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
    with FaultServer(honestly, delay=0.02) as server:
        options = [
            "-n",
            "20",
            "--kinds",
            "factual",
            "-q",
            "--judge",
            "openai:m",
            "--base-url",
            server.url,
            "-j",
            "2",
        ]
        whole, out = tmp_path / "whole.jsonl", tmp_path / "set.jsonl"
        command = ["generate", COUNTIES, *options]
        assert run([*command, "-o", str(whole), "--store", str(tmp_path / "w.db")]) == 0
        once = len(server.calls)
        given = [*command, "-o", str(out), "--store", str(tmp_path / "s.db")]
        child = subprocess.Popen(
            [sys.executable, "-m", "ragstone", *given], stderr=subprocess.PIPE, text=True
        )
        wait_until(
            lambda: child.poll() is not None or len(server.calls) >= once + 20, "some are asked"
        )
        os.kill(child.pid, signal.SIGINT)
        _, said = child.communicate(timeout=60)
        assert child.returncode == 130, said
        assert "resume with --resume" in said
        assert not out.exists()
        assert run(["generate", "-o", str(out), "--resume", "-q"]) == 0
        assert len(server.calls) < 2 * once + 10
    assert out.read_bytes() == whole.read_bytes()
    assert not out.with_name("set.jsonl.part").exists()
