"""Assembly of traces: spans wait in the store until their trace is complete, then become one interaction."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence

from ragstone.data.spans import TraceSpan, describe_trace, span_from_json
from ragstone.data.strict_json import BadRow
from ragstone.monitor.archive import Archive
from ragstone.monitor.ingest.coercion import coerce_row
from ragstone.monitor.interactions import (
    EARLIEST_MICROS,
    MAX_CLOCK_SKEW_MICROS,
    Interaction,
    format_iso,
    now_micros,
    parse_interaction,
)
from ragstone.monitor.statements import (
    add_to_counters,
    format_placeholders,
    get_bucket,
    insert_interactions,
    mark_dirty,
)
from ragstone.store.database import Connection

TRACES_PER_COMMIT = 200
"""Traces assembled in one transaction at most."""

log = logging.getLogger("ragstone.monitor")


def assemble_traces(archive: Archive, *, grace: int, timeout: int) -> int:
    """Turn complete traces into interactions; returns the number of complete traces.

    A trace is complete `grace` microseconds after its last span when its root is there, without a root after `timeout`."""
    now = now_micros()
    total = 0
    while True:
        done = archive.run(lambda db: _assemble_batch(db, now, grace, timeout)).result()
        total += done
        if done < TRACES_PER_COMMIT:
            return total


def _assemble_batch(db: Connection, now: int, grace: int, timeout: int) -> int:
    traces = [
        trace
        for (trace,) in db.execute(
            "SELECT trace FROM monitor_spans GROUP BY trace"
            " HAVING MAX(arrived) <= ? OR (MAX(root) = 1 AND MAX(arrived) <= ?)"
            " ORDER BY trace LIMIT ?",
            (now - timeout, now - grace, TRACES_PER_COMMIT),
        )
    ]
    if not traces:
        return 0
    bodies: dict[str, list[str]] = {trace: [] for trace in traces}
    sql = f"SELECT trace, body FROM monitor_spans WHERE trace IN ({format_placeholders(traces)})"  # noqa: S608
    for trace, body in db.execute(sql, traces):
        bodies[trace].append(body)
    interactions: list[Interaction] = []
    empty = broken = 0
    for trace, spans in bodies.items():
        try:
            interaction = build_interaction(
                [span_from_json(json.loads(body)) for body in spans], now
            )
        except BadRow:  # what the trace describes is no interaction
            interaction = None
        except Exception:  # one bad trace must not block those after it
            log.exception("the trace %s cannot be read and is excluded", trace)
            broken += 1
            continue
        if interaction is None:
            empty += 1
        else:
            interactions.append(interaction)
    # in the transaction that deletes the spans: a crash neither loses a trace nor makes two
    # interactions of it
    new = insert_interactions(db, interactions, now)
    mark_dirty(
        db, {get_bucket(interaction.at) for interaction in interactions if interaction.id in new}
    )
    counts = {
        "interactions": len(new),
        "repeated": len(interactions) - len(new),
        "empty_traces": empty,
        "broken_traces": broken,
    }
    add_to_counters(db, counts, now)
    sql = f"DELETE FROM monitor_spans WHERE trace IN ({format_placeholders(traces)})"  # noqa: S608
    db.execute(sql, traces)
    return len(traces)


def build_interaction(spans: Sequence[TraceSpan], now: int) -> Interaction | None:
    """The interaction that a trace describes; None when it is about no question."""
    row = describe_trace(spans)
    if row is None:
        return None
    start = row.pop("start")
    # a wrong clock must not lose the interaction: `parse_interaction` would refuse its time
    is_plausible = EARLIEST_MICROS <= start <= now + MAX_CLOCK_SKEW_MICROS
    return parse_interaction(
        coerce_row({**row, "at": format_iso(start if is_plausible else now)}), now
    )
