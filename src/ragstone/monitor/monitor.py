"""Python client of the monitor: log interactions of a live system without blocking it, whatever the store does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ragstone.monitor.ingest.coercion import to_text
from ragstone.monitor.ingest.instrumentation import InteractionBuilder, wrap_function
from ragstone.monitor.ingest.redaction import RedactionHook, load_hook
from ragstone.monitor.interactions import format_iso, new_id, now_micros
from ragstone.monitor.log_writer import MAX_SPOOL_BYTES, LogWriter
from ragstone.store import Store, default_place

F = TypeVar("F", bound=Callable[..., Any])


class Monitor:
    """Logs interactions of a live system without ever making it wait or fail.

    A background thread writes them. While the store is unavailable they go to files, and from there to the store when it is
    back. What fits neither, or cannot be an interaction, is counted in `lost`.

    `redact` is a function or `module:function`, `spool` the directory for those files, `meta` fields of every interaction."""

    def __init__(
        self,
        store: str | Path | Store | None = None,
        *,
        redact: str | RedactionHook | None = None,
        spool: str | Path | None = None,
        spool_bytes: int = MAX_SPOOL_BYTES,
        **meta: Any,
    ) -> None:
        self._meta = meta
        self._writer = LogWriter(
            store if store is not None else default_place(),
            load_hook(redact),
            Path(spool) if spool else None,
            spool_bytes,
        )

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
            # id and time are set in the caller's thread: the id is returned, and the row may wait
            # long before it is written
            "id": new_id() if id is None else to_text(id),
            "at": format_iso(now_micros()) if at is None else at,
            "question": question,
            # copied, because the caller may change the list before the row is written
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
        self._writer.enqueue(row)
        return str(row["id"])

    def feedback(self, id: str, value: Any = None, comment: str | None = None) -> None:
        """Log a person's feedback on an interaction: 0 to 1, `up` or `down`, a comment. Never raises, never waits."""
        row = {
            "id": to_text(id),
            "at": format_iso(now_micros()),
            "feedback": value,
            "comment": comment,
        }
        self._writer.enqueue({"feedback of": row})  # the key by which `LogWriter` tells it apart

    @contextmanager
    def interaction(self, question: str | None = None, **meta: Any) -> Iterator[InteractionBuilder]:
        """An interaction to fill in while answering; logged at the end with its latency, or with its error."""
        builder = InteractionBuilder(question=question, meta=dict(meta))
        try:
            yield builder
        except BaseException as error:  # also a KeyboardInterrupt: there was no answer
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
        return self._writer.flush(timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Write what is queued, to the store or else to the spool, and stop."""
        self._writer.close(timeout)

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def counts(self) -> Counter[str]:
        """Rows by outcome: stored, spooled, lost, invalid, unredacted."""
        return self._writer.counts

    @property
    def lost(self) -> int:
        """Interactions and feedback that are not kept: no room in store and spool, refused, or not redacted."""
        return sum(self.counts[outcome] for outcome in ("lost", "invalid", "unredacted"))
