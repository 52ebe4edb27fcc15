"""`ragstone export`: write a stored run's rows with their scores, or send it to trackers."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ragstone.cli.actions.messages import Count, note
from ragstone.cli.actions.progress import show_waiting
from ragstone.cli.actions.shared import open_run, write_files
from ragstone.report.formats import RowsFormat
from ragstone.report.rows import export_rows
from ragstone.report.trackers import send


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


def send_to_trackers(
    run: str, trackers: Sequence[str], *, project: str | None, store: str | None
) -> None:
    """Send the run to each tracker, and say where it is there."""
    for tracker in trackers:
        with show_waiting(f"sending to {tracker}"):
            place = send(open_run(run, store), tracker, project=project)
        note("sent: {place}", place=place)
