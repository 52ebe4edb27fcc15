"""The rows of a run cut into batches of work; where an earlier attempt left shards, batches have their bounds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from ragstone.data import Record
from ragstone.data.ranges import FileRange, read_range
from ragstone.data.sources import RejectedRow
from ragstone.errors import DataError
from ragstone.store import StoredRun

FIRST_BATCH_ROWS = 20
MIN_BATCH_ROWS, MAX_BATCH_ROWS = 5, 1000
BATCH_SECONDS = 2.0
"""How long a batch should take: long compared with sending it, short compared with what a dead worker costs."""
MAX_BATCH_BYTES = 4 << 20
"""Largest total length of the rows of one batch that carries its rows (counted in characters)."""


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Some rows with their positions, in one of two forms: either `rows` or `part` is set, never both."""

    positions: tuple[int, ...]
    """Positions in the run, from 1; consecutive unless failed rows are scored again."""
    rows: tuple[str, ...] | None = None
    """The rows themselves, as JSON texts."""
    part: FileRange | None = None
    """The range of a file in which workers read the rows themselves."""

    @property
    def first(self) -> int:
        """The first position."""
        return self.positions[0]

    @property
    def last(self) -> int:
        """The last position."""
        return self.positions[-1]

    def to_json(self) -> dict[str, Any]:
        """The batch as it is sent to a worker."""
        # the rows of a range are consecutive, so the worker counts on from the first position
        if self.part is not None:
            return {"positions": [self.first], "range": asdict(self.part)}
        return {"positions": list(self.positions), "rows": list(self.rows or ())}

    def read_texts(self) -> list[str]:
        """The rows' texts."""
        if self.part is None:
            return list(self.rows or ())
        # a worker refuses the whole batch when one of its rows is rejected, so none is scored without it
        return [text for _, text in read_range(self.part) if not isinstance(text, RejectedRow)]

    def split_in_halves(self) -> tuple[RowBatch, RowBatch]:
        """The same rows as two batches."""
        rows, middle = tuple(self.read_texts()), len(self.positions) // 2
        return (
            RowBatch(self.positions[:middle], rows[:middle]),
            RowBatch(self.positions[middle:], rows[middle:]),
        )


def digest_rows(rows: Iterable[str]) -> str:
    """Hash of the texts of rows: equal hashes mean that a shard was made from these rows."""
    whole = hashlib.sha256()
    for row in rows:
        whole.update(row.encode("utf-8", "surrogatepass") + b"\n")
    return whole.hexdigest()


class BatchSizer:
    """Chooses how many rows the next batch has, by how long the latest took and by the bounds of existing shards."""

    def __init__(
        self,
        stored: int,
        shard_bounds: Mapping[int, int],
        total: int | None = None,
        workers: int = 1,
        batch_seconds: float = BATCH_SECONDS,
    ) -> None:
        """`stored` is the number of samples in the store; `shard_bounds` the first → last position of the shards of an earlier attempt."""
        self.position = 1
        """Position of the first row of the next batch; whoever makes a batch moves it on."""
        self._stored = stored
        self._batch_seconds = batch_seconds
        self._shard_bounds = shard_bounds
        self._total, self._workers = total, workers
        # with few samples the batches are smaller, so that each worker gets about two of them
        share = FIRST_BATCH_ROWS if total is None else (total - stored) // (2 * workers)
        self._rows_per_batch = max(MIN_BATCH_ROWS, min(FIRST_BATCH_ROWS, share))

    def add_timing(self, rows: int, seconds: float) -> None:
        """Adapt to how long a batch of so many rows took."""
        fitting = int(rows * self._batch_seconds / max(seconds, 1e-3))
        self._rows_per_batch = max(
            MIN_BATCH_ROWS,
            min(
                # half way towards the fitting size, at most four times the present one: a single
                # quick batch says little
                MAX_BATCH_ROWS,
                (self._rows_per_batch + min(fitting, 4 * self._rows_per_batch)) // 2,
            ),
        )

    def next_size(self) -> int:
        """Rows of the next batch."""
        if self.position <= self._stored:
            return min(MAX_BATCH_ROWS, self._stored - self.position + 1)
        if self.position in self._shard_bounds:
            # exactly the shard's bounds, or it could not be reused
            return self._shard_bounds[self.position] - self.position + 1
        rows = self._rows_per_batch
        if self._total is not None:
            # smaller towards the end, where one worker waits for another
            share = (self._total - self.position + 1) // (2 * self._workers)
            rows = max(MIN_BATCH_ROWS, min(rows, share))
        ahead = min((first for first in self._shard_bounds if first > self.position), default=None)
        return rows if ahead is None else min(rows, ahead - self.position)


def from_ranges(ranges: Callable[[], Iterator[FileRange]], sizes: BatchSizer) -> Iterator[RowBatch]:
    """Batches that name parts of a file; `ranges` plans them by `sizes`, but a part of a parquet file is a whole row group."""
    for part in ranges():
        first = sizes.position
        # before the next range is planned: `ranges` asks `sizes.next_size`, which looks at the position
        sizes.position += part.rows
        yield RowBatch(tuple(range(first, sizes.position)), part=part)


def from_records(records: Iterable[Record], sizes: BatchSizer, start: int) -> Iterator[RowBatch]:
    """Batches that carry their rows, from this position on."""
    sizes.position = start
    rows: list[str] = []
    length = 0
    wanted = sizes.next_size()
    for record in records:
        rows.append(record.row)
        length += len(record.row)
        if len(rows) >= wanted or length >= MAX_BATCH_BYTES:
            yield _batch_rows(rows, sizes)
            rows, length, wanted = [], 0, sizes.next_size()
    if rows:
        yield _batch_rows(rows, sizes)


def from_failed(rows: Iterable[tuple[int, Record]], sizes: BatchSizer) -> Iterator[RowBatch]:
    """Batches of rows that are anywhere in the run; `sizes.position` is not moved, since positions are given."""
    source = iter(rows)
    while batch_rows := list(islice(source, sizes.next_size())):
        yield RowBatch(
            tuple(position for position, _ in batch_rows),
            tuple(record.row for _, record in batch_rows),
        )


def _batch_rows(rows: list[str], sizes: BatchSizer) -> RowBatch:
    first = sizes.position
    sizes.position += len(rows)
    return RowBatch(tuple(range(first, sizes.position)), tuple(rows))


def skip_stored_batches(
    batches: Iterator[RowBatch], run: StoredRun, stored: int
) -> Iterator[RowBatch]:
    """The batches after those in the store, which must hold the same rows as then."""
    rows = run.store.input_rows(run.id)
    for batch in batches:
        if batch.first > stored:
            yield batch
            continue
        for position, text in zip(batch.positions, batch.read_texts(), strict=True):
            if position <= stored and next(rows) != text:
                raise DataError(
                    f"sample {position} of {run.info.source} has changed since run {run.id} scored it; "
                    "begin a new run with --restart"
                )
        if batch.last > stored:  # only a parquet row group can reach beyond
            rest = batch.read_texts()[stored - batch.first + 1 :]
            yield RowBatch(tuple(range(stored + 1, batch.last + 1)), tuple(rest))


def iter_stored_ids(run: StoredRun) -> Iterator[tuple[int, str, bool]]:
    """Position and id of each stored sample, and whether its row gave it that id."""
    for position, sample_id in run.store.stream(
        "SELECT position, id FROM samples WHERE run = ? ORDER BY position",
        (run.store.find_number(run.id),),
    ):
        yield position, sample_id, sample_id != str(position)
