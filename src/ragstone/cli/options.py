"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from ragstone.report.formats import describe_unknown, list_endings

F = TypeVar("F", bound=Callable[..., Any])


def store_option(function: F) -> F:
    """`--store`: where runs are kept."""
    option = click.option(
        "--store",
        metavar="PLACE",
        help="File or URL where runs are kept [default: $RAGSTONE_STORE, or the user's data folder].",
    )
    return option(function)


def raw_option(function: F) -> F:
    """`--raw`: CSV for programs instead of spreadsheets."""
    option = click.option(
        "--raw",
        is_flag=True,
        help="Write cells of CSV that a spreadsheet would execute without a quote in front.",
    )
    return option(function)


def labels_option(function: F) -> F:
    """`--labels`: a file of labels that is read into the store first."""
    option = click.option(
        "--labels",
        metavar="FILE",
        help="Labels of people on the samples, read into the store first; those of the store always count.",
    )
    return option(function)


def details_option(function: F) -> F:
    """`--details`: more than the first screen."""
    option = click.option(
        "--details",
        is_flag=True,
        help="Also print samples, percentiles, exclusions and how the figures were found.",
    )
    return option(function)


def judge_options(what: str) -> Callable[[F], F]:
    """`--judge` with `--base-url` and `--small`, which reach the command as one value: a name, or settings."""

    def decorate(function: F) -> F:
        @wraps(function)
        def with_judge(
            *args: Any, judge: str | None, base_url: str | None, small: bool, **flags: Any
        ) -> Any:
            return function(*args, judge=_join_judge(judge, base_url, small=small), **flags)

        decorated: Any = with_judge
        # the option applied last is listed first in `--help`
        for option in (
            click.option("--small", is_flag=True, help="The judge is a small model: one short question a claim."),
            click.option("--base-url", metavar="URL", help="Where the judge's server listens."),
            click.option("--judge", metavar="JUDGE", help=what),
        ):  # fmt: skip
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


def _join_judge(
    judge: str | None, base_url: str | None, *, small: bool
) -> str | dict[str, Any] | None:
    given: dict[str, Any] = {"base_url": base_url} if base_url else {}
    if small:
        given["small"] = True
    if given and judge is None:
        raise click.UsageError("--base-url and --small say more of a judge; name it with --judge openai:MODEL")  # fmt: skip
    return {"model": judge, **given} if given else judge


def output_option(kind: str, default: str = "", what: str = "Write a file") -> Callable[[F], F]:
    """`-o`: the files that a kind of report (as report.formats registers it) is written to.

    `default` says what is printed without `-o`; `what` starts the help line."""
    return click.option(
        "-o",
        "--output",
        multiple=True,
        metavar="FILE",
        help=f"{what}: {' '.join(list_endings(kind))}. May be repeated.{default and f' Default: {default}.'}",
    )


def check_outputs(kind: str, paths: Sequence[str]) -> None:
    """Raise a usage error for a file that could not be written, before anything is read."""
    for path in paths:
        # Endings come from the registry of report formats: a new one needs no change here.
        if Path(path).suffix.lower() not in list_endings(kind):
            raise click.UsageError(describe_unknown(kind, path))
        for error in complain_of_folder(Path(path)):
            raise click.UsageError(error)


def complain_of_folder(path: Path) -> list[str]:
    """One sentence if the folder of a file cannot be created or written into, else nothing.

    A missing folder is no error: it is created when the file is written."""
    folder = path.resolve().parent
    while not folder.exists():
        folder = folder.parent
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
        return []
    what = "is not writable" if folder.is_dir() else "is a file, not a folder"
    return [f"cannot write {str(path)!r}: {str(folder)!r} {what}"]


def reading_options(function: F) -> F:
    """How the rows of a data file are read."""
    # The option applied last is listed first in `--help`.
    for option in (
        click.option("--skip-bad-rows", is_flag=True, help="Leave out rows that cannot be read, and count them."),
        click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Read only the first N samples."),
        click.option("--field", "fields", multiple=True, metavar="FIELD=WHERE",
                     help="Map a field to a column or path: answer=output.text. May be repeated."),
        click.option("--format", "format", metavar="FORMAT", help="The shape of the rows, when it is not detected."),
    ):  # fmt: skip
        function = option(function)
    return function


primary_option = click.option(
    "--primary",
    metavar="METRIC",
    help="The metric that decides; it is tested outside the others [default: that of the first gate].",
)
correction_option = click.option(
    "--correction",
    type=click.Choice(["bonferroni", "holm", "bh", "none"]),
    default="bonferroni",
    show_default=True,
    help="For how many differences are shown: Bonferroni, Holm, Benjamini-Hochberg or none.",
)


def parse_worker_count(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> int | None:
    """Parse `--workers`: a number of processes, or `auto`, which is 0."""
    if value is None or (value.isdecimal() and int(value) > 0):
        return None if value is None else int(value)
    if value.strip().lower() == "auto":
        return 0
    raise click.BadParameter(f"{value!r} is no number of processes; give one from 1, or auto")
