"""Buckets of five minutes, an hour and a day, recomputed from the raw rows when a late event, score or word outdates them.

A change marks its five minutes in the same transaction. `refresh` reads the marks, then the raw rows, and in one transaction
puts the new cells in place and removes those marks: a change in between has a mark of its own, so it is never lost. When two
processes refresh, the second finds its marks gone and leaves the first one's work alone."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragstone.monitor.archive import Archive
from ragstone.monitor.cells import ALL, COST, FEEDBACK, LATENCY, TOKENS, Cell, Slice, add_slices
from ragstone.monitor.interactions import slice_text
from ragstone.monitor.statements import BUCKET, HOUR, pieces
from ragstone.monitor.statements import marks as places_for
from ragstone.store.database import Connection

DAY = 24 * HOUR
SPANS = (BUCKET, HOUR, DAY)

MOST_VALUES = 60
"""A field with more values than this in one bucket is no slice but an id; it is read from the raw rows when asked for."""

TOO_MANY = "\x00"
"""In the place of the values of such a field."""

Fields = dict[str, dict[str, Slice]]
"""Field → value → series → cell; the field and value of all interactions are empty."""

_ROWS = (
    "SELECT i.number, i.at, i.language, i.latency, i.cost, i.tokens, i.failed, i.meta, f.value"
    " FROM interactions i LEFT JOIN feedback f ON f.interaction = i.id"
    " WHERE i.at >= ? AND i.at < ? ORDER BY i.at, i.number"
)
_SCORES = (
    "SELECT s.number, s.metric, s.value, s.outcome, s.drawn, s.weight, s.calls, s.usd"
    " FROM interactions i JOIN monitor_scores s ON s.number = i.number"
    " WHERE i.at >= ? AND i.at < ? ORDER BY i.at, i.number, s.metric"
)

_KEPT = (
    "SELECT bucket, body FROM monitor_rollups WHERE span = ? AND bucket >= ? AND bucket < ?"
    " AND metric = '{}' AND field = ? AND value = '' ORDER BY bucket"
)
BINS = "bins"
"""In the column for the metric: the row holds histograms; empty, it holds sums."""
_HELD = "SELECT number FROM monitor_dirty WHERE number IN ({})"


def refresh(archive: Archive) -> int:
    """Recompute every bucket that a change outdated; how many of five minutes there were."""
    done = 0
    while True:
        marks = archive.store.read(
            "SELECT number, bucket FROM monitor_dirty ORDER BY bucket LIMIT 50000"
        )
        if not marks:
            return done
        by_bucket: dict[int, list[int]] = defaultdict(list)
        for number, bucket in marks:
            by_bucket[bucket].append(number)
        before = done
        for part in pieces(sorted(by_bucket)):
            done += _recompute(archive, {bucket: by_bucket[bucket] for bucket in part})
        if (
            done == before or len(marks) < 50000
        ):  # what is marked meanwhile can wait for the next look
            return done


def load(
    archive: Archive, span: int, since: int, until: int, field: str, *, bins: bool = False
) -> dict[int, dict[str, Slice] | None]:
    """Bucket → value → series → cell, of a field; None where the field has too many values to be kept."""
    asked = (span // 1_000_000, since, until, field)
    found = {bucket: _decoded(body) for bucket, body in archive.store.read(_KEPT.format(""), asked)}
    if bins:
        for bucket, body in archive.store.read(_KEPT.format(BINS), asked):
            cells = found.get(bucket)
            if cells is not None:  # a refresh between the two readings may have taken it away
                _add_bins(cells, body)
    return found


def raw(archive: Archive, since: int, until: int, fields: Sequence[str] | None = None) -> Fields:
    """The cells of a stretch of time, straight from its rows; of all fields or of these."""
    rows = archive.store.read(_ROWS, (since, until))
    return _cells(rows, archive.store.read(_SCORES, (since, until)), fields)


def fields(archive: Archive, since: int, until: int) -> list[str]:
    """The fields that slices can be cut by."""
    rows = archive.store.read(
        "SELECT DISTINCT field FROM monitor_rollups WHERE span = ? AND bucket >= ? AND bucket < ?"
        " AND metric = '' AND field <> '' AND value = ''",
        (HOUR // 1_000_000, since - since % HOUR, until),
    )
    return sorted(field for (field,) in rows)


def _recompute(archive: Archive, marks: Mapping[int, Sequence[int]]) -> int:
    fresh = {}
    for first, last in _runs(sorted(marks)):
        fresh.update(_buckets(archive, first, last + BUCKET))
    for bucket in marks:
        fresh.setdefault(bucket, {})
    listed = [(number,) for numbers in marks.values() for number in numbers]

    def write(db: Connection) -> int:
        _lock(db)
        held = {
            number
            for part in pieces([number for (number,) in listed])
            for (number,) in db.execute(_HELD.format(places_for(part)), part)
        }
        sound = {bucket: cells for bucket, cells in fresh.items() if held.issuperset(marks[bucket])}
        _replace(db, BUCKET, sound)
        hours = sorted({bucket - bucket % HOUR for bucket in sound})
        _replace(db, HOUR, {hour: _merged(db, BUCKET, hour, HOUR) for hour in hours})
        _replace(db, DAY, _days(db, {hour - hour % DAY for hour in hours}))
        gone = [(number,) for bucket in sound for number in marks[bucket]]
        db.execute_many("DELETE FROM monitor_dirty WHERE number = ?", gone)
        return len(sound)

    return archive.run(write).result()


def _buckets(archive: Archive, since: int, until: int) -> dict[int, Fields]:
    """Five-minute cells of a stretch, from one reading of its rows."""
    rows: dict[int, list[Any]] = defaultdict(list)
    home: dict[int, int] = {}
    for row in archive.store.read(_ROWS, (since, until)):
        bucket = row[1] - row[1] % BUCKET
        rows[bucket].append(row)
        home[row[0]] = bucket
    scores: dict[int, list[Any]] = defaultdict(list)
    for score in archive.store.read(_SCORES, (since, until)):
        if score[0] in home:  # one that came between the two readings has its own mark
            scores[home[score[0]]].append(score)
    return {bucket: _cells(some, scores[bucket], None) for bucket, some in rows.items()}


def _cells(
    rows: Iterable[Sequence[Any]],
    scores: Iterable[Sequence[Any]],
    only: Sequence[str] | None,
) -> Fields:
    """Cells of every slice: rows are grouped first, so that each sum is one exact sum."""
    places: dict[int, list[tuple[str, str]]] = {}
    grouped: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in rows:
        number, language, meta = row[0], row[2], row[7]
        found = {"": ""}
        if only is None or any(only):
            found |= {name: slice_text(value) for name, value in json.loads(meta).items()}
            if language is not None:
                found["language"] = language
        kept = [(f, v) for f, v in found.items() if not f or only is None or f in only]
        places[number] = kept
        for place in kept:
            grouped[place].append(row)
    judged: dict[tuple[str, str], dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for score in scores:
        for place in places.get(score[0], ()):
            judged[place][score[1]].append(score)
    out: Fields = defaultdict(dict)
    for (field, value), some in grouped.items():
        series = _plain(some)
        for metric, items in judged[field, value].items():
            series[metric] = _metric(items)
        out[field][value] = series
    return dict(out)


def _plain(rows: Sequence[Sequence[Any]]) -> Slice:
    """What every interaction has: its count, latency, cost, tokens, feedback."""
    everything = Cell()
    everything.n = len(rows)
    failed = sum(row[6] for row in rows)
    if failed:
        everything.outcomes["failed"] = failed
    series = {ALL: everything}
    for name, column in ((LATENCY, 3), (COST, 4), (TOKENS, 5), (FEEDBACK, 8)):
        values = [row[column] for row in rows if row[column] is not None]
        if values:
            series[name] = Cell()
            series[name].put(values, None, name == FEEDBACK)
    return series


def _metric(scores: Sequence[Sequence[Any]]) -> Cell:
    cell = Cell()
    values, weights = [], []
    for _, _, value, outcome, drawn, weight, calls, usd in scores:
        cell.calls += calls
        cell.usd += usd
        if value is None:
            cell.outcomes[outcome] = cell.outcomes.get(outcome, 0) + 1
        else:
            # One that is judged in any case (bad feedback) stands for itself, a drawn one for 1 / its share.
            values.append(value)
            weights.append(weight)
            cell.extra += not drawn
    if values:
        cell.put(values, weights, True)
    return cell


def _days(db: Connection, touched: set[int]) -> dict[int, Fields]:
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
    return {day: {} if day >= today else _merged(db, HOUR, day, DAY) for day in sorted(wanted)}


def _merged(db: Connection, finer: int, start: int, span: int) -> Fields:
    """A coarser bucket's cells from the finer ones in it."""
    out: Fields = {}
    rows = db.execute(
        "SELECT field, metric, body FROM monitor_rollups WHERE span = ? AND bucket >= ?"
        " AND bucket < ? AND value = '' ORDER BY metric, bucket, field",
        (finer // 1_000_000, start, start + span),
    )
    for field, kind, body in rows:
        mine = out.setdefault(field, {})
        if kind == BINS:
            _add_bins(mine, body)
            continue
        cells = _decoded(body)
        if cells is None or TOO_MANY in mine:
            out[field] = {TOO_MANY: {}}
        else:
            add_slices(mine, cells)
    return out


def _replace(db: Connection, span: int, buckets: Mapping[int, Fields]) -> None:
    seconds = span // 1_000_000
    db.execute_many(
        "DELETE FROM monitor_rollups WHERE span = ? AND bucket = ?",
        [(seconds, bucket) for bucket in sorted(buckets)],
    )
    rows = [
        (seconds, bucket, kind, field, body)
        for bucket, found in sorted(buckets.items())
        for field, values in sorted(found.items())
        for kind, body in _encoded(values)
    ]
    db.execute_many(
        "INSERT INTO monitor_rollups (span, bucket, metric, field, value, body)"
        " VALUES (?, ?, ?, ?, '', ?)",
        rows,
    )


def _encoded(values: Mapping[str, Slice]) -> Iterator[tuple[str, str]]:
    if len(values) > MOST_VALUES or TOO_MANY in values:
        yield "", "null"
        return
    for kind in ("", BINS):
        plain = {
            value: {
                name: cell.bins if kind else cell.dump()
                for name, cell in series.items()
                if cell.bins or not kind
            }
            for value, series in values.items()
        }
        yield kind, json.dumps(plain, separators=(",", ":"))


def _decoded(body: str) -> dict[str, Slice] | None:
    plain = json.loads(body)
    if plain is None:
        return None
    return {
        value: {name: Cell.load(item) for name, item in series.items()}
        for value, series in plain.items()
    }


def _add_bins(cells: Mapping[str, Slice], body: str) -> None:
    for value, series in json.loads(body).items():
        mine = cells.get(value)
        for name, bins in series.items():
            if mine is not None and name in mine:
                mine[name].add_bins(bins)


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
