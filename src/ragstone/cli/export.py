"""Options of `ragstone export`: write a stored run's rows, untouched, with one column per metric, or send it to a tracker."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ragstone.cli.messages import Count, note
from ragstone.cli.options import raw_option, store_option
from ragstone.cli.progress import show_waiting
from ragstone.cli.shared import open_run, write_files
from ragstone.report.formats import RowsFormat
from ragstone.report.rows import export_rows
from ragstone.report.trackers import TRACKERS, send


@click.command("export")
@click.argument("run", default="last")
@click.option(
    "-o",
    "--output",
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
@raw_option
@click.option(
    "--to",
    "trackers",
    type=click.Choice(TRACKERS),
    multiple=True,
    help="Send figures, samples and evidence to a tracker, by its own client. May be repeated.",
)
@click.option(
    "--project",
    metavar="NAME",
    help="The project or experiment of the tracker [default: ragstone].",
)
@store_option
def command(
    run: str,
    output: tuple[str, ...],
    shards: int | None,
    explain: bool,
    raw: bool,
    trackers: tuple[str, ...],
    project: str | None,
    store: str | None,
) -> None:
    """Write the rows of a stored run with one column per metric, or send it to a tracker.

    RUN is its id, the start of its id, its name, or `last` (the default)."""
    if not output and not trackers:
        raise click.UsageError("nothing to do; name a file with -o, or a tracker with --to")
    export_run(run, output, shards=shards, explain=explain, raw=raw, store=store)
    for tracker in trackers:
        with show_waiting(f"sending to {tracker}"):
            place = send(open_run(run, store), tracker, project=project)
        note("sent: {place}", place=place)


def export_run(
    run: str,
    output: Sequence[str],
    *,
    shards: int | None,
    explain: bool,
    raw: bool,
    store: str | None,
) -> None:
    """Write the rows into each file, or as parquet files of `shards` rows into each folder."""
    if shards is not None:
        stored = open_run(run, store).stored
        for path in output:
            count = export_rows(stored, path, rows_per_shard=shards, explain=explain)
            note("wrote {rows} into {path}", rows=Count(count, "row"), path=path)
        return
    for path in output:
        if not path.endswith(RowsFormat.endings):
            raise click.UsageError(
                f"{path!r} is no table of rows; end it in one of {' '.join(RowsFormat.endings)}"
                " (`ragstone report` writes the others)"
            )
    if output:
        write_files(open_run(run, store), output, "en", explain=explain, raw=raw)
