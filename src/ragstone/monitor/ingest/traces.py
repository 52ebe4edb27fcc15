"""Spans wait in the store until their trace is complete, then become one interaction."""

from __future__ import annotations

import json
import logging

from ragstone.data.strict import BadRow
from ragstone.monitor.archive import Archive
from ragstone.monitor.ingest.spans import interaction_of_trace, span_of
from ragstone.monitor.interactions import Interaction, micros
from ragstone.monitor.statements import bucket_of, count, insert, mark, marks
from ragstone.store.database import Connection

GRACE = 2_000_000
"""After the root of a trace ended, spans of other processes may still be on their way: microseconds."""

TIMEOUT = 30_000_000
"""A trace whose root never comes is complete after so long without another span."""

TRACES = 200
"""Put together in one transaction at most."""

log = logging.getLogger("ragstone.monitor")


def put_together(archive: Archive, *, grace: int = GRACE, timeout: int = TIMEOUT) -> int:
    """Turn complete traces into interactions; how many traces were complete."""
    now = micros()
    total = 0
    while True:
        done = archive.run(lambda db: _step(db, now, grace, timeout)).result()
        total += done
        if done < TRACES:
            return total


def _step(db: Connection, now: int, grace: int, timeout: int) -> int:
    ready = [
        trace
        for (trace,) in db.execute(
            "SELECT trace FROM monitor_spans GROUP BY trace"
            " HAVING MAX(arrived) <= ? OR (MAX(root) = 1 AND MAX(arrived) <= ?)"
            " ORDER BY trace LIMIT ?",
            (now - timeout, now - grace, TRACES),
        )
    ]
    if not ready:
        return 0
    bodies: dict[str, list[str]] = {trace: [] for trace in ready}
    sql = f"SELECT trace, body FROM monitor_spans WHERE trace IN ({marks(ready)})"  # noqa: S608
    for trace, body in db.execute(sql, ready):
        bodies[trace].append(body)
    found: list[Interaction] = []
    unread = broken = 0
    for trace, some in bodies.items():
        try:
            one = interaction_of_trace([span_of(json.loads(body)) for body in some], now)
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
    new = insert(db, found, now)
    mark(db, {bucket_of(one.at) for one in found if one.id in new})
    tally = {
        "interactions": len(new),
        "repeated": len(found) - len(new),
        "empty_traces": unread,
        "broken_traces": broken,
    }
    count(db, tally, now)
    sql = f"DELETE FROM monitor_spans WHERE trace IN ({marks(ready)})"  # noqa: S608
    db.execute(sql, ready)
    return len(ready)
