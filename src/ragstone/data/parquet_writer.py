"""Writes rows with their metric columns as parquet: one file, or a folder of files of one schema."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ragstone.data.strict_json import reparse_json, write_json
from ragstone.data.writers import (
    DETECTION_ROWS,
    RowFactory,
    ScoredRow,
    UnforeseenColumn,
    free_name,
    open_replacement,
)
from ragstone.errors import DataError, MissingExtra

ROW_GROUP_ROWS = 512
"""Rows written together, which bounds memory."""


def write_parquet(target: Path, rows: RowFactory, columns: Sequence[str]) -> int:
    """Write all rows into one file; returns how many there were."""
    return _write_parts(lambda: iter([target]), rows, columns, None)


def write_shards(
    folder: str | os.PathLike[str], rows: RowFactory, columns: Sequence[str], size: int
) -> int:
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
        written.clear()
        while True:
            written.append(target_folder / f"part-{len(written):05d}.parquet")
            yield written[-1]

    count = _write_parts(name_parts, rows, columns, size)
    for stale in set(target_folder.glob("part-*.parquet")) - set(written):
        stale.unlink()
    return count


def _write_parts(
    name_targets: Callable[[], Iterator[Path]],
    rows: RowFactory,
    columns: Sequence[str],
    size: int | None,
) -> int:
    """Write rows into one file, or start the next file after each `size` rows."""
    # parquet needs its schema before the first row: the first rows nearly always have it
    for detection_rows in (DETECTION_ROWS, None):
        table = _TableBuilder(islice(rows(), detection_rows), columns)
        try:
            return _write_files(name_targets(), iter(rows()), table, size)
        except UnforeseenColumn:
            continue
    raise AssertionError("the kinds of all rows fit all rows")


def _write_files(
    targets: Iterator[Path], source: Iterator[ScoredRow], table: _TableBuilder, size: int | None
) -> int:
    import pyarrow.parquet

    count = 0
    while True:
        part: Iterator[ScoredRow] = source if size is None else islice(source, size)
        first = next(part, None)
        if first is None and count:
            return count
        # without any row one empty file is still written, for its schema
        with (
            open_replacement(next(targets), text=False) as stream,
            pyarrow.parquet.ParquetWriter(stream, table.schema) as writer,
        ):
            part = part if first is None else chain([first], part)
            while batch := list(islice(part, ROW_GROUP_ROWS)):
                writer.write_table(table.build(batch))
                count += len(batch)
        if size is None or first is None:
            return count


class _TableBuilder:
    """The columns of a table and their kinds, as some rows show them; builds parts of the table."""

    def __init__(self, rows: Iterable[ScoredRow], columns: Sequence[str]) -> None:
        try:
            import pyarrow
        except ImportError:
            raise MissingExtra("writing parquet", "parquet") from None
        self._row_kinds: dict[str, str] = {}
        self._metric_kinds: dict[str, str] = {}
        for text, scores in rows:
            _widen_kinds(self._row_kinds, reparse_json(text))
            _widen_kinds(self._metric_kinds, scores)
        self._added = {column: free_name(column, self._row_kinds) for column in columns}
        # a metric without any score is a float
        kinds = self._row_kinds | {
            name: self._metric_kinds.get(column) or "float" for column, name in self._added.items()
        }
        types = {
            "bool": pyarrow.bool_(),
            "int": pyarrow.int64(),
            "float": pyarrow.float64(),
            "texts": pyarrow.list_(pyarrow.string()),
        }
        self._kinds = list(kinds.values())
        self.schema = pyarrow.schema(
            [(name, types.get(kind, pyarrow.string())) for name, kind in kinds.items()]
        )

    def build(self, rows: Sequence[ScoredRow]) -> Any:
        """Build the table of some rows; raises UnforeseenColumn for one that does not fit."""
        import pyarrow

        row_kinds, metric_kinds = dict(self._row_kinds), dict(self._metric_kinds)
        names, metrics = list(row_kinds), list(self._added)
        table = []
        for text, scores in rows:
            row = reparse_json(text)
            _widen_kinds(row_kinds, row)
            _widen_kinds(metric_kinds, scores)
            table.append([row.get(name) for name in names] + [scores.get(name) for name in metrics])
        if row_kinds != self._row_kinds or metric_kinds != self._metric_kinds:
            raise UnforeseenColumn
        arrays = [
            pyarrow.array(_to_kind(values, kind), field.type)
            for values, kind, field in zip(
                zip(*table, strict=True), self._kinds, self.schema, strict=True
            )
        ]
        return pyarrow.Table.from_arrays(arrays, schema=self.schema)


def _widen_kinds(kinds: dict[str, str], values: Mapping[str, Any]) -> None:
    """Widen the kind of each column such that it holds this value too."""
    for name, value in values.items():
        kind = kinds.get(name)
        # what cannot widen it, without a call: most values of a column are of one class
        if kind is None or (kind != "json" and _KIND_CLASSES.get(kind) is not value.__class__):
            kinds[name] = _widen_kind(kind, value)


_KIND_CLASSES: Mapping[str, type] = {"bool": bool, "float": float, "text": str}
"""Kinds for which any value of the class will do; an int may be too large, a list may hold anything."""


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


def _to_kind(values: Sequence[Any], kind: str) -> Sequence[Any]:
    """The values of a column as parquet takes them."""
    if kind == "json":
        return [v if v is None or v.__class__ is str else write_json(v) for v in values]
    if kind == "float":
        return [v if v is None or v.__class__ is float else float(v) for v in values]
    return values
