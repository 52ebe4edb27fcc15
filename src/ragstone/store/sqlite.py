"""The SQLite database: one file, WAL, several processes, readable even when it can no longer be written."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ragstone.errors import StoreError
from ragstone.store.database import load_migrations, newer_store_error

WAIT_SECONDS = 120
"""How long one process waits for another's commit."""

MAX_WAL_PAGES = 16_000
"""Pages of 4 kB in the write-ahead log (its usual limit is 1,000)."""

COUNTER_TYPE = "INTEGER PRIMARY KEY"


class SqliteConnection:
    """A connection to a SQLite file."""

    def __init__(self, file: Path, address: str, level: str, wait: float) -> None:
        self._file = file
        self._level = level
        self._current_level = ""
        self._db = sqlite3.connect(
            address,
            timeout=wait,
            isolation_level=None,
            check_same_thread=False,
            uri=True,
        )
        self._identity = _identify(file)

    @property
    def is_lost(self) -> bool:
        """Whether the file was removed, moved or replaced: what is written through this connection may then be seen by nobody."""
        return self._identity is None or _identify(self._file) != self._identity

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Iterable[tuple[Any, ...]]:
        """Run one statement; its rows, read as they are wanted."""
        return self._db.execute(sql, values)

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        self._db.executemany(sql, rows)

    def begin(self, *, fast: bool) -> None:
        """Wait for the right to write and open a transaction."""
        self.set_durability(fast=fast)
        self._db.execute("BEGIN IMMEDIATE")

    def set_durability(self, *, fast: bool) -> None:
        """Say how far commits go from now on: to the system, or to the disk."""
        level = "NORMAL" if fast and self._level == "FULL" else self._level
        if level != self._current_level:
            self._db.execute(f"PRAGMA synchronous = {level}")
            self._current_level = level

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
        self.is_temporary = temporary
        self._mode = "rw"
        self._opening = threading.Lock()
        self._last_opened: tuple[FileIdentity, FileIdentity] = (None, None)
        """The file and the log beside it that were opened last."""

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
            return self._migrate_or_close(self._open(make=True))
        except sqlite3.Error as broken:
            return self._open_read_only(broken)

    def reconnect(self) -> SqliteConnection:
        """A connection to read with once the file is there again; none is made, for it may be put back."""
        if self._mode != "rw":
            return self._open()
        return self._migrate_or_close(self._open())

    def connect_to_write(self) -> SqliteConnection:
        """A connection to write with; the file is made anew if nothing of it is left."""
        if self._mode != "rw":
            raise self.explain(sqlite3.OperationalError("readonly"))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return self._migrate_or_close(self._open(make=True))

    def connect_inline(self) -> SqliteConnection | None:
        """A connection that gives up at once when another one is writing; none for a file that cannot be written."""
        if self._mode != "rw":
            return None
        try:
            connection = self._open(wait=0.0)
            connection.set_durability(fast=True)
            # moving the log into the file waits for the disk: that is left to the writer's thread unless it falls far behind
            connection.execute(f"PRAGMA wal_autocheckpoint = {MAX_WAL_PAGES}")
        except (sqlite3.Error, StoreError):
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
        if self.is_temporary:
            for file in self.path.parent.glob("*"):
                file.unlink(missing_ok=True)
            self.path.parent.rmdir()

    def missing_error(self) -> StoreError:
        """What to say when a file that must be there is not."""
        if any(_identify(one) for one in self._log_files()):
            return self._removed_error()
        return StoreError(f"there is no store {self.shown!r}; `ragstone eval` makes one")

    def explain(self, fault: Exception) -> StoreError:
        """A fault of SQLite in one sentence."""
        text = str(fault)
        if _identify(self.path) is None and self._last_opened[0] is not None:
            return self._removed_error()
        if "disk is full" in text or "disk I/O" in text:
            return StoreError(
                f"the disk is full or failing under the store {self.shown!r}; make room: what was "
                "stored is kept, and an evaluation goes on with `ragstone eval --resume`"
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

    def _open(self, wait: float = WAIT_SECONDS, *, make: bool = False) -> SqliteConnection:
        with self._opening:
            if self._mode != "rw":
                return self._connection(self._mode, wait)
            if _identify(self.path) is None:
                # SQLite would throw away the log of a file that was only moved, and with it what was acknowledged
                if not make or any(_identify(one) for one in self._log_files()):
                    raise self._removed_error()
                connection = self._connection("rwc", wait)
            else:
                self._reject_replaced_file()
                connection = self._connection("rw", wait)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.Error:
                connection.close()
                raise
            self._last_opened = (_identify(self.path), _identify(self._log_files()[0]))
            return connection

    def _connection(self, mode: str, wait: float) -> SqliteConnection:
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        return SqliteConnection(self.path, address, "OFF" if self.is_temporary else "FULL", wait)

    def _log_files(self) -> tuple[Path, Path]:
        """The write-ahead log and its index."""
        file = self.path.resolve()
        return file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")

    def _reject_replaced_file(self) -> None:
        """Complain of another file beside the old one's log: SQLite would write the log into it, and spoil it."""
        file, log = self._last_opened
        left = self._log_files()[0]
        if log is not None and _identify(left) == log and _identify(self.path) != file:
            raise StoreError(
                f"another file was put in the place of the store {self.shown!r} while the old one's "
                f"log {left.name!r} is still there; move the log away, or if it is the same file "
                "copied, start ragstone again"
            )

    def _removed_error(self) -> StoreError:
        left = " and ".join(repr(one.name) for one in self._log_files() if _identify(one))
        if not left:
            return StoreError(
                f"the file of the store {self.shown!r} was removed or moved away; put it back, or "
                "else the next thing to be stored begins a new one"
            )
        return StoreError(
            f"the file of the store {self.shown!r} was removed or moved away, but its log is still "
            f"there; put the file back, or move {left} away too to begin a new store"
        )

    def _migrate_or_close(self, connection: SqliteConnection) -> SqliteConnection:
        try:
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_read_only(self, broken: sqlite3.Error) -> SqliteConnection:
        """A store whose folder or disk takes no more writes can still be read."""
        if not self.path.is_file() or self.path.stat().st_size == 0:
            raise self.explain(broken) from None
        # with a write-ahead log beside it the file is read through it, else as it stands
        for mode in ("ro", "ro&immutable=1"):
            try:
                connection = self._connection(mode, WAIT_SECONDS)
            except sqlite3.Error:
                continue
            try:
                ((version,),) = connection.execute("PRAGMA user_version")
                connection.execute("SELECT COUNT(*) FROM runs")
            except sqlite3.Error:
                connection.close()
                continue
            if version == len(load_migrations(COUNTER_TYPE)):
                self._mode = mode
                return connection
            connection.close()
        raise self.explain(broken) from None

    def _migrate(self, connection: SqliteConnection) -> None:
        """Bring the file to the newest migration; several processes may try at once."""
        steps = load_migrations(COUNTER_TYPE)
        ((version,),) = connection.execute("PRAGMA user_version")
        if version > len(steps):
            raise newer_store_error(self.shown)
        if version == len(steps):
            return
        connection.begin(fast=False)
        try:
            ((version,),) = connection.execute("PRAGMA user_version")
            for number in range(version, len(steps)):
                for statement in _split_statements(steps[number]):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number + 1}")
            connection.commit()
        except BaseException:
            connection.roll_back()
            raise


FileIdentity = tuple[int, int] | None
"""Of a file that is there: it keeps it when it is renamed."""


def _identify(file: Path) -> FileIdentity:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _split_statements(script: str) -> Iterable[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
