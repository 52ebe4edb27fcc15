"""The monitor's tables inside a transaction: what is put, marked and counted together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ragstone.monitor.ingest.spans import Span, span_row
from ragstone.monitor.interactions import Feedback, Interaction, Scalar, chunk_row
from ragstone.store.database import Connection
from ragstone.types import EMPTY, Chunk, Ranked

T = TypeVar("T")

BUCKET = 300_000_000
"""Five minutes in microseconds: the finest roll-up."""

HOUR = 3_600_000_000

MANY = 500
"""Rows in one statement at most."""

RUN = "monitor"
"""The name under which the judge's replies are kept."""

SELECT = (
    "SELECT i.id, i.at, i.language, i.latency, i.cost, i.tokens, i.meta, t.body, f.value, f.comment"
    " FROM interactions i JOIN interaction_texts t ON t.number = i.number"
    " LEFT JOIN feedback f ON f.interaction = i.id"
)

SAVE_SCORE = (
    "INSERT INTO monitor_scores"
    " (number, at, metric, value, outcome, drawn, weight, scored, calls, usd, score)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (number, metric) DO UPDATE SET value = excluded.value, outcome = excluded.outcome,"
    " drawn = excluded.drawn, weight = excluded.weight, scored = excluded.scored,"
    " calls = monitor_scores.calls + excluded.calls, usd = monitor_scores.usd + excluded.usd,"
    " score = excluded.score"
)

PUT_FEEDBACK = (
    "INSERT INTO feedback (interaction, at, value, comment) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (interaction) DO UPDATE SET at = excluded.at,"
    " value = COALESCE(excluded.value, feedback.value),"
    " comment = COALESCE(excluded.comment, feedback.comment)"
    " WHERE excluded.at >= feedback.at"
)


def bucket_of(at: int) -> int:
    """The start of the five minutes that a time falls into."""
    return at - at % BUCKET


def insert(db: Connection, interactions: Sequence[Interaction], now: int) -> dict[str, int]:
    """Insert what is not there; id → number of the new ones.

    Rows go in by id, so that two processes that write the same ones never wait for each other in a circle."""
    first = {one.id: one for one in reversed(interactions)}  # of a repetition the first counts
    rows = [
        (
            one.id, one.at, now, one.language, one.latency, one.cost, one.tokens,
            int(one.error is not None), dump(dict(one.meta)),
        )
        for one in (first[id] for id in sorted(first))
    ]  # fmt: skip
    columns = "interactions (id, at, received, language, latency, cost, tokens, failed, meta)"
    new: dict[str, int] = dict(
        in_one(db, columns, rows, "ON CONFLICT (id) DO NOTHING RETURNING id, number")
    )
    in_one(
        db,
        "interaction_texts (number, body)",
        [(number, body_of(first[id])) for id, number in new.items()],
    )
    in_one(
        db,
        "monitor_queue (number, wanted, drawn, weight, tries, claimed)",
        [(number, 0, 0, 0.0, 0, 0) for number in new.values()],
    )
    return new


def in_one(
    db: Connection, into: str, rows: Sequence[Sequence[Any]], then: str = ""
) -> list[tuple[Any, ...]]:
    """Insert rows with one statement for many: each statement lets other threads run, and under load they take their time."""
    found: list[tuple[Any, ...]] = []
    for part in pieces(list(rows)):
        places = ", ".join([f"({marks(part[0])})"] * len(part))
        sql = f"INSERT INTO {into} VALUES {places} {then}"  # noqa: S608
        found += db.execute(sql, [value for row in part for value in row])
    return found


def put_feedback(db: Connection, feedback: Sequence[Feedback]) -> set[int]:
    """Keep feedback and put the interactions it is about back before the judge's door; their buckets."""
    if not feedback:
        return set()
    rows = [
        (one.interaction, one.at, one.value, None if one.comment is None else dump(one.comment))
        for one in sorted(feedback, key=lambda one: (one.interaction, one.at))
    ]
    db.execute_many(PUT_FEEDBACK, rows)
    known = numbers(db, [one.interaction for one in feedback])
    db.execute_many(
        "INSERT INTO monitor_queue (number, wanted, drawn, weight, tries, claimed)"
        " VALUES (?, 0, 0, 0.0, 0, 0)"
        " ON CONFLICT (number) DO UPDATE SET wanted = 0",
        sorted((number,) for number, _ in known.values()),
    )
    return {bucket_of(at) for _, at in known.values()}


def put_spans(db: Connection, spans: Sequence[Span], now: int) -> None:
    """Hold spans until their trace is complete."""
    rows = [
        (span.trace, span.id, now, int(not span.parent), dump(span_row(span)))
        for span in sorted(spans, key=lambda span: (span.trace, span.id))
    ]
    if rows:
        db.execute_many(
            "INSERT INTO monitor_spans (trace, span, arrived, root, body) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (trace, span) DO NOTHING",
            rows,
        )


def mark(db: Connection, buckets: Iterable[int]) -> None:
    """Note that the roll-ups of these buckets no longer hold."""
    rows = [(bucket,) for bucket in sorted(buckets)]
    if rows:
        db.execute_many("INSERT INTO monitor_dirty (bucket) VALUES (?)", rows)


def count(db: Connection, counts: Mapping[str, int], now: int) -> None:
    """Add to the counters of this hour."""
    rows = [(name, now - now % HOUR, value) for name, value in sorted(counts.items()) if value]
    if rows:
        db.execute_many(
            "INSERT INTO monitor_counters (name, hour, value) VALUES (?, ?, ?)"
            " ON CONFLICT (name, hour) DO UPDATE SET value = monitor_counters.value + excluded.value",
            rows,
        )


def numbers(db: Connection, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Id → number and time of the interactions that are there."""
    found: dict[str, tuple[int, int]] = {}
    for part in pieces(list(dict.fromkeys(ids))):
        sql = f"SELECT id, number, at FROM interactions WHERE id IN ({marks(part)})"  # noqa: S608
        found.update({id: (number, at) for id, number, at in db.execute(sql, part)})
    return found


def body_of(one: Interaction) -> str:
    """The texts of an interaction as JSON."""
    body: dict[str, Any] = {
        name: value
        for name in ("question", "answer", "reference", "error")
        if (value := getattr(one, name)) is not None
    }
    if one.contexts is not None:
        body["contexts"] = [chunk_row(chunk) for chunk in one.contexts]
    return dump(body)


def decoded(row: tuple[Any, ...]) -> Interaction:
    """The interaction of a row of `SELECT`."""
    id, at, language, latency, cost, tokens, meta, text, value, comment = row
    body = json.loads(text)
    contexts = body.pop("contexts", None)
    fields: Mapping[str, Scalar] = json.loads(meta) or EMPTY
    return Interaction(
        id=id,
        at=at,
        contexts=None if contexts is None else Ranked(Chunk(**chunk) for chunk in contexts),
        feedback=value,
        comment=None if comment is None else json.loads(comment),
        latency=latency,
        cost=cost,
        tokens=tokens,
        language=language,
        meta=fields,
        **body,
    )


def pieces(items: list[T], size: int = MANY) -> Iterator[list[T]]:
    """The items in lists of at most `size`."""
    return (items[at : at + size] for at in range(0, len(items), size))


def marks(items: Sequence[Any]) -> str:
    """`?, ?, ?`: a place for each item."""
    return ", ".join("?" * len(items))


def dump(item: Any) -> str:
    """JSON in ASCII, as the database keeps texts from outside."""
    return json.dumps(item, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
