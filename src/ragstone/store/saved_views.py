"""Addresses of the viewer that people kept: under a name, which the front page lists, or for a short link alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from hashlib import sha256

from ragstone.store.rows import to_storable
from ragstone.store.store import Store

MAX_NAME_CHARS, MAX_ADDRESS_CHARS = 80, 4000


@dataclass(frozen=True, slots=True)
class SavedView:
    """A page of the viewer with its filter."""

    id: str
    name: str
    """Empty for a short link."""
    address: str
    """Relative, with its query."""
    author: str
    at: int
    """Microseconds since 1970, UTC."""


def save_view(store: Store, address: str, name: str = "", author: str = "") -> str:
    """Keep an address; returns its id, which follows from the address. A name replaces an earlier one, no name does not."""
    address = to_storable(address)[:MAX_ADDRESS_CHARS]
    name = " ".join(to_storable(name).split())[:MAX_NAME_CHARS]
    id = sha256(address.encode()).hexdigest()[:10]
    row = (id, name, address, author, time.time_ns() // 1000)
    named = "UPDATE SET name = excluded.name, author = excluded.author, at = excluded.at"
    insert = "INSERT INTO saved_views (id, name, address, author, at) VALUES (?, ?, ?, ?, ?)"
    sql = f"{insert} ON CONFLICT (id) DO {named if name else 'NOTHING'}"
    store.write(lambda db: db.execute_many(sql, [row])).result()
    return id


def load_view(store: Store, id: str) -> SavedView | None:
    """The view with an id."""
    rows = store.read(f"{_SELECT} WHERE id = ?", (id,))
    return SavedView(*rows[0]) if rows else None


def load_named_views(store: Store) -> list[SavedView]:
    """The views with a name, by name."""
    return [SavedView(*row) for row in store.read(f"{_SELECT} WHERE name <> '' ORDER BY name, id")]


def forget_view(store: Store, id: str) -> None:
    """Take the name of a view away; its short link still leads there."""
    sql = "UPDATE saved_views SET name = '' WHERE id = ?"
    store.write(lambda db: db.execute_many(sql, [(id,)])).result()


_SELECT = "SELECT id, name, address, author, at FROM saved_views"
