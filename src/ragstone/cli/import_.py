"""Options of `ragstone import`: rewrite a file of any known format with ragstone's columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from ragstone.cli.messages import Count, note, note_left_over
from ragstone.cli.options import raw_option, reading_options
from ragstone.cli.shared import open_data
from ragstone.data import Dataset, write_rows
from ragstone.data.objects import to_row_text


@click.command("import")
@click.argument("data")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="The file to write: .jsonl .json .csv .parquet [default: jsonl on standard output].",
)
@raw_option
@reading_options
def command(
    data: str,
    output: str | None,
    raw: bool,
    format: str | None,
    fields: tuple[str, ...],
    limit: int | None,
    skip_bad_rows: bool,
) -> None:
    """Turn a file in any known format into ragstone's own.

    DATA is a jsonl, json, csv or parquet file, a BEIR folder, or - for standard input. The result is read without --format or
    --field."""
    import_file(
        data,
        output,
        raw=raw,
        format=format,
        fields=fields,
        limit=limit,
        skip_bad_rows=skip_bad_rows,
    )


def import_file(data: str, output: str | None, *, raw: bool, **options: Any) -> None:
    """Write every sample of a file as a row of ragstone's columns, to a file or standard output."""
    dataset = open_data(data, **options)
    if output is None:
        count = 0
        for count, (row, _) in enumerate(_to_rows(dataset), 1):  # noqa: B007  read after the loop
            click.echo(row)
    else:
        # A function, because csv and parquet read the rows twice; [] because there are no metric columns.
        count = write_rows(output, lambda: _to_rows(dataset), [], raw=raw)
    note("read {samples} as {format}", samples=Count(count, "sample"), format=dataset.format)
    if output:
        note("wrote {path}", path=output)
    note_left_over(dataset)
    if dataset.bad_count:
        note(
            "excluded {bad_rows}, first: {first}",
            bad_rows=Count(dataset.bad_count, "bad row"),
            first=dataset.bad[0],
        )


def _to_rows(dataset: Dataset) -> Iterator[tuple[str, dict[str, Any]]]:
    for record in dataset:
        row = to_row_text(record.sample)
        assert isinstance(row, str), row.reason  # a sample that was read can be written
        yield row, {}  # no scores
