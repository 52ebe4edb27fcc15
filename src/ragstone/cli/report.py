"""Options of `ragstone report`: a stored run as a page, a table or a file."""

from __future__ import annotations

import click

from ragstone.cli.options import details_option, labels_option, output_option, store_option


@click.command("report")
@click.argument("run", default="last")
@output_option("run", "a table here")
@details_option
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@labels_option
@store_option
def command(
    run: str,
    output: tuple[str, ...],
    language: str | None,
    labels: str | None,
    store: str | None,
    details: bool,
) -> None:
    """Write the report of a stored run as a page, table or file.

    RUN is its id, the start of its id, its name, or `last` (the default)."""
    from ragstone.cli.actions.report import report_run

    report_run(run, output, language, labels, store, details)
