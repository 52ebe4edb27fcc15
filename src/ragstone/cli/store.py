"""Options of `ragstone store`: check a store, and salvage a damaged one."""

from __future__ import annotations

import click

from ragstone.cli.options import store_option


@click.group("store")
def command() -> None:
    """Check the store for damage, or save what is whole of a damaged one."""


@command.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def check(store: str | None, as_json: bool) -> None:
    """Read every row of the store and say which are damaged.

    Exit code 1 when some are."""
    from ragstone.cli.actions.store import check_store_rows

    check_store_rows(store, as_json=as_json)


@command.command("salvage")
@click.argument("file")
@store_option
def salvage(store: str | None, file: str) -> None:
    """Copy what is whole of the store to the new FILE.

    The store itself is left as it is. A run with damaged samples is copied up to them and can be resumed."""
    from ragstone.cli.actions.store import salvage_rows

    salvage_rows(store, file)
