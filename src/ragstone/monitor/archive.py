"""Interactions, feedback and scores in the store: every change marks the buckets whose roll-ups it outdates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ragstone.monitor.ingest.spans import Span
from ragstone.monitor.interactions import Feedback, Interaction, micros
from ragstone.monitor.purge import forget_before, forget_ids
from ragstone.monitor.statements import (
    HOUR,
    MANY,
    SAVE_SCORE,
    SELECT,
    bucket_of,
    count,
    decoded,
    insert,
    mark,
    numbers,
    put_feedback,
    put_spans,
)
from ragstone.store import Store
from ragstone.store.codec import decode_score, encode_score
from ragstone.store.database import Connection
from ragstone.types import Score

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Added:
    """What came of adding interactions."""

    new: int
    repeated: int
    """Ids that were there already; nothing of them was changed."""
    ids: frozenset[str] = frozenset()
    """The new ones."""


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of one interaction and how it came to be judged."""

    interaction: str
    scores: Mapping[str, Score]
    drawn: bool = True
    """Whether the share alone chose it; False when only bad feedback or poor retrieval did."""
    weight: float = 1.0
    """1 / the chance of being judged: weighted means stand for all interactions."""
    again: int | None = None
    """When to ask the judge again, who failed; None when that is all."""


class Archive:
    """The monitor's side of a store. Writes return Futures that are done when the disk has them."""

    def __init__(self, store: Store) -> None:
        self.store = store

    # ── in ────────────────────────────────────────────────────────────────────────────────

    def add(
        self,
        interactions: Sequence[Interaction],
        feedback: Sequence[Feedback] = (),
        spans: Sequence[Span] = (),
    ) -> Future[Added]:
        """Keep interactions, feedback for these or others, and spans; an id that is there already is left as it is."""
        now = micros()

        def write(db: Connection) -> Added:
            new = insert(db, interactions, now)
            said = [
                Feedback(one.id, one.at, one.feedback, one.comment)
                for one in interactions
                if one.id in new and (one.feedback is not None or one.comment is not None)
            ]
            dirty = {bucket_of(one.at) for one in interactions if one.id in new}
            dirty |= put_feedback(db, [*said, *feedback])
            mark(db, dirty)
            put_spans(db, spans, now)
            added = Added(len(new), len(interactions) - len(new), frozenset(new))
            tally = {
                "interactions": added.new,
                "repeated": added.repeated,
                "feedback": len(feedback),
                "spans": len(spans),
            }
            count(db, tally, now)
            return added

        return self.run(write)

    def add_feedback(self, feedback: Sequence[Feedback]) -> Future[Added]:
        """Keep feedback; the latest word on each interaction counts, a later comment keeps the value."""
        return self.add((), feedback)

    def save_scores(
        self, scored: Sequence[Scored], counts: Mapping[str, int] | None = None
    ) -> Future[None]:
        """Keep scores in the place of earlier ones of the same metrics, and take the interactions off the queue."""
        now = micros()

        def write(db: Connection) -> None:
            places = numbers(db, [one.interaction for one in scored])
            rows = [
                (
                    *places[one.interaction], metric, score.value, score.outcome, int(one.drawn),
                    one.weight, now, score.usage.calls, score.usage.usd, encode_score(score),
                )
                for one in scored
                if one.interaction in places  # purged meanwhile: forgotten stays forgotten
                for metric, score in one.scores.items()
            ]  # fmt: skip
            db.execute_many(SAVE_SCORE, rows)
            known = [
                (places[one.interaction][0], one) for one in scored if one.interaction in places
            ]
            done = sorted(number for number, one in known if one.again is None)
            db.execute_many("DELETE FROM monitor_queue WHERE number = ?", [(n,) for n in done])
            db.execute_many(
                "UPDATE monitor_queue SET claimed = ?, tries = tries + 1 WHERE number = ?",
                sorted((one.again, number) for number, one in known if one.again is not None),
            )
            mark(db, {bucket_of(at) for _, at in places.values()})
            count(db, counts or {}, now)

        return self.run(write)

    def count(self, counts: Mapping[str, int]) -> Future[None]:
        """Add to the counters: what was refused, lost or failed."""
        now = micros()
        return self.run(lambda db: count(db, counts, now))

    # ── out ───────────────────────────────────────────────────────────────────────────────

    def get(self, id: str) -> Interaction | None:
        """The interaction with this id."""
        return next(iter(self._found(f"{SELECT} WHERE i.id = ?", (id,))), None)

    def interactions(
        self,
        since: int | None = None,
        until: int | None = None,
        *,
        slice: Mapping[str, str] | None = None,
        limit: int | None = None,
        order: Literal["newest", "oldest"] = "newest",
    ) -> Iterator[Interaction]:
        """Interactions from `since` up to, not including, `until`, of the slice where each field has the value."""
        way = "DESC" if order == "newest" else "ASC"
        sql = f"{SELECT} WHERE i.at >= ? AND i.at < ? ORDER BY i.at {way}, i.number {way}"
        wanted = dict(slice or {})
        values: tuple[Any, ...] = (0 if since is None else since, 2**62 if until is None else until)
        if limit is not None and not wanted:
            sql, values = f"{sql} LIMIT ?", (*values, limit)
        left = limit
        for one in self._streamed(sql, values):
            if wanted and any(one.slices.get(name) != text for name, text in wanted.items()):
                continue
            if left is not None:
                if left <= 0:
                    return
                left -= 1
            yield one

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
            (0 if since is None else since - since % HOUR,),
        )
        return {name: int(value) for name, value in rows}

    def dirty(self, limit: int = 10_000) -> tuple[list[int], list[int]]:
        """Buckets whose roll-ups no longer hold, oldest mark first, and the marks to remove once they hold again."""
        rows = self.store.read(
            "SELECT number, bucket FROM monitor_dirty ORDER BY number LIMIT ?", (limit,)
        )
        return list(dict.fromkeys(bucket for _, bucket in rows)), [number for number, _ in rows]

    # ── away ──────────────────────────────────────────────────────────────────────────────

    def purge(self, *, before: int | None = None, ids: Sequence[str] | None = None) -> int:
        """Forget interactions older than a time, or those with these ids, with all that hangs on them; how many."""
        if (before is None) == (ids is None):
            raise ValueError("give either before or ids")
        if ids is not None:
            return self.run(lambda db: forget_ids(db, list(ids))).result()
        total = 0
        while True:  # in pieces: ingest waits for no long transaction
            gone = self.run(lambda db: forget_before(db, before)).result()  # type: ignore[arg-type]
            total += gone
            if gone < MANY:
                return total

    # ── underneath ────────────────────────────────────────────────────────────────────────

    def run(self, operation: Callable[[Connection], T]) -> Future[T]:
        """Run an operation in the next commit; the Future has its result once the disk does."""
        result: Future[T] = Future()
        kept: list[T] = []

        def work(db: Connection) -> None:
            kept[:] = [operation(db)]

        def tell(done: Future[None]) -> None:
            fault = done.exception()
            if fault is not None:
                result.set_exception(fault)
            else:
                result.set_result(kept[0])

        result.set_running_or_notify_cancel()  # what was handed over is written, waited for or not
        self.store.write(work).add_done_callback(tell)
        return result

    def _found(self, sql: str, values: Sequence[Any]) -> Iterator[Interaction]:
        return map(decoded, self.store.read(sql, values))

    def _streamed(self, sql: str, values: Sequence[Any]) -> Iterator[Interaction]:
        return map(decoded, self.store.stream(sql, values))
