"""`ragstone label export`"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from ragstone.cli.label.showing import load_counting_labels
from ragstone.cli.messages import Count, note
from ragstone.cli.options import raw_option, store_option
from ragstone.data import write_rows
from ragstone.labels import (
    load_revisions,
)
from ragstone.store import Store


@click.command("export")
@click.argument("file", metavar="FILE")
@click.option("--run", metavar="RUN", help="Only labels that count for this run.")
@click.option(
    "--revisions", is_flag=True, help="Every label ever given, not only those that count."
)
@raw_option
@store_option
def command(file: str, run: str | None, revisions: bool, raw: bool, store: str | None) -> None:
    """Write the labels to FILE: .jsonl, .json, .csv or .parquet."""
    opened = Store.open(store)
    labels = (
        load_revisions(opened, run=None if run is None else opened.run(run).id)
        if revisions
        else load_counting_labels(opened, run)
    )
    rows: list[tuple[str, Mapping[str, Any]]] = [
        (json.dumps(label.to_row(), ensure_ascii=False), {}) for label in labels
    ]
    # a function, because some formats read the rows twice
    write_rows(file, lambda: rows, (), raw=raw)
    note("wrote {labels} to {path}", labels=Count(len(rows), "label"), path=file)
