"""`ragstone diagnose`: what is wrong, why perhaps, and what to try."""

from __future__ import annotations

from pathlib import Path

import click

from ragstone.cli.actions.shared import choose_language, open_run, summarise_run
from ragstone.cli.failures import limits, write
from ragstone.cli.options import check_outputs, output_option, store_option


@click.command("diagnose")
@click.argument("run", default="last")
@click.option(
    "--advice",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="More symptoms and advice, as YAML (see the docs). May be repeated.",
)
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="CLASS=LIMIT",
    help="When a sample is of a failure class, as in `ragstone failures`. May be repeated.",
)
@output_option("failures", "text here", "Write a file with the failures too")
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@store_option
def command(
    run: str,
    files: tuple[str, ...],
    thresholds: tuple[str, ...],
    output: tuple[str, ...],
    language: str | None,
    store: str | None,
) -> None:
    """Say what is wrong with a run, why perhaps, and what to try.

    RUN is its id, the start of its id, its name, or `last` (the default)."""
    from ragstone.analysis.advice import load_symptoms
    from ragstone.analysis.diagnose import diagnose
    from ragstone.analysis.failures import analyse_failures

    check_outputs("failures", output)
    symptoms = load_symptoms([(Path(file).read_text(encoding="utf-8"), file) for file in files])
    opened = open_run(run, store)
    failures = analyse_failures(opened.stored, thresholds=limits(thresholds))
    found = diagnose(opened.stored, summarise_run(opened), failures, symptoms)
    spoken = choose_language(language, opened.info.plan.language)
    if not output:
        from rich.console import Console

        from ragstone.report.builders.failures import build_symptoms
        from ragstone.report.render import terminal

        terminal.show(build_symptoms(found, spoken), Console())
    write(failures, found, opened.stored, output, spoken)
