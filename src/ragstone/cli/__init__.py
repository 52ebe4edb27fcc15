"""The command line: one file per command, loaded when it is called, so that `--help` imports only click."""

from __future__ import annotations

import codecs
import errno
import gc
import importlib
import io
import keyword
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import click

from ragstone._version import __version__

GROUPS: dict[str, dict[str, str]] = {
    "Evaluate": {
        "demo": "Evaluate, diagnose and compare two versions of a shop's assistant.",
        "init": "Write a config, a CI job and a .gitignore line for the data at hand.",
        "eval": "Score a data set with metrics: how good is the system?",
        "report": "Write the report of a stored run as a page, table or file.",
        "runs": "List, show or delete the stored runs.",
        "view": "Look at all runs in a browser: over time, side by side, sample by sample; and label them.",
    },
    "Compare and improve": {
        "compare": "Compare runs: which is better, and is that more than chance?",
        "bench": "Run named configurations on one test set and compare them.",
        "ablate": "Run a grid of a system's settings and say what each of them does.",
        "tune": "Search for better settings of a system, and report the best on questions that the search never saw.",
        "failures": "Explain why samples fail, and where they fail most.",
        "diagnose": "Suggest what is wrong with a run, likely causes and what to try.",
        "plan": "Estimate how many questions it takes to detect a difference.",
    },
    "Test sets and labels": {
        "generate": "Make a test set: of what documents ask, of what people asked, or of what a model writes.",
        "testset": "Judge a test set: what is wrong with it, where it comes from, and how it differs from its last version.",
        "label": "Label a run with the keyboard; import, export and compare labels of people.",
    },
    "Production": {
        "monitor": "Monitor a live system: log interactions, measure quality by window, alert on drops.",
        "mcp": "Give a coding assistant tools to read runs, failures and comparisons.",
    },
    "Judges and metrics": {
        "judge": "Show the prompts, or check whether a judge is reliable.",
        "metrics": "List the metrics, or explain one.",
    },
    "Scale and store": {
        "slurm": "Write, submit, inspect or cancel the Slurm job of a run.",
        "store": "Check the store for damage, or bring one of an earlier version up to date.",
        "import": "Turn a file in any known format into ragstone's own.",
        "export": "Write the rows of a stored run with one column per metric, or send it to a tracker.",
        "doctor": "Say what is installed and whether store and judge can be used.",
    },
}
"""Every command with its line in `ragstone --help`, by what one wants; its code is the file of that name (`import` → import_)."""

COMMANDS = {name: line for group in GROUPS.values() for name, line in group.items()}

FORMER_NAMES = {"labels": "label"}
"""What commands were called in earlier versions; scripts still use it."""


YOUNG_OBJECTS = 50_000
"""New objects between two garbage collections. By Python's own 700, a tenth of a short command goes into looking through
the modules it has just imported."""


class _PipeClosed(Exception):
    """The reader of our output went away (`| head`)."""


@contextmanager
def _translate_broken_pipe() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # click would exit 1, which means "a gate was missed" here
        raise _PipeClosed from None


class LazyCommands(click.Group):
    """A group that imports a command's file only when the command is called, and suggests the nearest name.

    `lines` has the first line of each command's help by heading; the file of a command is called as it is."""

    def __init__(
        self, *args: Any, package: str = "", lines: Mapping[str, Mapping[str, str]], **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self._package = package
        self._lines = lines

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for commands in self._lines.values() for name in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        # Every command file calls its click object `command`; nothing else of it is read here.
        file = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        command: click.Command = importlib.import_module(f"{self._package}.{file}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from ragstone.errors import suggest_nearest

        names = self.list_commands(ctx)
        args = [FORMER_NAMES.get(args[0], args[0]), *args[1:]] if args else args
        if args and args[0] not in names and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0]!r}{suggest_nearest(args[0], names)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in self._lines.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))

    # `--help` prints while the context is made, the commands while they are invoked: both can lose
    # their reader.
    def make_context(self, *args: Any, **more: Any) -> click.Context:
        with _translate_broken_pipe():
            return super().make_context(*args, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with _translate_broken_pipe():
            return super().invoke(ctx)


@click.group(
    cls=LazyCommands,
    package="ragstone.cli",
    lines=GROUPS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: ragstone demo",
)
@click.version_option(__version__, prog_name="ragstone", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an unexpected error.")
@click.option(
    "--lang",
    type=click.Choice(["en", "es"]),
    help="Language of reports [default: that of the system].",
)
@click.pass_context
def ragstone(context: click.Context, debug: bool, lang: str | None) -> None:
    """Say how good a RAG system is, where it fails and why."""
    if lang is not None:
        context.with_resource(_set_language(lang))


@contextmanager
def _set_language(language: str) -> Iterator[None]:
    """Let the command write its reports in a language, unless its own `--lang` says another."""
    before = os.environ.get("RAGSTONE_LANG")
    os.environ["RAGSTONE_LANG"] = language
    try:
        yield
    finally:
        del os.environ["RAGSTONE_LANG"]
        if before is not None:
            os.environ["RAGSTONE_LANG"] = before


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    signal.signal(signal.SIGTERM, _stop_like_ctrl_c)
    gc.set_threshold(YOUNG_OBJECTS)
    codecs.register_error("ragstone", _spell_out)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # neither closed nor somebody's own
            stream.reconfigure(errors="ragstone")
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


_SIGNS = {
    "✓": "+", "✗": "x", "→": "->", "←": "<-", "≥": ">=", "≤": "<=", "…": "...", "–": "-", "−": "-", "—": "-",
    "·": "*", "×": "x", "÷": "/", "Σ": "sum", "µ": "u",
}  # fmt: skip


def _spell_out(error: UnicodeError) -> tuple[str, int]:
    """What a console without UTF-8, as of Windows, prints instead of a sign that it lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(
        _SIGNS.get(sign, "?") for sign in error.object[error.start : error.end]
    ), error.end


def _stop_like_ctrl_c(number: int, frame: object) -> None:
    """Treat SIGTERM as Ctrl-C: what is scored is kept, and the line to resume is printed."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background by a shell
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)  # an event loop has its own way to end


def run(arguments: list[str]) -> int:
    """Run one command; its exit code. A user's mistake is one sentence on stderr."""
    with warnings.catch_warnings():
        warnings.showwarning = _print_warning
        return _run(ragstone, arguments)


def _print_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int,
    file: TextIO | None = None, line: str | None = None,
) -> None:  # fmt: skip
    """A metric's foreign name as one line for the person at the terminal; other warnings as Python shows them."""
    from ragstone.registry.aliases import AliasWarning

    if issubclass(category, AliasWarning):
        _print_labelled("note", "yellow", str(message))
    else:
        click.echo(warnings.formatwarning(message, category, filename, lineno), err=True, nl=False)


def _run(program: click.Command, arguments: list[str]) -> int:
    try:
        # The typed words reach the commands as the root context's `obj`: `eval` stores them with a run, for its report.
        words = tuple(arguments)
        # Not standalone: click would end the process with codes of its own, and print mistakes in
        # several lines.
        result = program.main(arguments, prog_name="ragstone", standalone_mode=False, obj=words)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except (_PipeClosed, BrokenPipeError):
        # what is still buffered cannot be written, and must not complain at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # 128 + SIGPIPE, as a shell reports a program that died of it.
        return 141
    except click.ClickException as bad:
        if isinstance(bad, _NO_ARGUMENTS) and bad.ctx is not None:  # `ragstone monitor` alone
            click.echo(bad.ctx.get_help())
            return 0
        return _report_usage_error(bad)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        # 128 + SIGINT.
        return 130
    except Exception as bad:
        return _report_error(bad, arguments)


_NO_ARGUMENTS = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""What click 8.2 and later raise for a group without a command; earlier ones print the help themselves."""


def _report_usage_error(bad: click.ClickException) -> int:
    command = bad.ctx.command_path if isinstance(bad, click.UsageError) and bad.ctx else None
    hint = f" (see {command} --help)" if command else ""
    return _print_error(" ".join(bad.format_message().split()).rstrip(".") + hint, 2)


def _report_error(bad: Exception, arguments: list[str]) -> int:
    from ragstone.errors import ConfigError, Interrupted, RagstoneError

    # Only in front of the command: behind it, `--debug` may be a value or an option of the command.
    debug = "--debug" in arguments[:1]
    if debug:
        import traceback

        traceback.print_exception(bad)
    if isinstance(bad, ConfigError) and len(bad.complaints) > 1:
        lines = [f"{len(bad.complaints)} mistakes:", *bad.complaints]
        return _print_error("\n  ".join(lines), bad.exit_code)
    if isinstance(bad, Interrupted):  # the user's wish, not an error
        click.echo(str(bad), err=True)
        return bad.exit_code
    if isinstance(bad, RagstoneError):
        return _print_error(str(bad), bad.exit_code)
    if isinstance(bad, OSError) and bad.errno == errno.ENOSPC:
        return _print_error("the disk is full; free some space and run the command again, with --resume where it has it", 2)  # fmt: skip
    how = "" if debug else f"; run `ragstone --debug {' '.join(arguments[:1])} …` for the traceback"
    what = " ".join(f"{type(bad).__name__}: {bad}".split())
    # 70 is EX_SOFTWARE: CI can tell our fault from a missed gate (1), bad input (2) and too few
    # scores (3).
    return _print_error(f"this is a fault in ragstone, please report it: {what}{how}", 70)


def _print_error(sentence: str, code: int) -> int:
    _print_labelled("error", "red", sentence)
    return code


def _print_labelled(label: str, colour: str, sentence: str) -> None:
    click.echo(f"{click.style(label, fg=colour)}: {sentence}", err=True)
