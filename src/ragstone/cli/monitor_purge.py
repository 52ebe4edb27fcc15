"""`ragstone monitor purge`: forget."""

from __future__ import annotations

import click

from ragstone.cli.options import counted, note, store_option


@click.command("purge")
@click.option("--before", metavar="AGE|TIME", help="Older than this: 90d, 2026-01-31, 2026-01-31T12:00:00Z.")  # fmt: skip
@click.option("--id", "ids", multiple=True, metavar="ID", help="The interaction with this id. May be repeated.")  # fmt: skip
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@store_option
def command(before: str | None, ids: tuple[str, ...], yes: bool, store: str | None) -> None:
    """Forget interactions by age or by id.

    With them go their feedback, scores and spans; with --id also every reply of a judge that the monitor keeps, because
    replies quote the texts they are about. Roll-ups are computed anew from what is left."""
    from ragstone.cli.progress import Bar
    from ragstone.errors import DataError
    from ragstone.monitor import Archive
    from ragstone.monitor.interactions import iso, micros
    from ragstone.monitor.rollups.refresh import refresh
    from ragstone.monitor.windows.summary import duration, moment_of
    from ragstone.store import Store

    if (before is None) == (not ids):
        raise click.UsageError("give either --before or --id")
    archive = Archive(Store.open(store, must_exist=True))
    if before is None:
        what = counted(len(ids), "interaction")
        if yes or click.confirm(f"Forget {what}?", err=True):
            gone = archive.purge(ids=ids)
            refresh(archive)  # what slices are named after may be a person's id
            note(f"forgot {counted(gone, 'interaction')}")
            if gone < len(set(ids)):
                note(f"{counted(len(set(ids)) - gone, 'id')} not found")
        return
    try:
        limit = micros() - duration(before)
    except DataError:
        limit = moment_of(before)
    if yes or click.confirm(f"Forget every interaction before {iso(limit)}?", err=True):
        gone = archive.purge(before=limit)
        with Bar() as bar:
            refresh(archive, progress=bar.counts("adding up five-minute steps"))
        note(f"forgot {counted(gone, 'interaction')}")
