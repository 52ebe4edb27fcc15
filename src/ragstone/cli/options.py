"""Options that several commands share, and the lines they say on stderr."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ragstone.report.formats import describe_unknown, list_endings

if TYPE_CHECKING:
    from ragstone.analysis.summary import Summary
    from ragstone.experiments.run import Run

F = TypeVar("F", bound=Callable[..., Any])


def store_option(function: F) -> F:
    """`--store`: where runs are kept."""
    option = click.option(
        "--store",
        metavar="PLACE",
        help="File or URL where runs are kept [default: $RAGSTONE_STORE, or the user's data folder].",
    )
    return option(function)


def output_option(kind: str, default: str = "", what: str = "Write a file") -> Callable[[F], F]:
    """`-o`: the files that a kind of report is written to; the registry of formats knows their endings."""
    return click.option(
        "-o",
        "--output",
        multiple=True,
        metavar="FILE",
        help=f"{what}: {' '.join(list_endings(kind))}. May be repeated.{default and f' Default: {default}.'}",
    )


def check_outputs(kind: str, paths: Sequence[str]) -> None:
    """Complain of files that could not be written before anything is read."""
    for path in paths:
        if Path(path).suffix.lower() not in list_endings(kind):
            raise click.UsageError(describe_unknown(kind, path))
        if not Path(path).parent.is_dir():
            raise click.UsageError(f"there is no folder {str(Path(path).parent)!r} for {path!r}")


def reading_options(function: F) -> F:
    """How the rows of a data file are read."""
    for option in (
        click.option("--skip-bad-rows", is_flag=True, help="Leave out rows that cannot be read, and count them."),
        click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N samples."),
        click.option("--field", "fields", multiple=True, metavar="FIELD=WHERE",
                     help="Where a field stands in a row: answer=output.text. May be repeated."),
        click.option("--format", "format", metavar="FORMAT", help="The shape of the rows, when it is not detected."),
    ):  # fmt: skip
        function = option(function)
    return function


def note(text: str, *, quiet: bool = False) -> None:
    """A line for the person at the terminal; results go to stdout, this does not."""
    if not quiet:
        click.echo(text, err=True)


def counted(number: int, thing: str) -> str:
    """`1 sample`, `1,200 samples`."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def open_run(name: str, store: str | None) -> Run:
    """A stored run by id, start of its id, name or `last`."""
    from ragstone.experiments.run import Run

    return Run.open(name, store=store)


def write_files(run: Run, paths: Sequence[str], language: str, *, quiet: bool = False) -> None:
    """Write each file in the format of its extension, and say so."""
    from ragstone.cli.progress import waiting

    for path in paths:
        with waiting(f"writing {path}", quiet=quiet):
            run.write(path, language=language)
        note(f"wrote {path}", quiet=quiet)


def summed_up(run: Run, *, quiet: bool = False) -> Summary:
    """The run's summary, with a sign of life while a large one is read."""
    from ragstone.cli.progress import waiting

    with waiting(f"summing up {run.info.name}", quiet=quiet):
        return run.summary()


def known_language(wanted: str | None) -> str | None:
    """The language asked for, if reports are written in it; a mistake if they are not."""
    from ragstone.text.language import LANGUAGES

    if wanted is None or wanted.split("-")[0].lower() in LANGUAGES:
        return wanted and report_language(wanted)
    raise click.UsageError(f"no reports in {wanted!r}; give --lang {' or '.join(LANGUAGES)}")


def report_language(*wanted: str | None) -> str:
    """The first of these that reports are written in, else English."""
    from ragstone.text.language import LANGUAGES

    short = (text.split("-")[0].lower() for text in wanted if text)
    return next((text for text in short if text in LANGUAGES), "en")
