"""`ragstone monitor import`"""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.messages import Count, note, note_left_over
from ragstone.cli.monitor.options import redact_option
from ragstone.cli.options import (
    reading_options,
    store_option,
)
from ragstone.cli.progress import Bar
from ragstone.cli.shared import open_data
from ragstone.monitor import Archive
from ragstone.monitor.ingest.log_import import import_log
from ragstone.monitor.ingest.redaction import load_hook
from ragstone.monitor.rollups import refresh
from ragstone.store import Store


@click.command("import")
@click.argument("log")
@reading_options
@redact_option
@store_option
def command(log: str, redact: str | None, store: str | None, **options: Any) -> None:
    """Import interactions from a log file in any known format.

    LOG is a jsonl, json, csv or parquet file, or - for standard input. Beside the question, answer and contexts, the usual
    names for the time (at, timestamp …), feedback, latency, cost and tokens are understood; other short values become
    slices. Importing a file again stores nothing twice."""
    import_file(log, redact, store, **options)


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
