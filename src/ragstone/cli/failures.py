"""`ragstone failures`: why samples fail, and where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ragstone.cli.actions.messages import note
from ragstone.cli.actions.shared import choose_language, open_run
from ragstone.cli.options import check_outputs, output_option, store_option

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
@output_option("failures", "tables here")
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
    from ragstone.analysis.failures import analyse_failures
    from ragstone.cli.actions.progress import show_waiting

    check_outputs("failures", output)
    found = open_run(run, store).stored
    with show_waiting("looking at every sample"):
        failures = analyse_failures(found, thresholds=limits(thresholds), by=by or None)
    spoken = choose_language(language, found.info.plan.language)
    if not output:
        from rich.console import Console

        from ragstone.report.builders.failures import FailureReport
        from ragstone.report.render import terminal

        terminal.show(FailureReport(failures, None, found, spoken).document(), Console())
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


def write(
    failures: Failures,
    diagnoses: Sequence[Diagnosis] | None,
    run: StoredRun,
    paths: Sequence[str],
    language: str,
) -> None:
    """Write each file in the format of its extension, and say so."""
    from ragstone.report.builders.failures import FailureReport
    from ragstone.report.formats import write_report

    for path in paths:
        write_report(FailureReport(failures, diagnoses, run, language), path)
        note(f"wrote {path}")
