"""Writers of result files: each input row unchanged, with one more column for each metric.

A file is written beside its target and renamed when complete, so an interrupted run leaves no partial file."""

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

from ragstone.data.strict_json import reparse_json, replace_unstorable
from ragstone.errors import DataError, MissingExtra, suggest_nearest

ScoredRow = tuple[str, Mapping[str, Any]]
"""A row's JSON text, and metric → value; None where there is no score."""

RowFactory = Callable[[], Iterable[ScoredRow]]
"""Returns all rows at each call: tables need a first pass for their columns, then one for their rows."""


def write_rows(path: str | os.PathLike[str], rows: RowFactory, columns: Sequence[str]) -> int:
    """Write every row with these metric columns in the format of the path's suffix; returns the number of rows."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in WRITERS:
        raise DataError(
            f"cannot write {str(target)!r} as {suffix or 'a file without ending'!r}"
            f"{suggest_nearest(suffix, list(WRITERS))}"
        )
    return WRITERS[suffix](target, rows, columns)


def add_columns(row: str, scores: Mapping[str, Any], columns: Sequence[str]) -> str:
    """Insert the metric columns into the row's text before its last brace.

    A column that the row already has keeps its value; the metric's is then called `name (new)`."""
    prefix = row.rstrip()[:-1].rstrip()
    existing: Mapping[str, Any] = {}
    # a row is parsed only where a name may clash; a backslash may spell a name with escapes
    if any(f'"{column}"' in row for column in columns) or "\\" in row:
        existing = reparse_json(row)
    added = ", ".join(
        f"{_encode_name(_free_name(column, existing))}: {_to_json(scores.get(column))}"
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


def _write_csv(target: Path, rows: RowFactory, columns: Sequence[str]) -> int:
    header, added = _collect_header(rows, columns)
    count = 0
    with open_replacement(target) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*map(replace_unstorable, header), *added.values()])
        for text, scores in rows():
            row = reparse_json(text)
            cells = [row.get(name) for name in header] + [scores.get(name) for name in columns]
            writer.writerow([_to_cell(value) for value in cells])
            count += 1
    return count


def _write_parquet(target: Path, rows: RowFactory, columns: Sequence[str]) -> int:
    return _write_parquet_parts(iter([target]), rows, columns, None)


def write_shards(folder: str | os.PathLike[str], rows: RowFactory, columns: Sequence[str], size: int) -> int:  # fmt: skip
    """Write the rows as parquet files of `size` rows each, all of one schema; returns the number of rows.

    Each file appears complete or not at all; leftover files of an earlier export are removed."""
    target_folder = Path(folder)
    try:
        target_folder.mkdir(parents=True, exist_ok=True)
    except OSError as bad:
        raise DataError(
            f"cannot make the folder {str(target_folder)!r}: {bad.strerror or bad}"
        ) from None
    written: list[Path] = []

    def name_parts() -> Iterator[Path]:
        while True:
            written.append(target_folder / f"part-{len(written):05d}.parquet")
            yield written[-1]

    count = _write_parquet_parts(name_parts(), rows, columns, size)
    for stale in set(target_folder.glob("part-*.parquet")) - set(written):
        stale.unlink()
    return count


def _write_parquet_parts(
    targets: Iterator[Path], rows: RowFactory, columns: Sequence[str], size: int | None
) -> int:
    """Write rows into one file, or start the next file after each `size` rows."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("writing parquet", "parquet") from None
    # parquet needs its schema before the first row, hence the two passes
    _, added = _collect_header(rows, columns)

    def build_rows() -> Iterator[dict[str, Any]]:
        for text, scores in rows():
            yield reparse_json(text) | {added[name]: scores.get(name) for name in columns}

    kinds = _detect_kinds(build_rows(), added.values())
    types = {
        "bool": pyarrow.bool_(),
        "int": pyarrow.int64(),
        "float": pyarrow.float64(),
        "texts": pyarrow.list_(pyarrow.string()),
    }
    schema = pyarrow.schema(
        [(name, types.get(kind, pyarrow.string())) for name, kind in kinds.items()]
    )
    source = (
        {name: _to_kind(row.get(name), kind) for name, kind in kinds.items()}
        for row in build_rows()
    )
    count = 0
    while True:
        part: Iterator[dict[str, Any]] = source if size is None else islice(source, size)
        first = next(part, None)
        if first is None and count:
            return count
        # without any row one empty file is still written, for its schema
        with (
            open_replacement(next(targets), text=False) as stream,
            pyarrow.parquet.ParquetWriter(stream, schema) as writer,
        ):
            part = part if first is None else chain([first], part)
            while batch := list(islice(part, 512)):
                writer.write_table(pyarrow.Table.from_pylist(batch, schema))
                count += len(batch)
        if size is None or first is None:
            return count


def _detect_kinds(rows: Iterable[Mapping[str, Any]], metrics: Iterable[str]) -> dict[str, str]:
    """Detect the kind of each column (see `_widen_kind`); that of a metric without any score is float."""
    kinds: dict[str, str] = {}
    for row in rows:
        for name, value in row.items():
            kinds[name] = _widen_kind(kinds.get(name), value)
    for name in metrics:
        kinds[name] = kinds.get(name) or "float"
    return kinds


def _collect_header(rows: RowFactory, columns: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Collect the columns of the rows in order of appearance, and choose a free name for each metric's column."""
    header: dict[str, None] = {}
    for text, _ in rows():
        header.update(dict.fromkeys(reparse_json(text)))
    return list(header), {column: _free_name(column, header) for column in columns}


def _free_name(column: str, used: Mapping[str, Any]) -> str:
    while column in used:
        column += " (new)"
    return column


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _to_cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, str):
        return replace_unstorable(value)
    if isinstance(value, bool | list | dict):
        return replace_unstorable(_to_json(value))
    return value


def _widen_kind(kind: str | None, value: Any) -> str:
    """Return the narrowest kind of column that holds the values so far and this one; "" while all are null.

    Kinds: bool, int, float, text, texts (a list of texts), and json for anything else or a mixture."""
    if value is None:
        return kind or ""
    if isinstance(value, bool):
        value_kind = "bool"
    elif isinstance(value, int):
        value_kind = "int" if -(2**63) <= value < 2**63 else "json"
    elif isinstance(value, float):
        value_kind = "float"
    elif isinstance(value, str):
        value_kind = "text"
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        value_kind = "texts"
    else:
        value_kind = "json"
    if not kind or kind == value_kind:
        return value_kind
    return "float" if {kind, value_kind} == {"int", "float"} else "json"


def _to_kind(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind == "json":
        return (
            replace_unstorable(value)
            if isinstance(value, str)
            else replace_unstorable(_to_json(value))
        )
    return float(value) if kind == "float" else value


WRITERS: Mapping[str, Callable[[Path, RowFactory, Sequence[str]], int]] = {
    ".jsonl": _write_jsonl,
    ".json": _write_json,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
"""Writer of each file type by suffix."""
