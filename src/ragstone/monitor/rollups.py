"""Roll-ups: a table with what each hour holds of each metric and slice, rebuilt from the rows when they change, and its sums by day.

A change marks its hour in its own transaction. `refresh` reads the marks, then the raw rows, and in one transaction replaces the
hours and deletes those marks: a change in between adds another mark, so it is never lost. When two processes refresh at once,
the second finds its marks gone and keeps what the first one wrote. What a window needs before its first and after its last whole
hour is worked out from the rows.

Days (UTC) are summed from their hours when a window first asks for them, one field at a time; a replaced hour deletes its day."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import DataError, StoreError, suggest_nearest
from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import to_slice_value
from ragstone.monitor.statements import (
    DAY_MICROS,
    HOUR_MICROS,
    format_placeholders,
    get_bucket,
    insert_rows,
    split_batches,
)
from ragstone.store.database import Connection
from ragstone.types import FAILURES

ALL, LATENCY, COST, TOKENS, FEEDBACK = ":all", ":latency", ":cost", ":tokens", ":feedback"
"""Series other than metrics; the name of a metric never starts with a colon."""
MANY = ":many"
"""Stands in the table for a field that has too many values in an hour."""
MAX_VALUES = 60
"""A field with more values in an hour is not rolled up for that hour but read from the rows when asked for."""
MIN_ID_VALUES = 20
"""The same with more values than this, when most of them have one interaction only: an id."""
UNIT_BINS = 200
"""Equal bins between 0 and 1 for scores and feedback."""
BINS_PER_LOG_UNIT = 50
"""Other values are counted in logarithmic bins: percentiles are within 1 %."""
HOURS_AT_ONCE = 6
"""Hours in one query of rows, and in one commit, for which ingest waits."""
MARKS_PER_READ = 50_000
NEWEST_ROWS = 500
"""Interactions of the hour that is not over that are looked at for their fields."""

HOURLY, DAILY = "monitor_rollups", "monitor_rollups_daily"
"""The tables, with the same columns."""
KEY = "field, bucket, value, metric"
COLUMNS = (
    "n, weights, weights_squared, total, squares, cubes, lowest, highest, extra, calls, usd,"
    " outcomes, histogram"
)
"""Columns of a table behind its key, in the order of the fields of RollupCell."""

# Below, columns of the rows of these two queries are taken by their index.
SELECT_ROWS = (
    "SELECT i.number, i.at, i.language, i.latency, i.cost, i.tokens, i.failed, i.meta, f.value"
    " FROM interactions i LEFT JOIN feedback f ON f.interaction = i.id WHERE "
)
SELECT_SCORES = (
    "SELECT s.number, s.metric, s.value, s.outcome, s.drawn, s.weight, s.calls, s.usd"
    " FROM interactions i JOIN monitor_scores s ON s.number = i.number WHERE "
)
BETWEEN = "i.at >= ? AND i.at < ?"
_MEASURES = {LATENCY: 3, COST: 4, TOKENS: 5, FEEDBACK: 8}
"""Series that every interaction may have → column of SELECT_ROWS."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Row = Sequence[Any]
CellKey = tuple[int, str, str]
"""Start of a step in time, value of the field, series."""


@dataclass(slots=True)
class RollupCell:
    """Weighted sums over the values of one series in a stretch of time and slice; the weights make them estimate all interactions."""

    n: int = 0
    """Number of values."""
    weights: float = 0.0
    weights_squared: float = 0.0
    total: float = 0.0
    """Weighted sum of the values; `squares` and `cubes` are those of their powers."""
    squares: float = 0.0
    cubes: float = 0.0
    lowest: float | None = None
    highest: float | None = None
    extra: int = 0
    """Values of interactions that were not sampled at random but for bad feedback, included in `n`."""
    calls: int = 0
    """Calls of the judge, `usd` what they cost; also of judgements that failed."""
    usd: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)
    """How scoring ended where there is no value → count; of all interactions: `failed`."""
    histograms: list[str] = field(default_factory=list)
    """JSON of value, the middle of its bin → weight; of each part, as few windows need all of them."""

    @property
    def effective_size(self) -> float:
        """The effective sample size of the weighted values."""
        if self.weights_squared <= 0:
            return 0.0
        # With equal weights the result must be exactly n, without rounding error.
        return min(float(self.n), self.weights**2 / self.weights_squared)

    @property
    def mean(self) -> float | None:
        """The weighted mean."""
        return self.total / self.weights if self.weights > 0 else None

    @property
    def histogram(self) -> dict[float, float]:
        """Value, the middle of its bin → weight, of all parts together."""
        return {float(value): weight for value, weight in self.merge_histograms().items()}

    def merge_histograms(self) -> dict[str, float]:
        """The same with the values as the parts have them."""
        weights: dict[str, float] = {}
        for part in json.loads(f"[{','.join(self.histograms)}]"):
            for value, weight in part.items():
                weights[value] = weights.get(value, 0.0) + weight
        return weights

    @property
    def failures(self) -> int:
        """Missing values that are failures, such as errors of the judge; not those that do not apply."""
        return sum(n for outcome, n in self.outcomes.items() if outcome in FAILURES)

    def add(self, other: RollupCell) -> None:
        """Take in the values of another cell."""
        self.n += other.n
        self.weights += other.weights
        self.weights_squared += other.weights_squared
        self.total += other.total
        self.squares += other.squares
        self.cubes += other.cubes
        self.extra += other.extra
        self.calls += other.calls
        self.usd += other.usd
        if other.lowest is not None and (self.lowest is None or other.lowest < self.lowest):
            self.lowest = other.lowest
        if other.highest is not None and (self.highest is None or other.highest > self.highest):
            self.highest = other.highest
        for outcome, count in other.outcomes.items():
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + count
        self.histograms += other.histograms


def merge_cells(cells: Iterable[RollupCell]) -> RollupCell:
    """The sum of some cells."""
    merged = RollupCell()
    for cell in cells:
        merged.add(cell)
    return merged


def compute_percentiles(
    histogram: Mapping[float, float], shares: Sequence[float], ends: tuple[float, float]
) -> list[float]:
    """Values below which these shares of a histogram lie, precise to a bin; `ends`, the smallest and largest value, bound them."""
    values = np.array(sorted(histogram))
    cumulated = np.cumsum([histogram[value] for value in values.tolist()])
    # a share that falls exactly on a bin's end belongs to that bin, whatever the rounding
    index = np.searchsorted(cumulated, (np.array(shares) - 1e-9) * cumulated[-1])
    found: list[float] = values[np.minimum(index, len(values) - 1)].clip(*ends).tolist()
    return found


def round_to_bins(values: Floats, *, is_share: bool) -> Floats:
    """The middle of each value's bin; `is_share` for series whose values from 0 to 1 have equal bins."""
    size = np.abs(values)
    with np.errstate(divide="ignore"):
        middle = np.exp(np.rint(BINS_PER_LOG_UNIT * np.log(size)) / BINS_PER_LOG_UNIT)
    middle = np.where(size < 1e-30, 0.0, np.copysign(middle, values))
    if is_share:
        in_unit = (values >= 0) & (values <= 1)
        middle = np.where(in_unit, np.rint(values * UNIT_BINS) / UNIT_BINS, middle)
    return middle


# ── reading ───────────────────────────────────────────────────────────────────────────────


def load_cells(
    archive: Archive,
    field: str,
    since: int,
    until: int,
    step: int,
    *,
    value: str | None = None,
    metrics: Sequence[str] | None = None,
) -> dict[CellKey, RollupCell]:
    """Every cell of a field between two times, by step (its start), value and series; only of a value or of some series where given.

    Whole hours and days come from the tables as `refresh` left them, where the step allows; anything else comes from the rows."""
    cells: dict[CellKey, RollupCell] = {}
    first, last = -(-since // HOUR_MICROS) * HOUR_MICROS, get_bucket(until)
    if step % HOUR_MICROS or first >= last:
        raw = [(since, until)]
    else:
        raw = [(since, first), (last, until)]
        crowded = []
        for table, start, stop in _choose_tables(archive, field, first, last, step):
            for bucket, key, cell in _read_cells(
                archive, table, field, start, stop, value, metrics
            ):
                if key[1] == MANY:
                    crowded.append(bucket)
                else:
                    _add_cell(cells, (bucket - bucket % step, *key), cell)
        raw += [(hours[0], hours[-1] + HOUR_MICROS) for hours in _group_hours(crowded)]
    for start, stop in raw:
        for row in _build_from_rows(archive, start, stop, step, field, value):
            if metrics is None or row[3] in metrics:
                _add_cell(cells, (row[1], row[2], row[3]), _decode_cell(row[4:]))
    return cells


def is_crowded(archive: Archive, field: str, since: int, until: int) -> bool:
    """Whether a field has too many values in some hour."""
    sql = (
        "SELECT 1 FROM monitor_rollups WHERE field = ? AND bucket >= ? AND bucket < ?"
        " AND value = '' AND metric = ? LIMIT 1"
    )
    return bool(archive.store.read(sql, (field, since, until, MANY)))


def list_fields(archive: Archive, since: int, until: int) -> list[str]:
    """The fields that define slices, of whole hours and of the newest interactions."""
    rows = archive.store.read(
        "SELECT DISTINCT field FROM monitor_rollups WHERE bucket >= ? AND bucket < ? AND field <> ''",
        (get_bucket(since), until),
    )
    newest = archive.store.read(
        f"SELECT i.language, i.meta FROM interactions i WHERE {BETWEEN} ORDER BY i.at DESC LIMIT ?",  # noqa: S608
        (since, until, NEWEST_ROWS),
    )
    fields = {field for (field,) in rows}
    for language, meta in dict.fromkeys(newest):
        fields |= json.loads(meta).keys() | ({"language"} if language is not None else set())
    return sorted(fields)


def check_field(archive: Archive, name: str) -> None:
    """Raise DataError for a field that no interaction has; in an empty store every field is accepted."""
    known = list_fields(archive, 0, 2**62)
    if known and name not in known:
        raise DataError(f"no interaction has a field {name!r}{suggest_nearest(name, known)}")


def _choose_tables(
    archive: Archive, field: str, since: int, until: int, step: int
) -> Iterator[tuple[str, int, int]]:
    """Table, start and end of the stretches that make up whole hours."""
    first, last = -(-since // DAY_MICROS) * DAY_MICROS, until - until % DAY_MICROS
    if step % DAY_MICROS or first >= last:
        yield HOURLY, since, until
        return
    yield HOURLY, since, first
    days = _list_buckets(archive, DAILY, field, first, last)
    hours = _list_buckets(archive, HOURLY, field, first, last)
    missing = {hour - hour % DAY_MICROS for hour in hours} - days
    if missing:
        _add_days(archive, field, sorted(missing))
        days = _list_buckets(archive, DAILY, field, first, last)
    yield DAILY, first, last
    for day in sorted(missing - days):
        yield HOURLY, day, day + DAY_MICROS
    yield HOURLY, last, until


def _list_buckets(archive: Archive, table: str, field: str, since: int, until: int) -> set[int]:
    sql = f"SELECT DISTINCT bucket FROM {table} WHERE field = ? AND bucket >= ? AND bucket < ?"  # noqa: S608
    return {bucket for (bucket,) in archive.store.read(sql, (field, since, until))}


def _add_days(archive: Archive, field: str, days: Iterable[int]) -> None:
    """Sum hours to days; nothing is stored of a day with a crowded hour, nor if hours are replaced meanwhile."""
    replaced = archive.store.read(_COUNT_REPLACED)
    rows: list[Row] = []
    for day in days:
        cells: dict[CellKey, RollupCell] = {}
        for _, key, cell in _read_cells(archive, HOURLY, field, day, day + DAY_MICROS):
            _add_cell(cells, (day, *key), cell)
        if (day, "", MANY) not in cells:
            rows += [(field, *key, *_encode_cell(cell)) for key, cell in cells.items()]

    def write(db: Connection) -> None:
        _lock_rollups(db)
        if list(db.execute(_COUNT_REPLACED)) == replaced:
            insert_rows(db, f"{DAILY} ({KEY}, {COLUMNS})", rows, "ON CONFLICT DO NOTHING")

    # a store that cannot be written is read by the hour
    with suppress(StoreError):
        archive.run(write).result()


def _read_cells(
    archive: Archive,
    table: str,
    field: str,
    since: int,
    until: int,
    value: str | None = None,
    metrics: Sequence[str] | None = None,
) -> Iterator[tuple[int, tuple[str, str], RollupCell]]:
    """Hour or day, value and series, and cell of each row of a table."""
    where, values = "field = ? AND bucket >= ? AND bucket < ?", [field, since, until]
    if value is not None:
        where, values = f"{where} AND (value = ? OR metric = ?)", [*values, value, MANY]
    if metrics is not None:
        where += f" AND metric IN ({format_placeholders([*metrics, MANY])})"
        values = [*values, *metrics, MANY]
    sql = f"SELECT bucket, value, metric, {COLUMNS} FROM {table} WHERE {where}"  # noqa: S608
    for bucket, slice, metric, *numbers in archive.store.read(sql, values):
        yield bucket, (slice, metric), _decode_cell(numbers)


def _decode_cell(columns: Sequence[Any]) -> RollupCell:
    cell = RollupCell(*columns[:-2])
    outcomes, histogram = columns[-2:]
    if outcomes != "{}":
        cell.outcomes = json.loads(outcomes)
    if histogram != "{}":
        cell.histograms = [histogram]
    return cell


def _encode_cell(cell: RollupCell) -> Row:
    """The columns of a cell."""
    return (
        *(getattr(cell, name) for name in COLUMNS.split(", ")[:-2]),
        json.dumps(cell.outcomes),
        json.dumps(cell.merge_histograms()),
    )


def _add_cell(cells: dict[CellKey, RollupCell], key: CellKey, cell: RollupCell) -> None:
    known = cells.get(key)
    if known is None:
        cells[key] = cell
    else:
        known.add(cell)


def _build_from_rows(
    archive: Archive, since: int, until: int, step: int, field: str, value: str | None
) -> Iterator[Row]:
    """Rows as of the table, of one field, for steps between two times."""
    where, values = BETWEEN, []
    # long numbers are written in other ways too; the value itself is looked at below
    if field and value is not None and not (len(value) > 15 and value.lstrip("-").isdigit()):
        text = json.dumps(value)[1:-1]
        for special in "!%_":
            text = text.replace(special, f"!{special}")
        where += " AND (i.language = ? OR i.meta LIKE ? ESCAPE '!')"
        values = [value, f"%{text}%"]
    for start in range(since, until, HOURS_AT_ONCE * HOUR_MICROS):
        stop = min(until, start + HOURS_AT_ONCE * HOUR_MICROS)
        for row in _query_rows(
            archive, where, (start, stop, *values), step, [field], limited=False
        ):
            if value is None or row[2] == value:
                yield row


def _query_rows(
    archive: Archive,
    where: str,
    values: Sequence[Any],
    step: int,
    only: Sequence[str] | None = None,
    limited: bool = True,
) -> Iterator[Row]:
    """Rows as of the table, from the interactions that a condition is true of."""
    rows = archive.store.read(SELECT_ROWS + where, values)
    scores = archive.store.read(SELECT_SCORES + where, values) if rows else []
    return _build_rows(rows, scores, step, only, limited)


def load_busiest(
    archive: Archive, field: str, since: int, until: int, step: int, count: int
) -> tuple[dict[CellKey, RollupCell], int]:
    """The cells of the most frequent values of a field, and how many values there are, from the rows: for fields with many."""
    numbers: dict[str, list[int]] = defaultdict(list)
    sql = f"SELECT i.number, i.language, i.meta FROM interactions i WHERE {BETWEEN}"  # noqa: S608
    decode = json.JSONDecoder().raw_decode  # half the time of json.loads
    for number, language, meta in archive.store.stream(sql, (since, until)):
        value = language if field == "language" else None
        value = decode(meta)[0].get(field) if value is None else value
        if value is not None:
            numbers[to_slice_value(value)].append(number)
    chosen = sorted(numbers, key=lambda value: (-len(numbers[value]), value))[:count]
    cells: dict[CellKey, RollupCell] = {}
    for part in split_batches([number for value in chosen for number in numbers[value]]):
        where = f"i.number IN ({format_placeholders(part)})"
        for row in _query_rows(archive, where, part, step, [field], limited=False):
            _add_cell(cells, (row[1], row[2], row[3]), _decode_cell(row[4:]))
    return cells, len(numbers)


def _group_hours(hours: Iterable[int]) -> Iterator[list[int]]:
    """Runs of consecutive hours."""
    run: list[int] = []
    for hour in sorted(hours):
        if run and hour != run[-1] + HOUR_MICROS:
            yield run
            run = []
        run.append(hour)
    if run:
        yield run


# ── rebuilding ────────────────────────────────────────────────────────────────────────────


def refresh(
    archive: Archive,
    since: int = 0,
    until: int = 2**62,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Rebuild every outdated hour that lies whole in a range; returns how many there were.

    `progress` is called with the numbers of finished and of all hours."""
    done = total = 0
    while True:
        marks = archive.store.read(
            "SELECT number, bucket FROM monitor_dirty WHERE bucket >= ? AND bucket <= ?"
            " ORDER BY bucket LIMIT ?",
            (since, until - HOUR_MICROS, MARKS_PER_READ),
        )
        by_hour: dict[int, list[int]] = defaultdict(list)
        for number, bucket in marks:
            by_hour[bucket].append(number)
        before, total = done, total + len(by_hour)
        for hours in split_batches(sorted(by_hour), HOURS_AT_ONCE):
            rows: list[Row] = []
            for run in _group_hours(hours):
                stretch = run[0], run[-1] + HOUR_MICROS
                rows += _query_rows(archive, BETWEEN, stretch, HOUR_MICROS)
            done += _replace_hours(archive, {hour: by_hour[hour] for hour in hours}, rows)
            if progress is not None:
                progress(done, total)
        # without progress another process is rebuilding the same hours; marks added meanwhile are left to the next refresh
        if done == before or len(marks) < MARKS_PER_READ:
            return done


def _replace_hours(
    archive: Archive, marks: Mapping[int, Sequence[int]], rows: Sequence[Row]
) -> int:
    """Put these rows in the place of those of their hours (hour → numbers of its marks); returns how many hours."""
    numbers = [number for those in marks.values() for number in those]

    def write(db: Connection) -> int:
        _lock_rollups(db)
        db.execute("UPDATE monitor_state SET updated = updated + 1 WHERE name = 'rollups'")
        still_marked: set[int] = set()
        for part in split_batches(numbers):
            sql = f"SELECT number FROM monitor_dirty WHERE number IN ({format_placeholders(part)})"  # noqa: S608
            still_marked |= {number for (number,) in db.execute(sql, part)}
        # marks that are gone were handled by another process, from rows as new as ours or newer
        valid = [hour for hour, those in marks.items() if still_marked.issuperset(those)]
        db.execute_many("DELETE FROM monitor_rollups WHERE bucket = ?", [(hour,) for hour in valid])
        days = {hour - hour % DAY_MICROS for hour in valid}
        db.execute_many(f"DELETE FROM {DAILY} WHERE bucket = ?", [(day,) for day in days])  # noqa: S608
        insert_rows(db, f"{HOURLY} ({KEY}, {COLUMNS})", [row for row in rows if row[1] in valid])
        done = [(number,) for hour in valid for number in marks[hour]]
        db.execute_many("DELETE FROM monitor_dirty WHERE number = ?", done)
        return len(valid)

    return archive.run(write).result()


def _lock_rollups(db: Connection) -> None:
    """Let nobody else change the tables until the transaction ends."""
    db.execute(
        "INSERT INTO monitor_state (name, updated, body) VALUES ('rollups', 0, '{}')"
        " ON CONFLICT (name) DO UPDATE SET updated = monitor_state.updated"
    )


_COUNT_REPLACED = "SELECT updated FROM monitor_state WHERE name = 'rollups' AND updated > 0"
"""How often hours were replaced so far; no row before the first time."""


@dataclass(frozen=True, slots=True)
class _Entries:
    """Every value, or outcome without one, of some interactions: arrays of equal length."""

    names: Sequence[str]
    """Names of the series."""
    row: Ints
    """Index of the interaction."""
    series: Ints
    """Index into `names`."""
    value: Floats
    """NaN where there is none."""
    bin: Floats
    weight: Floats
    extra: Floats
    calls: Floats
    usd: Floats
    outcome: Ints
    """Why there is no value, as an index into `outcomes`; 0 where there is one."""
    outcomes: Sequence[str]


def _build_rows(
    rows: Sequence[Row],
    scores: Sequence[Row],
    step: int,
    only: Sequence[str] | None,
    limited: bool,
) -> Iterator[Row]:
    """Rows of the table for steps of time, of all fields or only of some, from rows of SELECT_ROWS and SELECT_SCORES.

    `limited`: a field with too many values is left out."""
    if not rows:
        return
    entries = _build_entries(rows, scores)
    times = np.array([row[1] for row in rows], np.int64)
    steps, step_of_row = np.unique(times - times % step, return_inverse=True)
    for name, (values, code) in _encode_fields(rows, only).items():
        crowded = dict(_find_crowded(step_of_row, code)) if limited else {}
        for index, count in crowded.items():
            yield (name, int(steps[index]), "", MANY, count, *_NO_SUMS)
        counted = (code >= 0) & ~np.isin(step_of_row, [*crowded])
        for index, value, series, cell in _sum_entries(entries, step_of_row, code, counted):
            yield (name, int(steps[index]), values[value], entries.names[series], *cell)


_NO_SUMS = (0.0, 0.0, 0.0, 0.0, 0.0, None, None, 0, 0, 0.0, "{}", "{}")
"""Columns of the row of MANY behind `n`."""


def _find_crowded(step: Ints, code: Ints) -> Iterator[tuple[int, int]]:
    """Steps in which a field has too many values, and how many."""
    step, code = step[code >= 0], code[code >= 0]
    pairs = np.unique(np.stack([step, code]), axis=1)
    sizes = np.bincount(step)
    for index, count in zip(
        *(part.tolist() for part in np.unique(pairs[0], return_counts=True)), strict=True
    ):
        if count > MAX_VALUES or (count > MIN_ID_VALUES and count > sizes[index] / 2):
            yield index, count


def _encode_fields(
    rows: Sequence[Row], only: Sequence[str] | None
) -> dict[str, tuple[list[str], Ints]]:
    """Field → its values, and for each row the index of its value, -1 where it has none; the field of all interactions is empty."""
    fields: dict[str, tuple[list[str], Ints]] = {}
    if only is None or "" in only:
        fields[""] = [""], np.zeros(len(rows), np.int64)
    if only is not None and not any(only):
        return fields
    # most interactions share few combinations of meta fields: each is decoded once
    kinds: dict[tuple[str, str | None], int] = {}
    kind = np.array([kinds.setdefault((row[7], row[2]), len(kinds)) for row in rows], np.int64)
    codes: dict[str, dict[str, int]] = defaultdict(dict)
    of_kinds: dict[str, Ints] = defaultdict(lambda: np.full(len(kinds), -1))
    for number, (meta, language) in enumerate(kinds):
        slices = {name: to_slice_value(value) for name, value in json.loads(meta).items()}
        if language is not None:
            slices["language"] = language
        for name, value in slices.items():
            if only is None or name in only:
                of_kinds[name][number] = codes[name].setdefault(value, len(codes[name]))
    return fields | {name: ([*codes[name]], of_kind[kind]) for name, of_kind in of_kinds.items()}


def _build_entries(rows: Sequence[Row], scores: Sequence[Row]) -> _Entries:
    names: list[str] = [ALL]
    everyone = np.arange(len(rows))
    # row, series, value, bin, weight, extra, calls, usd
    parts = [_stack_entries(everyone, 0, np.full(len(rows), np.nan), np.full(len(rows), np.nan))]
    outcomes = ["failed" if row[6] else "" for row in rows]
    for name, column in _MEASURES.items():
        values = np.array([row[column] for row in rows], float)
        present = np.flatnonzero(~np.isnan(values))
        if len(present):
            bins = round_to_bins(values[present], is_share=name == FEEDBACK)
            parts.append(_stack_entries(present, len(names), values[present], bins))
            outcomes += [""] * len(present)
            names.append(name)
    index = {row[0]: position for position, row in enumerate(rows)}
    # Scores of rows added since the query of rows are left out: those rows have marked their hour again.
    scores = [score for score in scores if score[0] in index]
    if scores:
        series = {
            name: len(names) + n for n, name in enumerate(dict.fromkeys(s[1] for s in scores))
        }
        names += series
        values = np.array([score[2] for score in scores], float)
        drawn, weight, calls, usd = np.array([score[4:8] for score in scores], float).T
        known = ~np.isnan(values)
        parts.append(
            np.stack(
                [
                    np.array([index[score[0]] for score in scores], float),
                    np.array([series[score[1]] for score in scores], float),
                    values,
                    round_to_bins(values, is_share=True),
                    # a failed judgement counts in no sum, but its calls and cost stay
                    np.where(known, weight, 0),
                    # a score selected for bad feedback has weight 1, a randomly sampled one 1 / its rate
                    np.where(known, 1 - drawn, 0),
                    calls,
                    usd,
                ]
            )
        )
        outcomes += [score[3] if score[2] is None else "" for score in scores]
    row, number, value, bin, weight, extra, calls, usd = np.concatenate(parts, axis=1)
    codes: dict[str, int] = {"": 0}
    outcome = np.array([codes.setdefault(name, len(codes)) for name in outcomes], np.int64)
    return _Entries(
        names,
        row.astype(int),
        number.astype(int),
        value,
        bin,
        weight,
        extra,
        calls,
        usd,
        outcome,
        [*codes],
    )


def _stack_entries(row: Ints, series: int, values: Floats, bins: Floats) -> Floats:
    """Entries of weight 1 that cost nothing."""
    zeros = np.zeros(len(row))
    return np.stack([row, zeros + series, values, bins, zeros + 1, zeros, zeros, zeros])


def _sum_entries(
    entries: _Entries, step: Ints, code: Ints, counted: NDArray[np.bool_]
) -> Iterator[tuple[int, int, int, Row]]:
    """Step, value, series and the columns of each cell."""
    used = np.flatnonzero(counted[entries.row])
    row, series = entries.row[used], entries.series[used]
    key = (step[row] * (int(code.max(initial=0)) + 1) + code[row]) * len(entries.names) + series
    # by cell, and in it by bin; NaN, which stands for no value, comes last
    order = np.lexsort((entries.bin[used], key))
    used, key = used[order], key[order]
    if not len(used):
        return
    starts = _find_starts(key)
    value, weight = entries.value[used], entries.weight[used]
    is_value = ~np.isnan(value)
    x = np.where(is_value, value, 0)
    w = np.where(is_value, weight, 0)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.add.reduceat(
            np.stack(
                [
                    # the series of all interactions has no values: it counts rows
                    np.where(entries.series[used] == 0, 1, is_value),
                    w,
                    w * w,
                    w * x,
                    w * x * x,
                    w * x**3,
                    entries.extra[used],
                    entries.calls[used],
                    entries.usd[used],
                ]
            ),
            starts,
            axis=1,
        )
    lowest = np.fmin.reduceat(value, starts)
    highest = np.fmax.reduceat(value, starts)
    stops = [*starts[1:].tolist(), len(key)]
    for at, (begin, end) in enumerate(zip(starts.tolist(), stops, strict=True)):
        n, weights, squared, total, squares, cubes, extra, calls, usd = sums[:, at].tolist()
        first = used[begin]
        is_empty = math.isnan(lowest[at])
        yield (
            int(step[entries.row[first]]),
            int(code[entries.row[first]]),
            int(entries.series[first]),
            (
                int(n),
                weights,
                squared,
                total,
                squares,
                cubes,
                None if is_empty else float(lowest[at]),
                None if is_empty else float(highest[at]),
                int(extra),
                int(calls),
                usd,
                _encode_outcomes(entries, used[begin:end]),
                _encode_histogram(entries.bin[used[begin:end]], w[begin:end]),
            ),
        )


def _find_starts(keys: NDArray[Any]) -> Ints:
    """Where each run of equal keys starts."""
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))


def _encode_outcomes(entries: _Entries, used: Ints) -> str:
    codes = entries.outcome[used]
    if not codes.any():
        return "{}"
    kinds, counts = np.unique(codes[codes > 0], return_counts=True)
    names = [entries.outcomes[kind] for kind in kinds.tolist()]
    return json.dumps(dict(zip(names, counts.tolist(), strict=True)))


def _encode_histogram(bins: Floats, weights: Floats) -> str:
    """JSON of the bins, which are in order, and their weights; the numbers as short as they are exact enough."""
    bins = bins[~np.isnan(bins)]
    if not len(bins):
        return "{}"
    starts = _find_starts(bins)
    sums = np.add.reduceat(weights[: len(bins)], starts).tolist()
    pairs = zip(bins[starts].tolist(), sums, strict=True)
    return "{" + ",".join(f'"{value:.5g}":{weight:.10g}' for value, weight in pairs) + "}"
