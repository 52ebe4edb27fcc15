"""Spans wait in the store until their trace is complete, then become one interaction."""

from __future__ import annotations

import json
import logging

from ragstone.data.strict_json import BadRow
from ragstone.monitor.archive import Archive
from ragstone.monitor.ingest.spans import build_interaction, span_from_json
from ragstone.monitor.interactions import Interaction, now_micros
from ragstone.monitor.statements import (
    add_to_counters,
    format_placeholders,
    get_bucket,
    insert_interactions,
    mark_dirty,
)
from ragstone.store.database import Connection

GRACE_MICROS = 2_000_000
"""After the root of a trace ended, spans of other processes may still be on their way: microseconds."""

TIMEOUT_MICROS = 30_000_000
"""A trace whose root never comes is complete after so long without another span."""

TRACES_PER_COMMIT = 200
"""Put together in one transaction at most."""

log = logging.getLogger("ragstone.monitor")


def assemble_traces(
    archive: Archive, *, grace: int = GRACE_MICROS, timeout: int = TIMEOUT_MICROS
) -> int:
    """Turn complete traces into interactions; how many traces were complete."""
    now = now_micros()
    total = 0
    while True:
        done = archive.run(lambda db: _assemble_batch(db, now, grace, timeout)).result()
        total += done
        if done < TRACES_PER_COMMIT:
            return total


def _assemble_batch(db: Connection, now: int, grace: int, timeout: int) -> int:
    ready = [
        trace
        for (trace,) in db.execute(
            "SELECT trace FROM monitor_spans GROUP BY trace"
            " HAVING MAX(arrived) <= ? OR (MAX(root) = 1 AND MAX(arrived) <= ?)"
            " ORDER BY trace LIMIT ?",
            (now - timeout, now - grace, TRACES_PER_COMMIT),
        )
    ]
    if not ready:
        return 0
    bodies: dict[str, list[str]] = {trace: [] for trace in ready}
    sql = f"SELECT trace, body FROM monitor_spans WHERE trace IN ({format_placeholders(ready)})"  # noqa: S608
    for trace, body in db.execute(sql, ready):
        bodies[trace].append(body)
    found: list[Interaction] = []
    unread = broken = 0
    for trace, some in bodies.items():
        try:
            one = build_interaction([span_from_json(json.loads(body)) for body in some], now)
        except BadRow:
            one = None
        except Exception:  # whatever one trace does, those after it must not wait for ever
            log.exception("the trace %s cannot be read and is left out", trace)
            broken += 1
            continue
        if one is None:
            unread += 1
        else:
            found.append(one)
    new = insert_interactions(db, found, now)
    mark_dirty(db, {get_bucket(one.at) for one in found if one.id in new})
    tally = {
        "interactions": len(new),
        "repeated": len(found) - len(new),
        "empty_traces": unread,
        "broken_traces": broken,
    }
    add_to_counters(db, tally, now)
    sql = f"DELETE FROM monitor_spans WHERE trace IN ({format_placeholders(ready)})"  # noqa: S608
    db.execute(sql, ready)
    return len(ready)
