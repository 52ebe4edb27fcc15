"""Options of `ragstone store`: check a store, and bring one of an earlier version up to date."""

from __future__ import annotations

import json
import sys

import click

from ragstone.cli.messages import format_count, note
from ragstone.cli.options import store_option
from ragstone.store import Store
from ragstone.store.check import check_store


@click.group("store")
def command() -> None:
    """Check the store for damage, or bring one of an earlier version up to date."""


@command.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def check(store: str | None, as_json: bool) -> None:
    """Read the store and say what is damaged: in the file, in the counts of a run, in a document.

    Exit code 1 when some are."""
    check_store_rows(store, as_json=as_json)


@command.command("upgrade")
@store_option
def upgrade(store: str | None) -> None:
    """Move the runs of earlier versions into today's tables at once.

    Without it each is moved when it is first read."""
    upgrade_store(store)


MAX_LISTED_DAMAGES = 20


def check_store_rows(store_path: str | None, *, as_json: bool) -> None:
    """Print what is damaged in a store; exit code 1 when something is."""
    store = Store.open(store_path, must_exist=True)
    report = check_store(store)
    if as_json:
        click.echo(json.dumps({"rows": report.rows, "damages": report.damages}, indent=2))
    else:
        for line in report.damages[:MAX_LISTED_DAMAGES]:
            click.echo(f"damaged: {line}")
        if len(report.damages) > MAX_LISTED_DAMAGES:
            click.echo(f"… and {len(report.damages) - MAX_LISTED_DAMAGES:,} more")
        found = format_count(len(report.damages), "damage") if report.damages else "none damaged"
        click.echo(f"{store.place}: {sum(report.rows.values()):,} rows read, {found}")
        if report.damages and not store.is_server:
            note(
                f"copy what SQLite can still read: sqlite3 {store.place} .recover | sqlite3 new.db"
            )
    if report.damages:
        sys.exit(1)


def upgrade_store(store_path: str | None) -> None:
    """Move every run of an earlier version now, instead of when it is first read."""
    store = Store.open(store_path, must_exist=True)
    runs = [id for (id,) in store.read("SELECT id FROM runs WHERE layout = 'old' ORDER BY number")]
    for id in runs:
        store.find_number(id)
    click.echo(f"{store.place}: {format_count(len(runs), 'run')} of earlier versions moved")
