"""`ragstone report`: a stored run as a page, a table or a file."""

from __future__ import annotations

import click

from ragstone.cli.options import (
    known_language,
    open_run,
    output_option,
    report_language,
    store_option,
    summed_up,
    write_files,
)


@click.command("report")
@click.argument("run", default="last")
@output_option("run", "a table here")
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@store_option
def command(run: str, output: tuple[str, ...], language: str | None, store: str | None) -> None:
    """Write the report of a stored run as a page, table or file.

    RUN is its id, the start of its id, its name, or `last` (the default)."""
    found = open_run(run, store)
    spoken = known_language(language) or report_language(found.info.plan.get("language"))
    if not output:
        from ragstone.cli.eval import show_summary

        show_summary(summed_up(found), spoken)
    write_files(found, output, spoken)
