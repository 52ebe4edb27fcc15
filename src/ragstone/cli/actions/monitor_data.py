"""`ragstone monitor import` and `purge`: add interactions to the store, and delete them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ragstone.cli.actions.messages import Count, format_count, note, note_left_over
from ragstone.cli.actions.monitor_plan import open_archive
from ragstone.cli.actions.progress import Bar
from ragstone.cli.actions.shared import open_data
from ragstone.config.durations import parse_duration
from ragstone.errors import DataError
from ragstone.monitor import Archive
from ragstone.monitor.ingest.log_import import import_log
from ragstone.monitor.ingest.redaction import load_hook
from ragstone.monitor.interactions import format_iso, now_micros
from ragstone.monitor.rollups import refresh
from ragstone.monitor.windows.calendars import parse_local_time
from ragstone.store import Store


def import_file(
    log: str, redact: str | None, store_path: str | None, *, skip_bad_rows: bool, **options: Any
) -> None:
    """Store the rows of a log file, then update the roll-ups."""
    dataset = open_data(log, skip_bad_rows=skip_bad_rows, **options)
    store = Store.open(store_path)
    archive = Archive(store)
    with Bar() as bar:
        result = import_log(
            dataset,
            archive,
            load_hook(redact),
            skip_bad_rows=skip_bad_rows,
            progress=bar.build_counter("storing"),
        )
        refresh(archive, progress=bar.build_counter("adding up five-minute steps"))
    store.close()
    note(
        "stored {interactions} from {log} in {place}",
        interactions=Count(result.new, "interaction"),
        log=log,
        place=store.place,
    )
    if result.repeated:
        note("stored before: {interactions}", interactions=Count(result.repeated, "interaction"))
    # columns that reach meta (times, feedback, fields of slices) are used: they are not left over
    meta = {name for record in dataset.peek(20) for name in record.sample.meta}
    note_left_over(dataset, known=meta)
    bad = [*dataset.bad, *result.bad]
    if bad:
        note(
            "excluded {bad_rows}, first: {first}",
            bad_rows=Count(dataset.bad_count + len(result.bad), "bad row"),
            first=bad[0],
        )


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
