"""Options of `ragstone diagnose`: what is wrong with a run, likely causes, and what to try."""

from __future__ import annotations

import click

from ragstone.cli.options import details_option, output_option, store_option


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
@details_option
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@store_option
def command(
    run: str,
    files: tuple[str, ...],
    thresholds: tuple[str, ...],
    output: tuple[str, ...],
    language: str | None,
    store: str | None,
    details: bool,
) -> None:
    """Suggest what is wrong with a run, likely causes and what to try.

    RUN is its id, the start of its id, its name, or `last` (the default)."""
    from ragstone.cli.failures import show_diagnosis

    show_diagnosis(run, files, thresholds, output, language, store, details)
