"""The SQLite database: one file in WAL mode for several processes, still readable when it cannot be written."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ragstone.errors import StoreError
from ragstone.store.database import Connection, Dialect, load_migrations, newer_store_error
from ragstone.store.old_runs import drop_old_tables

WAIT_SECONDS = 120
"""Time limit for waiting for the commit of another process."""

DAMAGE_SIGNS = ("not a database", "malformed", "decode to UTF-8", "no such table", "no such column")
"""Words of SQLite's errors about a file that is no store of ours, or no longer one."""

MAX_WAL_PAGES = 16_000
"""Pages of 4 kB in the write-ahead log before an inline write moves them to the file (SQLite's default is 1,000)."""

DIALECT = Dialect("INTEGER PRIMARY KEY", " WITHOUT ROWID")


class SqliteConnection:
    """A connection to a SQLite file.

    `address` is its URI, `level` the value of PRAGMA synchronous for durable commits (FULL, or OFF for a temporary store),
    `wait` the seconds to wait for a lock."""

    def __init__(self, file: Path, address: str, level: str, wait: float) -> None:
        self._file = file
        self._durable_level = level
        self._current_level = ""  # not set yet
        self._db = sqlite3.connect(
            address,
            timeout=wait,
            # the driver opens no transactions by itself: `begin` decides, and with IMMEDIATE
            isolation_level=None,
            # another thread than the one that made it may use and close a connection; Store and the
            # writers see to it that they do so one at a time
            check_same_thread=False,
            uri=True,
        )
        self._identity = _identify(file)

    @property
    def is_lost(self) -> bool:
        """Whether the file was removed, moved or replaced, so that writes through this connection would be lost."""
        return self._identity is None or _identify(self._file) != self._identity

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Iterable[tuple[Any, ...]]:
        """Run one statement and return its rows lazily."""
        try:
            return self._db.execute(sql, values)
        except UnicodeDecodeError as fault:  # of SQLite's own sentence about a damaged schema
            raise sqlite3.DatabaseError("malformed") from fault

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        self._db.executemany(sql, rows)

    def begin(self, *, fast: bool) -> None:
        """Wait for the write lock and open a transaction."""
        self.set_durability(fast=fast)
        # a plain BEGIN takes the write lock at the first write; if the transaction has read before
        # and another process has written since, SQLite then fails at once instead of waiting
        self._db.execute("BEGIN IMMEDIATE")

    def set_durability(self, *, fast: bool) -> None:
        """Set whether commits reach only the operating system (fast) or the disk."""
        # in WAL mode NORMAL does not sync at a commit; a temporary store (OFF) is never synced
        level = "NORMAL" if fast and self._durable_level == "FULL" else self._durable_level
        if level != self._current_level:
            self._db.execute(f"PRAGMA synchronous = {level}")
            self._current_level = level

    def commit(self) -> None:
        """Commit the transaction."""
        self._db.execute("COMMIT")

    def roll_back(self) -> None:
        """Roll back the transaction, if one is open."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection."""
        self._db.close()


class SqliteDatabase:
    """A SQLite file; a temporary one is removed when it is released."""

    driver_errors: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(self, path: Path, *, temporary: bool = False) -> None:
        self.path = path
        self.display_name = str(path)
        self.is_temporary = temporary
        self.outage_seconds = 0.0
        self._mode = "rw"
        """SQLite's open mode: rw, or one of the read-only modes once `_open_read_only` had to use it."""
        self._open_lock = threading.Lock()
        self._last_opened: tuple[FileIdentity, FileIdentity] = (None, None)
        """Identities of the file and its log when they were last opened."""

    def connect(self) -> SqliteConnection:
        """Open a connection for reading; file and tables are created where necessary."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as fault:
            raise StoreError(
                f"cannot make a folder for the store {self.display_name!r} ({fault.strerror}); "
                "name another place with --store or RAGSTONE_STORE"
            ) from None
        try:
            return self._migrate_or_close(self._open_connection(create=True))
        except sqlite3.Error as fault:
            return self._open_read_only(fault)

    def reconnect(self) -> SqliteConnection:
        """Open a connection for reading once the file is back; it is not created, as the user may restore it."""
        if self._mode != "rw":
            return self._open_connection()
        return self._migrate_or_close(self._open_connection())

    def connect_to_write(self) -> SqliteConnection:
        """Open a connection for writing; the file is created anew if neither it nor its log exists."""
        if self._mode != "rw":
            # the word that `explain` looks for
            raise self.explain(sqlite3.OperationalError("readonly"))
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._migrate_or_close(self._open_connection(create=True))

    def was_committed(self, lost: Connection) -> None:
        """Not known: a file that was removed takes what is being written with it."""

    def connect_inline(self) -> SqliteConnection | None:
        """Open a connection that fails at once when another one is writing; None for a read-only file."""
        if self._mode != "rw":
            return None
        try:
            connection = self._open_connection(wait=0.0)
            connection.set_durability(fast=True)
            # a checkpoint waits for the disk: it is left to the writer thread unless that falls far behind
            connection.execute(f"PRAGMA wal_autocheckpoint = {MAX_WAL_PAGES}")
        except (sqlite3.Error, StoreError):
            return None
        return connection

    def stream(
        self, sql: str, values: Sequence[Any], rows_at_once: int
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows one by one on a separate connection."""
        connection = self._open_connection()
        try:
            yield from connection.execute(sql, tuple(values))
        finally:
            connection.close()

    def release(self) -> None:
        """Remove a temporary file."""
        if self.is_temporary:  # `Store.open` made the folder for this file alone
            for file in self.path.parent.glob("*"):
                file.unlink(missing_ok=True)
            self.path.parent.rmdir()

    def missing_error(self) -> StoreError:
        """Build the error for a required file that does not exist."""
        # logs without their file: it was moved away, not never made
        if any(_identify(file) for file in self._log_files()):
            return self._build_removed_error()
        return StoreError(f"there is no store {self.display_name!r}; `ragstone eval` makes one")

    def explain(self, fault: Exception) -> StoreError:
        """Convert an exception of SQLite to one sentence with the remedy."""
        text = str(fault)
        if _identify(self.path) is None and self._last_opened[0] is not None:
            return self._build_removed_error()
        if "disk is full" in text or "disk I/O" in text:
            return StoreError(
                f"the disk is full or failing under the store {self.display_name!r}; make room: what was "
                "stored is kept, and an evaluation resumes with `ragstone eval --resume`"
            )
        if "readonly" in text or "unable to open" in text:
            return StoreError(
                f"cannot write to the store {self.display_name!r}; name another place with --store or "
                "RAGSTONE_STORE"
            )
        if "locked" in text:
            return StoreError(
                f"another process held the store {self.display_name!r} for over {WAIT_SECONDS} s; try "
                "again with --resume"
            )
        if any(sign in text for sign in DAMAGE_SIGNS):
            return StoreError(
                f"{self.display_name!r} is not a ragstone store or is damaged; name another file with "
                "--store"
            )
        return StoreError(f"the store {self.display_name!r} failed: {text}")

    def _open_connection(
        self, wait: float = WAIT_SECONDS, *, create: bool = False
    ) -> SqliteConnection:
        """Open the file as it was found by `connect`; with `create`, a missing file is made if no log of it is left."""
        with self._open_lock:
            if self._mode != "rw":
                return self._connect_in_mode(self._mode, wait)
            if _identify(self.path) is None:
                # SQLite would discard the log of a moved file, and with it acknowledged writes
                if not create or any(_identify(log) for log in self._log_files()):
                    raise self._build_removed_error()
                self._make_file()
                connection = self._connect_in_mode("rw", wait)
            else:
                self._reject_replaced_file()
                connection = self._connect_in_mode("rw", wait)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.Error:
                connection.close()
                raise
            self._last_opened = (_identify(self.path), _identify(self._log_files()[0]))
            return connection

    def _make_file(self) -> None:
        """Make an empty file that only its owner may read: stores hold production texts. SQLite gives its logs the same mode."""
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return  # another process was first
        except OSError as fault:
            raise sqlite3.OperationalError(f"unable to open: {fault.strerror}") from fault

    def _connect_in_mode(self, mode: str, wait: float) -> SqliteConnection:
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        # FULL: in WAL mode NORMAL, which many recommend, loses acknowledged commits in a power
        # failure
        return SqliteConnection(self.path, address, "OFF" if self.is_temporary else "FULL", wait)

    def _log_files(self) -> tuple[Path, Path]:
        """The write-ahead log and its index."""
        file = self.path.resolve()
        return file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")

    def _reject_replaced_file(self) -> None:
        """Raise if another file was put beside the old file's log: SQLite would apply the log to it and corrupt it."""
        file, log = self._last_opened
        log_file = self._log_files()[0]
        if log is not None and _identify(log_file) == log and _identify(self.path) != file:
            raise StoreError(
                f"another file was put in the place of the store {self.display_name!r} while the old one's "
                f"log {log_file.name!r} is still there; move the log away, or if it is the same file "
                "copied, start ragstone again"
            )

    def _build_removed_error(self) -> StoreError:
        logs = " and ".join(repr(file.name) for file in self._log_files() if _identify(file))
        if not logs:
            return StoreError(
                f"the file of the store {self.display_name!r} was removed or moved away; put it back, or "
                "else the next thing to be stored begins a new one"
            )
        return StoreError(
            f"the file of the store {self.display_name!r} was removed or moved away, but its log is still "
            f"there; put the file back, or move {logs} away too to begin a new store"
        )

    def _migrate_or_close(self, connection: SqliteConnection) -> SqliteConnection:
        try:
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_read_only(self, fault: sqlite3.Error) -> SqliteConnection:
        """Open a store whose folder or disk cannot be written."""
        if not self.path.is_file() or self.path.stat().st_size == 0:
            raise self.explain(fault) from None
        # "ro" reads through an existing write-ahead log; "immutable" reads the file alone
        for mode in ("ro", "ro&immutable=1"):
            try:
                connection = self._connect_in_mode(mode, WAIT_SECONDS)
            except sqlite3.Error:
                continue
            try:
                ((version,),) = connection.execute("PRAGMA user_version")
                connection.execute("SELECT COUNT(*) FROM runs")
            except sqlite3.Error:
                connection.close()
                continue
            if version == len(load_migrations(DIALECT)):
                self._mode = mode
                return connection
            connection.close()
        raise self.explain(fault) from None

    def _migrate(self, connection: SqliteConnection) -> None:
        """Apply the missing migrations; several processes may try at once."""
        steps = load_migrations(DIALECT)
        ((version,),) = connection.execute("PRAGMA user_version")
        if version > len(steps):
            raise newer_store_error(self.display_name)
        if version == len(steps):
            return
        connection.begin(fast=False)
        try:
            # read again under the lock: another process may have migrated meanwhile
            ((version,),) = connection.execute("PRAGMA user_version")
            for number in range(version, len(steps)):
                # not executescript: it commits the open transaction first, and a killed migration
                # would stay half done
                for statement in _split_statements(steps[number]):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number + 1}")
            drop_old_tables(connection)
            connection.commit()
        except BaseException:
            connection.roll_back()
            raise


FileIdentity = tuple[int, int] | None
"""Device and inode of an existing file, which a rename does not change."""


def _identify(file: Path) -> FileIdentity:
    """The identity of a file; None when it does not exist."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _split_statements(script: str) -> Iterable[str]:
    """The statements of a script; each must end at the end of a line."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
