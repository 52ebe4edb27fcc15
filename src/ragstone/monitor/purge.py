"""Forgetting inside a transaction: an interaction goes with all that hangs on it or tells of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragstone.monitor.interactions import from_micros, micros
from ragstone.monitor.state import lock_watching
from ragstone.monitor.statements import (
    HOUR,
    MANY,
    RUN,
    bucket_of,
    dump,
    mark,
    marks,
    numbers,
    pieces,
)
from ragstone.store.database import Connection


def forget_ids(db: Connection, ids: Sequence[str]) -> int:
    """Remove these interactions, their feedback, their spans and what alerts tell of them."""
    found = numbers(db, ids)
    for part in pieces(list(ids)):
        for table, column in (("feedback", "interaction"), ("monitor_spans", "trace")):
            sql = f"DELETE FROM {table} WHERE {column} IN ({marks(part)})"  # noqa: S608
            db.execute(sql, part)
    forget(db, list(found.values()))
    # replies quote the texts they judge and do not say whose they are; they are only a cache
    db.execute("DELETE FROM replies WHERE run = ?", (RUN,))
    forget_examples(db)
    return len(found)


def forget_before(db: Connection, before: int) -> int:
    """Remove some of the interactions older than a time; fewer than `MANY` when none is left."""
    rows = list(
        db.execute(
            "SELECT number, at, id FROM interactions WHERE at < ? ORDER BY at LIMIT ?",
            (before, MANY),
        )
    )
    ids = [id for _, _, id in rows]
    if ids:
        sql = f"DELETE FROM feedback WHERE interaction IN ({marks(ids)})"  # noqa: S608
        db.execute(sql, ids)
        forget(db, [(number, at) for number, at, _ in rows])
    if len(rows) < MANY:
        db.execute("DELETE FROM feedback WHERE at < ?", (before,))  # of what never arrived
        db.execute("DELETE FROM monitor_spans WHERE arrived < ?", (before,))
        db.execute("DELETE FROM monitor_counters WHERE hour < ?", (before - before % HOUR,))
        db.execute("DELETE FROM replies WHERE run = ? AND created < ?", (RUN, day_text(before)))
        forget_alerts(db, before)
        forget_examples(db)
    return len(rows)


def forget(db: Connection, places: Sequence[tuple[int, int]]) -> None:
    """Remove interactions by number with their texts and scores."""
    for part in pieces([number for number, _ in places]):
        for table in ("interactions", "interaction_texts", "monitor_scores", "monitor_queue"):
            sql = f"DELETE FROM {table} WHERE number IN ({marks(part)})"  # noqa: S608
            db.execute(sql, part)
    mark(db, {bucket_of(at) for _, at in places})


def day_text(at: int) -> str:
    """A time as `replies.created` writes it."""
    return from_micros(at).isoformat(timespec="seconds")


# ── what alerts tell of interactions ──────────────────────────────────────────────────────

_HOMES = (
    ("monitor_alerts", "id"),
    ("monitor_alert_events", "number"),
    ("monitor_outbox", "key"),
    ("monitor_state", "name"),
)
"""Tables whose JSON bodies may show interactions as examples, and how their rows are known."""


def forget_alerts(db: Connection, before: int) -> None:
    """Remove alerts that were over before a time, their events, and messages that left before it."""
    db.execute(
        "DELETE FROM monitor_alert_events"
        " WHERE alert IN (SELECT id FROM monitor_alerts WHERE closed < ?)",
        (before,),
    )
    db.execute("DELETE FROM monitor_alerts WHERE closed < ?", (before,))
    db.execute("DELETE FROM monitor_outbox WHERE sent < ?", (before,))


def forget_examples(db: Connection) -> None:
    """Remove examples of interactions that are no longer there from alerts, messages and the last round."""
    lock_watching(db, micros())  # a round under way ends first, or sees what is gone
    pages: list[tuple[str, str, Any, Any]] = []
    for table, key in _HOMES:
        sql = f"SELECT {key}, body FROM {table} WHERE body LIKE ?"  # noqa: S608
        found = db.execute(sql, ('%"examples"%',))
        pages += [(table, key, row, json.loads(body)) for row, body in found]
    named = {one["id"] for *_, tree in pages for some in _examples(tree) for one in some}
    lost = named - numbers(db, sorted(named)).keys()
    for table, key, row, tree in pages:
        shown = list(_examples(tree))
        if not any(one["id"] in lost for some in shown for one in some):
            continue
        if row == "questions:day":  # worked out anew from the questions that are left
            db.execute("DELETE FROM monitor_state WHERE name = ?", (row,))
            continue
        for some in shown:
            some[:] = [one for one in some if one["id"] not in lost]
        db.execute(f"UPDATE {table} SET body = ? WHERE {key} = ?", (dump(tree), row))  # noqa: S608


def known_examples(db: Connection, facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """The facts of a reading without examples that were forgotten since it was made."""
    some = facts.get("examples")
    if not some:
        return facts
    there = numbers(db, [one["id"] for one in some])
    return {**facts, "examples": [one for one in some if one["id"] in there]}


def _examples(tree: Any) -> Iterator[list[dict[str, Any]]]:
    """Every list of examples in a JSON tree."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            if name == "examples":
                yield value
            else:
                yield from _examples(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _examples(value)
