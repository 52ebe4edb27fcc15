"""The background writer of logged rows: to the store, to the spool while the store is unavailable, later from there to the store."""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import queue
import threading
import time
import weakref
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import TimeoutError as CommitTimeout
from contextlib import suppress
from pathlib import Path
from typing import Any

from ragstone.data.strict_json import BadRow
from ragstone.errors import RagstoneError, StoreError
from ragstone.monitor.archive import Archive
from ragstone.monitor.ingest.coercion import coerce_row, coerce_values, to_text
from ragstone.monitor.ingest.redaction import RedactionHook, redact_feedback, redact_interaction
from ragstone.monitor.ingest.spool import Spool, SpoolFull
from ragstone.monitor.interactions import (
    Feedback,
    Interaction,
    format_iso,
    interaction_to_json,
    parse_feedback,
    parse_interaction,
)
from ragstone.store import Store

MAX_QUEUED_ROWS = 2_000
"""Rows that wait in memory; more go to the spool."""

ROWS_PER_COMMIT = 500
COMMIT_TIMEOUT_SECONDS = 5.0
"""Seconds for a commit; after that its rows also go to the spool, and ids keep them from being stored twice."""

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.5, 30.0
"""Seconds between attempts to reach an unavailable store."""

MAX_REFUSAL_REASONS = 100
"""Different reasons of refusals that are counted by themselves."""

MAX_SPOOL_BYTES = 256_000_000

log = logging.getLogger("ragstone.monitor")


class LogWriter:
    """Takes rows without making the caller wait or fail, and writes them in a background thread; works on after a fork.

    A row is the arguments of `Monitor.log` by name, or {"feedback of": feedback}. Only what fits neither the store nor the
    spool is lost, and counted. `place` is the store: a path, a URL or an open Store, which the caller closes."""

    def __init__(
        self,
        place: str | Path | Store,
        hook: RedactionHook | None,
        spool_folder: Path | None,
        spool_bytes: int = MAX_SPOOL_BYTES,
    ) -> None:
        self._target_store = place
        self._redaction_hook = hook
        self._spool = Spool(spool_folder or _choose_spool_folder(place), spool_bytes)
        self.counts: Counter[str] = Counter()
        """Rows by outcome: stored, spooled, lost, invalid, unredacted."""
        self._refusals: Counter[str] = Counter()
        """Rows that were not stored, by reason."""
        # The first finalizer registers weakref's atexit hook. Hooks run last in, first out: registered before our `close`,
        # it runs after it, so that no finalizer closes the store before the last rows are written.
        weakref.finalize(self, _do_nothing)
        self._set_initial_state()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            writer_ref = weakref.ref(self)
            os.register_at_fork(
                before=lambda: _lock_before_fork(writer_ref),
                after_in_parent=lambda: _unlock_in_parent(writer_ref),
                after_in_child=lambda: _reset_in_child(writer_ref),
            )

    def _set_initial_state(self) -> None:
        """Set the initial state, in a new object or a forked process."""
        self._queue: queue.Queue[dict[str, Any]] = queue.Queue(MAX_QUEUED_ROWS)
        self._thread: threading.Thread | None = None
        self._state_lock = threading.Lock()
        """For starting the thread and closing."""
        self._commit_lock = threading.Lock()
        """Held while the store is opened or a commit runs, so that `_lock_before_fork` can wait for the end."""
        self._holds_commit_lock = False
        """Whether `_lock_before_fork` got the commit lock, which `_unlock_in_parent` must then release."""
        self._is_open = True
        self._all_written = threading.Event()
        """Set while no row waits in the queue or is being written."""
        self._all_written.set()
        self._archive: Archive | None = None
        self._retry_seconds, self._retry_at = FIRST_RETRY_SECONDS, 0.0

    def enqueue(self, row: dict[str, Any]) -> None:
        """Take a row to be written. Never raises, never waits."""
        try:
            if self._is_open:
                self._all_written.clear()
                try:
                    self._queue.put_nowait(row)
                except queue.Full:
                    item = self._parse_row(row)
                    if item is not None:  # without sync: the caller must not wait for the disk
                        self._spool_items([item], sync=False)
                self._ensure_thread()
            else:
                self.counts["lost"] += 1
        except Exception as error:  # never let a fault of ours reach the live system
            self.counts["lost"] += 1
            log.warning("an interaction was lost: %s", error)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything logged so far is on disk, in the store or in the spool; whether it is."""
        return self._all_written.wait(timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Write what is queued, to the store or else to the spool, and stop."""
        with self._state_lock:
            was_open, self._is_open = self._is_open, False
        if not was_open:
            return
        # the registration holds a reference to this object, which would otherwise live as long as
        # the process
        atexit.unregister(self.close)
        if self._thread is not None:
            self._thread.join(timeout)
        self._spool.close()
        self._report_refusals()
        if self._archive is not None and not isinstance(self._target_store, Store):
            self._archive.store.close()

    def _ensure_thread(self) -> None:
        if self._thread is None:
            with self._state_lock:
                if self._thread is None and self._is_open:
                    self._thread = threading.Thread(
                        target=self._write_until_closed, name="ragstone-monitor", daemon=True
                    )
                    self._thread.start()

    def _write_until_closed(self) -> None:
        while True:
            batch = self._take_batch()
            try:
                if batch:
                    self._store_or_spool([item for row in batch if (item := self._parse_row(row))])
                self._drain_spool()
            except Exception as error:  # this thread must survive any fault
                self.counts["lost"] += len(batch)
                log.warning("%d interactions were lost: %s", len(batch), error)
            if self._queue.empty():
                self._all_written.set()
                if not self._queue.empty():  # logged between the two lines above
                    self._all_written.clear()
                elif not self._is_open:
                    return

    def _take_batch(self) -> list[dict[str, Any]]:
        batch: list[dict[str, Any]] = []
        with suppress(queue.Empty):
            # Wakes up twice a second to drain the spool; a shorter wait would cost CPU.
            batch.append(self._queue.get(timeout=0.5 if self._is_open else 0.01))
            while len(batch) < ROWS_PER_COMMIT:
                batch.append(self._queue.get_nowait())
        return batch

    def _parse_row(self, row: dict[str, Any]) -> Interaction | Feedback | None:
        """The row as a redacted interaction or feedback; None, and counted, when it is invalid."""
        try:
            feedback = row.get("feedback of")
            if feedback is not None:
                coerce_values(feedback)
                return redact_feedback(parse_feedback(feedback), self._redaction_hook)
            return redact_interaction(parse_interaction(coerce_row(row)), self._redaction_hook)
        except BadRow as error:
            self._count_refusal("invalid", str(error))
        except RagstoneError as error:
            self._count_refusal("unredacted", str(error))
        except Exception as error:  # affects one interaction; the rest of its batch is stored
            self._count_refusal("invalid", f"{type(error).__name__}: {to_text(error)}")
        return None

    def _count_refusal(self, outcome: str, reason: str) -> None:
        """Count a row that is not stored; the first says why at once, the others in one line at the end."""
        self.counts[outcome] += 1
        # reasons quote values: without a limit a log of nonsense would grow without one
        if len(self._refusals) < MAX_REFUSAL_REASONS or reason in self._refusals:
            self._refusals[reason] += 1
        if self._refusals.total() == 1:  # `lost` below is `Monitor.lost`
            log.warning("an interaction was refused: %s (more are counted in `lost`)", reason)

    def _report_refusals(self) -> None:
        refused = self.counts["invalid"] + self.counts["unredacted"]
        if refused > 1:
            reasons = [f"{reason} ({n})" for reason, n in self._refusals.most_common(3)]
            log.warning("%d interactions were refused: %s", refused, "; ".join(reasons))

    def _store_or_spool(self, items: list[Interaction | Feedback]) -> None:
        if items and not self._try_store(items):
            self._spool_items(items)

    def _try_store(self, items: list[Interaction | Feedback]) -> bool:
        """Whether the store took the items; after a failure it is not tried again for a while."""
        if time.monotonic() < self._retry_at:
            return False
        try:
            if self._archive is None:
                with self._commit_lock:
                    self._archive = Archive(Store.open(self._target_store))
            interactions = [item for item in items if isinstance(item, Interaction)]
            feedback = [item for item in items if isinstance(item, Feedback)]
            with self._commit_lock:
                self._archive.add(interactions, feedback).result(COMMIT_TIMEOUT_SECONDS)
        except (StoreError, CommitTimeout, OSError) as error:
            # once for each outage, not for every batch
            if self._retry_seconds == FIRST_RETRY_SECONDS:
                log.warning("the store is unavailable, interactions go to the spool: %s", error)
            self._retry_at = time.monotonic() + self._retry_seconds
            self._retry_seconds = min(2 * self._retry_seconds, MAX_RETRY_SECONDS)
            return False
        self._retry_seconds = FIRST_RETRY_SECONDS
        self.counts["stored"] += len(items)
        return True

    def _spool_items(self, items: list[Interaction | Feedback], *, sync: bool = True) -> None:
        try:
            self._spool.append([_to_spool_row(item) for item in items], sync=sync)
            self.counts["spooled"] += len(items)
        except SpoolFull as full:
            if len(items) > 1:  # part of them may still fit
                half = len(items) // 2
                self._spool_items(items[:half], sync=sync)
                self._spool_items(items[half:], sync=sync)
            else:
                self.counts["lost"] += len(items)
                log.warning("an interaction was lost: %s", full)

    def _drain_spool(self) -> None:
        """Move spooled rows to the store, a file at a time; a file is deleted once all its rows are stored."""
        if time.monotonic() < self._retry_at or not self._spool.size():
            return
        for file in self._spool.collect_files():
            items: list[Interaction | Feedback] = []
            for row in self._spool.read_rows(file):
                if row is None:  # a damaged line
                    self.counts["lost"] += 1
                    continue
                try:
                    items.append(_from_spool_row(row))
                except Exception as error:  # affects one row; the rest of its file is stored
                    self.counts["invalid"] += 1
                    log.warning("a row of the spool was refused: %s", to_text(error))
            for start in range(0, len(items), ROWS_PER_COMMIT):
                # the file stays; rows of it that were stored are recognised by their ids next time
                if not self._try_store(items[start : start + ROWS_PER_COMMIT]):
                    return
            file.unlink(missing_ok=True)


def _to_spool_row(item: Interaction | Feedback) -> dict[str, Any]:
    """The item as JSON; feedback under the key `feedback of`, which no interaction has."""
    if isinstance(item, Interaction):
        return interaction_to_json(item)
    row = {
        "id": item.interaction,
        "at": format_iso(item.at),
        "feedback": item.value,
        "comment": item.comment,
    }
    return {"feedback of": row}


def _from_spool_row(row: Mapping[str, Any]) -> Interaction | Feedback:
    return parse_feedback(row["feedback of"]) if "feedback of" in row else parse_interaction(row)


def _choose_spool_folder(place: str | Path | Store) -> Path:
    """The spool directory for rows meant for this store."""
    from platformdirs import user_data_path

    # the same name for a Store and for its path, so that both find the same spool
    name = place.place if isinstance(place, Store) else str(place)
    # one folder for each store: rows must never drain into another one
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    return user_data_path("ragstone", appauthor=False) / "spool" / digest


_abandoned_stores: list[Any] = []
"""Stores of the parent process, referenced for ever: closing them in a child would close the parent's connections."""


def _lock_before_fork(writer_ref: weakref.ref[LogWriter]) -> None:
    """Before a fork: let a commit finish, so that the child inherits no database lock that is never released."""
    writer = writer_ref()
    if writer is not None:
        writer._holds_commit_lock = writer._commit_lock.acquire(timeout=COMMIT_TIMEOUT_SECONDS)


def _unlock_in_parent(writer_ref: weakref.ref[LogWriter]) -> None:
    """In the parent, after a fork."""
    writer = writer_ref()
    if writer is not None and writer._holds_commit_lock:
        writer._holds_commit_lock = False
        writer._commit_lock.release()


def _reset_in_child(writer_ref: weakref.ref[LogWriter]) -> None:
    """In a child, after a fork: start anew, with another thread, queue and connection; the parent writes the rows that it queued."""
    writer = writer_ref()
    if writer is None:
        return
    archive, target_store = writer._archive, writer._target_store
    for store in {
        archive.store if archive else None,
        target_store if isinstance(target_store, Store) else None,
    }:
        if store is not None:
            _abandoned_stores.append(store)
            store.abandon()
    if isinstance(target_store, Store):
        writer._target_store = target_store.reopen()
    # the parent counts what it queued before the fork
    writer.counts = Counter()
    writer._spool.after_fork()
    writer._set_initial_state()


def _do_nothing() -> None:
    """A finalizer that does nothing; see `LogWriter.__init__`."""
