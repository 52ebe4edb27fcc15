"""Python client of the monitor: log interactions of a live system without blocking it, whatever the store does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ragstone.monitor.ingest.coercion import to_text
from ragstone.monitor.ingest.instrumentation import InteractionBuilder, wrap_function
from ragstone.monitor.ingest.redaction import RedactionHook, load_hook
from ragstone.monitor.interactions import format_iso, new_id, now_micros
from ragstone.monitor.log_writer import MAX_SPOOL_BYTES, LogWriter
from ragstone.store import Store, default_place

if TYPE_CHECKING:
    from ragstone.config.alerts import Alerts
    from ragstone.monitor.alerts.evaluation import MonitorStatus
    from ragstone.monitor.archive import Archive
    from ragstone.monitor.windows.period_analysis import PeriodAnalysis
    from ragstone.monitor.windows.summary import WindowSummary

FLUSH_SECONDS = 10.0
"""How long a summary waits for what was logged."""

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
        self._place = store if store is not None else default_place()
        self._writer = LogWriter(
            self._place,
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

    def summary(self, window: str = "24h", *, by: str | None = None) -> WindowSummary:
        """Statistics of the last `window`, whole and by the values of the field `by`, with what was logged so far."""
        from ragstone.config.durations import parse_duration
        from ragstone.monitor.rollups import refresh
        from ragstone.monitor.windows.summary import summarise_window

        archive, now = self._open_archive(), now_micros()
        refresh(archive, now - parse_duration(window), now)
        return summarise_window(archive, window, until=now, by=by)

    def check(self, alerts: Alerts | None = None) -> MonitorStatus:
        """Evaluate the alert rules once, by default faithfulness < 0.6 and drops; notifications go out by `monitor check`."""
        from ragstone.config.alerts import Alerts
        from ragstone.monitor.alerts.evaluation import evaluate_alerts

        return evaluate_alerts(self._open_archive(), alerts or Alerts(), now_micros())

    def report(
        self, period: str = "daily", *, until: Any = None, zone: str = "UTC"
    ) -> PeriodAnalysis:
        """The last period that was over at a time, now by default: changes, failures, diagnoses and the worst interactions."""
        from ragstone.monitor.windows.calendars import parse_local_time
        from ragstone.monitor.windows.period_analysis import analyse_period

        end = now_micros() if until is None else parse_local_time(str(until), zone)
        return analyse_period(self._open_archive(), period, end, zone)

    def _open_archive(self) -> Archive:
        """The archive, once everything logged is in the store or cannot get there."""
        from ragstone.monitor.archive import Archive

        self.flush(FLUSH_SECONDS)
        return Archive(self._place if isinstance(self._place, Store) else Store.open(self._place))

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
