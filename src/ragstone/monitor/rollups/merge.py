"""Hours and days from five minutes, inside a transaction: added up at once, or left for later and read from what they are made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ragstone.monitor.rollups.build import BucketBodies
from ragstone.monitor.rollups.table_stack import TableStack, measure_bodies
from ragstone.monitor.rollups.tables import encode_histograms, encode_table
from ragstone.monitor.statements import BUCKET_MICROS, DAY_MICROS, HOUR_MICROS
from ragstone.store.database import Connection

SPANS_MICROS = (BUCKET_MICROS, HOUR_MICROS, DAY_MICROS)

SUMS, BINS = "sums", "bins"

MAX_ALWAYS_STORED_VALUES = 60
"""A field with no more values than this is always kept."""
MIN_ID_INTERACTIONS = 1000
ID_UNIQUE_SHARE = 0.98
"""A field in which so large a share of at least `ENOUGH` interactions have values of their own is an id; it is read from the
rows when asked for."""

MIN_INTERACTIONS_PER_VALUE = 20
"""Interactions for each value of a day from which its table is shorter than those of its hours."""

NOT_STORED: BucketBodies = (b"", b"")
"""In the place of what is not kept, because it is no shorter than what it is made of."""


def lock_rollups(db: Connection) -> None:
    """One refresher at a time: the row stays locked until the transaction ends."""
    db.execute(
        "INSERT INTO monitor_state (name, updated, body) VALUES ('rollups', 0, '{}')"
        " ON CONFLICT (name) DO UPDATE SET updated = monitor_state.updated + 1"
    )


def list_days_to_write(db: Connection, touched: set[int]) -> list[int]:
    """Days to write anew; the last one has none while it grows, so that a busy hour does not cost a day each time."""
    today = _find_last_day(db)
    ((before,),) = db.execute(
        "SELECT COUNT(*) FROM monitor_rollups WHERE span = ? AND bucket = ?",
        (DAY_MICROS // 1_000_000, today - DAY_MICROS),
    )
    return sorted(touched if before else touched | {today - DAY_MICROS})


def _find_last_day(db: Connection) -> int:
    ((newest,),) = db.execute(
        "SELECT COALESCE(MAX(bucket), 0) FROM monitor_rollups WHERE span = ?",
        (HOUR_MICROS // 1_000_000,),
    )
    return int(newest - newest % DAY_MICROS)


def merge_buckets(
    db: Connection, span: int, buckets: Sequence[int], at_hand: Mapping[int, int] | None
) -> None:
    """Make coarser buckets from the finer ones in them; those beyond what is at hand are left for later."""
    today = _find_last_day(db) if span == DAY_MICROS else 0
    number = 0
    for bucket in buckets:
        if span == DAY_MICROS and bucket >= today:
            # also one that was left for later: the last day moves back when the newest interactions are purged
            replace_buckets(db, DAY_MICROS, {bucket: {}})
            _clear_stale(db, DAY_MICROS, bucket)
        elif (at_hand is not None and number >= at_hand[span]) or _has_stale_hours(
            db, span, bucket
        ):
            _defer_bucket(db, span, bucket)
        else:
            _merge_bucket(db, span, bucket)
            number += 1


def _merge_bucket(db: Connection, span: int, bucket: int) -> None:
    finer = SPANS_MICROS[SPANS_MICROS.index(span) - 1]
    merged = _merge_fields(db, finer, bucket, bucket + span)
    replace_buckets(db, span, {bucket: merged})
    _clear_stale(db, span, bucket)
    for field, stored in merged.items():
        if span == HOUR_MICROS and stored == NOT_STORED:
            _discard_bodies(db, BUCKET_MICROS, bucket, bucket + span, field)


def _defer_bucket(db: Connection, span: int, bucket: int) -> None:
    """Have a bucket read from the finer ones in it."""
    finer = SPANS_MICROS[SPANS_MICROS.index(span) - 1]
    rows = db.execute(
        "SELECT DISTINCT field FROM monitor_rollups WHERE span = ? AND bucket >= ? AND bucket < ?",
        (finer // 1_000_000, bucket, bucket + span),
    )
    replace_buckets(db, span, {bucket: {field: NOT_STORED for (field,) in rows}})
    db.execute(
        "INSERT INTO monitor_stale (span, bucket) VALUES (?, ?) ON CONFLICT DO NOTHING",
        (span // 1_000_000, bucket),
    )


def _clear_stale(db: Connection, span: int, bucket: int) -> None:
    db.execute(
        "DELETE FROM monitor_stale WHERE span = ? AND bucket = ?", (span // 1_000_000, bucket)
    )


def _has_stale_hours(db: Connection, span: int, bucket: int) -> bool:
    """Whether one of the hours of a day is still to be added up."""
    if span == HOUR_MICROS:
        return False
    rows = db.execute(
        "SELECT COUNT(*) FROM monitor_stale WHERE span = ? AND bucket >= ? AND bucket < ?",
        (HOUR_MICROS // 1_000_000, bucket, bucket + span),
    )
    return any(count for (count,) in rows)


def _merge_fields(db: Connection, finer: int, since: int, until: int) -> dict[str, BucketBodies]:
    """A coarser bucket's tables from the finer ones in it."""
    found: dict[str, dict[str, list[bytes]]] = defaultdict(lambda: {SUMS: [], BINS: []})
    rows = db.execute(
        "SELECT field, kind, body FROM monitor_rollups WHERE span = ? AND bucket >= ?"
        " AND bucket < ? ORDER BY field, bucket",
        (finer // 1_000_000, since, until),
    )
    for field, kind, body in rows:
        found[field][kind].append(body)
    return {field: _merge_bodies(parts[SUMS], parts[BINS], finer) for field, parts in found.items()}


def _merge_bodies(sums: Sequence[bytes], bins: Sequence[bytes], finer: int) -> BucketBodies:
    if not all(sums):
        return NOT_STORED
    count, values = measure_bodies(sums)
    if values > MAX_ALWAYS_STORED_VALUES:
        if (
            finer == BUCKET_MICROS
            and count >= MIN_ID_INTERACTIONS
            and values >= ID_UNIQUE_SHARE * count
        ):
            return NOT_STORED
        if finer == HOUR_MICROS and count < values * MIN_INTERACTIONS_PER_VALUE:
            return NOT_STORED
    return encode_table(_stack_bodies(sums).table()), encode_histograms(
        _stack_bodies(bins).histograms()
    )


def _stack_bodies(bodies: Iterable[bytes]) -> TableStack:
    pile = TableStack()
    for body in bodies:
        pile.add(0, body)
    return pile


def replace_buckets(
    db: Connection, span: int, buckets: Mapping[int, Mapping[str, BucketBodies]]
) -> None:
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


def _discard_bodies(db: Connection, span: int, since: int, until: int, field: str) -> None:
    db.execute(
        "UPDATE monitor_rollups SET body = ? WHERE span = ? AND bucket >= ? AND bucket < ?"
        " AND field = ?",
        (b"", span // 1_000_000, since, until, field),
    )
