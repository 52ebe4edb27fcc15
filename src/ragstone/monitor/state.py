"""Small JSON documents of the monitor, stored by name: status, references, caches and locks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.store.database import Connection

if TYPE_CHECKING:
    from ragstone.monitor.archive import Archive


def load_state(archive: Archive, name: str) -> str | None:
    """The document with this name, if any."""
    rows = archive.store.read("SELECT body FROM monitor_state WHERE name = ?", (name,))
    return str(rows[0][0]) if rows else None


def save_state(db: Connection, name: str, body: str, now: int) -> None:
    """Write a document inside a transaction; its row stays locked until the transaction ends."""
    db.execute(
        "INSERT INTO monitor_state (name, updated, body) VALUES (?, ?, ?)"
        " ON CONFLICT (name) DO UPDATE SET updated = excluded.updated, body = excluded.body",
        (name, now, body),
    )


def lock_alerts(db: Connection, now: int) -> None:
    """Lock alerts and their examples until the transaction ends, against concurrent evaluations and purges.

    The lock is that of the row which is written here; its content is not used."""
    save_state(db, "watching", "{}", now)
