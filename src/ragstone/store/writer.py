"""The thread that writes to the database, in group commits: operations queued during a commit share the next one.

An operation is done when its commit is on disk. A commit of fast operations alone does not wait for the disk: it
survives the death of the process at once, and a power failure after the next full commit. It takes 0.1 ms instead of
the 4 ms of an fsync, so that a paid reply can be stored before it is used."""

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
"""Executes statements on the writing connection, inside a transaction that it neither begins nor ends."""

QueuedOperation = tuple[Operation, bool, "Future[None]"]
"""The operation, whether it is fast, and the Future of its commit."""

MAX_ATTEMPTS = 5
"""How often a batch is written to a server that goes away each time."""

MAX_GROUP_OPERATIONS = 256
"""Maximum number of operations in one commit."""


class WriterThread:
    """Runs operations in group commits; the Future of an operation is done when it is on disk."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # bounded: a slow disk slows the producer down instead of filling memory
        self._queue: queue.Queue[QueuedOperation | None] = queue.Queue(maxsize=MAX_GROUP_OPERATIONS)
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._accepts_operations = True
        # the next two are used by the thread alone
        self._connection: Connection | None = None
        self._was_lost = False  # whether a connection was lost and not yet replaced

    def submit(self, operation: Operation, *, fast: bool = False) -> Future[None]:
        """Queue an operation; a fast one does not wait for the disk."""
        future: Future[None] = Future()
        with self._lock:
            if not self._accepts_operations:
                raise StoreError("the store is closed; open it again")
            if self._thread is None:  # a command that only reads needs no second thread
                self._thread = threading.Thread(
                    target=self._run, name="ragstone-store", daemon=True
                )
                self._thread.start()
            # under the lock, so that `close` cannot put its end mark in front of it
            self._queue.put((operation, fast, future))
        return future

    def close(self) -> None:
        """Write the queued operations and stop."""
        with self._lock:
            if not self._accepts_operations:
                return
            self._accepts_operations = False
            thread = self._thread
        if thread is not None:
            self._queue.put(None)
            thread.join()

    def _run(self) -> None:
        is_last = False
        try:
            while not is_last:
                batch, is_last = self._collect_batch()
                if batch:
                    self._write(batch)
        finally:
            self._disconnect()

    def _collect_batch(self) -> tuple[list[QueuedOperation], bool]:
        """Wait for an operation and take those queued behind it; the flag says that the thread is to stop."""
        batch: list[QueuedOperation] = []
        item = self._queue.get()
        while item is not None:
            batch.append(item)
            if len(batch) == MAX_GROUP_OPERATIONS:
                return batch, False
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True

    def _write(self, batch: list[QueuedOperation]) -> None:
        # a cancelled Future gets no result, but its operation is written all the same
        futures = [future for _, _, future in batch if future.set_running_or_notify_cancel()]
        try:
            self._commit_or_retry(batch)
        except Exception as fault:  # this thread must survive any fault
            error = self._explain(fault)
            for future in futures:
                future.set_exception(error)
            self._disconnect()  # the next batch tries a new connection
        else:
            for future in futures:
                future.set_result(None)

    def _commit_or_retry(self, batch: list[QueuedOperation]) -> None:
        """Commit the batch, again if the server goes away meanwhile and comes back without it."""
        for _ in range(MAX_ATTEMPTS):
            connection = self._connect()
            try:
                self._commit(connection, batch)
                return
            except self._database.driver_errors:
                kept = self._database.was_committed(connection) if connection.is_lost else None
                if kept is None:
                    raise
            if kept:
                return
        raise StoreError(
            f"the store {self._database.display_name!r} went away {MAX_ATTEMPTS} times while the same rows were "
            "written; look into the server's log, and resume with --resume: what was finished is kept"
        )

    def _connect(self) -> Connection:
        if self._connection is not None and self._connection.is_lost:
            self._was_lost = True
            self._disconnect()
        if self._connection is None:
            # made here and not in __init__: only this thread uses the connection, and a command
            # that only reads needs none
            self._connection = self._database.connect_to_write()
            if self._was_lost:
                self._warn_of_replacement()
            self._was_lost = False
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _warn_of_replacement(self) -> None:
        log.warning(
            "the store %r went away while it was in use; what comes is written to the one that is "
            "there now",
            self._database.display_name,
        )

    @staticmethod
    def _commit(connection: Connection, batch: list[QueuedOperation]) -> None:
        try:
            # one operation that needs the disk makes the whole commit wait for it, and the fast
            # ones are then durable too
            connection.begin(fast=all(fast for _, fast, _ in batch))
            for operation, _, _ in batch:
                operation(connection)
            connection.commit()
        except BaseException:
            connection.roll_back()
            raise

    def _explain(self, fault: Exception) -> StoreError:
        if isinstance(fault, StoreError):
            return fault
        if isinstance(fault, self._database.driver_errors):
            return self._database.explain(fault)
        problem = f"{type(fault).__name__}: {fault}"
        return StoreError(f"the store {self._database.display_name!r} could not write: {problem}")


class InlineWriter:
    """Writes a few rows in the caller's thread, where the database can do that without waiting."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None
        self._can_connect = True
        """False once the database cannot write inline, or the store is closed."""
        self._lock = threading.Lock()

    def write(self, sql: str, rows: Sequence[Sequence[Any]]) -> bool:
        """Write the rows and return True; False when none is written and the writer thread must do it."""
        with self._lock:
            if self._connection is not None and self._connection.is_lost:
                self._connection.close()
                self._connection = None
            if self._can_connect and self._connection is None:
                self._connection = self._database.connect_inline()
                self._can_connect = self._connection is not None
            connection = self._connection
            if connection is None:
                return False
            try:
                if len(rows) == 1:  # a single statement needs no explicit transaction
                    connection.execute(sql, rows[0])
                else:
                    connection.begin(fast=True)
                    connection.execute_many(sql, rows)
                    connection.commit()
            except self._database.driver_errors:
                # another process is writing, or a real fault: the writer thread will report it
                with suppress(*self._database.driver_errors):
                    connection.roll_back()
                return False
            return True

    def read(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]] | None:
        """Run a query on the writing connection, whose cache is still valid; None without one."""
        with self._lock:
            if self._connection is None:
                return None
            try:
                return list(self._connection.execute(sql, values))
            # the caller falls back on the normal reader, which waits longer and reports the error
            except self._database.driver_errors:
                return None

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._can_connect = False
            if self._connection is not None:
                self._connection.close()
                self._connection = None
