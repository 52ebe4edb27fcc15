"""Test sets kept in the store, with their history: an item is never changed, a new revision of it counts instead."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.errors import DataError
from ragstone.store.database import Connection
from ragstone.store.rows import dump_json, to_storable
from ragstone.store.store import Store

MAX_NAME_CHARS = 80


@dataclass(frozen=True, slots=True)
class ItemRevision:
    """A state of an item of a test set."""

    id: str
    number: int
    """From 1; the highest counts."""
    row: Mapping[str, Any]
    """The item as a test set file has it; empty: it was taken out."""
    origin: str
    """`run RUN` or `monitor`; empty for an edit."""
    author: str
    at: int
    """Microseconds since 1970, UTC."""


@dataclass(frozen=True, slots=True)
class TestsetInfo:
    """A test set of the store."""

    __test__ = False  # pytest takes a class of this name for tests

    name: str
    items: int
    changed: int
    """When an item last changed, in microseconds since 1970."""


def clean_name(name: str) -> str:
    """The name of a test set as it is kept; DataError for an empty one."""
    cleaned = " ".join(to_storable(name).split())[:MAX_NAME_CHARS]
    if not cleaned:
        raise DataError("give the test set a name")
    return cleaned


def save_items(
    store: Store, testset: str, rows: Sequence[Mapping[str, Any]], *, origin: str, author: str
) -> int:
    """Add revisions of items, each a row with its `id`; returns how many differ from what was there.

    A row with nothing but an id takes the item out."""
    name, now = clean_name(testset), time.time_ns() // 1000
    changed: list[str] = []

    def write(db: Connection) -> None:
        changed.clear()  # another attempt begins anew
        for row in rows:
            id = str(row["id"])
            item = "" if row.keys() == {"id"} else dump_json(row)
            last = list(db.execute(_SELECT_LAST, (name, id)))
            if last and last[0][1] == item:
                continue
            number = int(last[0][0]) + 1 if last else 1
            db.execute(_INSERT, (name, to_storable(id), number, item, origin, author, now))
            changed.append(id)

    store.write(write).result()
    return len(changed)


def load_items(store: Store, testset: str) -> list[ItemRevision]:
    """The items of a test set as they now are, by id."""
    rows = store.read(f"{_SELECT} WHERE testset = ? ORDER BY id, number", (testset,))
    last = {revision.id: revision for revision in map(_to_revision, rows)}
    return [revision for revision in last.values() if revision.row]


def load_history(store: Store, testset: str, id: str) -> list[ItemRevision]:
    """Every revision of an item, the newest first."""
    rows = store.read(f"{_SELECT} WHERE testset = ? AND id = ? ORDER BY number DESC", (testset, id))
    return [_to_revision(row) for row in rows]


def list_testsets(store: Store) -> list[TestsetInfo]:
    """The test sets of the store, by name."""
    rows = store.read(
        "SELECT t.testset, COUNT(*), MAX(t.at) FROM testset_items t WHERE t.item <> ''"
        " AND t.number = (SELECT MAX(n.number) FROM testset_items n WHERE n.testset = t.testset AND n.id = t.id)"
        " GROUP BY t.testset ORDER BY t.testset"
    )
    return [TestsetInfo(name, int(items), int(changed)) for name, items, changed in rows]


def write_rows(items: Sequence[ItemRevision]) -> str:
    """Items as the text of a test set file, JSON lines."""
    return "".join(json.dumps(item.row, ensure_ascii=False) + "\n" for item in items)


_SELECT_LAST = "SELECT number, item FROM testset_items WHERE testset = ? AND id = ? ORDER BY number DESC LIMIT 1"
_INSERT = (
    "INSERT INTO testset_items (testset, id, number, item, origin, author, at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_SELECT = "SELECT id, number, item, origin, author, at FROM testset_items"


def _to_revision(row: tuple[Any, ...]) -> ItemRevision:
    id, number, item, origin, author, at = row
    return ItemRevision(id, int(number), json.loads(item) if item else {}, origin, author, at)
