"""`ragstone import`: any readable file as rows of ragstone's own columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import counted, note, reading_options

if TYPE_CHECKING:
    from ragstone.data import Reading


@click.command("import")
@click.argument("data")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="The file to write: .jsonl .json .csv .parquet [default: jsonl on standard output].",
)
@reading_options
def command(
    data: str,
    output: str | None,
    format: str | None,
    fields: tuple[str, ...],
    limit: int | None,
    skip_bad_rows: bool,
) -> None:
    """Turn a file in any known format into ragstone's own.

    DATA is a jsonl, json, csv or parquet file, a BEIR folder, or - for standard input. The result is read without --format or
    --field."""
    from ragstone.cli.flags import fields_of
    from ragstone.data import read, write_rows
    from ragstone.errors import ConfigError

    complaints: list[str] = []
    columns = fields_of(fields, complaints)
    if complaints:
        raise ConfigError(complaints)
    reading = read(
        data, format=format, fields=columns or None, skip_bad_rows=skip_bad_rows, limit=limit
    )
    if output is None:
        count = 0
        for count, (row, _) in enumerate(_rows(reading), 1):  # noqa: B007  read after the loop
            click.echo(row)
    else:
        count = write_rows(output, lambda: _rows(reading), [])
    note(
        f"read {counted(count, 'sample')} as {reading.format}"
        + (f", wrote {output}" if output else "")
    )
    if reading.bad_count:
        note(f"left out {counted(reading.bad_count, 'bad row')}, first: {reading.bad[0]}")


def _rows(reading: Reading) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each sample as a row of our own columns."""
    from ragstone.data.objects import text_of_object

    for record in reading:
        row = text_of_object(record.sample)
        assert isinstance(row, str), row.why
        yield row, {}
