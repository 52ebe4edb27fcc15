"""Deletion of interactions inside a transaction, with everything that is derived from them or quotes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragstone.labels.label import MONITOR
from ragstone.monitor.interactions import from_micros, now_micros
from ragstone.monitor.state import lock_alerts
from ragstone.monitor.statements import (
    HOUR_MICROS,
    MAX_ROWS_PER_STATEMENT,
    REPLIES_RUN_ID,
    find_numbers,
    format_placeholders,
    get_bucket,
    mark_dirty,
    split_batches,
    to_ascii_json,
)
from ragstone.store.database import Connection


def purge_ids(db: Connection, ids: Sequence[str]) -> int:
    """Delete these interactions, their feedback, labels and spans, and examples of them in alerts."""
    numbers = find_numbers(db, ids)
    # by id, not by number: feedback and spans may be there without their interaction; the id of an
    # interaction made from a trace is the trace's
    for batch in split_batches(list(ids)):
        for table, column in (("feedback", "interaction"), ("monitor_spans", "trace")):
            sql = f"DELETE FROM {table} WHERE {column} IN ({format_placeholders(batch)})"  # noqa: S608
            db.execute(sql, batch)
        _delete_labels(db, batch)
    delete_interactions(db, list(numbers.values()))
    # Cached replies quote texts without saying whose they are, so all of them go.
    db.execute("DELETE FROM replies WHERE run = ?", (REPLIES_RUN_ID,))
    purge_examples(db)
    return len(numbers)


def _delete_labels(db: Connection, ids: Sequence[str]) -> None:
    """Delete all labels of interactions, whoever gave them: their comments may quote the texts."""
    sql = f"DELETE FROM labels WHERE run = ? AND sample IN ({format_placeholders(ids)})"  # noqa: S608
    db.execute(sql, (MONITOR, *ids))


def purge_before(db: Connection, before: int) -> int:
    """Delete a batch of interactions older than a time; returns how many, fewer than MAX_ROWS_PER_STATEMENT when none remains.

    The last batch also deletes everything else of that age."""
    rows = list(
        db.execute(
            "SELECT number, at, id FROM interactions WHERE at < ? ORDER BY at LIMIT ?",
            (before, MAX_ROWS_PER_STATEMENT),
        )
    )
    ids = [id for _, _, id in rows]
    if ids:
        sql = f"DELETE FROM feedback WHERE interaction IN ({format_placeholders(ids)})"  # noqa: S608
        db.execute(sql, ids)
        _delete_labels(db, ids)
        delete_interactions(db, [(number, at) for number, at, _ in rows])
    if len(rows) < MAX_ROWS_PER_STATEMENT:
        # Also feedback on interactions that never arrived.
        db.execute("DELETE FROM feedback WHERE at < ?", (before,))
        db.execute("DELETE FROM labels WHERE run = ? AND at < ?", (MONITOR, before))
        db.execute("DELETE FROM monitor_spans WHERE arrived < ?", (before,))
        db.execute("DELETE FROM monitor_counters WHERE hour < ?", (before - before % HOUR_MICROS,))
        db.execute(
            "DELETE FROM replies WHERE run = ? AND created < ?",
            (REPLIES_RUN_ID, format_reply_time(before)),
        )
        purge_alerts(db, before)
        purge_examples(db)
    return len(rows)


def delete_interactions(db: Connection, numbers: Sequence[tuple[int, int]]) -> None:
    """Delete interactions, given by number and time, with their texts, scores and queue entries."""
    for batch in split_batches([number for number, _ in numbers]):
        for table in ("interactions", "interaction_texts", "monitor_scores", "monitor_queue"):
            sql = f"DELETE FROM {table} WHERE number IN ({format_placeholders(batch)})"  # noqa: S608
            db.execute(sql, batch)
    # the roll-ups of that time are rebuilt without them
    mark_dirty(db, {get_bucket(at) for _, at in numbers})


def format_reply_time(at: int) -> str:
    """A time in the format of `replies.created`."""
    return from_micros(at).isoformat(timespec="seconds")


# ── alerts and their examples ─────────────────────────────────────────────────────────────

EXAMPLE_LISTS = ("examples", "before_examples")
"""Names of the lists of interactions among an alert's facts."""
_EXAMPLE_TABLES = (
    ("monitor_alerts", "id"),
    ("monitor_alert_events", "number"),
    ("monitor_outbox", "key"),
    ("monitor_state", "name"),
)
"""Tables whose JSON bodies may contain interactions as examples, and their key columns. Any new table that quotes interactions
belongs here: what is purged must not survive in it."""


def purge_alerts(db: Connection, before: int) -> None:
    """Delete alerts closed before a time, their events, and messages sent before it."""
    db.execute(
        "DELETE FROM monitor_alert_events"
        " WHERE alert IN (SELECT id FROM monitor_alerts WHERE closed < ?)",
        (before,),
    )
    db.execute("DELETE FROM monitor_alerts WHERE closed < ?", (before,))
    db.execute("DELETE FROM monitor_outbox WHERE sent < ?", (before,))


def purge_examples(db: Connection) -> None:
    """Delete examples of interactions that no longer exist from alerts, messages and saved states."""
    # A concurrent evaluation either finishes first or sees the deletion.
    lock_alerts(db, now_micros())
    documents: list[tuple[str, str, Any, Any]] = []
    for table, column in _EXAMPLE_TABLES:
        sql = f"SELECT {column}, body FROM {table} WHERE body LIKE ?"  # noqa: S608
        # LIKE only narrows the search; the parsed JSON decides
        rows = db.execute(sql, ('%examples"%',))
        documents += [(table, column, key, json.loads(body)) for key, body in rows]
    shown = {example["id"] for *_, tree in documents for example in _iter_examples(tree)}
    purged = shown - find_numbers(db, sorted(shown)).keys()
    for table, column, key, tree in documents:
        if not any(example["id"] in purged for example in _iter_examples(tree)):
            continue
        if key == "questions:day":  # a cache: computed again from the remaining questions
            db.execute("DELETE FROM monitor_state WHERE name = ?", (key,))
            continue
        for examples in _iter_example_lists(tree):
            examples[:] = [example for example in examples if example["id"] not in purged]
        sql = f"UPDATE {table} SET body = ? WHERE {column} = ?"  # noqa: S608
        db.execute(sql, (to_ascii_json(tree), key))


def drop_purged_examples(db: Connection, facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """A rule result's facts without examples that were purged since they were computed."""
    lists = {name: facts[name] for name in EXAMPLE_LISTS if facts.get(name)}
    if not lists:
        return facts
    ids = [example["id"] for examples in lists.values() for example in examples]
    stored = find_numbers(db, ids)
    return {
        **facts,
        **{
            name: [example for example in examples if example["id"] in stored]
            for name, examples in lists.items()
        },
    }


def _iter_example_lists(tree: Any) -> Iterator[list[dict[str, Any]]]:
    """Every list of examples in a JSON tree."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            if name in EXAMPLE_LISTS:
                yield value
            else:
                yield from _iter_example_lists(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _iter_example_lists(value)


def _iter_examples(tree: Any) -> Iterator[dict[str, Any]]:
    return (example for examples in _iter_example_lists(tree) for example in examples)
