"""`ragstone export`: a stored run's rows, untouched, with one column per metric."""

from __future__ import annotations

import click

from ragstone.cli.options import open_run, store_option, write_files

EXPORTS = (".jsonl", ".json", ".csv", ".parquet")


@click.command("export")
@click.argument("run", default="last")
@click.option(
    "-o",
    "--output",
    required=True,
    multiple=True,
    metavar="FILE",
    help="The file to write: .jsonl .json .csv .parquet. May be repeated.",
)
@store_option
def command(run: str, output: tuple[str, ...], store: str | None) -> None:
    """Write the rows of a stored run with one column per metric.

    RUN is its id, the start of its id, its name, or `last` (the default)."""
    for path in output:
        if not path.endswith(EXPORTS):
            raise click.UsageError(
                f"{path!r} is no table of rows; end it in one of {' '.join(EXPORTS)}"
                " (`ragstone report` writes the others)"
            )
    write_files(open_run(run, store), output, "en")
