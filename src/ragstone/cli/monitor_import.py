"""`ragstone monitor import`: a log file into the store."""

from __future__ import annotations

import click

from ragstone.cli.options import counted, note, reading_options, store_option


@click.command("import")
@click.argument("log")
@reading_options
@click.option("--redact", metavar="MODULE:FUNCTION", help="Hook that sees every text before it is stored.")  # fmt: skip
@store_option
def command(
    log: str,
    format: str | None,
    fields: tuple[str, ...],
    limit: int | None,
    skip_bad_rows: bool,
    redact: str | None,
    store: str | None,
) -> None:
    """Take interactions from a file: a log in any known format.

    LOG is a jsonl, json, csv or parquet file, or - for standard input. Beside the question, answer and contexts, the usual
    names for the time (at, timestamp …), feedback, latency, cost and tokens are understood; other short values become
    slices. Reading a file again stores nothing twice."""
    from ragstone.cli.flags import fields_of
    from ragstone.cli.progress import Bar
    from ragstone.data import read
    from ragstone.errors import ConfigError
    from ragstone.monitor.archive import Archive
    from ragstone.monitor.ingest.imports import import_log
    from ragstone.monitor.ingest.redaction import redactor
    from ragstone.monitor.rollups.refresh import refresh
    from ragstone.store import Store

    complaints: list[str] = []
    columns = fields_of(fields, complaints)
    if complaints:
        raise ConfigError(complaints)
    reading = read(
        log, format=format, fields=columns or None, skip_bad_rows=skip_bad_rows, limit=limit
    )
    kept = Store.open(store)
    archive = Archive(kept)
    with Bar() as bar:
        done = import_log(
            reading,
            archive,
            redactor(redact),
            skip_bad_rows=skip_bad_rows,
            progress=bar.counts("storing"),
        )
        refresh(archive, progress=bar.counts("adding up five-minute steps"))
    kept.close()
    again = f", {done.repeated:,} were there already" if done.repeated else ""
    note(f"stored {counted(done.new, 'interaction')} from {log} in {kept.place}{again}")
    bad = [*reading.bad, *done.bad]
    if bad:
        note(f"left out {counted(reading.bad_count + len(done.bad), 'bad row')}, first: {bad[0]}")
