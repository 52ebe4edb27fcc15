"""Buckets of five minutes, an hour and a day, recomputed from the raw rows when a late event, score or word outdates them.

A change marks its five minutes in the same transaction. `refresh` reads the marks, then the raw rows, and in one transaction
puts the new tables in place and removes those marks: a change in between has a mark of its own, so it is never lost. When two
processes refresh, the second finds its marks gone and leaves the first one's work alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ragstone.errors import DataError, nearest
from ragstone.monitor.archive import Archive
from ragstone.monitor.cells import Slice
from ragstone.monitor.statements import BUCKET, HOUR, pieces
from ragstone.monitor.statements import marks as places_for
from ragstone.monitor.tables import Pile, extent, stored_bins, stored_table, value_count
from ragstone.monitor.tally import ROWS, SCORES, Stored, tally
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

_HELD = "SELECT number FROM monitor_dirty WHERE number IN ({})"
_AT_ONCE = 50_000
_IN_ONE_COMMIT = 144
"""Twelve hours: what arrives meanwhile waits for it."""


def refresh(
    archive: Archive,
    since: int = 0,
    until: int = 2**62,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Recompute every bucket of a stretch of time that a change outdated; how many of five minutes there were.

    `progress` is told how many are done, of how many."""
    done = total = 0
    while True:
        marks = archive.store.read(
            "SELECT number, bucket FROM monitor_dirty WHERE bucket >= ? AND bucket < ?"
            " ORDER BY bucket LIMIT ?",
            (since - since % BUCKET, until, _AT_ONCE),
        )
        if not marks:
            return done
        by_bucket: dict[int, list[int]] = defaultdict(list)
        for number, bucket in marks:
            by_bucket[bucket].append(number)
        before, total = done, total + len(by_bucket)
        buckets = sorted(by_bucket)
        for first in range(0, len(buckets), _IN_ONE_COMMIT):
            part = buckets[first : first + _IN_ONE_COMMIT]
            done += _recompute(archive, {bucket: by_bucket[bucket] for bucket in part})
            if progress is not None:
                progress(done, total)
        if done == before or len(marks) < _AT_ONCE:
            return done  # what is marked meanwhile can wait for the next look


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
        if not body or value_count(body) > FEW_VALUES:
            found[bucket] = None
        else:
            found[bucket] = {}
            pile.put(len(starts), body)
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


def _recompute(archive: Archive, marks: Mapping[int, Sequence[int]]) -> int:
    fresh: dict[int, dict[str, Stored]] = {bucket: {} for bucket in marks}
    for first, last in _runs(sorted(marks)):
        fresh |= _buckets(archive, first, last + BUCKET)
    listed = [number for numbers in marks.values() for number in numbers]

    def write(db: Connection) -> int:
        _lock(db)
        held = {
            number
            for part in pieces(listed)
            for (number,) in db.execute(_HELD.format(places_for(part)), part)
        }
        sound = {bucket: found for bucket, found in fresh.items() if held.issuperset(marks[bucket])}
        _replace(db, BUCKET, sound)
        hours = sorted({bucket - bucket % HOUR for bucket in sound})
        for hour in hours:
            merged = _merged(db, BUCKET, hour, hour + HOUR)
            _replace(db, HOUR, {hour: merged})
            for field, stored in merged.items():
                if stored == ELSEWHERE:
                    _drop(db, BUCKET, hour, hour + HOUR, field)
        _replace(db, DAY, _days(db, {hour - hour % DAY for hour in hours}))
        gone = [(number,) for bucket in sound for number in marks[bucket]]
        db.execute_many("DELETE FROM monitor_dirty WHERE number = ?", gone)
        return len(sound)

    return archive.run(write).result()


def _buckets(archive: Archive, since: int, until: int) -> dict[int, dict[str, Stored]]:
    """Five-minute tables of a stretch, from one reading of its rows."""
    rows = archive.store.read(ROWS, (since, until))
    return tally(rows, archive.store.read(SCORES, (since, until)) if rows else (), BUCKET)


def _days(db: Connection, touched: set[int]) -> dict[int, dict[str, Stored]]:
    """Days to write anew; the last one has none while it grows, so that a busy hour does not cost a day each time."""
    ((newest,),) = db.execute(
        "SELECT COALESCE(MAX(bucket), 0) FROM monitor_rollups WHERE span = ?", (HOUR // 1_000_000,)
    )
    today = newest - newest % DAY
    ((before,),) = db.execute(
        "SELECT COUNT(*) FROM monitor_rollups WHERE span = ? AND bucket = ?",
        (DAY // 1_000_000, today - DAY),
    )
    wanted = touched if before else touched | {today - DAY}
    return {
        day: {} if day >= today else _merged(db, HOUR, day, day + DAY) for day in sorted(wanted)
    }


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


def _replace(db: Connection, span: int, buckets: Mapping[int, Mapping[str, Stored]]) -> None:
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


def _lock(db: Connection) -> None:
    """One refresher at a time: the row stays locked until the transaction ends."""
    db.execute(
        "INSERT INTO monitor_state (name, updated, body) VALUES ('rollups', 0, '{}')"
        " ON CONFLICT (name) DO UPDATE SET updated = monitor_state.updated + 1"
    )


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
