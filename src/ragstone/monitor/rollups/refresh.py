"""Buckets of five minutes, an hour and a day, recomputed from the raw rows when a late event, score or word outdates them.

A change marks its five minutes in the same transaction. `refresh` reads the marks, then the raw rows, and in one transaction
puts the new tables in place and removes those marks: a change in between has a mark of its own, so it is never lost. When two
processes refresh, the second finds its marks gone and leaves the first one's work alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from ragstone.errors import DataError, nearest
from ragstone.monitor.archive import Archive
from ragstone.monitor.rollups.build import ROWS, SCORES, Stored, tally
from ragstone.monitor.rollups.cells import Slice
from ragstone.monitor.rollups.merge import (
    BINS,
    DAY,
    ELSEWHERE,
    FEW_VALUES,
    SPANS,
    SUMS,
    add_up,
    days_to_write,
    lock,
    replace,
)
from ragstone.monitor.rollups.table_stack import Pile, extent
from ragstone.monitor.statements import BUCKET, HOUR, pieces
from ragstone.monitor.statements import marks as places_for
from ragstone.store.database import Connection

__all__ = [
    "BINS",
    "DAY",
    "SPANS",
    "SUMS",
    "check_field",
    "fields",
    "load",
    "raw",
    "read",
    "refresh",
]

_HELD = "SELECT number FROM monitor_dirty WHERE number IN ({})"
_AT_ONCE = 50_000
_IN_ONE_COMMIT = 144
"""Twelve hours: what arrives meanwhile waits for it."""
SCATTERED = 288
"""Buckets up to which a look at a window adds up only what is at hand, and leaves larger buckets for later."""
AT_HAND: Mapping[int, int] = {HOUR: 6, DAY: 1}


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
            (since - since % BUCKET, until, _AT_ONCE),
        )
        by_bucket: dict[int, list[int]] = defaultdict(list)
        for number, bucket in marks:
            by_bucket[bucket].append(number)
        before, total = done, total + len(by_bucket)
        buckets = sorted(by_bucket)
        for first in range(0, len(buckets), _IN_ONE_COMMIT):
            part = buckets[first : first + _IN_ONE_COMMIT]
            some = {bucket: by_bucket[bucket] for bucket in part}
            done += _recompute(archive, some, AT_HAND if hurried and total <= SCATTERED else None)
            if progress is not None:
                progress(done, total)
        if done == before or len(marks) < _AT_ONCE:
            break  # what is marked meanwhile can wait for the next look
    catch_up(archive, 2 if hurried else None)
    return done


def read(
    archive: Archive, span: int, since: int, until: int, field: str, kind: str
) -> list[tuple[int, bytes]]:
    """Start and body of each bucket of a field that is kept, oldest first."""
    return archive.store.read(
        "SELECT bucket, body FROM monitor_rollups WHERE span = ? AND bucket >= ? AND bucket < ?"
        " AND field = ? AND kind = ? ORDER BY bucket",
        (span // 1_000_000, since, until, field, kind),
    )


def load(
    archive: Archive, span: int, since: int, until: int, field: str
) -> dict[int, dict[str, Slice] | None]:
    """Bucket → value → series → cell without bins, of a field; None where it has too many values to look at them one by one."""
    found: dict[int, dict[str, Slice] | None] = {}
    starts: list[int] = []
    pile = Pile()
    for bucket, body in read(archive, span, since, until, field, SUMS):
        bodies = [body]
        if not body and span == HOUR:  # perhaps only left for later
            bodies = [one for _, one in read(archive, BUCKET, bucket, bucket + span, field, SUMS)]
        if not all(bodies) or extent(bodies)[1] > FEW_VALUES:
            found[bucket] = None
            continue
        found[bucket] = {}
        for one in bodies:
            pile.put(len(starts), one)
        starts.append(bucket)
    for group, value, name, cell in pile.table().cells():
        values = found[starts[group]]
        assert values is not None
        values.setdefault(value, {})[name] = cell
    return found


def raw(archive: Archive, since: int, until: int, field: str) -> Stored:
    """A stretch of time of a field, straight from its rows, as one bucket; empty without any."""
    rows = archive.store.read(ROWS, (since, until))
    if not rows:
        return ELSEWHERE
    scores = archive.store.read(SCORES, (since, until))
    found = tally(rows, scores, 2**62, [field])
    return found.get(0, {}).get(field, ELSEWHERE)


def fields(archive: Archive, since: int, until: int) -> list[str]:
    """The fields that slices can be cut by."""
    rows = archive.store.read(
        "SELECT DISTINCT field FROM monitor_rollups WHERE span = ? AND bucket >= ? AND bucket < ?"
        " AND kind = ? AND field <> ''",
        (HOUR // 1_000_000, since - since % HOUR, until, SUMS),
    )
    return sorted(field for (field,) in rows)


def check_field(archive: Archive, name: str) -> None:
    """Complain of a field that no interaction has; an empty store has nothing to complain of."""
    known = fields(archive, 0, 2**62)
    if known and name not in known:
        raise DataError(f"no interaction has a field {name!r}{nearest(name, known)}")


def _recompute(
    archive: Archive, marks: Mapping[int, Sequence[int]], at_hand: Mapping[int, int] | None
) -> int:
    fresh: dict[int, dict[str, Stored]] = {bucket: {} for bucket in marks}
    for first, last in _runs(sorted(marks)):
        fresh |= _buckets(archive, first, last + BUCKET)
    listed = [number for numbers in marks.values() for number in numbers]

    def write(db: Connection) -> int:
        lock(db)
        held = {
            number
            for part in pieces(listed)
            for (number,) in db.execute(_HELD.format(places_for(part)), part)
        }
        sound = {bucket: found for bucket, found in fresh.items() if held.issuperset(marks[bucket])}
        replace(db, BUCKET, sound)
        hours = sorted({bucket - bucket % HOUR for bucket in sound})
        add_up(db, HOUR, hours, at_hand)
        add_up(db, DAY, days_to_write(db, {hour - hour % DAY for hour in hours}), at_hand)
        gone = [(number,) for bucket in sound for number in marks[bucket]]
        db.execute_many("DELETE FROM monitor_dirty WHERE number = ?", gone)
        return len(sound)

    return archive.run(write).result()


def catch_up(archive: Archive, most: int | None = None) -> int:
    """Add up hours and days that were left for later, all or some; how many."""
    done = 0
    while True:
        if not archive.store.read("SELECT 1 FROM monitor_stale LIMIT 1"):
            return done
        some = 12 if most is None else most

        def write(db: Connection, some: int = some) -> int:
            lock(db)
            ((before,),) = db.execute("SELECT COUNT(*) FROM monitor_stale")
            rows = list(
                db.execute(
                    "SELECT span, bucket FROM monitor_stale ORDER BY span, bucket LIMIT ?", (some,)
                )
            )
            for seconds, bucket in rows:  # hours come before the days they are part of
                add_up(db, seconds * 1_000_000, [bucket], None)
            ((left,),) = db.execute("SELECT COUNT(*) FROM monitor_stale")
            return int(before - left)

        fewer = archive.run(write).result()
        done += fewer
        if most is not None or not fewer:  # the same ones would come again, for ever
            return done


def _buckets(archive: Archive, since: int, until: int) -> dict[int, dict[str, Stored]]:
    """Five-minute tables of a stretch, from one reading of its rows."""
    rows = archive.store.read(ROWS, (since, until))
    return tally(rows, archive.store.read(SCORES, (since, until)) if rows else (), BUCKET)


def _runs(buckets: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each unbroken run, cut after two hours so that no reading is long."""
    first = last = None
    for bucket in buckets:
        if first is None or last is None:
            first = bucket
        elif bucket != last + BUCKET or bucket - first >= 2 * HOUR:
            yield first, last
            first = bucket
        last = bucket
    if first is not None and last is not None:
        yield first, last
