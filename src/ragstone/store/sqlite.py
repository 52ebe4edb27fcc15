"""The SQLite database: one file, WAL, several processes, readable even when it can no longer be written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ragstone.errors import StoreError
from ragstone.store.database import migrations, too_new

WAIT_SECONDS = 120
"""How long one process waits for another's commit."""

FAR_BEHIND = 16_000
"""Pages of 4 kB in the write-ahead log (its usual limit is 1,000)."""

COUNTER = "INTEGER PRIMARY KEY"


class SqliteConnection:
    """A connection to a SQLite file."""

    def __init__(self, file: Path, address: str, level: str, wait: float) -> None:
        self._file = file
        self._level = level
        self._set = ""
        self._db = sqlite3.connect(
            address,
            timeout=wait,
            isolation_level=None,
            check_same_thread=False,
            uri=address.startswith("file:"),
        )
        self._identity = _identity(file)

    @property
    def gone(self) -> bool:
        """Whether the file was removed or replaced: what is written through this connection is then seen by nobody."""
        return _identity(self._file) != self._identity

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Iterable[tuple[Any, ...]]:
        """Run one statement; its rows, read as they are wanted."""
        return self._db.execute(sql, values)

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        self._db.executemany(sql, rows)

    def begin(self, *, fast: bool) -> None:
        """Wait for the right to write and open a transaction."""
        self.hurry(fast=fast)
        self._db.execute("BEGIN IMMEDIATE")

    def hurry(self, *, fast: bool) -> None:
        """Say how far commits go from now on: to the system, or to the disk."""
        level = "NORMAL" if fast and self._level == "FULL" else self._level
        if level != self._set:
            self._db.execute(f"PRAGMA synchronous = {level}")
            self._set = level

    def commit(self) -> None:
        """Make the transaction last."""
        self._db.execute("COMMIT")

    def roll_back(self) -> None:
        """Undo the transaction, if one is open."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


class SqliteDatabase:
    """A SQLite file; a temporary one is removed when it is released."""

    faults: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(self, path: Path, *, temporary: bool = False) -> None:
        self.path = path
        self.shown = str(path)
        self.vanishes = temporary
        self._address = str(path)

    def connect(self) -> SqliteConnection:
        """A connection to read with; the file and its tables are made if need be."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as broken:
            raise StoreError(
                f"cannot make a folder for the store {self.shown!r} ({broken.strerror}); "
                "name another place with --store or RAGSTONE_STORE"
            ) from None
        try:
            connection = self._open()
            self._migrate(connection)
        except sqlite3.Error as broken:
            return self._read_only(broken)
        return connection

    def connect_to_write(self) -> SqliteConnection:
        """A connection to write with."""
        if self._address.startswith("file:"):
            raise self.explain(sqlite3.OperationalError("readonly"))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = self._open()
        self._migrate(connection)  # the file may have been removed since it was opened to read
        return connection

    def connect_at_once(self) -> SqliteConnection | None:
        """A connection that gives up at once when another one is writing; none for a file that cannot be written."""
        if self._address.startswith("file:"):
            return None
        try:
            connection = self._open(wait=0.0)
            connection.hurry(fast=True)
            # moving the log into the file waits for the disk: that is left to the writer's thread unless it falls far behind
            connection.execute(f"PRAGMA wal_autocheckpoint = {FAR_BEHIND}")
        except sqlite3.Error:
            return None
        return connection

    def stream(self, sql: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        """Rows one by one on a connection of their own."""
        connection = self._open()
        try:
            yield from connection.execute(sql, tuple(values))
        finally:
            connection.close()

    def release(self) -> None:
        """Remove a temporary file."""
        if self.vanishes:
            for file in self.path.parent.glob("*"):
                file.unlink(missing_ok=True)
            self.path.parent.rmdir()

    def explain(self, fault: Exception) -> StoreError:
        """A fault of SQLite in one sentence."""
        text = str(fault)
        if "disk is full" in text or "disk I/O" in text:
            return StoreError(
                f"the disk is full or failing under the store {self.shown!r}; make room and resume "
                "with `ragstone eval --resume`: what was finished is kept"
            )
        if "readonly" in text or "unable to open" in text:
            return StoreError(
                f"cannot write to the store {self.shown!r}; name another place with --store or "
                "RAGSTONE_STORE"
            )
        if "locked" in text:
            return StoreError(
                f"another process held the store {self.shown!r} for over {WAIT_SECONDS} s; try "
                "again with --resume"
            )
        if "not a database" in text or "malformed" in text:
            return StoreError(
                f"{self.shown!r} is not a ragstone store or is damaged; name another file with "
                "--store"
            )
        return StoreError(f"the store {self.shown!r} failed: {text}")

    def _open(self, wait: float = WAIT_SECONDS) -> SqliteConnection:
        level = "OFF" if self.vanishes else "FULL"
        connection = SqliteConnection(self.path, self._address, level, wait)
        if not self._address.startswith("file:"):
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.Error:
                connection.close()
                raise
        return connection

    def _read_only(self, broken: sqlite3.Error) -> SqliteConnection:
        """A store whose folder or disk takes no more writes can still be read."""
        if not self.path.is_file() or self.path.stat().st_size == 0:
            raise self.explain(broken) from None
        # with a write-ahead log beside it the file is read through it, else as it stands
        for mode in ("mode=ro", "mode=ro&immutable=1"):
            self._address = f"{self.path.resolve().as_uri()}?{mode}"
            try:
                connection = self._open()
                ((version,),) = connection.execute("PRAGMA user_version")
                connection.execute("SELECT COUNT(*) FROM runs")
            except sqlite3.Error:
                continue
            if version == len(migrations(COUNTER)):
                return connection
            connection.close()
        raise self.explain(broken) from None

    def _migrate(self, connection: SqliteConnection) -> None:
        """Bring the file to the newest migration; several processes may try at once."""
        steps = migrations(COUNTER)
        ((version,),) = connection.execute("PRAGMA user_version")
        if version > len(steps):
            raise too_new(self.shown)
        if version == len(steps):
            return
        connection.begin(fast=False)
        try:
            ((version,),) = connection.execute("PRAGMA user_version")
            for number in range(version, len(steps)):
                for statement in _statements(steps[number]):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number + 1}")
            connection.commit()
        except BaseException:
            connection.roll_back()
            raise


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _statements(script: str) -> Iterable[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
