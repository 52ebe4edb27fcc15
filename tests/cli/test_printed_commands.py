"""Every command that `diagnose` and `failures` print runs as it is printed."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from ragstone.data import corpora


def list_commands(text: str) -> list[str]:
    """The commands of a terminal's output: after a prompt, or between back-ticks."""
    lines = re.findall(r"^\s*\$ (ragstone .*)$", text, re.MULTILINE)
    return [*lines, *re.findall(r"`(ragstone [^`]*)`", " ".join(text.split()))]


@pytest.fixture
def ask(call, monkeypatch, tmp_path: Path):
    """The command line beside a small file of questions, on a terminal so wide that no command is cut."""
    monkeypatch.setenv("COLUMNS", "1000")
    rows = [json.loads(line) for line in corpora.questions().read_text("utf-8").splitlines()]
    few = [row for row in rows if row.get("relevant")][:24]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, few)), "utf-8")
    return call


def test_commands_of_a_diagnosis_run_as_printed(ask, tmp_path: Path) -> None:
    system = ["--system", "pipeline", "--set", "top_k=1", "--set", "abstain=1.5"]
    metrics = ["-m", "recall,faithfulness,token_f1", "--judge", "offline"]
    assert ask("eval", "questions.jsonl", *system, *metrics, "-q").code == 0
    shown = ask("diagnose", "last")
    assert shown.code == 0
    commands = list_commands(shown.out)
    assert any(" ablate " in command for command in commands), shown.out
    assert any(command.startswith("ragstone failures ") for command in commands)
    for command in commands:
        done = ask(*shlex.split(command)[1:])
        assert done.code in (0, 1), (command, done.err)
    assert (tmp_path / "failures.html").is_file()


def test_the_command_that_measures_a_judge_runs_as_printed(ask, tmp_path: Path) -> None:
    assert (
        ask(
            "eval", "questions.jsonl", "--system", "pipeline", "-m", "recall,faithfulness", "-q"
        ).code
        == 0
    )
    from ragstone.experiments.run import Run
    from ragstone.report.builders.diagnosis import format_check

    command = format_check(Run.open("last").info, "en")
    assert command is not None
    assert ask(*shlex.split(command)[1:], "--quick").code in (0, 1)


def test_no_command_is_printed_that_cannot_be_typed(ask) -> None:
    from ragstone import evaluate
    from ragstone.systems.pipeline import Pipeline

    evaluate("questions.jsonl", ["recall", "token_f1"], system=Pipeline(top_k=1), name="objects")
    assert not any(
        " ablate " in command for command in list_commands(ask("diagnose", "objects").out)
    )


def test_a_gate_on_what_the_judge_is_not_fit_for_is_said_at_once_and_in_the_report(ask) -> None:
    gate = ["-m", "context_relevance", "--gate", "context_relevance >= 0.1", "--judge", "offline"]
    done = ask("eval", "questions.jsonl", "--system", "pipeline", *gate, "--limit", "4")
    sentence = "not fit to gate on context_relevance (en)"
    assert sentence in done.err
    assert sentence in " ".join(done.out.split())
