"""The rows of a run cut into batches, the shards that worker processes score."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ragstone.data import RejectedRow

FIRST_BATCH_ROWS = 20
MIN_BATCH_ROWS, MAX_BATCH_ROWS = 5, 1000
MAX_BATCH_CHARS = 4 << 20
"""Largest total length of the rows of a batch, unless a single row is longer."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows of a run, as they came."""

    first: int
    """Position of the first row, from 1."""
    rows: tuple[str | RejectedRow, ...]

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def halve(self) -> tuple[Batch, Batch]:
        """The same rows as two batches."""
        middle = self.count // 2
        return Batch(self.first, self.rows[:middle]), Batch(self.first + middle, self.rows[middle:])


class BatchSizer:
    """Chooses how many rows a batch has, by how long the latest took."""

    def __init__(self, remaining: int | None, workers: int, batch_seconds: float) -> None:
        """`remaining` is the number of rows that are to come, if known."""
        self.workers = workers
        self._remaining = remaining
        self._batch_seconds = batch_seconds
        self._rows = FIRST_BATCH_ROWS

    def add_timing(self, rows: int, seconds: float) -> None:
        """Adapt to how long a batch of so many rows took: half way, as a single quick batch says little."""
        fitting = int(rows * self._batch_seconds / max(seconds, 1e-3))
        wanted = (self._rows + min(fitting, 4 * self._rows)) // 2
        self._rows = max(MIN_BATCH_ROWS, min(MAX_BATCH_ROWS, wanted))

    def next_size(self) -> int:
        """Rows of the next batch."""
        if self._remaining is None:
            return self._rows
        # smaller towards the end, where one worker waits for another
        return max(MIN_BATCH_ROWS, min(self._rows, self._remaining // (2 * self.workers)))

    def cut(self, rows: Iterable[str | RejectedRow], first: int) -> Iterator[Batch]:
        """Cut rows into batches; the first row has this position."""
        batch: list[str | RejectedRow] = []
        chars, wanted = 0, self.next_size()
        for row in rows:
            batch.append(row)
            chars += len(row) if isinstance(row, str) else 0
            if len(batch) >= wanted or chars >= MAX_BATCH_CHARS:
                yield Batch(first, tuple(batch))
                first += len(batch)
                if self._remaining is not None:
                    self._remaining -= len(batch)
                batch, chars, wanted = [], 0, self.next_size()
        if batch:
            yield Batch(first, tuple(batch))
