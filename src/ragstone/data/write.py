"""Rows out: each input row untouched, with one more column for each metric.

Written beside the target and moved over it when complete, so a broken run leaves no half file."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from ragstone.data.strict import mend, reparse
from ragstone.errors import DataError, MissingExtra, nearest

Scored = tuple[str, Mapping[str, Any]]
"""A row's JSON text, and metric → value; None where there is no score."""

Rows = Callable[[], Iterable[Scored]]
"""Gives the rows anew at each call: tables need their columns before their first row."""


def write_rows(path: str | os.PathLike[str], rows: Rows, columns: Sequence[str]) -> int:
    """Write every row with these metric columns, as the path's ending says; the number of rows."""
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in WRITERS:
        raise DataError(
            f"cannot write {str(target)!r} as {kind or 'a file without ending'!r}"
            f"{nearest(kind, list(WRITERS))}"
        )
    return WRITERS[kind](target, rows, columns)


def with_columns(row: str, scores: Mapping[str, Any], columns: Sequence[str]) -> str:
    """The row's own text with the metric columns spliced in before its last brace.

    A column that the row already has keeps its value; the new one is called `name (new)`."""
    body = row.rstrip()[:-1].rstrip()
    taken: Mapping[str, Any] = {}
    if any(f'"{column}"' in row for column in columns) or "\\" in row:
        taken = reparse(row)
    added = ", ".join(
        f"{_quoted(_free(column, taken))}: {_json(scores.get(column))}" for column in columns
    )
    if not added:
        return f"{body}}}"
    return f"{body}{'' if body.endswith('{') else ', '}{added}}}"


@lru_cache(maxsize=256)
def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


@contextmanager
def replacing(target: Path, *, text: bool = True) -> Iterator[IO[Any]]:
    """A file that takes the target's place when it is complete, and leaves nothing when it is not."""
    target = target.resolve()  # a link stays a link; what it points at is replaced
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        options: dict[str, Any] = {"encoding": "utf-8", "newline": ""} if text else {}
        with open(part, "w" if text else "wb", **options) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, target)
    except OSError as bad:
        raise DataError(f"cannot write {str(target)!r}: {bad.strerror or bad}") from None
    finally:
        part.unlink(missing_ok=True)


def _jsonl(target: Path, rows: Rows, columns: Sequence[str]) -> int:
    count = 0
    with replacing(target) as stream:
        for row, scores in rows():
            stream.write(with_columns(row, scores, columns) + "\n")
            count += 1
    return count


def _json_list(target: Path, rows: Rows, columns: Sequence[str]) -> int:
    count = 0
    with replacing(target) as stream:
        stream.write("[")
        for row, scores in rows():
            stream.write(",\n" if count else "\n")
            stream.write(with_columns(row, scores, columns))
            count += 1
        stream.write("\n]\n")
    return count


def _csv(target: Path, rows: Rows, columns: Sequence[str]) -> int:
    header, added = _header(rows, columns)
    count = 0
    with replacing(target) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*map(mend, header), *added.values()])
        for text, scores in rows():
            row = reparse(text)
            cells = [row.get(name) for name in header] + [scores.get(name) for name in columns]
            writer.writerow([_cell(value) for value in cells])
            count += 1
    return count


def _parquet(target: Path, rows: Rows, columns: Sequence[str]) -> int:
    return _parquet_parts(iter([target]), rows, columns, None)


def write_shards(folder: str | os.PathLike[str], rows: Rows, columns: Sequence[str], size: int) -> int:  # fmt: skip
    """Write the rows as parquet files of so many rows each, all of one schema, into a folder; the number of rows.

    Each file is there whole or not at all; those of an earlier export that are not written again are removed."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as bad:
        raise DataError(f"cannot make the folder {str(place)!r}: {bad.strerror or bad}") from None
    written: list[Path] = []

    def parts() -> Iterator[Path]:
        while True:
            written.append(place / f"part-{len(written):05d}.parquet")
            yield written[-1]

    count = _parquet_parts(parts(), rows, columns, size)
    for old in set(place.glob("part-*.parquet")) - set(written):
        old.unlink()
    return count


def _parquet_parts(
    targets: Iterator[Path], rows: Rows, columns: Sequence[str], size: int | None
) -> int:
    """Rows into one file, or into the next one after each so many rows."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("writing parquet", "parquet") from None
    _, added = _header(rows, columns)

    def tables() -> Iterator[dict[str, Any]]:
        for text, scores in rows():
            yield reparse(text) | {added[name]: scores.get(name) for name in columns}

    kinds: dict[str, str] = {}
    for row in tables():
        for name, value in row.items():
            kinds[name] = _wider(kinds.get(name), value)
    for name in added.values():
        kinds[name] = kinds.get(name) or "float"
    types = {
        "bool": pyarrow.bool_(),
        "int": pyarrow.int64(),
        "float": pyarrow.float64(),
        "texts": pyarrow.list_(pyarrow.string()),
    }
    schema = pyarrow.schema(
        [(name, types.get(kind, pyarrow.string())) for name, kind in kinds.items()]
    )
    source = ({name: _as(row.get(name), kind) for name, kind in kinds.items()} for row in tables())
    count = 0
    while True:
        part: Iterator[dict[str, Any]] = source if size is None else islice(source, size)
        first = next(part, None)
        if first is None and count:
            return count
        with (
            replacing(next(targets), text=False) as stream,
            pyarrow.parquet.ParquetWriter(stream, schema) as writer,
        ):
            part = part if first is None else chain([first], part)
            while batch := list(islice(part, 512)):
                writer.write_table(pyarrow.Table.from_pylist(batch, schema))
                count += len(batch)
        if size is None or first is None:
            return count


def _header(rows: Rows, columns: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The rows' columns in order of appearance, and the name of each metric's column."""
    header: dict[str, None] = {}
    for text, _ in rows():
        header.update(dict.fromkeys(reparse(text)))
    return list(header), {column: _free(column, header) for column in columns}


def _free(column: str, taken: Mapping[str, Any]) -> str:
    while column in taken:
        column += " (new)"
    return column


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, str):
        return mend(value)
    if isinstance(value, bool | list | dict):
        return mend(_json(value))
    return value


def _wider(kind: str | None, value: Any) -> str:
    """The narrowest kind of column that holds what was seen and this value too; "" for nothing yet."""
    if value is None:
        return kind or ""
    if isinstance(value, bool):
        new = "bool"
    elif isinstance(value, int):
        new = "int" if -(2**63) <= value < 2**63 else "json"
    elif isinstance(value, float):
        new = "float"
    elif isinstance(value, str):
        new = "text"
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        new = "texts"
    else:
        new = "json"
    if not kind or kind == new:
        return new
    return "float" if {kind, new} == {"int", "float"} else "json"


def _as(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind == "json":
        return mend(value) if isinstance(value, str) else mend(_json(value))
    return float(value) if kind == "float" else value


WRITERS: Mapping[str, Callable[[Path, Rows, Sequence[str]], int]] = {
    ".jsonl": _jsonl,
    ".json": _json_list,
    ".csv": _csv,
    ".parquet": _parquet,
}
"""How rows are written, by the path's ending."""
