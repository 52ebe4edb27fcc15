"""Which stored buckets make up a stretch of time, and where the raw rows must help."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragstone.monitor.archive import Archive
from ragstone.monitor.rollups.build import Stored
from ragstone.monitor.rollups.refresh import BINS, DAY, SPANS, SUMS, raw, read
from ragstone.monitor.statements import HOUR


class Cover:
    """The stored tables of a field, by stretch of time."""

    def __init__(self, archive: Archive, field: str) -> None:
        self.archive = archive
        self.field = field
        self._raw: dict[tuple[int, int], Stored] = {}

    def tables(self, since: int, until: int, largest: int) -> list[tuple[int, bytes]]:
        """Start and table of each piece of the stretch, oldest first: buckets inside it that are no larger than this and
        fit into it, raw rows at its ends."""
        return sorted(self._pieces(since, until, largest, SUMS))

    def histograms(self, since: int, until: int, largest: int) -> list[tuple[int, bytes]]:
        """As `tables`, the histograms."""
        return sorted(self._pieces(since, until, largest, BINS))

    def _pieces(
        self, since: int, until: int, largest: int, kind: str
    ) -> Iterator[tuple[int, bytes]]:
        spans = [span for span in SPANS if span <= largest and largest % span == 0]
        for span, start, stop in _parts(since, until, spans[::-1]):
            if span:
                yield from self._kept(span, start, stop, kind)
            else:
                yield from self._rows(start, stop, kind)

    def _kept(self, span: int, start: int, stop: int, kind: str) -> Iterator[tuple[int, bytes]]:
        kept = dict(read(self.archive, span, start, stop, self.field, kind))
        yield from ((at, body) for at, body in kept.items() if body)
        # the last day is not added up while it grows
        missing = (at for at in range(start, stop, DAY) if at not in kept) if span == DAY else ()
        elsewhere = sorted({*missing, *(at for at, body in kept.items() if not body)})
        finer = [one for one in SPANS if one < span]
        for first, last in _runs(elsewhere, span):
            if finer:
                yield from self._kept(finer[-1], first, last, kind)
            else:
                for at in range(first, last, HOUR):  # no reading of rows is long
                    yield from self._rows(at, min(at + HOUR, last), kind)

    def _rows(self, start: int, stop: int, kind: str) -> Iterator[tuple[int, bytes]]:
        """Read once, for tables and histograms both."""
        if (start, stop) not in self._raw:
            self._raw[start, stop] = raw(self.archive, start, stop, self.field)
        body = self._raw[start, stop][kind == BINS]
        if body:
            yield start, body


def _parts(since: int, until: int, spans: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(span, start, stop): the largest buckets inside the stretch, smaller ones before and after; span 0 is raw."""
    if since >= until:
        return
    if not spans:
        yield 0, since, until
        return
    span, *finer = spans
    start, stop = -(-since // span) * span, until // span * span
    if start >= stop:
        yield from _parts(since, until, finer)
        return
    yield from _parts(since, start, finer)
    yield span, start, stop
    yield from _parts(stop, until, finer)


def _runs(starts: Iterable[int], span: int) -> Iterator[tuple[int, int]]:
    """Start and end of each unbroken run of buckets."""
    first = last = None
    for at in starts:
        if first is None or at != last:
            if first is not None and last is not None:
                yield first, last
            first = at
        last = at + span
    if first is not None and last is not None:
        yield first, last
