"""Options of `ragstone view`: the web app over everything in a store."""

from __future__ import annotations

import asyncio
import os
import webbrowser
from typing import Any

import click

from ragstone.cli.messages import note
from ragstone.cli.options import store_option
from ragstone.judges.secrets import is_loopback
from ragstone.labels.session import choose_author
from ragstone.server import ServerSettings, serve
from ragstone.server.settings import check_settings
from ragstone.store import Store


@click.command("view")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; any but loopback needs a token.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8322, show_default=True, help="Port to listen on; 0 takes a free one.")  # fmt: skip
@click.option("--prefix", default="", metavar="PATH", help="Path under which a reverse proxy shows the app: /ragstone.")  # fmt: skip
@click.option("--name", "names", multiple=True, metavar="HOST", help="Further host name under which the app is known. May be repeated.")  # fmt: skip
@click.option("--labels/--read-only", "editing", default=None, help="Whether labels, tags and notes are taken [default: on loopback only].")  # fmt: skip
@click.option(
    "--allow-run",
    is_flag=True,
    help="Ask the system of a run again from its page: that runs what its plan names.",
)
@click.option("--author", metavar="NAME", help="Who labels [default: the account's name, on loopback only].")  # fmt: skip
@click.option("--browser/--no-browser", "open_browser", default=True, help="Whether to open the page in a browser.")  # fmt: skip
@store_option
def command(store: str | None, **options: Any) -> None:
    """Look at all runs in a browser: over time, side by side, sample by sample; and label them.

    Prints the address and serves until Ctrl-C. On any address but loopback a token is needed, in RAGSTONE_MONITOR_TOKEN;
    the page asks for it. The monitor of the store is part of the app."""
    # From the environment only: an option would show the token to everyone who lists processes.
    token = os.environ.get("RAGSTONE_MONITOR_TOKEN") or None
    run_viewer(store, token=token, **options)


def run_viewer(
    store_path: str | None,
    *,
    host: str,
    port: int,
    prefix: str,
    token: str | None,
    names: tuple[str, ...],
    editing: bool | None,
    author: str | None,
    allow_run: bool,
    open_browser: bool,
) -> None:
    """Serve until stopped."""
    is_own = is_loopback(host)
    settings = check_settings(
        ServerSettings(
            host=host,
            port=port,
            prefix=prefix,
            token=token,
            names=names,
            home="runs",
            ingest=False,
            editing=is_own if editing is None else editing,
            allow_run=allow_run,
            # others who come over the network are not the account that serves
            author=author or (choose_author(None) if is_own else ""),
        )
    )
    store = Store.open(store_path, must_exist=True)

    def announce(address: str) -> None:
        note("viewing {place} at {address}/; stop with Ctrl-C", place=store.place, address=address)
        if open_browser:
            # a machine without a browser has the address above
            webbrowser.open(f"{address}/")

    try:
        asyncio.run(serve(settings, store, ready=announce))
    finally:
        store.close()
