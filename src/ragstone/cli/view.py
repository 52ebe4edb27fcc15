"""Options of `ragstone view`: the web app over everything in a store."""

from __future__ import annotations

import os
from typing import Any

import click

from ragstone.cli.options import store_option


@click.command("view")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; any but loopback needs a token.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8322, show_default=True, help="Port to listen on; 0 takes a free one.")  # fmt: skip
@click.option("--prefix", default="", metavar="PATH", help="Path under which a reverse proxy shows the app: /ragstone.")  # fmt: skip
@click.option("--name", "names", multiple=True, metavar="HOST", help="Further host name under which the app is known. May be repeated.")  # fmt: skip
@click.option("--labels/--read-only", "editing", default=None, help="Whether labels, tags and notes are taken [default: on loopback only].")  # fmt: skip
@click.option("--author", metavar="NAME", help="Who labels [default: the account's name, on loopback only].")  # fmt: skip
@click.option("--browser/--no-browser", "open_browser", default=True, help="Whether to open the page in a browser.")  # fmt: skip
@store_option
def command(store: str | None, **options: Any) -> None:
    """Look at all runs in a browser: over time, side by side, sample by sample; and label them.

    Prints the address and serves until Ctrl-C. On any address but loopback a token is needed, in RAGSTONE_MONITOR_TOKEN;
    the page asks for it. The monitor of the store is part of the app."""
    from ragstone.cli.actions.view import run_viewer

    # From the environment only: an option would show the token to everyone who lists processes.
    token = os.environ.get("RAGSTONE_MONITOR_TOKEN") or None
    run_viewer(store, token=token, **options)
