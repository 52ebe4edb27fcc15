"""Reader of roll-ups: which stored buckets make up a time range, and where raw rows are needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragstone.monitor.archive import Archive
from ragstone.monitor.rollups.build import BucketBodies
from ragstone.monitor.rollups.merge import BINS, SPANS_MICROS, SUMS
from ragstone.monitor.rollups.refresh import build_from_rows, read_bodies
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS


class RollupReader:
    """The stored tables of a field, by time range."""

    def __init__(self, archive: Archive, field: str) -> None:
        self.archive = archive
        self.field = field
        self._bodies_from_rows: dict[tuple[int, int], BucketBodies] = {}
        """(start, stop) → table and histograms, so that rows are read once for both."""

    def read_tables(self, since: int, until: int, largest: int) -> list[tuple[int, bytes]]:
        """Start and table of each part of the range, oldest first: the largest stored buckets inside it, up to `largest`, and raw
        rows before and after them."""
        return sorted(self._read_pieces(since, until, largest, SUMS))

    def read_histograms(self, since: int, until: int, largest: int) -> list[tuple[int, bytes]]:
        """As `read_tables`, the histograms."""
        return sorted(self._read_pieces(since, until, largest, BINS))

    def _read_pieces(
        self, since: int, until: int, largest: int, kind: str
    ) -> Iterator[tuple[int, bytes]]:
        # buckets that do not divide the step would lie across its borders
        spans = [span for span in SPANS_MICROS if span <= largest and largest % span == 0]
        for span, start, stop in _split_range(since, until, spans[::-1]):
            if span:
                yield from self._read_stored(span, start, stop, kind)
            else:
                yield from self._read_raw(start, stop, kind)

    def _read_stored(
        self, span: int, start: int, stop: int, kind: str
    ) -> Iterator[tuple[int, bytes]]:
        stored = dict(read_bodies(self.archive, span, start, stop, self.field, kind))
        # an empty body (NOT_STORED) sends the reader to finer buckets
        yield from ((at, body) for at, body in stored.items() if body)
        # The last day is not stored while it grows: it is read from its hours.
        missing = (
            (at for at in range(start, stop, DAY_MICROS) if at not in stored)
            if span == DAY_MICROS
            else ()
        )
        to_read_finer = sorted({*missing, *(at for at, body in stored.items() if not body)})
        finer = [other for other in SPANS_MICROS if other < span]
        for first, last in _group_runs(to_read_finer, span):
            if finer:
                yield from self._read_stored(finer[-1], first, last, kind)
            else:
                # An hour at a time, so that no query is long.
                for at in range(first, last, HOUR_MICROS):
                    yield from self._read_raw(at, min(at + HOUR_MICROS, last), kind)

    def _read_raw(self, start: int, stop: int, kind: str) -> Iterator[tuple[int, bytes]]:
        """Aggregate raw rows, cached for tables and histograms."""
        if (start, stop) not in self._bodies_from_rows:
            self._bodies_from_rows[start, stop] = build_from_rows(
                self.archive, start, stop, self.field
            )
        table, histograms = self._bodies_from_rows[start, stop]
        body = histograms if kind == BINS else table
        if body:
            yield start, body


def _split_range(since: int, until: int, spans: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(span, start, stop): the largest buckets inside the range, smaller ones before and after; span 0 means raw rows."""
    if since >= until:
        return
    if not spans:
        yield 0, since, until
        return
    span, *finer = spans
    start, stop = -(-since // span) * span, until // span * span  # rounded up and down
    if start >= stop:
        yield from _split_range(since, until, finer)
        return
    yield from _split_range(since, start, finer)
    yield span, start, stop
    yield from _split_range(stop, until, finer)


def _group_runs(starts: Iterable[int], span: int) -> Iterator[tuple[int, int]]:
    """Start and end of each run of consecutive buckets."""
    first = last = None
    for at in starts:
        if first is None or at != last:
            if first is not None and last is not None:
                yield first, last
            first = at
        last = at + span
    if first is not None and last is not None:
        yield first, last
