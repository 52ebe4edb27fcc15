"""Options of `ragstone store`: check a store, and bring one of an earlier version up to date."""

from __future__ import annotations

import click

from ragstone.cli.options import store_option


@click.group("store")
def command() -> None:
    """Check the store for damage, or bring one of an earlier version up to date."""


@command.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def check(store: str | None, as_json: bool) -> None:
    """Read the store and say what is damaged: in the file, in the counts of a run, in a document.

    Exit code 1 when some are."""
    from ragstone.cli.actions.store import check_store_rows

    check_store_rows(store, as_json=as_json)


@command.command("upgrade")
@store_option
def upgrade(store: str | None) -> None:
    """Move the runs of earlier versions into today's tables at once.

    Without it each is moved when it is first read."""
    from ragstone.cli.actions.store import upgrade_store

    upgrade_store(store)
