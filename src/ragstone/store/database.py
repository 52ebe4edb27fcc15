"""What the store asks of a database: little enough that SQLite and PostgreSQL both give it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any, Protocol

from ragstone.errors import StoreError


class Connection(Protocol):
    """An open connection; statements use `?` for values, as SQLite does."""

    @property
    def is_lost(self) -> bool:
        """Whether the other side hung up, so that only a new connection can help."""
        ...

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Iterable[tuple[Any, ...]]:
        """Run one statement; its rows."""
        ...

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        ...

    def begin(self, *, fast: bool) -> None:
        """Open a transaction to write; a fast one survives the process at once, a power failure soon."""
        ...

    def commit(self) -> None:
        """Make the transaction last."""
        ...

    def roll_back(self) -> None:
        """Undo the transaction, if one is open."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


class Database(Protocol):
    """A place for tables."""

    shown: str
    """As named in messages, without a password."""
    is_temporary: bool
    """Whether what it holds is gone when it is released."""
    faults: tuple[type[Exception], ...]
    """What its driver raises."""

    def connect(self) -> Connection:
        """A connection to read with, after bringing the tables up to date."""
        ...

    def reconnect(self) -> Connection:
        """A connection to read with in the place of one that is gone; what is not there is not made."""
        ...

    def connect_to_write(self) -> Connection:
        """A connection to write with."""
        ...

    def connect_inline(self) -> Connection | None:
        """A connection whose fast transactions take no time worth a thread and never wait for others; None if there is none."""
        ...

    def stream(self, sql: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        """Rows one by one on a connection of their own, however many there are."""
        ...

    def explain(self, fault: Exception) -> StoreError:
        """A driver's fault in one sentence with the remedy."""
        ...

    def release(self) -> None:
        """Called when the store is closed."""
        ...


@lru_cache(maxsize=4)
def load_migrations(counter: str) -> tuple[str, ...]:
    """The numbered migrations in order; `counter` is the database's word for a key that counts up."""
    folder = resources.files("ragstone.store") / "migrations"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return tuple(f.read_text(encoding="utf-8").replace("COUNTER", counter) for f in files)


def newer_store_error(shown: str) -> StoreError:
    """The tables were made by a later version."""
    return StoreError(
        f"the store {shown!r} was written by a newer ragstone; update with"
        " `pip install -U ragstone` or name another place with --store"
    )
