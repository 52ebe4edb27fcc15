"""Small JSON documents of the monitor, each under its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.store.database import Connection

if TYPE_CHECKING:
    from ragstone.monitor.archive import Archive


def read_document(archive: Archive, name: str) -> str | None:
    """The document of a name, if there is one."""
    rows = archive.store.read("SELECT body FROM monitor_state WHERE name = ?", (name,))
    return str(rows[0][0]) if rows else None


def put_document(db: Connection, name: str, body: str, now: int) -> None:
    """Keep a document inside a transaction; its row is locked until the transaction ends."""
    db.execute(
        "INSERT INTO monitor_state (name, updated, body) VALUES (?, ?, ?)"
        " ON CONFLICT (name) DO UPDATE SET updated = excluded.updated, body = excluded.body",
        (name, now, body),
    )


def lock_watching(db: Connection, now: int) -> None:
    """Until the transaction ends, nobody else moves alerts on or takes examples out of them."""
    put_document(db, "watching", "{}", now)
