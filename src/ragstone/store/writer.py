"""One thread that writes: what arrives while it commits goes into its next commit.

A commit reaches the disk before its operations count as done, except one made of operations that asked for speed: that
one survives the death of the process at once and a power failure from the next full commit on, which costs 0.1 ms
instead of the 4 ms of an fsync and lets a paid reply be kept before it is used."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from ragstone.errors import StoreError
from ragstone.store.database import Connection, Database

log = logging.getLogger("ragstone.store")

Operation = Callable[[Connection], None]

QueuedOperation = tuple[Operation, bool, "Future[None]"]

MAX_GROUP_OPERATIONS = 256
"""Operations in one commit at most."""


class WriterThread:
    """Runs operations in group commits; an operation's Future is done once it is on disk."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # bounded: a slow disk slows the producer down instead of filling memory
        self._queue: queue.Queue[QueuedOperation | None] = queue.Queue(maxsize=MAX_GROUP_OPERATIONS)
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._open = True

    def submit(self, operation: Operation, *, fast: bool = False) -> Future[None]:
        """Queue an operation; a fast one does not wait for the disk."""
        future: Future[None] = Future()
        with self._lock:
            if not self._open:
                raise StoreError("the store is closed; open it again")
            if self._thread is None:  # a command that only reads needs no second thread
                self._thread = threading.Thread(
                    target=self._run, name="ragstone-store", daemon=True
                )
                self._thread.start()
            self._queue.put((operation, fast, future))
        return future

    def close(self) -> None:
        """Write what is queued and stop."""
        with self._lock:
            if not self._open:
                return
            self._open = False
            thread = self._thread
        if thread is not None:
            self._queue.put(None)
            thread.join()

    def _run(self) -> None:
        connection: Connection | None = None
        lost = False
        try:
            while True:
                item = self._queue.get()
                if item is None:
                    return
                batch = [item]
                last = False
                while len(batch) < MAX_GROUP_OPERATIONS:
                    try:
                        item = self._queue.get_nowait()
                    except queue.Empty:
                        break
                    if item is None:
                        last = True
                        break
                    batch.append(item)
                # who no longer waits is not told, but what they handed over is written all the same
                waiting = [one for _, _, one in batch if one.set_running_or_notify_cancel()]
                try:
                    if connection is not None and connection.is_lost:
                        lost = True
                        connection.close()
                        connection = None
                    if connection is None:
                        connection = self._database.connect_to_write()
                        if lost:
                            self._warn()
                        lost = False
                    self._commit(connection, batch)
                except Exception as broken:  # this thread must outlive any fault
                    error = self._explain(broken)
                    for future in waiting:
                        future.set_exception(error)
                    if connection is not None:
                        connection.close()
                    connection = None  # a server that went away may be back
                else:
                    for future in waiting:
                        future.set_result(None)
                if last:
                    return
        finally:
            if connection is not None:
                connection.close()

    def _warn(self) -> None:
        log.warning(
            "the store %r went away while it was in use; what comes is written to the one that is "
            "there now",
            self._database.shown,
        )

    @staticmethod
    def _commit(connection: Connection, batch: list[QueuedOperation]) -> None:
        try:
            connection.begin(fast=all(fast for _, fast, _ in batch))
            for operation, _, _ in batch:
                operation(connection)
            connection.commit()
        except BaseException:
            connection.roll_back()
            raise

    def _explain(self, broken: Exception) -> StoreError:
        if isinstance(broken, StoreError):
            return broken
        if isinstance(broken, self._database.faults):
            return self._database.explain(broken)
        what = f"{type(broken).__name__}: {broken}"
        return StoreError(f"the store {self._database.shown!r} could not write: {what}")


class InlineWriter:
    """Writes of a few rows in the caller's own thread, where the database can do that without a wait."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None
        self._usable = True
        self._lock = threading.Lock()

    def write(self, sql: str, rows: Sequence[Sequence[Any]]) -> bool:
        """Whether the rows are now written; if not, nothing of them is, and the writer's thread must do it."""
        with self._lock:
            if self._connection is not None and self._connection.is_lost:
                self._connection.close()
                self._connection = None
            if self._usable and self._connection is None:
                self._connection = self._database.connect_inline()
                self._usable = self._connection is not None
            connection = self._connection
            if connection is None:
                return False
            try:
                if len(rows) == 1:  # a statement alone is a transaction of its own
                    connection.execute(sql, rows[0])
                else:
                    connection.begin(fast=True)
                    connection.execute_many(sql, rows)
                    connection.commit()
            except (
                self._database.faults
            ):  # someone else is writing, or worse: the writer will say it
                with suppress(*self._database.faults):
                    connection.roll_back()
                return False
            return True

    def read(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]] | None:
        """The rows of a query, on the connection that wrote last and so need not look what others changed; None without one."""
        with self._lock:
            if self._connection is None:
                return None
            try:
                return list(self._connection.execute(sql, values))
            except self._database.faults:  # the usual reader waits longer, and says what is wrong
                return None

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            self._usable = False
            if self._connection is not None:
                self._connection.close()
                self._connection = None
