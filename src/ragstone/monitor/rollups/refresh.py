"""Refresh of roll-ups: buckets of five minutes, an hour and a day, rebuilt from the raw rows that changed.

A change marks its five-minute bucket in the same transaction. `refresh` reads the marks, then the raw rows, and in one
transaction replaces the tables and deletes those marks: a change in between adds another mark, so it is never lost. When two
processes refresh at once, the second finds its marks gone and keeps the first one's tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from ragstone.errors import DataError, suggest_nearest
from ragstone.monitor.archive import Archive
from ragstone.monitor.rollups.build import SELECT_ROWS, SELECT_SCORES, BucketBodies, build_buckets
from ragstone.monitor.rollups.cells import SliceCells
from ragstone.monitor.rollups.merge import (
    MAX_ALWAYS_STORED_VALUES,
    NOT_STORED,
    SUMS,
    list_days_to_write,
    lock_rollups,
    merge_buckets,
    replace_buckets,
)
from ragstone.monitor.rollups.table_stack import TableStack, measure_bodies
from ragstone.monitor.statements import (
    BUCKET_MICROS,
    DAY_MICROS,
    HOUR_MICROS,
    format_placeholders,
    split_batches,
)
from ragstone.store.database import Connection

_SELECT_MARKS = "SELECT number FROM monitor_dirty WHERE number IN ({})"
_MARKS_PER_READ = 50_000
"""Marks read at a time; fewer means that no more are left."""
_BUCKETS_PER_COMMIT = 144
"""Twelve hours: ingest waits for this transaction."""
MAX_EAGER_BUCKETS = 288
"""Up to this many outdated buckets, a refresh of one window merges only EAGER_MERGES hours and days and defers the others."""
EAGER_MERGES: Mapping[int, int] = {HOUR_MICROS: 6, DAY_MICROS: 1}
"""Span → buckets merged at once."""


def refresh(
    archive: Archive,
    since: int = 0,
    until: int = 2**62,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Rebuild every outdated bucket of a time range; returns how many five-minute buckets there were.

    `progress` is called with the numbers of finished and of all buckets. A range with an end means that a user waits for its
    figures: only a few hours and days are then merged at once, and the others deferred to later calls."""
    done = total = 0
    is_interactive = until < 2**62
    while True:
        marks = archive.store.read(
            "SELECT number, bucket FROM monitor_dirty WHERE bucket >= ? AND bucket < ?"
            " ORDER BY bucket LIMIT ?",
            (since - since % BUCKET_MICROS, until, _MARKS_PER_READ),
        )
        by_bucket: dict[int, list[int]] = defaultdict(list)
        for number, bucket in marks:
            by_bucket[bucket].append(number)
        before, total = done, total + len(by_bucket)
        buckets = sorted(by_bucket)
        for first in range(0, len(buckets), _BUCKETS_PER_COMMIT):
            part = buckets[first : first + _BUCKETS_PER_COMMIT]
            part_marks = {bucket: by_bucket[bucket] for bucket in part}
            done += _rebuild_buckets(
                archive,
                part_marks,
                EAGER_MERGES if is_interactive and total <= MAX_EAGER_BUCKETS else None,
            )
            if progress is not None:
                progress(done, total)
        # without progress another process is rebuilding the same buckets
        if done == before or len(marks) < _MARKS_PER_READ:
            break  # marks added meanwhile are left to the next refresh
    merge_deferred(archive, 2 if is_interactive else None)
    return done


def read_bodies(
    archive: Archive, span: int, since: int, until: int, field: str, kind: str
) -> list[tuple[int, bytes]]:
    """Start and body of each stored bucket of a field, oldest first."""
    return archive.store.read(
        "SELECT bucket, body FROM monitor_rollups WHERE span = ? AND bucket >= ? AND bucket < ?"
        " AND field = ? AND kind = ? ORDER BY bucket",
        (span // 1_000_000, since, until, field, kind),
    )


def read_hour_bodies(
    archive: Archive, since: int, until: int, field: str, kind: str
) -> Iterator[tuple[int, bytes]]:
    """Start of the hour and body of each stored hour; of one that is not merged yet, the bodies of its five minutes."""
    for hour, body in read_bodies(archive, HOUR_MICROS, since, until, field, kind):
        if body:
            yield hour, body
            continue
        finer = read_bodies(archive, BUCKET_MICROS, hour, hour + HOUR_MICROS, field, kind)
        yield from ((hour, part) for _, part in finer if part)


def load_cells(
    archive: Archive, span: int, since: int, until: int, field: str
) -> dict[int, dict[str, SliceCells] | None]:
    """Bucket → value → series → cell without bins; None where the field has too many values to list."""
    by_bucket: dict[int, dict[str, SliceCells] | None] = {}
    starts: list[int] = []  # the bucket of each group in the stack
    stack = TableStack()
    for bucket, body in read_bodies(archive, span, since, until, field, SUMS):
        bodies = [body]
        if not body and span == HOUR_MICROS:  # perhaps only deferred
            bodies = [
                finer
                for _, finer in read_bodies(
                    archive, BUCKET_MICROS, bucket, bucket + span, field, SUMS
                )
            ]
        if not all(bodies) or measure_bodies(bodies)[1] > MAX_ALWAYS_STORED_VALUES:
            by_bucket[bucket] = None
            continue
        by_bucket[bucket] = {}
        for part in bodies:
            stack.add(len(starts), part)
        starts.append(bucket)
    for group, value, name, cell in stack.build_table().iter_cells():
        values = by_bucket[starts[group]]
        assert values is not None  # only such buckets are in `starts`
        values.setdefault(value, {})[name] = cell
    return by_bucket


def build_from_rows(archive: Archive, since: int, until: int, field: str) -> BucketBodies:
    """A time range of a field aggregated directly from its rows, as one bucket; NOT_STORED without rows."""
    rows = archive.store.read(SELECT_ROWS, (since, until))
    if not rows:
        return NOT_STORED
    scores = archive.store.read(SELECT_SCORES, (since, until))
    # a span longer than all time makes one bucket of everything, which starts at 0
    buckets = build_buckets(rows, scores, 2**62, [field])
    return buckets.get(0, {}).get(field, NOT_STORED)


def list_fields(archive: Archive, since: int, until: int) -> list[str]:
    """The fields that define slices."""
    rows = archive.store.read(
        "SELECT DISTINCT field FROM monitor_rollups WHERE span = ? AND bucket >= ? AND bucket < ?"
        " AND kind = ? AND field <> ''",
        (HOUR_MICROS // 1_000_000, since - since % HOUR_MICROS, until, SUMS),
    )
    return sorted(field for (field,) in rows)


def check_field(archive: Archive, name: str) -> None:
    """Raise DataError for a field that no interaction has; in an empty store every field is accepted."""
    known = list_fields(archive, 0, 2**62)
    if known and name not in known:
        raise DataError(f"no interaction has a field {name!r}{suggest_nearest(name, known)}")


def _rebuild_buckets(
    archive: Archive, marks: Mapping[int, Sequence[int]], eager: Mapping[int, int] | None
) -> int:
    """Rebuild the buckets of these marks (bucket → numbers of its marks); returns how many. `eager` as in `merge_buckets`."""
    # empty for buckets whose rows are all purged, so that their tables are deleted as well
    rebuilt: dict[int, dict[str, BucketBodies]] = {bucket: {} for bucket in marks}
    for first, last in _group_buckets(sorted(marks)):
        rebuilt |= _build_range(archive, first, last + BUCKET_MICROS)
    mark_numbers = [number for numbers in marks.values() for number in numbers]

    def write(db: Connection) -> int:
        lock_rollups(db)
        # read under the lock: marks that are gone were handled by another process, from rows as new
        # as ours or newer
        still_marked = {
            number
            for part in split_batches(mark_numbers)
            for (number,) in db.execute(_SELECT_MARKS.format(format_placeholders(part)), part)
        }
        valid = {
            bucket: fields
            for bucket, fields in rebuilt.items()
            if still_marked.issuperset(marks[bucket])
        }
        replace_buckets(db, BUCKET_MICROS, valid)
        hours = sorted({bucket - bucket % HOUR_MICROS for bucket in valid})
        merge_buckets(db, HOUR_MICROS, hours, eager)
        merge_buckets(
            db,
            DAY_MICROS,
            list_days_to_write(db, {hour - hour % DAY_MICROS for hour in hours}),
            eager,
        )
        done_marks = [(number,) for bucket in valid for number in marks[bucket]]
        db.execute_many("DELETE FROM monitor_dirty WHERE number = ?", done_marks)
        return len(valid)

    return archive.run(write).result()


def merge_deferred(archive: Archive, limit: int | None = None) -> int:
    """Merge deferred hours and days, all or some; returns how many."""
    done = 0
    while True:
        if not archive.store.read("SELECT 1 FROM monitor_stale LIMIT 1"):
            return done
        batch = 12 if limit is None else limit

        # the default binds the value of this turn of the loop
        def write(db: Connection, batch: int = batch) -> int:
            lock_rollups(db)
            ((before,),) = db.execute("SELECT COUNT(*) FROM monitor_stale")
            rows = list(
                db.execute(
                    "SELECT span, bucket FROM monitor_stale ORDER BY span, bucket LIMIT ?", (batch,)
                )
            )
            # merging removes the stale mark, if no finer bucket is stale
            for seconds, bucket in rows:  # ordered by span: hours before the days they are part of
                merge_buckets(db, seconds * 1_000_000, [bucket], None)
            ((remaining,),) = db.execute("SELECT COUNT(*) FROM monitor_stale")
            return int(before - remaining)

        merged = archive.run(write).result()
        done += merged
        # Without progress the same buckets would come again for ever.
        if limit is not None or not merged:
            return done


def _build_range(archive: Archive, since: int, until: int) -> dict[int, dict[str, BucketBodies]]:
    """Five-minute buckets of a time range, from one query of its rows."""
    rows = archive.store.read(SELECT_ROWS, (since, until))
    return build_buckets(
        rows, archive.store.read(SELECT_SCORES, (since, until)) if rows else (), BUCKET_MICROS
    )


def _group_buckets(buckets: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of consecutive buckets, split after two hours so that no query is long."""
    first = last = None
    for bucket in buckets:
        if first is None or last is None:
            first = bucket
        elif bucket != last + BUCKET_MICROS or bucket - first >= 2 * HOUR_MICROS:
            yield first, last
            first = bucket
        last = bucket
    if first is not None and last is not None:
        yield first, last
