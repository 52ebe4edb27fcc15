"""Every command that a report or message prints runs as it is printed."""

from __future__ import annotations

import ast
import inspect
import json
import re
import shlex
import tomllib
from html import unescape
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


UNATTENDED = ("judge get", "demo", "view", "monitor serve", "label")
"""Commands that fetch, wait for a key, or do not end: of these only the options are read."""


def run_printed(ask, command: str) -> None:
    """Run a command as it was printed; a number other than 0 (well) and 1 (a finding) is a fault."""
    words = shlex.split(command)[1:]
    if any(f"{' '.join(words)} ".startswith(f"{name} ") for name in UNATTENDED):
        words.append("--help")
    done = ask(*words)
    assert done.code in (0, 1), (command, done.err)


def list_page_commands(page: Path) -> list[str]:
    """The commands on an HTML page."""
    text = page.read_text("utf-8")
    found = re.findall(r"<(?:code|pre|kbd)[^>]*>(ragstone [^<]+)<", text)
    return [*map(unescape, found), *re.findall(r"`(ragstone [^`]*)`", unescape(text))]


def judge_by_words(ask):
    """A judge that nobody measured: a claim is supported when a chunk holds it."""
    if ask.kind == "claims":
        texts = ask.values["texts"]
        return {"claims": [{"text_id": t["id"], "sentence": n, "claim": s} for t in texts for n, s in enumerate(t["sentences"])]}  # fmt: skip
    cases = ask.values["cases"]
    verdict = {"verdict": "not_found", "evidence": [], "reason": ""}
    return {"verdicts": [{"id": claim["id"], **verdict} for c in cases for claim in c["claims"]]}


@pytest.mark.parametrize("language", ["en", pytest.param("es", marks=pytest.mark.slow)])
def test_every_command_on_any_page_runs_as_printed(ask, tmp_path: Path, language: str) -> None:
    """Reports, failures, comparisons, studies of settings, checks of test sets and judges, labels: on screen and as pages."""
    (tmp_path / "strict.py").write_text(inspect.getsource(judge_by_words), "utf-8")
    system = ["--system", "pipeline", "--limit", "8", "--set"]
    metrics = ["-m", "recall,faithfulness,token_f1", "--lang", language]
    judge = ["--judge", "python:strict:judge_by_words"]
    (tmp_path / "bench.yaml").write_text(
        "data: questions.jsonl\nsystem: pipeline\nmetrics: [recall]\n"
        "configurations: {one: {top_k: 1}, two: {top_k: 2}}\n"
    )
    answers = [{"sample": f"en-00{n}", "on": "support", "value": v, "author": a} for n in range(1, 4) for v, a in (("yes", "ana"), ("no", "ben"))]  # fmt: skip
    (tmp_path / "people.jsonl").write_text("\n".join(map(json.dumps, answers)), "utf-8")
    pages = [
        ("eval", "questions.jsonl", *system, "top_k=1", *metrics, "-o", "a.html", "--name", "a"),
        ("eval", "questions.jsonl", *system, "top_k=3", *metrics, *judge, "-o", "b.html", "--name", "b"),
        ("report", "last", "--lang", language),
        ("failures", "last", "--lang", language, "-o", "failures.html"),
        ("diagnose", "last", "--lang", language, "-o", "diagnosis.html"),
        ("compare", "a", "b", "--lang", language, "-o", "compare.html"),
        ("bench", "bench.yaml", "--limit", "6", "--lang", language, "-o", "bench.html"),
        ("ablate", "questions.jsonl", *system[:4], "--vary", "top_k=1,2", "-m", "recall", "--lang", language, "-o", "ablate.html"),
        ("tune", "questions.jsonl", *system[:2], "--held-out", "0.45", "--vary", "top_k=1,2", "--objective", "recall", "--lang", language, "-o", "tune.html"),
        ("testset", "check", "questions.jsonl", "--lang", language),
        ("label", "import", "people.jsonl", "--run", "a"),
        ("label", "agreement"),
        ("judge", "measure", "--labels", "a", "-o", "judges.html"),
    ]  # fmt: skip
    commands: dict[str, set[str]] = {}
    for words in pages:
        done = ask(*words)
        assert done.code in (0, 1), (words, done.err)
        screen = f"{done.out}\n{done.err}"
        said = list_commands(screen) + re.findall(r": (ragstone [a-z].*)$", screen, re.MULTILINE)
        for page in words:
            said += list_page_commands(tmp_path / page) if page.endswith(".html") else []
        for command in said:
            commands.setdefault(command.strip(" ."), set()).add(words[0])
    printing = set().union(*commands.values())
    assert {"eval", "report", "failures", "diagnose", "label"} <= printing
    # commands of a diagnosis that run studies are run by another test
    for command in commands:
        if not re.match(r"ragstone (ablate|tune|judge check)", command):
            run_printed(ask, command)
        else:
            assert complain_of_command(shlex.split(command)[1:]) is None, command


def test_the_command_that_measures_a_judge_runs_as_printed(ask, tmp_path: Path) -> None:
    assert (
        ask(
            "eval", "questions.jsonl", "--system", "pipeline", "-m", "recall,faithfulness", "-q"
        ).code
        == 0
    )
    from ragstone.experiments.run import Run
    from ragstone.report.pages.failures import format_check

    command = format_check(Run.open("last").info, "en")
    assert command is not None
    assert ask(*shlex.split(command)[1:]).code in (0, 1)


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
    while isinstance(command, click.Group) and words:
        below = command.get_command(context, words[0])
        if below is None and command.name == "label":  # `label RUN` is `label run RUN`
            below, words = command.get_command(context, "run"), ["run", *words]
        if below is None and words[0].startswith("-"):
            break
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
        # between back-ticks, or after a colon up to the end
        quoted_commands = re.findall(r"`ragstone ((?:[a-z]+|--?[a-z])[^`]*)`", text)
        for quoted in [*quoted_commands, *re.findall(r": ragstone ([a-z][^`;,.:]*)$", text)]:
            seen += 1
            complaint = complain_of_command(re.sub(r"[…\[\]]", " ", quoted).split())
            if complaint:
                wrong[quoted] = complaint
    assert seen > 30
    assert not wrong
