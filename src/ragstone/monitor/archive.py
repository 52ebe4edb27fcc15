"""Interactions, feedback and scores in the store; every change marks the roll-up buckets that it outdates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ragstone.data.spans import TraceSpan
from ragstone.monitor.interactions import Feedback, Interaction, now_micros
from ragstone.monitor.purge import purge_before, purge_ids
from ragstone.monitor.statements import (
    HOUR_MICROS,
    MAX_ROWS_PER_STATEMENT,
    SELECT_INTERACTION,
    UPSERT_SCORE,
    add_to_counters,
    decode_interaction,
    find_numbers,
    get_bucket,
    insert_interactions,
    mark_dirty,
    save_feedback,
    save_spans,
)
from ragstone.store import Store
from ragstone.store.database import Connection
from ragstone.store.score_json import decode_score, encode_score
from ragstone.types import Score

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AddResult:
    """Counts of an `add`."""

    new: int
    repeated: int
    """Ids that were already stored; they were not changed."""
    ids: frozenset[str] = frozenset()
    """The new ones."""


@dataclass(frozen=True, slots=True)
class ScoredInteraction:
    """The scores of one interaction and how it was sampled."""

    interaction: str
    """The interaction's id."""
    scores: Mapping[str, Score]
    drawn: bool = True
    """Whether it was sampled at random; False when only bad feedback or poor retrieval selected it."""
    weight: float = 1.0
    """1 / the sampling probability: weighted means estimate those of all interactions."""
    retry_at: int | None = None
    """When to retry after a failure of the judge; None when scoring is complete."""


class Archive:
    """The monitor's tables of a store. Writes return Futures that complete when the data is on disk."""

    def __init__(self, store: Store) -> None:
        self.store = store

    # ── writing ───────────────────────────────────────────────────────────────────────────

    def add(
        self,
        interactions: Sequence[Interaction],
        feedback: Sequence[Feedback] = (),
        spans: Sequence[TraceSpan] = (),
    ) -> Future[AddResult]:
        """Store interactions, feedback on these or others, and spans; an id that is already stored is not changed."""
        now = now_micros()

        def write(db: Connection) -> AddResult:
            new = insert_interactions(db, interactions, now)
            included_feedback = [
                Feedback(interaction.id, interaction.at, interaction.feedback, interaction.comment)
                for interaction in interactions
                # an interaction that is sent again must not bring its old feedback back
                if interaction.id in new
                and (interaction.feedback is not None or interaction.comment is not None)
            ]
            dirty = {
                get_bucket(interaction.at) for interaction in interactions if interaction.id in new
            }
            dirty |= save_feedback(db, [*included_feedback, *feedback])
            mark_dirty(db, dirty)
            save_spans(db, spans, now)
            added = AddResult(len(new), len(interactions) - len(new), frozenset(new))
            counts = {
                "interactions": added.new,
                "repeated": added.repeated,
                "feedback": len(feedback),
                "spans": len(spans),
            }
            add_to_counters(db, counts, now)
            return added

        return self.run(write)

    def add_feedback(self, feedback: Sequence[Feedback]) -> Future[AddResult]:
        """Store feedback; the latest rating of an interaction counts, and a later comment does not remove it."""
        return self.add((), feedback)

    def save_scores(
        self, scored: Sequence[ScoredInteraction], counts: Mapping[str, int] | None = None
    ) -> Future[None]:
        """Store scores, replacing earlier ones of the same metrics; remove the interactions from the queue, or postpone those to be retried.

        `counts` are added to the counters in the same transaction."""
        now = now_micros()

        def write(db: Connection) -> None:
            numbers = find_numbers(db, [item.interaction for item in scored])
            rows = [
                (  # the columns of UPSERT_SCORE; `numbers` has number and time
                    *numbers[item.interaction], metric, score.value, score.outcome, int(item.drawn),
                    item.weight, now, score.usage.calls, score.usage.usd, encode_score(score),
                )
                for item in scored
                if item.interaction in numbers  # purged since it was claimed: its scores must not come back
                for metric, score in item.scores.items()
            ]  # fmt: skip
            db.execute_many(UPSERT_SCORE, rows)
            known = [
                (numbers[item.interaction][0], item)
                for item in scored
                if item.interaction in numbers
            ]
            finished = sorted(number for number, item in known if item.retry_at is None)
            db.execute_many("DELETE FROM monitor_queue WHERE number = ?", [(n,) for n in finished])
            db.execute_many(
                # a claim until `retry_at` keeps every scorer from taking it before
                "UPDATE monitor_queue SET claimed = ? WHERE number = ?",
                sorted(
                    (item.retry_at, number) for number, item in known if item.retry_at is not None
                ),
            )
            mark_dirty(db, {get_bucket(at) for _, at in numbers.values()})
            add_to_counters(db, counts or {}, now)

        return self.run(write)

    def count(self, counts: Mapping[str, int]) -> Future[None]:
        """Add to the counters of refused, lost and failed rows."""
        now = now_micros()
        return self.run(lambda db: add_to_counters(db, counts, now))

    # ── reading ───────────────────────────────────────────────────────────────────────────

    def get(self, id: str) -> Interaction | None:
        """The interaction with this id."""
        return next(iter(self._query(f"{SELECT_INTERACTION} WHERE i.id = ?", (id,))), None)

    def interactions(
        self,
        since: int | None = None,
        until: int | None = None,
        *,
        slice: Mapping[str, str] | None = None,
        limit: int | None = None,
        order: Literal["newest", "oldest"] = "newest",
    ) -> Iterator[Interaction]:
        """Interactions from `since` up to, not including, `until`; with `slice`, those whose fields have these values."""
        direction = "DESC" if order == "newest" else "ASC"
        sql = f"{SELECT_INTERACTION} WHERE i.at >= ? AND i.at < ? ORDER BY i.at {direction}, i.number {direction}"
        conditions = dict(slice or {})
        values: tuple[Any, ...] = (0 if since is None else since, 2**62 if until is None else until)
        # a slice is checked in Python, so with one the limit cannot be left to the database
        if limit is not None and not conditions:
            sql, values = f"{sql} LIMIT ?", (*values, limit)
        remaining = limit
        for interaction in self._stream(sql, values):
            if conditions and any(
                interaction.slices.get(name) != text for name, text in conditions.items()
            ):
                continue
            if remaining is not None:
                if remaining <= 0:
                    return
                remaining -= 1
            yield interaction

    def scores(self, id: str) -> dict[str, Score]:
        """Metric → score with its evidence, of one interaction."""
        rows = self.store.read(
            "SELECT s.metric, s.score FROM monitor_scores s JOIN interactions i ON i.number = s.number"
            " WHERE i.id = ? ORDER BY s.metric",
            (id,),
        )
        return {metric: decode_score(text) for metric, text in rows}

    def counters(self, since: int | None = None) -> dict[str, int]:
        """Each counter's sum over the hours from `since` on."""
        rows = self.store.read(
            "SELECT name, SUM(value) FROM monitor_counters WHERE hour >= ? GROUP BY name ORDER BY name",
            # counters are kept by hour, so the hour of `since` counts whole
            (0 if since is None else since - since % HOUR_MICROS,),
        )
        return {name: int(value) for name, value in rows}

    # ── deleting ──────────────────────────────────────────────────────────────────────────

    def purge(self, *, before: int | None = None, ids: Sequence[str] | None = None) -> int:
        """Delete interactions older than a time, or with these ids, and everything derived from them; returns how many."""
        if (before is None) == (ids is None):
            raise ValueError("give either before or ids")
        if ids is not None:
            return self.run(lambda db: purge_ids(db, list(ids))).result()
        total = 0
        while True:  # in batches, so that ingest never waits for a long transaction
            deleted = self.run(lambda db: purge_before(db, before)).result()  # type: ignore[arg-type]
            total += deleted
            if deleted < MAX_ROWS_PER_STATEMENT:
                return total

    # ── the database ──────────────────────────────────────────────────────────────────────

    def run(self, operation: Callable[[Connection], T]) -> Future[T]:
        """Run an operation in the next commit; the Future completes with its result when it is on disk."""
        result: Future[T] = Future()
        outcome: list[T] = []

        def run_in_commit(db: Connection) -> None:
            outcome[:] = [operation(db)]  # replaced, not appended

        def pass_on_result(done: Future[None]) -> None:
            error = done.exception()
            if error is not None:
                result.set_exception(error)
            else:
                result.set_result(outcome[0])

        result.set_running_or_notify_cancel()  # not cancellable: the operation runs whether or not anyone waits
        self.store.write(run_in_commit).add_done_callback(pass_on_result)
        return result

    def _query(self, sql: str, values: Sequence[Any]) -> Iterator[Interaction]:
        return map(decode_interaction, self.store.read(sql, values))

    def _stream(self, sql: str, values: Sequence[Any]) -> Iterator[Interaction]:
        return map(decode_interaction, self.store.stream(sql, values))
