"""SQL of the monitor's tables, executed inside a transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ragstone.data.spans import TraceSpan, span_to_json
from ragstone.monitor.interactions import Feedback, Interaction, Scalar, chunk_to_json
from ragstone.store.damage import explain_damage
from ragstone.store.database import Connection
from ragstone.types import EMPTY, Chunk, Ranked

T = TypeVar("T")

HOUR_MICROS = 3_600_000_000
"""An hour in microseconds: the bucket of the roll-ups."""
DAY_MICROS = 24 * HOUR_MICROS

MAX_ROWS_PER_STATEMENT = 500
"""Rows in one statement at most: SQLite and PostgreSQL limit the number of placeholders."""

REPLIES_RUN_ID = "monitor"
"""The run id under which the judge's replies to the monitor are cached; a purge finds them by it."""

# `decode_interaction` takes the columns in this order.
SELECT_INTERACTION = (
    "SELECT i.id, i.at, i.language, i.latency, i.cost, i.tokens, i.meta, t.body, f.value, f.comment"
    " FROM interactions i JOIN interaction_texts t ON t.number = i.number"
    " LEFT JOIN feedback f ON f.interaction = i.id"
)

# A retry replaces the score but adds to its bill: the failed attempts were paid for too.
UPSERT_SCORE = (
    "INSERT INTO monitor_scores"
    " (number, at, metric, value, outcome, drawn, weight, scored, calls, usd, score)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (number, metric) DO UPDATE SET value = excluded.value, outcome = excluded.outcome,"
    " drawn = excluded.drawn, weight = excluded.weight, scored = excluded.scored,"
    " calls = monitor_scores.calls + excluded.calls, usd = monitor_scores.usd + excluded.usd,"
    " score = excluded.score"
)

# Of several ratings the latest by its time `at` counts, not the last to arrive: batches and spools
# deliver out of order. A later comment without a rating keeps the rating.
UPSERT_FEEDBACK = (
    "INSERT INTO feedback (interaction, at, value, comment) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (interaction) DO UPDATE SET at = excluded.at,"
    " value = COALESCE(excluded.value, feedback.value),"
    " comment = COALESCE(excluded.comment, feedback.comment)"
    " WHERE excluded.at >= feedback.at"
)


def get_bucket(at: int) -> int:
    """The start of the hour of a time."""
    return at - at % HOUR_MICROS


def insert_interactions(
    db: Connection, interactions: Sequence[Interaction], now: int
) -> dict[str, int]:
    """Insert interactions whose ids are not stored yet; id → number of the new ones.

    Rows are sorted by id, so that two processes that insert the same ids lock them in the same order and cannot deadlock."""
    # Reversed, so that of repeated ids the first counts.
    by_id = {interaction.id: interaction for interaction in reversed(interactions)}
    rows = [
        (
            interaction.id, interaction.at, now, interaction.language, interaction.latency, interaction.cost, interaction.tokens,
            int(interaction.error is not None), to_ascii_json(dict(interaction.meta)),
        )
        for interaction in (by_id[id] for id in sorted(by_id))
    ]  # fmt: skip
    columns = "interactions (id, at, received, language, latency, cost, tokens, failed, meta)"
    new: dict[str, int] = dict(
        insert_rows(db, columns, rows, "ON CONFLICT (id) DO NOTHING RETURNING id, number")
    )
    insert_rows(
        db,
        "interaction_texts (number, body)",
        [(number, encode_texts(by_id[id])) for id, number in new.items()],
    )
    insert_rows(
        db,
        "monitor_queue (number, wanted, drawn, weight, tries, claimed)",
        # wanted = 0: whether it is judged is decided later, by the scorer, so that ingest knows no
        # sampling rates
        [(number, 0, 0, 0.0, 0, 0) for number in new.values()],
    )
    return new


def insert_rows(
    db: Connection, into: str, rows: Sequence[Sequence[Any]], suffix: str = ""
) -> list[tuple[Any, ...]]:
    """Insert rows with few statements: each statement releases the GIL, and under load other threads hold it for long.

    `into` is the table with its columns, `suffix` what follows the values; the rows of a RETURNING clause are returned."""
    returned: list[tuple[Any, ...]] = []
    for batch in split_batches(list(rows)):
        values = ", ".join([f"({format_placeholders(batch[0])})"] * len(batch))
        sql = f"INSERT INTO {into} VALUES {values} {suffix}"  # noqa: S608
        returned += db.execute(sql, [value for row in batch for value in row])
    return returned


def save_feedback(db: Connection, feedback: Sequence[Feedback]) -> set[int]:
    """Store feedback and queue its interactions for a new sampling decision; returns their buckets."""
    if not feedback:
        return set()
    rows = [
        (
            item.interaction,
            item.at,
            item.value,
            None if item.comment is None else to_ascii_json(item.comment),
        )
        # sorted for the same reason as in `insert_interactions`: one order of locks for all
        # processes
        for item in sorted(feedback, key=lambda item: (item.interaction, item.at))
    ]
    db.execute_many(UPSERT_FEEDBACK, rows)
    known = find_numbers(db, [item.interaction for item in feedback])
    db.execute_many(
        "INSERT INTO monitor_queue (number, wanted, drawn, weight, tries, claimed)"
        " VALUES (?, 0, 0, 0.0, 0, 0)"
        # decided again: bad feedback makes an interaction one that is always judged
        " ON CONFLICT (number) DO UPDATE SET wanted = 0",
        sorted((number,) for number, _ in known.values()),
    )
    return {get_bucket(at) for _, at in known.values()}


def save_spans(db: Connection, spans: Sequence[TraceSpan], now: int) -> None:
    """Store spans until their trace is complete."""
    rows = [
        # a span without a parent is its trace's root
        (span.trace, span.id, now, int(not span.parent), to_ascii_json(span_to_json(span)))
        for span in sorted(spans, key=lambda span: (span.trace, span.id))
    ]
    if rows:
        db.execute_many(
            "INSERT INTO monitor_spans (trace, span, arrived, root, body) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (trace, span) DO NOTHING",
            rows,
        )


def mark_dirty(db: Connection, buckets: Iterable[int]) -> None:
    """Mark the roll-ups of these buckets as outdated."""
    rows = [(bucket,) for bucket in sorted(buckets)]
    if rows:
        db.execute_many("INSERT INTO monitor_dirty (bucket) VALUES (?)", rows)


def add_to_counters(db: Connection, counts: Mapping[str, int], now: int) -> None:
    """Add to the counters of the current hour."""
    rows = [
        (name, now - now % HOUR_MICROS, value) for name, value in sorted(counts.items()) if value
    ]
    if rows:
        db.execute_many(
            "INSERT INTO monitor_counters (name, hour, value) VALUES (?, ?, ?)"
            " ON CONFLICT (name, hour) DO UPDATE SET value = monitor_counters.value + excluded.value",
            rows,
        )


def find_numbers(db: Connection, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Id → number and time of the interactions that are stored."""
    numbers: dict[str, tuple[int, int]] = {}
    for batch in split_batches(list(dict.fromkeys(ids))):
        sql = f"SELECT id, number, at FROM interactions WHERE id IN ({format_placeholders(batch)})"  # noqa: S608
        numbers.update({id: (number, at) for id, number, at in db.execute(sql, batch)})
    return numbers


def encode_texts(interaction: Interaction) -> str:
    """The texts of an interaction as JSON."""
    body: dict[str, Any] = {
        name: value
        for name in ("question", "answer", "reference", "error")
        if (value := getattr(interaction, name)) is not None
    }
    if interaction.contexts is not None:
        body["contexts"] = [chunk_to_json(chunk) for chunk in interaction.contexts]
    return to_ascii_json(body)


def decode_interaction(row: tuple[Any, ...]) -> Interaction:
    """The interaction in a row of `SELECT_INTERACTION`."""
    id, at, language, latency, cost, tokens, meta, text, value, comment = row
    with explain_damage(f"interaction {id!r} in the store"):
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


def split_batches(items: list[T], size: int = MAX_ROWS_PER_STATEMENT) -> Iterator[list[T]]:
    """The items in lists of at most `size`."""
    return (items[at : at + size] for at in range(0, len(items), size))


def format_placeholders(items: Sequence[Any]) -> str:
    """`?, ?, ?`: one placeholder for each item."""
    return ", ".join("?" * len(items))


def to_ascii_json(item: Any) -> str:
    """JSON in ASCII: lone surrogates in logged texts would fail as UTF-8 in the database."""
    return json.dumps(item, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
