"""Parts of a large file that another process can read for itself: byte ranges of jsonl, row groups of parquet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragstone.data.containers import Raw, Refused, not_utf8, problems, without_bom
from ragstone.data.read import Reading

LARGEST_GROUP = 5_000
"""Rows of a parquet row group that is still one piece of work; a part of a group cannot be read alone."""


@dataclass(frozen=True, slots=True)
class Range:
    """A stretch of a file with whole rows in it."""

    path: str
    start: int
    """First byte; of a parquet file, the row group."""
    end: int
    """The byte after the last one; of a parquet file, the next row group."""
    before: int
    """Lines (rows) of the file before it, so that complaints name the right one."""
    rows: int
    """Rows that are not blank."""
    parquet: bool = False


def cut(
    reading: Reading, source: Any, rows_wanted: Callable[[], int]
) -> Callable[[], Iterator[Range]] | None:
    """How to cut the file into ranges of about so many rows, or None where rows must be handed out one by one."""
    if not isinstance(source, str | Path) or reading.limit is not None or reading.skip_bad_rows:
        return None
    path = os.path.abspath(source)
    if not os.path.isfile(path):
        return None
    with problems(str(source)), open(path, "rb") as file:
        head = file.read(4)
    if head == b"PAR1":
        sizes = _row_groups(path)
        if max(sizes, default=0) > LARGEST_GROUP:
            return None
        return lambda: _groups(path, sizes)
    plain = path.lower().endswith((".jsonl", ".ndjson")) and head[:1] == b"{"
    if not plain or reading.shape.get("cells"):
        return None
    return lambda: _stretches(path, rows_wanted)


def rows_in(part: Range) -> Iterator[Raw]:
    """The rows of a range with their places, as reading the whole file gives them."""
    if part.parquet:
        yield from _rows_of_group(part)
        return
    with problems(part.path), open(part.path, "rb") as file:
        file.seek(part.start)
        data = file.read(part.end - part.start)
    if part.start == 0:
        data = without_bom(data, part.path)
    for number, raw in enumerate(data.split(b"\n"), part.before + 1):
        raw = raw.strip()
        if not raw:
            continue
        try:
            yield number, raw.decode()
        except UnicodeDecodeError as bad:
            yield number, Refused(not_utf8(bad))


def _stretches(path: str, rows_wanted: Callable[[], int]) -> Iterator[Range]:
    with problems(path), open(path, "rb") as file:
        start = at = before = rows = 0
        wanted = rows_wanted()
        for line, raw in enumerate(file, 1):
            at += len(raw)
            rows += not raw.isspace()
            if rows >= wanted:
                yield Range(path, start, at, before, rows)
                start, before, rows, wanted = at, line, 0, rows_wanted()
        if rows:
            yield Range(path, start, at, before, rows)


def _row_groups(path: str) -> list[int]:
    from ragstone.errors import MissingExtra

    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("reading parquet", "parquet") from None
    facts = pyarrow.parquet.ParquetFile(path).metadata
    return [facts.row_group(n).num_rows for n in range(facts.num_row_groups)]


def _groups(path: str, sizes: list[int]) -> Iterator[Range]:
    before = 0
    for number, rows in enumerate(sizes):
        if rows:
            yield Range(path, number, number + 1, before, rows, parquet=True)
        before += rows


def _rows_of_group(part: Range) -> Iterator[Raw]:
    import pyarrow.parquet

    from ragstone.data.objects import text_of_object

    table = pyarrow.parquet.ParquetFile(part.path).read_row_group(part.start)
    for number, row in enumerate(table.to_pylist(), part.before + 1):
        yield f"{part.path}: row {number}", text_of_object(row)
