"""The door for a live system's own code: hand an interaction over and go on, whatever the store does."""

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
from concurrent.futures import TimeoutError as Late
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
"""Interactions that wait in memory at most; more go to the spool."""

ROWS_PER_COMMIT = 500
COMMIT_TIMEOUT_SECONDS = 5.0
"""Seconds that a commit may take before its interactions also go to the spool."""

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.5, 30.0
"""Seconds between attempts to reach a store that is away."""

MAX_SPOOL_BYTES = 256_000_000

log = logging.getLogger("ragstone.monitor")


class Monitor:
    """Takes interactions of a live system without ever making it wait or fail.

    They are written by a thread of its own; while the store is away they go to files, and from there to the store when it
    is back. Only what fits neither is lost, and counted in `lost`."""

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
        """What became of what was handed over: stored, spooled, lost, invalid, unredacted."""
        weakref.finalize(
            self, _do_nothing
        )  # so that finalizers, a store's among them, run after ours
        self._reset()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            me = weakref.ref(self)
            os.register_at_fork(
                before=lambda: _lock_before_fork(me),
                after_in_parent=lambda: _unlock_in_parent(me),
                after_in_child=lambda: _reset_in_child(me),
            )

    def _reset(self) -> None:
        """As new, for a new process."""
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

    # ── what a live system calls ──────────────────────────────────────────────────────────

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
        """Hand over one interaction; its id, for feedback that comes later. Never raises, never waits."""
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
        """Hand over what a person said of an interaction: 0 to 1, `up` or `down`, a comment. Never raises, never waits."""
        row = {
            "id": to_text(id),
            "at": format_iso(now_micros()),
            "feedback": value,
            "comment": comment,
        }
        self._enqueue({"feedback of": row})

    @contextmanager
    def interaction(self, question: str | None = None, **meta: Any) -> Iterator[InteractionBuilder]:
        """A turn to fill in while answering; handed over at the end with its latency, or with its error."""
        turn = InteractionBuilder(question=question, meta=dict(meta))
        try:
            yield turn
        except BaseException as raised:
            turn.set_error(raised)
            raise
        finally:
            self.log(**turn.to_log_arguments())

    def watch(self, function: F | None = None, *, question: str | int = 0, **meta: Any) -> Any:
        """Decorate a function that answers: each call is handed over with what it returns.

        `question` is the argument that holds the question, by place or name. Works for plain and async functions, and for
        those that yield the answer piece by piece."""
        if function is None:
            return lambda target: wrap_function(self, target, question, meta)
        return wrap_function(self, function, question, meta)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything handed over so far is on disk, in the store or in the spool; whether it is."""
        self._wake.set()
        return self._idle.wait(timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Write what is left, to the store or else to the spool, and stop."""
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

    # ── the way to the disk ───────────────────────────────────────────────────────────────

    def _enqueue(self, row: dict[str, Any]) -> None:
        try:
            if self._open:
                self._idle.clear()
                try:
                    self._queue.put_nowait(row)
                except queue.Full:
                    self._spool_items([one for one in [self._parse_row(row)] if one], sync=False)
                self._ensure_thread()
            else:
                self.counts["lost"] += 1
        except Exception as broken:  # the caller answers people; nothing of ours may stop it
            self.counts["lost"] += 1
            log.warning("an interaction was lost: %s", broken)

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
                    self._store_or_spool([one for row in batch if (one := self._parse_row(row))])
                self._drain_spool()
            except Exception as broken:  # this thread must outlive any fault
                self.counts["lost"] += len(batch)
                log.warning("%d interactions were lost: %s", len(batch), broken)
            if self._queue.empty():
                self._idle.set()
                if not self._queue.empty():  # handed over in this very moment
                    self._idle.clear()
                elif not self._open:
                    return

    def _take_batch(self) -> list[dict[str, Any]]:
        batch: list[dict[str, Any]] = []
        with suppress(queue.Empty):
            # a short wait: soon enough to drain the spool, long enough to cost nothing
            batch.append(self._queue.get(timeout=0.5 if self._open else 0.01))
            while len(batch) < ROWS_PER_COMMIT:
                batch.append(self._queue.get_nowait())
        return batch

    def _parse_row(self, row: dict[str, Any]) -> Interaction | Feedback | None:
        """The row as what it is, redacted; None and counted when it is neither."""
        try:
            said = row.get("feedback of")
            if said is not None:
                return redact_feedback(parse_feedback(said), self._hook)
            return redact_interaction(parse_interaction(coerce_row(row)), self._hook)
        except BadRow as bad:
            self.counts["invalid"] += 1
            log.warning("an interaction was refused: %s", bad)
        except RagstoneError as failed:
            self.counts["unredacted"] += 1
            log.warning("an interaction was not kept: %s", failed)
        except Exception as odd:  # of one interaction: the others of its batch are kept
            self.counts["invalid"] += 1
            log.warning("an interaction was refused: %s: %s", type(odd).__name__, to_text(odd))
        return None

    def _store_or_spool(self, items: list[Interaction | Feedback]) -> None:
        if items and not self._try_store(items):
            self._spool_items(items)

    def _try_store(self, items: list[Interaction | Feedback]) -> bool:
        """Whether the store took them; when it is away, it is left alone for a while."""
        if time.monotonic() < self._retry_at:
            return False
        try:
            if self._archive is None:
                with self._commit_lock:
                    self._archive = Archive(Store.open(self._place))
            interactions = [one for one in items if isinstance(one, Interaction)]
            feedback = [one for one in items if isinstance(one, Feedback)]
            with self._commit_lock:
                self._archive.add(interactions, feedback).result(COMMIT_TIMEOUT_SECONDS)
        except (StoreError, Late, OSError) as away:
            if self._retry_seconds == FIRST_RETRY_SECONDS:
                log.warning("the store is away, interactions go to the spool: %s", away)
            self._retry_at = time.monotonic() + self._retry_seconds
            self._retry_seconds = min(2 * self._retry_seconds, MAX_RETRY_SECONDS)
            return False
        self._retry_seconds = FIRST_RETRY_SECONDS
        self.counts["stored"] += len(items)
        return True

    def _spool_items(self, items: list[Interaction | Feedback], *, sync: bool = True) -> None:
        try:
            self._spool.append([_to_spool_row(one) for one in items], sync=sync)
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
        """Take what is in the spool to the store, a file at a time; stop at the first that it does not take."""
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
                except Exception as odd:  # of one row: the others of its file are kept
                    self.counts["invalid"] += 1
                    log.warning("a row of the spool was refused: %s", to_text(odd))
            for at in range(0, len(items), ROWS_PER_COMMIT):
                if not self._try_store(items[at : at + ROWS_PER_COMMIT]):
                    return
            file.unlink(missing_ok=True)


def _to_spool_row(one: Interaction | Feedback) -> dict[str, Any]:
    if isinstance(one, Interaction):
        return interaction_to_json(one)
    said = {
        "id": one.interaction,
        "at": format_iso(one.at),
        "feedback": one.value,
        "comment": one.comment,
    }
    return {"feedback of": said}


def _from_spool_row(row: Mapping[str, Any]) -> Interaction | Feedback:
    return parse_feedback(row["feedback of"]) if "feedback of" in row else parse_interaction(row)


def _choose_spool_folder(place: str | Path | Store) -> Path:
    """A folder for what is meant for this store."""
    from platformdirs import user_data_path

    named = place.place if isinstance(place, Store) else str(place)
    short = hashlib.sha256(named.encode()).hexdigest()[:16]
    return user_data_path("ragstone", appauthor=False) / "spool" / short


_abandoned_stores: list[Any] = []
"""Stores of a parent process: never closed in a child, whose connections they are not."""


def _lock_before_fork(me: weakref.ref[Monitor]) -> None:
    """Before a fork: let a commit end, so that no lock of the database is held for ever in the child."""
    monitor = me()
    if monitor is not None:
        monitor._holds_commit_lock = monitor._commit_lock.acquire(timeout=COMMIT_TIMEOUT_SECONDS)


def _unlock_in_parent(me: weakref.ref[Monitor]) -> None:
    """In the parent: go on."""
    monitor = me()
    if monitor is not None and monitor._holds_commit_lock:
        monitor._holds_commit_lock = False
        monitor._commit_lock.release()


def _reset_in_child(me: weakref.ref[Monitor]) -> None:
    """In a child: a thread, queue and connection of its own; what the parent queued is the parent's."""
    monitor = me()
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
