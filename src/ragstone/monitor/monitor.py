"""Python client of the monitor: log interactions of a live system without blocking it, whatever the store does."""

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import TimeoutError as CommitTimeout
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from ragstone.data.strict_json import BadRow
from ragstone.errors import RagstoneError, StoreError
from ragstone.monitor.archive import Archive
from ragstone.monitor.ingest.coercion import coerce_row, to_text
from ragstone.monitor.ingest.instrumentation import InteractionBuilder, wrap_function
from ragstone.monitor.ingest.redaction import (
    RedactionHook,
    load_hook,
    redact_feedback,
    redact_interaction,
)
from ragstone.monitor.ingest.spool import Spool, SpoolFull
from ragstone.monitor.interactions import (
    Feedback,
    Interaction,
    format_iso,
    interaction_to_json,
    new_id,
    now_micros,
    parse_feedback,
    parse_interaction,
)
from ragstone.store import Store, default_place

F = TypeVar("F", bound=Callable[..., Any])

MAX_QUEUED_ROWS = 2_000
"""Rows that wait in memory; more go to the spool."""

ROWS_PER_COMMIT = 500
COMMIT_TIMEOUT_SECONDS = 5.0
"""Seconds for a commit; after that its rows also go to the spool, and ids keep them from being stored twice."""

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.5, 30.0
"""Seconds between attempts to reach an unavailable store."""

MAX_SPOOL_BYTES = 256_000_000

log = logging.getLogger("ragstone.monitor")


class Monitor:
    """Logs interactions of a live system without ever making it wait or fail.

    A background thread writes them. While the store is unavailable they go to files, and from there to the store when it is
    back. Only what fits neither is lost, and counted in `lost`."""

    def __init__(
        self,
        store: str | Path | Store | None = None,
        *,
        redact: str | RedactionHook | None = None,
        spool: str | Path | None = None,
        spool_bytes: int = MAX_SPOOL_BYTES,
        **meta: Any,
    ) -> None:
        self._place = store if store is not None else default_place()
        self._hook = load_hook(redact)
        self._meta = meta
        self._spool = Spool(
            Path(spool) if spool else _choose_spool_folder(self._place), spool_bytes
        )
        self.counts: Counter[str] = Counter()
        """Rows by outcome: stored, spooled, lost, invalid, unredacted."""
        # The first finalizer registers weakref's atexit hook. Hooks run last in, first out: registered before our `close`,
        # it runs after it, so that no finalizer closes the store before the last rows are written.
        weakref.finalize(self, _do_nothing)
        self._reset()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            monitor_ref = weakref.ref(self)
            os.register_at_fork(
                before=lambda: _lock_before_fork(monitor_ref),
                after_in_parent=lambda: _unlock_in_parent(monitor_ref),
                after_in_child=lambda: _reset_in_child(monitor_ref),
            )

    def _reset(self) -> None:
        """Set the initial state, in a new object or a forked process."""
        self._queue: queue.Queue[dict[str, Any]] = queue.Queue(MAX_QUEUED_ROWS)
        self._thread: threading.Thread | None = None
        self._state_lock = threading.Lock()
        self._commit_lock = threading.Lock()
        self._holds_commit_lock = False
        self._open = True
        self._wake = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self._archive: Archive | None = None
        self._retry_seconds, self._retry_at = FIRST_RETRY_SECONDS, 0.0

    # ── called by the live system ─────────────────────────────────────────────────────────

    def log(
        self,
        question: str | None,
        contexts: Sequence[Any] | None = None,
        answer: str | None = None,
        feedback: float | None = None,
        latency: float | None = None,
        *,
        id: str | None = None,
        at: Any = None,
        comment: str | None = None,
        reference: str | None = None,
        cost: float | None = None,
        tokens: int | None = None,
        language: str | None = None,
        error: str | None = None,
        **meta: Any,
    ) -> str:
        """Log one interaction and return its id, for feedback that comes later. Never raises, never waits."""
        row = {
            "id": new_id() if id is None else to_text(id),
            "at": format_iso(now_micros()) if at is None else at,
            "question": question,
            "contexts": list(contexts) if isinstance(contexts, list | tuple) else contexts,
            "answer": answer,
            "feedback": feedback,
            "comment": comment,
            "latency": latency,
            "reference": reference,
            "cost": cost,
            "tokens": tokens,
            "language": language,
            "error": error,
            "meta": {**self._meta, **meta},
        }
        self._enqueue(row)
        return str(row["id"])

    def feedback(self, id: str, value: Any = None, comment: str | None = None) -> None:
        """Log a person's feedback on an interaction: 0 to 1, `up` or `down`, a comment. Never raises, never waits."""
        row = {
            "id": to_text(id),
            "at": format_iso(now_micros()),
            "feedback": value,
            "comment": comment,
        }
        self._enqueue({"feedback of": row})

    @contextmanager
    def interaction(self, question: str | None = None, **meta: Any) -> Iterator[InteractionBuilder]:
        """An interaction to fill in while answering; logged at the end with its latency, or with its error."""
        builder = InteractionBuilder(question=question, meta=dict(meta))
        try:
            yield builder
        except BaseException as error:
            builder.set_error(error)
            raise
        finally:
            self.log(**builder.to_log_arguments())

    def watch(self, function: F | None = None, *, question: str | int = 0, **meta: Any) -> Any:
        """Decorate a function that answers: each call is logged with what it returns.

        `question` is the argument that holds the question, by position or name. Works for plain and async functions, and for
        generators that yield the answer piece by piece."""
        if function is None:
            return lambda target: wrap_function(self, target, question, meta)
        return wrap_function(self, function, question, meta)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything logged so far is on disk, in the store or in the spool; whether it is."""
        self._wake.set()
        return self._idle.wait(timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Write what is queued, to the store or else to the spool, and stop."""
        with self._state_lock:
            was_open, self._open = self._open, False
        if not was_open:
            return
        atexit.unregister(self.close)
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout)
        self._spool.close()
        if self._archive is not None and not isinstance(self._place, Store):
            self._archive.store.close()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def lost(self) -> int:
        """Interactions and feedback that neither the store nor the spool could take."""
        return self.counts["lost"]

    # ── the background thread ─────────────────────────────────────────────────────────────

    def _enqueue(self, row: dict[str, Any]) -> None:
        try:
            if self._open:
                self._idle.clear()
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

    def _ensure_thread(self) -> None:
        if self._thread is None:
            with self._state_lock:
                if self._thread is None and self._open:
                    self._thread = threading.Thread(
                        target=self._run, name="ragstone-monitor", daemon=True
                    )
                    self._thread.start()

    def _run(self) -> None:
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
                self._idle.set()
                if not self._queue.empty():  # logged between the two lines above
                    self._idle.clear()
                elif not self._open:
                    return

    def _take_batch(self) -> list[dict[str, Any]]:
        batch: list[dict[str, Any]] = []
        with suppress(queue.Empty):
            # Wakes up twice a second to drain the spool; a shorter wait would cost CPU.
            batch.append(self._queue.get(timeout=0.5 if self._open else 0.01))
            while len(batch) < ROWS_PER_COMMIT:
                batch.append(self._queue.get_nowait())
        return batch

    def _parse_row(self, row: dict[str, Any]) -> Interaction | Feedback | None:
        """The row as a redacted interaction or feedback; None, and counted, when it is invalid."""
        try:
            feedback = row.get("feedback of")
            if feedback is not None:
                return redact_feedback(parse_feedback(feedback), self._hook)
            return redact_interaction(parse_interaction(coerce_row(row)), self._hook)
        except BadRow as error:
            self.counts["invalid"] += 1
            log.warning("an interaction was refused: %s", error)
        except RagstoneError as error:
            self.counts["unredacted"] += 1
            log.warning("an interaction was not stored: %s", error)
        except Exception as error:  # affects one interaction; the rest of its batch is stored
            self.counts["invalid"] += 1
            log.warning("an interaction was refused: %s: %s", type(error).__name__, to_text(error))
        return None

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
                    self._archive = Archive(Store.open(self._place))
            interactions = [item for item in items if isinstance(item, Interaction)]
            feedback = [item for item in items if isinstance(item, Feedback)]
            with self._commit_lock:
                self._archive.add(interactions, feedback).result(COMMIT_TIMEOUT_SECONDS)
        except (StoreError, CommitTimeout, OSError) as error:
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
                if not self._try_store(items[start : start + ROWS_PER_COMMIT]):
                    return
            file.unlink(missing_ok=True)


def _to_spool_row(item: Interaction | Feedback) -> dict[str, Any]:
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
    """The directory of what is meant for this store."""
    from platformdirs import user_data_path

    name = place.place if isinstance(place, Store) else str(place)
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    return user_data_path("ragstone", appauthor=False) / "spool" / digest


_abandoned_stores: list[Any] = []
"""Stores of the parent process, referenced for ever: closing them in a child would close the parent's connections."""


def _lock_before_fork(monitor_ref: weakref.ref[Monitor]) -> None:
    """Before a fork: let a commit finish, so that the child inherits no database lock that is never released."""
    monitor = monitor_ref()
    if monitor is not None:
        monitor._holds_commit_lock = monitor._commit_lock.acquire(timeout=COMMIT_TIMEOUT_SECONDS)


def _unlock_in_parent(monitor_ref: weakref.ref[Monitor]) -> None:
    """In the parent, after a fork."""
    monitor = monitor_ref()
    if monitor is not None and monitor._holds_commit_lock:
        monitor._holds_commit_lock = False
        monitor._commit_lock.release()


def _reset_in_child(monitor_ref: weakref.ref[Monitor]) -> None:
    """In a child, after a fork: its own thread, queue and connection; rows queued by the parent stay the parent's."""
    monitor = monitor_ref()
    if monitor is None:
        return
    archive, place = monitor._archive, monitor._place
    for store in {archive.store if archive else None, place if isinstance(place, Store) else None}:
        if store is not None:
            _abandoned_stores.append(store)
            store.abandon()
    if isinstance(place, Store):
        monitor._place = place.reopen()
    monitor.counts = Counter()
    monitor._spool.after_fork()
    monitor._reset()


def _do_nothing() -> None:
    """A finalizer that does nothing."""
