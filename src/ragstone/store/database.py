"""The interface that SQLite and PostgreSQL both implement: a Database opens Connections; and the migrations of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple, Protocol

from ragstone.errors import StoreError


class Connection(Protocol):
    """An open connection; statements use `?` for values, as SQLite does."""

    @property
    def is_lost(self) -> bool:
        """Whether the connection is broken for good, so that only a new one can help."""
        ...

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Iterable[tuple[Any, ...]]:
        """Run one statement and return its rows."""
        ...

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        ...

    def begin(self, *, fast: bool) -> None:
        """Open a write transaction; a fast one does not wait for the disk."""
        ...

    def commit(self) -> None:
        """Commit the transaction."""
        ...

    def roll_back(self) -> None:
        """Roll back the transaction, if one is open."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class Database(Protocol):
    """A database that holds the tables of a store."""

    display_name: str
    """Path or URL for messages, without a password."""
    is_temporary: bool
    """Whether `release` deletes the data."""
    driver_errors: tuple[type[Exception], ...]
    """Exceptions of the driver."""
    outage_seconds: float
    """How long a server that goes away is waited for; 0: not at all."""

    def connect(self) -> Connection:
        """Open a connection for reading, after migrating the tables."""
        ...

    def reconnect(self) -> Connection:
        """Open a connection for reading to replace a lost one; a missing file is not created."""
        ...

    def connect_to_write(self) -> Connection:
        """Open a connection for writing."""
        ...

    def was_committed(self, lost: Connection) -> bool | None:
        """Return whether the transaction of a lost connection was kept; None when it is not to be tried again."""
        ...

    def connect_inline(self) -> Connection | None:
        """Open a connection whose fast transactions neither wait nor take long; None where that is impossible."""
        ...

    def stream(
        self, sql: str, values: Sequence[Any], rows_at_once: int
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows one by one on a separate connection, so that any number of them fits in memory."""
        ...

    def explain(self, fault: Exception) -> StoreError:
        """Convert an exception of the driver to one sentence with the remedy."""
        ...

    def release(self) -> None:
        """Release resources when the store is closed."""
        ...


class Dialect(NamedTuple):
    """What stands for two words of the migrations."""

    counter: str
    """COUNTER: the type of a key that counts by itself."""
    clustered: str
    """CLUSTERED: a table whose rows lie in the order of its key."""


@lru_cache(maxsize=4)
def load_migrations(dialect: Dialect) -> tuple[str, ...]:
    """Load the numbered migrations in order."""
    folder = resources.files("ragstone.store") / "migrations"
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")),
        key=lambda file: file.name,
    )
    return tuple(
        file.read_text(encoding="utf-8")
        .replace("COUNTER", dialect.counter)
        .replace(" CLUSTERED", dialect.clustered)
        for file in files
    )


def newer_store_error(display_name: str) -> StoreError:
    """Build the error for tables of a later version."""
    return StoreError(
        f"the store {display_name!r} was written by a newer ragstone; update with"
        " `pip install -U ragstone` or name another place with --store"
    )
