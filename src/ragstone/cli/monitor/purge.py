"""`ragstone monitor purge`"""

from __future__ import annotations

from collections.abc import Sequence

import click

from ragstone.cli.messages import Count, format_count, note
from ragstone.cli.monitor.archive import open_archive
from ragstone.cli.options import (
    store_option,
)
from ragstone.cli.progress import Bar
from ragstone.config.durations import parse_duration
from ragstone.errors import DataError
from ragstone.monitor.interactions import format_iso, now_micros
from ragstone.monitor.rollups import refresh
from ragstone.monitor.windows.calendars import parse_local_time


@click.command("purge")
@click.option("--before", metavar="AGE|TIME", help="Older than this: 90d, 2026-01-31, 2026-01-31T12:00:00Z.")  # fmt: skip
@click.option("--id", "ids", multiple=True, metavar="ID", help="The interaction with this id. May be repeated.")  # fmt: skip
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@store_option
def command(before: str | None, ids: tuple[str, ...], yes: bool, store: str | None) -> None:
    """Delete interactions by age or by id.

    Their feedback, scores and spans are deleted with them; with --id also every reply of a judge that the monitor has
    cached, because replies quote the texts they are about. Roll-ups are computed again from what remains."""
    if (before is None) == (not ids):  # both or neither
        raise click.UsageError("give either --before or --id")
    if before is None:
        purge_ids(ids, store, ask=not yes)
    else:
        purge_before(before, store, ask=not yes)


def purge_ids(ids: Sequence[str], store: str | None, *, ask: bool) -> None:
    """Delete the interactions with these ids."""
    archive = open_archive(store)
    if ask and not click.confirm(f"Delete {format_count(len(ids), 'interaction')}?", err=True):
        return
    deleted = archive.purge(ids=ids)
    refresh(archive)  # roll-ups keep values of slices, which may be a person's id
    note("deleted {interactions}", interactions=Count(deleted, "interaction"))
    if deleted < len(set(ids)):
        note("{ids} not found", ids=Count(len(set(ids)) - deleted, "id"))


def purge_before(before: str, store: str | None, *, ask: bool) -> None:
    """Delete the interactions that are older than an age or a time."""
    archive = open_archive(store)
    try:
        limit = now_micros() - parse_duration(before)
    except DataError:
        limit = parse_local_time(before)
    question = f"Delete every interaction before {format_iso(limit)}?"
    if ask and not click.confirm(question, err=True):
        return
    deleted = archive.purge(before=limit)
    with Bar() as bar:
        refresh(archive, progress=bar.build_counter("adding up five-minute steps"))
    note("deleted {interactions}", interactions=Count(deleted, "interaction"))
