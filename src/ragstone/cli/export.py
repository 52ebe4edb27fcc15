"""`ragstone export`: a stored run's rows, untouched, with one column per metric."""

from __future__ import annotations

import click

from ragstone.cli.options import counted, note, open_run, store_option, write_files
from ragstone.report.formats import RowsFormat


@click.command("export")
@click.argument("run", default="last")
@click.option(
    "-o",
    "--output",
    required=True,
    multiple=True,
    metavar="FILE",
    help=f"The file to write: {' '.join(RowsFormat.endings)}. May be repeated.",
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
        from ragstone.report.render.rows import export_rows

        stored = open_run(run, store).stored
        for path in output:
            count = export_rows(stored, path, shards=shards)
            note(f"wrote {counted(count, 'row')} into {path}")
        return
    for path in output:
        if not path.endswith(RowsFormat.endings):
            raise click.UsageError(
                f"{path!r} is no table of rows; end it in one of {' '.join(RowsFormat.endings)}"
                " (`ragstone report` writes the others)"
            )
    write_files(open_run(run, store), output, "en")
