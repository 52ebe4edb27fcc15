"""Buckets of five minutes, an hour and a day, recomputed from the raw rows when a late event, score or word outdates them.

A change marks its five minutes in the same transaction. `refresh` reads the marks, then the raw rows, and in one transaction
puts the new tables in place and removes those marks: a change in between has a mark of its own, so it is never lost. When two
processes refresh, the second finds its marks gone and leaves the first one's work alone."""

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
from ragstone.monitor.statements import BUCKET_MICROS, DAY_MICROS, HOUR_MICROS, split_batches
from ragstone.monitor.statements import format_placeholders as places_for
from ragstone.store.database import Connection

_SELECT_MARKS = "SELECT number FROM monitor_dirty WHERE number IN ({})"
_MARKS_PER_READ = 50_000
_BUCKETS_PER_COMMIT = 144
"""Twelve hours: what arrives meanwhile waits for it."""
MAX_EAGER_BUCKETS = 288
"""Buckets up to which a look at a window adds up only what is at hand, and leaves larger buckets for later."""
EAGER_MERGES: Mapping[int, int] = {HOUR_MICROS: 6, DAY_MICROS: 1}


def refresh(
    archive: Archive,
    since: int = 0,
    until: int = 2**62,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Recompute every bucket of a stretch of time that a change outdated; how many of five minutes there were.

    `progress` is told how many are done, of how many. When the stretch has an end, somebody waits for its figures: changes
    that are scattered over many hours and days then outdate these, which are added up again by later calls."""
    done = total = 0
    hurried = until < 2**62
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
            some = {bucket: by_bucket[bucket] for bucket in part}
            done += _recompute(
                archive, some, EAGER_MERGES if hurried and total <= MAX_EAGER_BUCKETS else None
            )
            if progress is not None:
                progress(done, total)
        if done == before or len(marks) < _MARKS_PER_READ:
            break  # what is marked meanwhile can wait for the next look
    merge_deferred(archive, 2 if hurried else None)
    return done


def read_bodies(
    archive: Archive, span: int, since: int, until: int, field: str, kind: str
) -> list[tuple[int, bytes]]:
    """Start and body of each bucket of a field that is kept, oldest first."""
    return archive.store.read(
        "SELECT bucket, body FROM monitor_rollups WHERE span = ? AND bucket >= ? AND bucket < ?"
        " AND field = ? AND kind = ? ORDER BY bucket",
        (span // 1_000_000, since, until, field, kind),
    )


def load_cells(
    archive: Archive, span: int, since: int, until: int, field: str
) -> dict[int, dict[str, SliceCells] | None]:
    """Bucket → value → series → cell without bins, of a field; None where it has too many values to look at them one by one."""
    found: dict[int, dict[str, SliceCells] | None] = {}
    starts: list[int] = []
    pile = TableStack()
    for bucket, body in read_bodies(archive, span, since, until, field, SUMS):
        bodies = [body]
        if not body and span == HOUR_MICROS:  # perhaps only left for later
            bodies = [
                one
                for _, one in read_bodies(
                    archive, BUCKET_MICROS, bucket, bucket + span, field, SUMS
                )
            ]
        if not all(bodies) or measure_bodies(bodies)[1] > MAX_ALWAYS_STORED_VALUES:
            found[bucket] = None
            continue
        found[bucket] = {}
        for one in bodies:
            pile.add(len(starts), one)
        starts.append(bucket)
    for group, value, name, cell in pile.table().iter_cells():
        values = found[starts[group]]
        assert values is not None
        values.setdefault(value, {})[name] = cell
    return found


def build_from_rows(archive: Archive, since: int, until: int, field: str) -> BucketBodies:
    """A stretch of time of a field, straight from its rows, as one bucket; empty without any."""
    rows = archive.store.read(SELECT_ROWS, (since, until))
    if not rows:
        return NOT_STORED
    scores = archive.store.read(SELECT_SCORES, (since, until))
    found = build_buckets(rows, scores, 2**62, [field])
    return found.get(0, {}).get(field, NOT_STORED)


def list_fields(archive: Archive, since: int, until: int) -> list[str]:
    """The fields that slices can be cut by."""
    rows = archive.store.read(
        "SELECT DISTINCT field FROM monitor_rollups WHERE span = ? AND bucket >= ? AND bucket < ?"
        " AND kind = ? AND field <> ''",
        (HOUR_MICROS // 1_000_000, since - since % HOUR_MICROS, until, SUMS),
    )
    return sorted(field for (field,) in rows)


def check_field(archive: Archive, name: str) -> None:
    """Complain of a field that no interaction has; an empty store has nothing to complain of."""
    known = list_fields(archive, 0, 2**62)
    if known and name not in known:
        raise DataError(f"no interaction has a field {name!r}{suggest_nearest(name, known)}")


def _recompute(
    archive: Archive, marks: Mapping[int, Sequence[int]], at_hand: Mapping[int, int] | None
) -> int:
    fresh: dict[int, dict[str, BucketBodies]] = {bucket: {} for bucket in marks}
    for first, last in _group_buckets(sorted(marks)):
        fresh |= _build_range(archive, first, last + BUCKET_MICROS)
    listed = [number for numbers in marks.values() for number in numbers]

    def write(db: Connection) -> int:
        lock_rollups(db)
        held = {
            number
            for part in split_batches(listed)
            for (number,) in db.execute(_SELECT_MARKS.format(places_for(part)), part)
        }
        sound = {bucket: found for bucket, found in fresh.items() if held.issuperset(marks[bucket])}
        replace_buckets(db, BUCKET_MICROS, sound)
        hours = sorted({bucket - bucket % HOUR_MICROS for bucket in sound})
        merge_buckets(db, HOUR_MICROS, hours, at_hand)
        merge_buckets(
            db,
            DAY_MICROS,
            list_days_to_write(db, {hour - hour % DAY_MICROS for hour in hours}),
            at_hand,
        )
        gone = [(number,) for bucket in sound for number in marks[bucket]]
        db.execute_many("DELETE FROM monitor_dirty WHERE number = ?", gone)
        return len(sound)

    return archive.run(write).result()


def merge_deferred(archive: Archive, most: int | None = None) -> int:
    """Add up hours and days that were left for later, all or some; how many."""
    done = 0
    while True:
        if not archive.store.read("SELECT 1 FROM monitor_stale LIMIT 1"):
            return done
        some = 12 if most is None else most

        def write(db: Connection, some: int = some) -> int:
            lock_rollups(db)
            ((before,),) = db.execute("SELECT COUNT(*) FROM monitor_stale")
            rows = list(
                db.execute(
                    "SELECT span, bucket FROM monitor_stale ORDER BY span, bucket LIMIT ?", (some,)
                )
            )
            for seconds, bucket in rows:  # hours come before the days they are part of
                merge_buckets(db, seconds * 1_000_000, [bucket], None)
            ((left,),) = db.execute("SELECT COUNT(*) FROM monitor_stale")
            return int(before - left)

        fewer = archive.run(write).result()
        done += fewer
        if most is not None or not fewer:  # the same ones would come again, for ever
            return done


def _build_range(archive: Archive, since: int, until: int) -> dict[int, dict[str, BucketBodies]]:
    """Five-minute tables of a stretch, from one reading of its rows."""
    rows = archive.store.read(SELECT_ROWS, (since, until))
    return build_buckets(
        rows, archive.store.read(SELECT_SCORES, (since, until)) if rows else (), BUCKET_MICROS
    )


def _group_buckets(buckets: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each unbroken run, cut after two hours so that no reading is long."""
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
