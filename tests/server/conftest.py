"""The same tests on every kind of store; what a test opens is closed after it, for a process may have 1,024 files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from places import mostly_sqlite, place, postgres_url
from ragstone.store import Store

__all__ = ["mostly_sqlite", "place", "postgres_url"]


@pytest.fixture(autouse=True)
def close_stores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    opened: list[Store] = []
    open_store = Store.open

    def open_and_note(
        where: str | Path | Store | None = None, *, must_exist: bool = False
    ) -> Store:
        opened.append(open_store(where, must_exist=must_exist))
        return opened[-1]

    monkeypatch.setattr(Store, "open", staticmethod(open_and_note))
    yield
    for store in opened:
        store.close()
