"""`ragstone failures`: why samples fail, and where."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.actions.messages import note
from ragstone.cli.actions.shared import choose_language, open_run
from ragstone.cli.options import store_option

if TYPE_CHECKING:
    from ragstone.analysis.diagnose import Diagnosis
    from ragstone.analysis.failures import Failures
    from ragstone.store import StoredRun


@click.command("failures")
@click.argument("run", default="last")
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="CLASS=LIMIT",
    help="When a sample is of a class: hallucination=0.9, or by metric: recall=0.3. May be repeated.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="FIELD",
    help="Break down by this field of meta, language or group [default: all]. May be repeated.",
)
@click.option(
    "-o",
    "--output",
    multiple=True,
    metavar="FILE",
    help="Write a file: .html .md .json .svg .png. May be repeated. Default: tables here.",
)
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@store_option
def command(
    run: str,
    thresholds: tuple[str, ...],
    by: tuple[str, ...],
    output: tuple[str, ...],
    language: str | None,
    store: str | None,
) -> None:
    """Say why samples fail, and where they fail more than elsewhere.

    RUN is its id, the start of its id, its name, or `last` (the default)."""
    from ragstone.analysis.failures import analyse
    from ragstone.cli.actions.progress import show_waiting

    check_outputs(output)
    found = open_run(run, store).stored
    with show_waiting("looking at every sample"):
        failures = analyse(found, thresholds=limits(thresholds), by=by or None)
    spoken = choose_language(language, found.info.plan.language)
    if not output:
        from rich.console import Console

        from ragstone.report.failures import terminal

        terminal.show(failures, found, Console(), spoken)
    write(failures, None, found, output, spoken)


def limits(thresholds: Sequence[str]) -> dict[str, float]:
    """`hallucination=0.9` and the like, read."""
    found = {}
    for text in thresholds:
        name, equals, value = text.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise click.UsageError(f"{text!r} is no threshold; write it as hallucination=0.9")
    return found


def check_outputs(paths: Sequence[str]) -> None:
    """Complain of files that could not be written before anything is read."""
    from ragstone.report.failures import ENDINGS

    for path in paths:
        if Path(path).suffix.lower() not in ENDINGS:
            raise click.UsageError(
                f"{path!r} names no format of this report; end it in one of {' '.join(ENDINGS)}"
            )


def write(
    failures: Failures,
    diagnoses: Sequence[Diagnosis] | None,
    run: StoredRun,
    paths: Sequence[str],
    language: str,
) -> None:
    """Write each file in the format of its extension, and say so."""
    from ragstone.report import failures as report

    for path in paths:
        report.write(failures, diagnoses, run, path, language)
        note(f"wrote {path}")
