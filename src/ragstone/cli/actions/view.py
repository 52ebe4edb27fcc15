"""`ragstone view`: serve the viewer of a store, and open it in a browser."""

from __future__ import annotations

import asyncio
import webbrowser

from ragstone.cli.actions.messages import note
from ragstone.judges.secrets import is_loopback
from ragstone.labels.session import choose_author
from ragstone.server import ServerSettings, serve
from ragstone.server.settings import check_settings
from ragstone.store import Store


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
