"""Writers of result files: each input row unchanged, with one more column for each metric.

A file is written beside its target and renamed when complete, so an interrupted run leaves no partial file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ragstone.data.formulas import escape_formula
from ragstone.data.strict_json import reparse_json, replace_unstorable, write_json
from ragstone.errors import DataError, suggest_nearest

ScoredRow = tuple[str, Mapping[str, Any]]
"""A row's JSON text, and metric → value; None where there is no score."""

DETECTION_ROWS = 1000
"""Rows from which the columns of a table are taken at first; one that does not fit makes the whole table be written anew."""


class UnforeseenColumn(Exception):
    """A later row does not fit the columns of the first ones."""


RowFactory = Callable[[], Iterable[ScoredRow]]
"""Returns all rows at each call: tables need a first pass for their columns, then one for their rows."""


def write_rows(
    path: str | os.PathLike[str], rows: RowFactory, columns: Sequence[str], *, raw: bool = False
) -> int:
    """Write every row with these metric columns in the format of the path's suffix; returns the number of rows.

    A cell of CSV that a spreadsheet would execute gets a quote in front, which our reader takes off; `raw` leaves it out."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in WRITERS:
        raise DataError(
            f"cannot write {str(target)!r} as {suffix or 'a file without ending'!r}"
            f"{suggest_nearest(suffix, list(WRITERS))}"
        )
    write = partial(_write_csv, raw=True) if raw and suffix == ".csv" else WRITERS[suffix]
    return write(target, rows, columns)


def add_columns(row: str, scores: Mapping[str, Any], columns: Sequence[str]) -> str:
    """Insert the metric columns into the row's text before its last brace.

    A column that the row already has keeps its value; the metric's is then called `name (new)`."""
    prefix = row.rstrip()[:-1].rstrip()
    existing: Mapping[str, Any] = {}
    # a row is parsed only where a name may clash; a backslash may spell a name with escapes
    if any(f'"{column}"' in row for column in columns) or "\\" in row:
        existing = reparse_json(row)
    added = ", ".join(
        f"{_encode_name(free_name(column, existing))}: {_to_json(scores.get(column))}"
        for column in columns
    )
    if not added:
        return f"{prefix}}}"
    return f"{prefix}{'' if prefix.endswith('{') else ', '}{added}}}"


@lru_cache(maxsize=256)
def _encode_name(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


@contextmanager
def open_replacement(target: Path, *, text: bool = True) -> Iterator[IO[Any]]:
    """Open a temporary file that replaces the target on success and is removed on failure."""
    target = target.resolve()  # a link stays a link; the file it points at is replaced
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as bad:
        raise DataError(f"cannot write {str(target)!r}: {bad.strerror or bad}") from None
    try:
        options: dict[str, Any] = {"encoding": "utf-8", "newline": ""} if text else {}
        with open(part, "w" if text else "wb", **options) as stream:
            yield stream
            stream.flush()
            # before the rename: after a power failure the name must not point at an empty file
            os.fsync(stream.fileno())
        os.replace(part, target)
    except OSError as bad:
        raise DataError(f"cannot write {str(target)!r}: {bad.strerror or bad}") from None
    finally:
        part.unlink(missing_ok=True)


def _write_jsonl(target: Path, rows: RowFactory, columns: Sequence[str]) -> int:
    count = 0
    with open_replacement(target) as stream:
        for row, scores in rows():
            stream.write(add_columns(row, scores, columns) + "\n")
            count += 1
    return count


def _write_json(target: Path, rows: RowFactory, columns: Sequence[str]) -> int:
    count = 0
    with open_replacement(target) as stream:
        stream.write("[")
        for row, scores in rows():
            stream.write(",\n" if count else "\n")
            stream.write(add_columns(row, scores, columns))
            count += 1
        stream.write("\n]\n")
    return count


def _write_csv(target: Path, rows: RowFactory, columns: Sequence[str], *, raw: bool = False) -> int:
    try:
        # nearly always the first rows have every column, and one pass does
        return _write_csv_rows(target, rows, columns, DETECTION_ROWS, raw=raw)
    except UnforeseenColumn:
        return _write_csv_rows(target, rows, columns, None, raw=raw)


def _write_csv_rows(
    target: Path,
    rows: RowFactory,
    columns: Sequence[str],
    detection_rows: int | None,
    *,
    raw: bool,
) -> int:
    header, added = _collect_header(islice(rows(), detection_rows), columns)
    known, count = set(header), 0
    with open_replacement(target) as stream:
        names = [*map(replace_unstorable, header), *added.values()]
        stream.write(to_csv_line(names, raw=raw))
        for text, scores in rows():
            row = reparse_json(text)
            if not row.keys() <= known:
                raise UnforeseenColumn
            cells = [row.get(name) for name in header]
            cells += [scores.get(name) for name in columns]
            stream.write(to_csv_line(cells, raw=raw))
            count += 1
    return count


def _write_parquet(target: Path, rows: RowFactory, columns: Sequence[str]) -> int:
    from ragstone.data.parquet_writer import write_parquet

    return write_parquet(target, rows, columns)


def _collect_header(
    rows: Iterable[ScoredRow], columns: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Collect the columns of the rows in order of appearance, and choose a free name for each metric's column."""
    header: dict[str, None] = {}
    for text, _ in rows:
        header.update(dict.fromkeys(reparse_json(text)))
    return list(header), {column: free_name(column, header) for column in columns}


def free_name(column: str, used: Mapping[str, Any]) -> str:
    """The name of a metric's column; another one where a row has such a column already."""
    while column in used:
        column += " (new)"
    return column


def _to_json(value: Any) -> str:
    return repr(value) if value.__class__ is float else write_json(value)


def to_csv_line(values: Sequence[Any], *, raw: bool = False) -> str:
    """Format a line of CSV with the fewest quotes; `csv.writer` looks at each character and takes three times as long."""
    cells = [value if value.__class__ is str else _to_cell(value) for value in values]
    if not raw:
        cells = [escape_formula(cell) for cell in cells]
    for at, cell in enumerate(cells):
        if '"' in cell:
            cells[at] = '"' + cell.replace('"', '""') + '"'
        elif "," in cell or "\n" in cell or "\r" in cell:
            cells[at] = f'"{cell}"'
    # a line with a single empty cell would be blank
    return ",".join(cells) + "\n" if cells != [""] else '""\n'


def _to_cell(value: Any) -> str:
    if value is None:
        return ""
    if value.__class__ is float:
        return repr(value)
    return value if isinstance(value, str) else write_json(value)


WRITERS: Mapping[str, Callable[[Path, RowFactory, Sequence[str]], int]] = {
    ".jsonl": _write_jsonl,
    ".json": _write_json,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
"""Writer of each file type by suffix."""
