"""One thread that writes: what arrives while it commits goes into its next commit.

A commit reaches the disk before its operations count as done (`synchronous=FULL`), except one made of operations
that asked for speed: that one survives the death of the process at once and a power failure from the next full
commit on, which costs 0.1 ms instead of the 4 ms of an fsync and lets a paid reply be kept before it is used."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future

from ragstone.errors import StoreError

Operation = Callable[[sqlite3.Connection], None]

Job = tuple[Operation, bool, "Future[None]"]

GROUP = 256
"""Operations in one commit at most."""


class Writer:
    """Runs operations in group commits; an operation's Future is done once it is on disk."""

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        explain: Callable[[sqlite3.Error], StoreError],
        level: str = "FULL",
    ) -> None:
        self._connect = connect
        self._explain = explain
        # bounded: a slow disk slows the producer down instead of filling memory
        self._queue: queue.Queue[Job | None] = queue.Queue(maxsize=GROUP)
        self._thread: threading.Thread | None = None
        self._level = level
        self._set = ""
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
                    target=self._work, name="ragstone-store", daemon=True
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

    def _work(self) -> None:
        connection: sqlite3.Connection | None = None
        try:
            while True:
                item = self._queue.get()
                if item is None:
                    return
                batch = [item]
                last = False
                while len(batch) < GROUP:
                    try:
                        item = self._queue.get_nowait()
                    except queue.Empty:
                        break
                    if item is None:
                        last = True
                        break
                    batch.append(item)
                try:
                    if connection is None:
                        connection = self._connect()
                    self._commit(connection, batch)
                except sqlite3.Error as broken:
                    self._fail(batch, self._explain(broken))
                except StoreError as broken:
                    self._fail(batch, broken)
                if last:
                    return
        finally:
            if connection is not None:
                connection.close()

    def _commit(self, connection: sqlite3.Connection, batch: list[Job]) -> None:
        level = self._level
        if level == "FULL" and all(fast for _, fast, _ in batch):
            level = "NORMAL"
        if level != self._set:
            connection.execute(f"PRAGMA synchronous = {level}")
            self._set = level
        connection.execute("BEGIN IMMEDIATE")
        try:
            for operation, _, _ in batch:
                operation(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        for _, _, future in batch:
            future.set_result(None)

    @staticmethod
    def _fail(batch: list[Job], error: StoreError) -> None:
        for _, _, future in batch:
            if not future.done():
                future.set_exception(error)
