"""The door of the command line: what it imports, how it fails, what it exits with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import ragstone.cli
from ragstone._version import __version__
from ragstone.cli import COMMANDS
from ragstone.cli import ragstone as group
from ragstone.cli.judge import COMMANDS as JUDGE_COMMANDS
from ragstone.cli.label import COMMANDS as LABEL_COMMANDS
from ragstone.cli.monitor import COMMANDS as MONITOR_COMMANDS
from ragstone.errors import ConfigError, StoreError

GROUPS = {"judge": JUDGE_COMMANDS, "label": LABEL_COMMANDS, "monitor": MONITOR_COMMANDS}

SHOW_MODULES = """
import sys
before = set(sys.modules)
from ragstone.cli import run
code = run(sys.argv[1:])
import json
print("\\n" + json.dumps(sorted({name.split(".")[0] for name in set(sys.modules) - before})))
"""


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_only_click(arguments):
    done = subprocess.run(
        [sys.executable, "-c", SHOW_MODULES, *arguments], capture_output=True, text=True, check=True
    )
    modules = set(json.loads(done.stdout.splitlines()[-1]))
    foreign = {name for name in modules if name not in sys.stdlib_module_names}
    # colorama is click's own; an editable install's finder is the environment's
    assert foreign - {"colorama"} == {"click", "ragstone"}
    assert "asyncio" not in modules


def test_a_quiet_run_without_a_judge_imports_nothing_that_it_does_not_use(tmp_path):
    data = tmp_path / "data.jsonl"
    data.write_text('{"question": "q", "answer": "a b", "reference": "a"}\n')
    code = (
        "import sys; from ragstone.cli import run; code = run(sys.argv[1:]); print(*sys.modules)\n"
        "raise SystemExit(code)"
    )
    command = ["eval", str(data), "-m", "token_f1", "-q", "--store", str(tmp_path / "s.db")]
    done = subprocess.run(
        [sys.executable, "-c", code, *command], capture_output=True, text=True, check=True
    )
    unused = {"rich", "aiohttp", "yaml", "ragstone.report.html", "ragstone.systems"}
    unused |= {"ragstone.labels", "ragstone.judges.scale", "ragstone.analysis.cascade"}
    assert not unused & set(done.stdout.split())


def test_every_command_is_listed_with_its_own_first_line(call):
    ctx = click.Context(group)
    shown = call("--help").out
    for name, line in COMMANDS.items():
        command = group.get_command(ctx, name)
        assert command is not None
        assert (command.help or "").split("\n\n")[0].replace("\n", " ") == line
        assert f"  {name} " in shown
        assert line in " ".join(shown.split())


def test_every_file_with_a_command_is_in_the_table():
    folder = Path(ragstone.cli.__file__).parent
    for place, names in {"": COMMANDS, **GROUPS}.items():
        found = {
            (path.parent.name if path.stem == "__init__" else path.stem).removesuffix("_")
            for path in (
                *(folder / place).glob("*.py"),
                *(() if place else folder.glob("*/__init__.py")),
            )
            if "\ndef command(" in path.read_text(encoding="utf-8")
            and (path.stem != "__init__" or not place)
        }
        assert found == set(names)


@pytest.mark.parametrize("name", [f"{group} {name}" for group in GROUPS for name in GROUPS[group]])
def test_every_command_of_a_group_is_listed_with_its_first_line(call, name):
    group, name = name.split()
    listed = " ".join(call(group, "--help").out.split())
    shown = " ".join(call(group, name, "--help").out.split())
    assert (
        GROUPS[group][name] in shown or GROUPS[group][name].removesuffix(" (the default).") in shown
    )
    assert f"{name} {GROUPS[group][name]}" in listed


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_explains_itself_in_short_lines(call, name):
    result = call(name, "--help")
    assert result.code == 0
    assert result.out.startswith(f"Usage: ragstone {name}")


@pytest.mark.parametrize(
    ("words", "wanted"), [("ragstone ev", "eval"), ("ragstone eval --ski", "--skip-bad-rows")]
)
def test_shells_complete_commands_and_options(words, wanted):
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "ragstone"],
        env={**os.environ, **asked, "_RAGSTONE_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert wanted in done.stdout


def test_version(call):
    assert call("--version").out == f"ragstone {__version__}\n"


def test_python_m_is_the_same_program():
    done = subprocess.run(
        [sys.executable, "-m", "ragstone", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"ragstone {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["evla"], "no command 'evla'; did you mean 'eval'?"),
        (["--colour"], "--colour"),
        (["eval", "--limt", "3"], "--limit"),
        (["eval", "x.jsonl", "--limit", "0"], "0 is not in the range x>=1"),
        (["eval", "x.jsonl", "--floor", "2"], "--floor"),
        (["eval"], "no data; name a file"),
        (["eval", "a.jsonl", "b.jsonl"], "2 data files"),
        (["eval", "--preds", "a.json"], "add --refs FILE"),
        (["eval", "--refs", "a.json"], "add --preds FILE"),
        (["export", "last"], "name a file with -o, or a tracker with --to"),
        (["export", "last", "-o", "x.html"], "'x.html' is no table of rows"),
    ],
)
def test_a_wrong_call_is_one_sentence_and_exit_2(call, arguments, said):
    result = call(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert said in result.err
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err


def failing(monkeypatch, error: BaseException):
    @click.command("metrics")
    def command() -> None:
        raise error

    monkeypatch.setattr("ragstone.cli.metrics.command", command)


def test_a_users_mistake_has_no_traceback(call, monkeypatch):
    failing(monkeypatch, StoreError("the store is locked; try again"))
    result = call("metrics")
    assert (result.code, result.err) == (2, "error: the store is locked; try again\n")


def test_several_mistakes_are_listed(call, monkeypatch):
    failing(monkeypatch, ConfigError(["c.yaml:1: a", "c.yaml:2: b"]))
    assert call("metrics").err == "error: 2 mistakes:\n  c.yaml:1: a\n  c.yaml:2: b\n"


def test_a_fault_of_ours_asks_to_be_reported(call, monkeypatch):
    failing(monkeypatch, KeyError("x"))
    result = call("metrics")
    assert result.code == 70
    assert "please report it" in result.err
    assert "KeyError" in result.err
    assert "ragstone --debug metrics" in result.err
    assert "Traceback" not in result.err
    loud = call("--debug", "metrics")
    assert loud.code == 70
    assert "Traceback" in loud.err


def test_ctrl_c_exits_130(call, monkeypatch):
    failing(monkeypatch, KeyboardInterrupt())
    result = call("metrics")
    assert result.code == 130
    assert "Traceback" not in result.err


@pytest.mark.parametrize("arguments", [["metrics", "--json"], ["metrics"], ["--help"]])
def test_a_closed_pipe_is_quiet(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "ragstone", *arguments],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("group", ["", "monitor", "judge", "testset", "slurm"])
def test_a_group_without_a_command_prints_its_help(call, group):
    done = call(*group.split())
    assert done.code == 0
    assert ("Commands" if group else "Compare and improve:") in done.out
    assert not done.err
