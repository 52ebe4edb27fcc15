"""Options of `ragstone import`: rewrite a file of any known format with ragstone's columns."""

from __future__ import annotations

import click

from ragstone.cli.options import raw_option, reading_options


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
    from ragstone.cli.actions.import_ import import_file

    import_file(
        data,
        output,
        raw=raw,
        format=format,
        fields=fields,
        limit=limit,
        skip_bad_rows=skip_bad_rows,
    )
