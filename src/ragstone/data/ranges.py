"""Ranges of a large file that worker processes read independently: byte ranges of jsonl, row groups of parquet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragstone.data.dataset import Dataset
from ragstone.data.parquet_reader import read_parquet
from ragstone.data.sources import (
    RawRow,
    decode_lines,
    strip_bom,
    to_table_row,
    translate_errors,
)
from ragstone.errors import MissingExtra

MAX_ROW_GROUP_ROWS = 5_000
"""Rows of the largest parquet row group that one worker takes; a part of a group cannot be read alone."""


@dataclass(frozen=True, slots=True)
class FileRange:
    """A range of a file that contains complete rows."""

    path: str
    start: int
    """First byte; of a parquet file, the row group."""
    end: int
    """The byte after the last one; of a parquet file, the next row group."""
    rows_before: int
    """Lines (of a parquet file: rows) before the range, so that errors name the right line."""
    rows: int
    """Rows that are not blank."""
    is_parquet: bool = False


def plan_ranges(
    dataset: Dataset, source: Any, rows_wanted: Callable[[], int]
) -> Callable[[], Iterator[FileRange]] | None:
    """Return a generator of ranges of about `rows_wanted()` rows, or None where rows must be sent one by one."""
    # a range does not know how many good rows come before it, which limit and positions depend on
    if not isinstance(source, str | Path) or dataset.limit is not None or dataset.skip_bad_rows:
        return None
    path = os.path.abspath(source)
    if not os.path.isfile(path):
        return None
    with translate_errors(str(source)), open(path, "rb") as file:
        head = file.read(4)
    if head == b"PAR1":
        sizes = _count_row_groups(path)
        if max(sizes, default=0) > MAX_ROW_GROUP_ROWS:
            return None
        return lambda: _iter_group_ranges(path, sizes)
    # not compressed, and one object a line: only then can reading start at any line
    plain = path.lower().endswith((".jsonl", ".ndjson")) and head[:1] == b"{"
    if not plain or dataset.shape.get("cells"):
        return None
    return lambda: _iter_byte_ranges(path, rows_wanted)


def read_range(part: FileRange) -> Iterator[RawRow]:
    """Yield the rows of a range with their locations, the same as when the whole file is read."""
    if part.is_parquet:
        yield from _read_group(part)
        return
    with translate_errors(part.path), open(part.path, "rb") as file:
        file.seek(part.start)
        data = file.read(part.end - part.start)
    if part.start == 0:
        data = strip_bom(data, part.path)
    yield from decode_lines(enumerate(data.split(b"\n"), part.rows_before + 1))


def _iter_byte_ranges(path: str, rows_wanted: Callable[[], int]) -> Iterator[FileRange]:
    with translate_errors(path), open(path, "rb") as file:
        start = offset = before = rows = 0
        range_rows = rows_wanted()
        for line, raw in enumerate(file, 1):
            offset += len(raw)
            rows += not raw.isspace()
            if rows >= range_rows:
                yield FileRange(path, start, offset, before, rows)
                start, before, rows, range_rows = offset, line, 0, rows_wanted()
        if rows:
            yield FileRange(path, start, offset, before, rows)


def _count_row_groups(path: str) -> list[int]:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("reading parquet", "parquet") from None
    metadata = pyarrow.parquet.ParquetFile(path).metadata
    return [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]


def _iter_group_ranges(path: str, sizes: list[int]) -> Iterator[FileRange]:
    before = 0
    for number, rows in enumerate(sizes):
        if rows:
            yield FileRange(path, number, number + 1, before, rows, is_parquet=True)
        before += rows


def _read_group(part: FileRange) -> Iterator[RawRow]:
    with open(part.path, "rb") as stream:
        rows = read_parquet(part.path, stream, [part.start])
        for number, row in enumerate(rows, part.rows_before + 1):
            yield f"{part.path}: row {number}", to_table_row(row)
