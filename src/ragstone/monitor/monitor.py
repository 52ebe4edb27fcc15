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

from ragstone.data.strict import BadRow
from ragstone.errors import RagstoneError, StoreError
from ragstone.monitor.archive import Archive
from ragstone.monitor.ingest.coercion import gentle_row, written
from ragstone.monitor.ingest.instrumentation import Turn, watched
from ragstone.monitor.ingest.redaction import Redact, redacted, redacted_feedback, redactor
from ragstone.monitor.ingest.spool import Spool, SpoolFull
from ragstone.monitor.interactions import (
    Feedback,
    Interaction,
    feedback_of,
    interaction_of,
    iso,
    micros,
    new_id,
    row_of,
)
from ragstone.store import Store, usual_place

F = TypeVar("F", bound=Callable[..., Any])

QUEUE = 2_000
"""Interactions that wait in memory at most; more go to the spool."""

BATCH = 500
PATIENCE = 5.0
"""Seconds that a commit may take before its interactions also go to the spool."""

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds between attempts to reach a store that is away."""

SPOOL_BYTES = 256_000_000

log = logging.getLogger("ragstone.monitor")


class Monitor:
    """Takes interactions of a live system without ever making it wait or fail.

    They are written by a thread of its own; while the store is away they go to files, and from there to the store when it
    is back. Only what fits neither is lost, and counted in `lost`."""

    def __init__(
        self,
        store: str | Path | Store | None = None,
        *,
        redact: str | Redact | None = None,
        spool: str | Path | None = None,
        spool_bytes: int = SPOOL_BYTES,
        **meta: Any,
    ) -> None:
        self._place = store if store is not None else usual_place()
        self._hook = redactor(redact)
        self._meta = meta
        self._spool = Spool(Path(spool) if spool else _spool_of(self._place), spool_bytes)
        self.counts: Counter[str] = Counter()
        """What became of what was handed over: stored, spooled, lost, invalid, unredacted."""
        weakref.finalize(self, _nothing)  # so that finalizers, a store's among them, run after ours
        self._fresh()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            me = weakref.ref(self)
            os.register_at_fork(
                before=lambda: _hold(me),
                after_in_parent=lambda: _let_go(me),
                after_in_child=lambda: _forked(me),
            )

    def _fresh(self) -> None:
        """As new, for a new process."""
        self._queue: queue.Queue[dict[str, Any]] = queue.Queue(QUEUE)
        self._thread: threading.Thread | None = None
        self._start = threading.Lock()
        self._busy = threading.Lock()
        self._held = False
        self._open = True
        self._wake = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self._archive: Archive | None = None
        self._wait, self._next = FIRST_WAIT, 0.0

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
            "id": new_id() if id is None else written(id),
            "at": iso(micros()) if at is None else at,
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
        self._hand_over(row)
        return str(row["id"])

    def feedback(self, id: str, value: Any = None, comment: str | None = None) -> None:
        """Hand over what a person said of an interaction: 0 to 1, `up` or `down`, a comment. Never raises, never waits."""
        row = {"id": written(id), "at": iso(micros()), "feedback": value, "comment": comment}
        self._hand_over({"feedback of": row})

    @contextmanager
    def interaction(self, question: str | None = None, **meta: Any) -> Iterator[Turn]:
        """A turn to fill in while answering; handed over at the end with its latency, or with its error."""
        turn = Turn(question=question, meta=dict(meta))
        try:
            yield turn
        except BaseException as raised:
            turn.failed(raised)
            raise
        finally:
            self.log(**turn.finished())

    def watch(self, function: F | None = None, *, question: str | int = 0, **meta: Any) -> Any:
        """Decorate a function that answers: each call is handed over with what it returns.

        `question` is the argument that holds the question, by place or name. Works for plain and async functions, and for
        those that yield the answer piece by piece."""
        if function is None:
            return lambda target: watched(self, target, question, meta)
        return watched(self, function, question, meta)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything handed over so far is on disk, in the store or in the spool; whether it is."""
        self._wake.set()
        return self._idle.wait(timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Write what is left, to the store or else to the spool, and stop."""
        with self._start:
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

    def _hand_over(self, row: dict[str, Any]) -> None:
        try:
            if self._open:
                self._idle.clear()
                try:
                    self._queue.put_nowait(row)
                except queue.Full:
                    self._set_aside([one for one in [self._checked(row)] if one], sync=False)
                self._started()
            else:
                self.counts["lost"] += 1
        except Exception as broken:  # the caller answers people; nothing of ours may stop it
            self.counts["lost"] += 1
            log.warning("an interaction was lost: %s", broken)

    def _started(self) -> None:
        if self._thread is None:
            with self._start:
                if self._thread is None and self._open:
                    self._thread = threading.Thread(
                        target=self._work, name="ragstone-monitor", daemon=True
                    )
                    self._thread.start()

    def _work(self) -> None:
        while True:
            batch = self._taken()
            try:
                if batch:
                    self._keep([one for row in batch if (one := self._checked(row))])
                self._drain()
            except Exception as broken:  # this thread must outlive any fault
                self.counts["lost"] += len(batch)
                log.warning("%d interactions were lost: %s", len(batch), broken)
            if self._queue.empty():
                self._idle.set()
                if not self._queue.empty():  # handed over in this very moment
                    self._idle.clear()
                elif not self._open:
                    return

    def _taken(self) -> list[dict[str, Any]]:
        batch: list[dict[str, Any]] = []
        with suppress(queue.Empty):
            # a short wait: soon enough to drain the spool, long enough to cost nothing
            batch.append(self._queue.get(timeout=0.5 if self._open else 0.01))
            while len(batch) < BATCH:
                batch.append(self._queue.get_nowait())
        return batch

    def _checked(self, row: dict[str, Any]) -> Interaction | Feedback | None:
        """The row as what it is, redacted; None and counted when it is neither."""
        try:
            said = row.get("feedback of")
            if said is not None:
                return redacted_feedback(feedback_of(said), self._hook)
            return redacted(interaction_of(gentle_row(row)), self._hook)
        except BadRow as bad:
            self.counts["invalid"] += 1
            log.warning("an interaction was refused: %s", bad)
        except RagstoneError as failed:
            self.counts["unredacted"] += 1
            log.warning("an interaction was not kept: %s", failed)
        except Exception as odd:  # of one interaction: the others of its batch are kept
            self.counts["invalid"] += 1
            log.warning("an interaction was refused: %s: %s", type(odd).__name__, written(odd))
        return None

    def _keep(self, items: list[Interaction | Feedback]) -> None:
        if items and not self._stored(items):
            self._set_aside(items)

    def _stored(self, items: list[Interaction | Feedback]) -> bool:
        """Whether the store took them; when it is away, it is left alone for a while."""
        if time.monotonic() < self._next:
            return False
        try:
            if self._archive is None:
                with self._busy:
                    self._archive = Archive(Store.open(self._place))
            interactions = [one for one in items if isinstance(one, Interaction)]
            feedback = [one for one in items if isinstance(one, Feedback)]
            with self._busy:
                self._archive.add(interactions, feedback).result(PATIENCE)
        except (StoreError, Late, OSError) as away:
            if self._wait == FIRST_WAIT:
                log.warning("the store is away, interactions go to the spool: %s", away)
            self._next = time.monotonic() + self._wait
            self._wait = min(2 * self._wait, LONGEST_WAIT)
            return False
        self._wait = FIRST_WAIT
        self.counts["stored"] += len(items)
        return True

    def _set_aside(self, items: list[Interaction | Feedback], *, sync: bool = True) -> None:
        try:
            self._spool.append([_line(one) for one in items], sync=sync)
            self.counts["spooled"] += len(items)
        except SpoolFull as full:
            if len(items) > 1:  # part of them may still fit
                half = len(items) // 2
                self._set_aside(items[:half], sync=sync)
                self._set_aside(items[half:], sync=sync)
            else:
                self.counts["lost"] += len(items)
                log.warning("an interaction was lost: %s", full)

    def _drain(self) -> None:
        """Take what is in the spool to the store, a file at a time; stop at the first that it does not take."""
        if time.monotonic() < self._next or not self._spool.size():
            return
        for file in self._spool.files():
            items: list[Interaction | Feedback] = []
            for row in self._spool.rows(file):
                if row is None:  # a damaged line
                    self.counts["lost"] += 1
                    continue
                try:
                    items.append(_read_line(row))
                except Exception as odd:  # of one row: the others of its file are kept
                    self.counts["invalid"] += 1
                    log.warning("a row of the spool was refused: %s", written(odd))
            for at in range(0, len(items), BATCH):
                if not self._stored(items[at : at + BATCH]):
                    return
            file.unlink(missing_ok=True)


def _line(one: Interaction | Feedback) -> dict[str, Any]:
    if isinstance(one, Interaction):
        return row_of(one)
    said = {"id": one.interaction, "at": iso(one.at), "feedback": one.value, "comment": one.comment}
    return {"feedback of": said}


def _read_line(row: Mapping[str, Any]) -> Interaction | Feedback:
    return feedback_of(row["feedback of"]) if "feedback of" in row else interaction_of(row)


def _spool_of(place: str | Path | Store) -> Path:
    """A folder for what is meant for this store."""
    from platformdirs import user_data_path

    named = place.place if isinstance(place, Store) else str(place)
    short = hashlib.sha256(named.encode()).hexdigest()[:16]
    return user_data_path("ragstone", appauthor=False) / "spool" / short


_left: list[Any] = []
"""Stores of a parent process: never closed in a child, whose connections they are not."""


def _hold(me: weakref.ref[Monitor]) -> None:
    """Before a fork: let a commit end, so that no lock of the database is held for ever in the child."""
    monitor = me()
    if monitor is not None:
        monitor._held = monitor._busy.acquire(timeout=PATIENCE)


def _let_go(me: weakref.ref[Monitor]) -> None:
    """In the parent: go on."""
    monitor = me()
    if monitor is not None and monitor._held:
        monitor._held = False
        monitor._busy.release()


def _forked(me: weakref.ref[Monitor]) -> None:
    """In a child: a thread, queue and connection of its own; what the parent queued is the parent's."""
    monitor = me()
    if monitor is None:
        return
    archive, place = monitor._archive, monitor._place
    for store in {archive.store if archive else None, place if isinstance(place, Store) else None}:
        if store is not None:
            _left.append(store)
            store.abandon()
    if isinstance(place, Store):
        monitor._place = place.again()
    monitor.counts = Counter()
    monitor._spool.after_fork()
    monitor._fresh()


def _nothing() -> None:
    """A finalizer that does nothing."""
