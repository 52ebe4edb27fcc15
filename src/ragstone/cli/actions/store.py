"""`ragstone store`: check a store, and salvage a damaged one."""

from __future__ import annotations

import json
import sys

import click

from ragstone.cli.actions.messages import format_count, note
from ragstone.store import Store
from ragstone.store.salvage import StoreReport, check_store, salvage_store

MAX_LISTED_DAMAGES = 20


def check_store_rows(store_path: str | None, *, as_json: bool) -> None:
    """Print what is damaged in a store; exit code 1 when something is."""
    store = Store.open(store_path, must_exist=True)
    report = check_store(store)
    if as_json:
        click.echo(json.dumps({"rows": report.rows, "damages": report.damages}, indent=2))
    else:
        _print_damages(report)
        count = f"{sum(report.rows.values()):,} rows are whole"
        damaged = f", {format_count(len(report.damages), 'damage')}" if report.damages else ""
        click.echo(f"{store.place}: {count}{damaged}")
        if report.damages:
            note("save what is whole with: ragstone store salvage NEW.db")
    if report.damages:
        sys.exit(1)


def salvage_rows(store_path: str | None, file: str) -> None:
    """Copy what is whole to a new file and say what is missing."""
    store = Store.open(store_path, must_exist=True)
    report = salvage_store(store, file)
    _print_damages(report)
    click.echo(f"{format_count(sum(report.rows.values()), 'row')} copied to {file}, {len(report.damages):,} left out")  # fmt: skip
    for run, samples in report.cut_runs.items():
        click.echo(f"run {run} has its first {format_count(samples, 'sample')}; go on with: ragstone eval --resume --run {run} --store {file}")  # fmt: skip


def _print_damages(report: StoreReport) -> None:
    for line in report.damages[:MAX_LISTED_DAMAGES]:
        click.echo(f"damaged: {line}")
    if len(report.damages) > MAX_LISTED_DAMAGES:
        click.echo(f"… and {len(report.damages) - MAX_LISTED_DAMAGES:,} more")
