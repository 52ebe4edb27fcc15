"""`ragstone export`: a stored run's rows, untouched, with one column per metric."""

from __future__ import annotations

import click

from ragstone.cli.actions.messages import format_count, note
from ragstone.cli.actions.shared import open_run, write_files
from ragstone.cli.options import store_option

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
@click.option(
    "--shards",
    type=click.IntRange(min=1),
    metavar="N",
    help="Write parquet files of N rows each into the folder that -o names.",
)
@store_option
def command(run: str, output: tuple[str, ...], shards: int | None, store: str | None) -> None:
    """Write the rows of a stored run with one column per metric.

    RUN is its id, the start of its id, its name, or `last` (the default)."""
    if shards is not None:
        from ragstone.report import export

        stored = open_run(run, store).stored
        for path in output:
            count = export.write(stored, path, shards=shards)
            note(f"wrote {format_count(count, 'row')} into {path}")
        return
    for path in output:
        if not path.endswith(EXPORTS):
            raise click.UsageError(
                f"{path!r} is no table of rows; end it in one of {' '.join(EXPORTS)}"
                " (`ragstone report` writes the others)"
            )
    write_files(open_run(run, store), output, "en")
