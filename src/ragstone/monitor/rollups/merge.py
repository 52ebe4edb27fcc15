"""Hourly and daily roll-ups merged from finer ones, inside a transaction.

A bucket is merged at once, or deferred: a deferred bucket is stored empty and read from the finer buckets inside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ragstone.monitor.rollups.build import BucketBodies
from ragstone.monitor.rollups.table_stack import TableStack, measure_bodies
from ragstone.monitor.rollups.tables import encode_histograms, encode_table
from ragstone.monitor.statements import BUCKET_MICROS, DAY_MICROS, HOUR_MICROS
from ragstone.store.database import Connection

SPANS_MICROS = (BUCKET_MICROS, HOUR_MICROS, DAY_MICROS)
"""Lengths of buckets, the finest first; the column `span` has them in seconds, `bucket` has starts in microseconds."""

SUMS, BINS = "sums", "bins"
"""Kinds of bodies in the store: tables and histograms, in the order of BucketBodies."""

MAX_ALWAYS_STORED_VALUES = 60
"""A field with at most this many values is always stored."""
MIN_ID_INTERACTIONS = 1000
ID_UNIQUE_SHARE = 0.98
"""A field in which at least this share of MIN_ID_INTERACTIONS or more interactions have distinct values is an id: it is not
stored but read from the rows when needed."""

MIN_INTERACTIONS_PER_VALUE = 20
"""Interactions per value of a day from which its table is smaller than those of its hours."""

NOT_STORED: BucketBodies = (b"", b"")
"""Stored for a bucket that is deferred, or would be no smaller than the buckets inside it: readers then use those, or the rows."""


def lock_rollups(db: Connection) -> None:
    """Allow one refresh at a time: the row stays locked until the transaction ends."""
    db.execute(
        "INSERT INTO monitor_state (name, updated, body) VALUES ('rollups', 0, '{}')"
        " ON CONFLICT (name) DO UPDATE SET updated = monitor_state.updated + 1"
    )


def list_days_to_write(db: Connection, touched: set[int]) -> list[int]:
    """Days to merge again: those touched, and the day before the last one if it is not stored yet.

    The last day is not stored while it grows, so that a busy hour does not rewrite a whole day each time."""
    last_day = _find_last_day(db)
    ((rows_of_day_before,),) = db.execute(
        "SELECT COUNT(*) FROM monitor_rollups WHERE span = ? AND bucket = ?",
        (DAY_MICROS // 1_000_000, last_day - DAY_MICROS),
    )
    # Until now the day before was the last one, and so was not stored.
    return sorted(touched if rows_of_day_before else touched | {last_day - DAY_MICROS})


def _find_last_day(db: Connection) -> int:
    ((newest,),) = db.execute(
        "SELECT COALESCE(MAX(bucket), 0) FROM monitor_rollups WHERE span = ?",
        (HOUR_MICROS // 1_000_000,),
    )
    return int(newest - newest % DAY_MICROS)


def merge_buckets(
    db: Connection, span: int, buckets: Sequence[int], eager: Mapping[int, int] | None
) -> None:
    """Merge coarser buckets from the finer ones inside them; `eager` maps a span to how many are merged at once, the others are deferred.

    Without `eager` all are merged."""
    last_day = _find_last_day(db) if span == DAY_MICROS else 0
    merged = 0
    for bucket in buckets:
        if span == DAY_MICROS and bucket >= last_day:
            # Also when it was deferred: the last day moves back when the newest interactions are purged.
            replace_buckets(db, DAY_MICROS, {bucket: {}})
            _clear_stale(db, DAY_MICROS, bucket)
        elif (eager is not None and merged >= eager[span]) or _has_stale_hours(db, span, bucket):
            _defer_bucket(db, span, bucket)
        else:
            _merge_bucket(db, span, bucket)
            merged += 1


def _merge_bucket(db: Connection, span: int, bucket: int) -> None:
    finer = SPANS_MICROS[SPANS_MICROS.index(span) - 1]
    merged = _merge_fields(db, finer, bucket, bucket + span)
    replace_buckets(db, span, {bucket: merged})
    _clear_stale(db, span, bucket)
    for field, bodies in merged.items():
        if span == HOUR_MICROS and bodies == NOT_STORED:
            # the five-minute tables of an id are no smaller than its rows; once emptied, the reader
            # goes to the rows
            _discard_bodies(db, BUCKET_MICROS, bucket, bucket + span, field)


def _defer_bucket(db: Connection, span: int, bucket: int) -> None:
    """Store a bucket as empty, so that it is read from the finer ones inside it, and mark it as stale."""
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
    """Whether an hour of the day is still to be merged."""
    if span == HOUR_MICROS:
        return False
    rows = db.execute(
        "SELECT COUNT(*) FROM monitor_stale WHERE span = ? AND bucket >= ? AND bucket < ?",
        (HOUR_MICROS // 1_000_000, bucket, bucket + span),
    )
    return any(count for (count,) in rows)


def _merge_fields(db: Connection, finer: int, since: int, until: int) -> dict[str, BucketBodies]:
    """Field → bodies of a coarser bucket, from the finer ones inside it."""
    by_field: dict[str, dict[str, list[bytes]]] = defaultdict(lambda: {SUMS: [], BINS: []})
    rows = db.execute(
        "SELECT field, kind, body FROM monitor_rollups WHERE span = ? AND bucket >= ?"
        " AND bucket < ? ORDER BY field, bucket",
        (finer // 1_000_000, since, until),
    )
    for field, kind, body in rows:
        by_field[field][kind].append(body)
    return {
        field: _merge_bodies(parts[SUMS], parts[BINS], finer) for field, parts in by_field.items()
    }


def _merge_bodies(sums: Sequence[bytes], bins: Sequence[bytes], finer: int) -> BucketBodies:
    """The bodies of one field merged; `finer` is the span of the buckets that they come from."""
    # an empty body means that this finer bucket is read from still finer ones: a sum without it would
    # be too small
    if not all(sums):
        return NOT_STORED
    count, values = measure_bodies(sums)
    if values > MAX_ALWAYS_STORED_VALUES:
        if (
            finer == BUCKET_MICROS
            and count >= MIN_ID_INTERACTIONS
            # an id among the meta fields would otherwise be stored again in each of the three sizes
            # of bucket
            and values >= ID_UNIQUE_SHARE * count
        ):
            return NOT_STORED
        if finer == HOUR_MICROS and count < values * MIN_INTERACTIONS_PER_VALUE:
            return NOT_STORED
    return encode_table(_stack_bodies(sums).build_table()), encode_histograms(
        _stack_bodies(bins).build_histograms()
    )


def _stack_bodies(bodies: Iterable[bytes]) -> TableStack:
    stack = TableStack()
    for body in bodies:
        stack.add(0, body)
    return stack


def replace_buckets(
    db: Connection, span: int, buckets: Mapping[int, Mapping[str, BucketBodies]]
) -> None:
    """Write the bodies of these buckets by field in place of what is stored; an empty mapping deletes a bucket."""
    seconds = span // 1_000_000
    db.execute_many(
        "DELETE FROM monitor_rollups WHERE span = ? AND bucket = ?",
        [(seconds, bucket) for bucket in sorted(buckets)],
    )
    rows = [
        (seconds, bucket, field, kind, body)
        for bucket, fields in sorted(buckets.items())
        for field, bodies in sorted(fields.items())
        for kind, body in zip((SUMS, BINS), bodies, strict=True)
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
