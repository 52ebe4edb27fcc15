"""Hours and days from five minutes, inside a transaction: added up at once, or left for later and read from what they are made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ragstone.monitor.rollups.build import Stored
from ragstone.monitor.rollups.table_stack import Pile, extent
from ragstone.monitor.rollups.tables import stored_bins, stored_table
from ragstone.monitor.statements import BUCKET, HOUR
from ragstone.store.database import Connection

DAY = 24 * HOUR
SPANS = (BUCKET, HOUR, DAY)

SUMS, BINS = "sums", "bins"

FEW_VALUES = 60
"""A field with no more values than this is always kept."""
ENOUGH = 1000
UNIQUE = 0.98
"""A field in which so large a share of at least `ENOUGH` interactions have values of their own is an id; it is read from the
rows when asked for."""

SAVING = 20
"""Interactions for each value of a day from which its table is shorter than those of its hours."""

ELSEWHERE: Stored = (b"", b"")
"""In the place of what is not kept, because it is no shorter than what it is made of."""


def lock(db: Connection) -> None:
    """One refresher at a time: the row stays locked until the transaction ends."""
    db.execute(
        "INSERT INTO monitor_state (name, updated, body) VALUES ('rollups', 0, '{}')"
        " ON CONFLICT (name) DO UPDATE SET updated = monitor_state.updated + 1"
    )


def days_to_write(db: Connection, touched: set[int]) -> list[int]:
    """Days to write anew; the last one has none while it grows, so that a busy hour does not cost a day each time."""
    today = _today(db)
    ((before,),) = db.execute(
        "SELECT COUNT(*) FROM monitor_rollups WHERE span = ? AND bucket = ?",
        (DAY // 1_000_000, today - DAY),
    )
    return sorted(touched if before else touched | {today - DAY})


def _today(db: Connection) -> int:
    ((newest,),) = db.execute(
        "SELECT COALESCE(MAX(bucket), 0) FROM monitor_rollups WHERE span = ?", (HOUR // 1_000_000,)
    )
    return int(newest - newest % DAY)


def add_up(
    db: Connection, span: int, buckets: Sequence[int], at_hand: Mapping[int, int] | None
) -> None:
    """Make coarser buckets from the finer ones in them; those beyond what is at hand are left for later."""
    today = _today(db) if span == DAY else 0
    number = 0
    for bucket in buckets:
        if span == DAY and bucket >= today:
            # also one that was left for later: the last day moves back when the newest interactions are purged
            replace(db, DAY, {bucket: {}})
            _no_longer_stale(db, DAY, bucket)
        elif (at_hand is not None and number >= at_hand[span]) or _waiting(db, span, bucket):
            _leave(db, span, bucket)
        else:
            _make(db, span, bucket)
            number += 1


def _make(db: Connection, span: int, bucket: int) -> None:
    finer = SPANS[SPANS.index(span) - 1]
    merged = _merged(db, finer, bucket, bucket + span)
    replace(db, span, {bucket: merged})
    _no_longer_stale(db, span, bucket)
    for field, stored in merged.items():
        if span == HOUR and stored == ELSEWHERE:
            _drop(db, BUCKET, bucket, bucket + span, field)


def _leave(db: Connection, span: int, bucket: int) -> None:
    """Have a bucket read from the finer ones in it."""
    finer = SPANS[SPANS.index(span) - 1]
    rows = db.execute(
        "SELECT DISTINCT field FROM monitor_rollups WHERE span = ? AND bucket >= ? AND bucket < ?",
        (finer // 1_000_000, bucket, bucket + span),
    )
    replace(db, span, {bucket: {field: ELSEWHERE for (field,) in rows}})
    db.execute(
        "INSERT INTO monitor_stale (span, bucket) VALUES (?, ?) ON CONFLICT DO NOTHING",
        (span // 1_000_000, bucket),
    )


def _no_longer_stale(db: Connection, span: int, bucket: int) -> None:
    db.execute(
        "DELETE FROM monitor_stale WHERE span = ? AND bucket = ?", (span // 1_000_000, bucket)
    )


def _waiting(db: Connection, span: int, bucket: int) -> bool:
    """Whether one of the hours of a day is still to be added up."""
    if span == HOUR:
        return False
    rows = db.execute(
        "SELECT COUNT(*) FROM monitor_stale WHERE span = ? AND bucket >= ? AND bucket < ?",
        (HOUR // 1_000_000, bucket, bucket + span),
    )
    return any(count for (count,) in rows)


def _merged(db: Connection, finer: int, since: int, until: int) -> dict[str, Stored]:
    """A coarser bucket's tables from the finer ones in it."""
    found: dict[str, dict[str, list[bytes]]] = defaultdict(lambda: {SUMS: [], BINS: []})
    rows = db.execute(
        "SELECT field, kind, body FROM monitor_rollups WHERE span = ? AND bucket >= ?"
        " AND bucket < ? ORDER BY field, bucket",
        (finer // 1_000_000, since, until),
    )
    for field, kind, body in rows:
        found[field][kind].append(body)
    return {field: _joined(parts[SUMS], parts[BINS], finer) for field, parts in found.items()}


def _joined(sums: Sequence[bytes], bins: Sequence[bytes], finer: int) -> Stored:
    if not all(sums):
        return ELSEWHERE
    count, values = extent(sums)
    if values > FEW_VALUES:
        if finer == BUCKET and count >= ENOUGH and values >= UNIQUE * count:
            return ELSEWHERE
        if finer == HOUR and count < values * SAVING:
            return ELSEWHERE
    return stored_table(_piled(sums).table()), stored_bins(_piled(bins).histograms())


def _piled(bodies: Iterable[bytes]) -> Pile:
    pile = Pile()
    for body in bodies:
        pile.put(0, body)
    return pile


def replace(db: Connection, span: int, buckets: Mapping[int, Mapping[str, Stored]]) -> None:
    seconds = span // 1_000_000
    db.execute_many(
        "DELETE FROM monitor_rollups WHERE span = ? AND bucket = ?",
        [(seconds, bucket) for bucket in sorted(buckets)],
    )
    rows = [
        (seconds, bucket, field, kind, body)
        for bucket, found in sorted(buckets.items())
        for field, stored in sorted(found.items())
        for kind, body in zip((SUMS, BINS), stored, strict=True)
    ]
    db.execute_many(
        "INSERT INTO monitor_rollups (span, bucket, field, kind, body) VALUES (?, ?, ?, ?, ?)", rows
    )


def _drop(db: Connection, span: int, since: int, until: int, field: str) -> None:
    db.execute(
        "UPDATE monitor_rollups SET body = ? WHERE span = ? AND bucket >= ? AND bucket < ?"
        " AND field = ?",
        (b"", span // 1_000_000, since, until, field),
    )
