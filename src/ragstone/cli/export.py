"""Options of `ragstone export`: write a stored run's rows, untouched, with one column per metric."""

from __future__ import annotations

import click

from ragstone.cli.options import store_option
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
@click.option(
    "--explain",
    is_flag=True,
    help="Also write claims, verdicts and quotes, in a column per metric.",
)
@store_option
def command(
    run: str, output: tuple[str, ...], shards: int | None, explain: bool, store: str | None
) -> None:
    """Write the rows of a stored run with one column per metric.

    RUN is its id, the start of its id, its name, or `last` (the default)."""
    from ragstone.cli.actions.export import export_run

    export_run(run, output, shards=shards, explain=explain, store=store)
