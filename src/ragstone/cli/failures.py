"""Options of `ragstone failures`: why samples fail, and where."""

from __future__ import annotations

import click

from ragstone.cli.options import details_option, output_option, store_option


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
    "--limits",
    type=click.Choice(["classic"]),
    help="Usual fixed limits instead of measured ones, for judges that say yes or no.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="FIELD",
    help="Break down by this field of meta, language or group [default: all]. May be repeated.",
)
@output_option("failures", "tables here")
@details_option
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@store_option
def command(
    run: str,
    thresholds: tuple[str, ...],
    limits: str | None,
    by: tuple[str, ...],
    output: tuple[str, ...],
    language: str | None,
    store: str | None,
    details: bool,
) -> None:
    """Explain why samples fail, and where they fail most.

    RUN is its id, the start of its id, its name, or `last` (the default)."""
    from ragstone.cli.actions.failures import show_failures

    show_failures(run, thresholds, limits, by, output, language, store, details)
