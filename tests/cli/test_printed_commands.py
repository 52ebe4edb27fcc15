"""Every command that a report or message prints runs as it is printed."""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

import ragstone as ragstone_package
from ragstone.cli import ragstone as program
from ragstone.data import corpora
from ragstone.locale.catalogue import LOCALE_FOLDER


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


def list_phrases() -> list[str]:
    """Every text that the package can print: the catalogues of both languages, and the strings of its code."""
    texts: list[str] = []
    for catalogue in LOCALE_FOLDER.glob("*/*.toml"):
        texts += tomllib.loads(catalogue.read_text("utf-8")).values()
    for file in Path(ragstone_package.__file__).parent.rglob("*.py"):
        if "ragstone " in (source := file.read_text("utf-8")):
            texts += [
                node.value
                for node in ast.walk(ast.parse(source))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
    return texts


def complain_of_command(words: list[str]) -> str | None:
    """What is wrong with the words after `ragstone`: a command or an option that is not there."""
    command: click.Command = program
    context = click.Context(program)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        below = command.get_command(context, words[0])
        if below is None:
            return f"no command {words[0]!r}"
        command, context, words = below, click.Context(below, parent=context), words[1:]
    known = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
    known |= {"-h", "--help"}
    options = (word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word))
    return next((f"no option {name!r}" for name in options if name not in known), None)


def test_every_command_in_any_text_can_be_typed() -> None:
    """Commands of messages, pages and advice: each names a command that is there, with options that it has."""
    wrong, seen = {}, 0
    for text in list_phrases():
        for quoted in re.findall(r"`ragstone ((?:[a-z]+|--?[a-z])[^`]*)`", text):
            seen += 1
            complaint = complain_of_command(re.sub(r"[…\[\]]", " ", quoted).split())
            if complaint:
                wrong[quoted] = complaint
    assert seen > 30
    assert not wrong
