"""The rows of a run cut into pieces of work; where an earlier attempt left shards, the cuts fall on theirs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from ragstone.data import Record
from ragstone.data.ranges import FileRange, read_range
from ragstone.data.sources import RejectedRow

FIRST_SIZE = 20
SMALLEST, LARGEST = 5, 1000
SECONDS = 2.0
"""How long a piece should take: long against the way to the worker, short against what a death costs."""
MOST_BYTES = 4 << 20
"""Of the rows of one piece, when they travel."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows with their positions: at hand, or as a range of a file that workers see too."""

    positions: tuple[int, ...]
    rows: tuple[str, ...] | None = None
    part: FileRange | None = None

    @property
    def first(self) -> int:
        """The first position."""
        return self.positions[0]

    @property
    def last(self) -> int:
        """The last position."""
        return self.positions[-1]

    def sent(self) -> dict[str, Any]:
        """As a worker gets it."""
        if self.part is not None:
            return {"positions": [self.first], "range": asdict(self.part)}
        return {"positions": list(self.positions), "rows": list(self.rows or ())}

    def texts(self) -> list[str]:
        """The rows' texts."""
        if self.part is None:
            return list(self.rows or ())
        return [text for _, text in read_range(self.part) if not isinstance(text, RejectedRow)]

    def halves(self) -> tuple[Piece, Piece]:
        """The same rows as two pieces."""
        rows, middle = tuple(self.texts()), len(self.positions) // 2
        return (
            Piece(self.positions[:middle], rows[:middle]),
            Piece(self.positions[middle:], rows[middle:]),
        )


def digest_rows(rows: Iterable[str]) -> str:
    """What tells that a shard was made from these rows and no others."""
    whole = hashlib.sha256()
    for row in rows:
        whole.update(row.encode("utf-8", "surrogatepass") + b"\n")
    return whole.hexdigest()


class Sizes:
    """How many rows the next piece has: what the latest ones took decides, and shards that are there already."""

    def __init__(
        self, stored: int, kept: Mapping[int, int], total: int | None = None, workers: int = 1
    ) -> None:
        self.position = 1
        """Of the first row of the next piece."""
        self._stored = stored
        self._kept = kept
        # of few samples each worker gets some, however slow its judge
        share = FIRST_SIZE if total is None else (total - stored) // (2 * workers)
        self._size = max(SMALLEST, min(FIRST_SIZE, share))

    def learn(self, rows: int, seconds: float) -> None:
        """A piece of so many rows took so long."""
        fitting = int(rows * SECONDS / max(seconds, 1e-3))
        self._size = max(SMALLEST, min(LARGEST, (self._size + min(fitting, 4 * self._size)) // 2))

    def wanted(self) -> int:
        """Rows of the next piece."""
        if self.position <= self._stored:
            return min(LARGEST, self._stored - self.position + 1)
        if self.position in self._kept:
            return self._kept[self.position] - self.position + 1
        ahead = min((first for first in self._kept if first > self.position), default=None)
        return self._size if ahead is None else min(self._size, ahead - self.position)


def from_ranges(ranges: Callable[[], Iterator[FileRange]], sizes: Sizes) -> Iterator[Piece]:
    """Pieces that name parts of a file; those of parquet files are as large as its row groups."""
    for part in ranges():
        first = sizes.position
        sizes.position += part.rows
        yield Piece(tuple(range(first, sizes.position)), part=part)


def from_records(records: Iterable[Record], sizes: Sizes, start: int) -> Iterator[Piece]:
    """Pieces that carry their rows, from this position on."""
    sizes.position = start
    rows: list[str] = []
    length = 0
    wanted = sizes.wanted()
    for record in records:
        rows.append(record.row)
        length += len(record.row)
        if len(rows) >= wanted or length >= MOST_BYTES:
            yield _carrying(rows, sizes)
            rows, length, wanted = [], 0, sizes.wanted()
    if rows:
        yield _carrying(rows, sizes)


def from_failed(rows: Iterable[tuple[int, Record]], sizes: Sizes) -> Iterator[Piece]:
    """Pieces of rows that are anywhere in the run."""
    source = iter(rows)
    while some := list(islice(source, sizes.wanted())):
        yield Piece(
            tuple(position for position, _ in some), tuple(record.row for _, record in some)
        )


def _carrying(rows: list[str], sizes: Sizes) -> Piece:
    first = sizes.position
    sizes.position += len(rows)
    return Piece(tuple(range(first, sizes.position)), tuple(rows))
