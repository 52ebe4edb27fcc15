"""The `read` function and the Dataset it returns: samples of a file, standard input, a folder or objects in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

from ragstone.data.formats import (
    FORMATS,
    NATIVE_FORMAT,
    Format,
    detect_format,
    get_format,
    map_fields,
)
from ragstone.data.limits import shorten_names
from ragstone.data.objects import open_objects
from ragstone.data.regroup import open_protobuf_traces, regroup_source
from ragstone.data.rows import RowMapper, get_path, list_left_over, parse_cells
from ragstone.data.saved_datasets import open_inspect_log, open_saved_dataset
from ragstone.data.sources import RejectedRow, RowSource, open_source, translate_errors
from ragstone.data.strict_json import BadRow, parse_json
from ragstone.data.trec import open_rankings
from ragstone.errors import BadRows, DataError, UnknownFormat, suggest_nearest
from ragstone.types import Sample

MAX_LISTED_BAD_ROWS = 20
"""Bad rows that an error names."""

_DETECTION_ROWS = 20
"""Rows whose columns decide the format."""

_LINE_FORMATS = ("trec", "beir")
"""Formats made of lines: only files opened by `open_rankings` can have them, and their rows are native already."""


class Record(NamedTuple):
    """A sample with the row it came from."""

    sample: Sample
    row: str
    """The input row, untouched, as one JSON document."""
    has_id: bool = True
    """Whether the row gives the sample's id; else it is the row's position."""


@dataclass(slots=True)
class Dataset:
    """The samples of one source, read lazily; each iteration reads the source again."""

    source: str
    """Display name: `data.jsonl`, `-`, `3 samples`."""
    format: str
    """Display name: `ragas columns`."""
    shape: dict[str, Any]
    """How a stored row maps to its sample, as JSON: `format`, where needed `fields` and `cells` (RowSource.cell_style)."""
    skip_bad_rows: bool = False
    limit: int | None = None
    bad: list[str] = field(default_factory=list)
    """The first errors of the latest iteration, `location: reason`; all of them are counted in `bad_count`."""
    bad_count: int = 0
    left_over: tuple[str, ...] = ()
    """Columns of the first rows that the format does not read."""
    notes: list[str] = field(default_factory=list)
    """What the source passed over, one sentence each."""
    _row_source: RowSource = field(default=RowSource("", lambda: iter(())), repr=False)
    _kept: list[Record] | None = field(default=None, repr=False)
    """What `check` read, for the next iteration."""

    def __iter__(self) -> Iterator[Record]:
        """Yield each good row in order; a bad one raises BadRows, which also names the bad rows after it."""
        if self._kept is not None:
            kept, self._kept = self._kept, None
            yield from kept
            return
        self.bad, self.bad_count = [], 0
        seen: set[str] = set()
        mapper = RowMapper(self.shape)
        position = 0
        if self.limit == 0:
            return
        # all rows are read to the end even after a bad one, so that one error names many of them
        for at, text in self._row_source.rows():
            try:
                if isinstance(text, RejectedRow):
                    raise BadRow(text.reason)
                sample, has_id = mapper(parse_json(text), position + 1)
                if sample.id in seen:
                    raise BadRow(
                        f"the id {sample.id!r} was given to an earlier row; "
                        "give each row its own id, or none"
                    )
            except BadRow as bad:
                self._report_bad_row(at, bad)
                continue
            seen.add(sample.id)
            position += 1
            if not self.bad_count or self.skip_bad_rows:  # else: only collecting errors
                yield Record(sample, text, has_id)
            if position == self.limit:
                break
        if self.bad and not self.skip_bad_rows:
            raise BadRows(self.bad)
        if not position:
            self._raise_empty()

    def iter_rows(self) -> Iterator[str | RejectedRow]:
        """Yield the rows for others to read: all of them as they are, or with `skip_bad_rows` the good ones."""
        if self.skip_bad_rows or self._kept is not None:
            return (record.row for record in self)
        return (text for _, text in islice(self._row_source.rows(), self.limit))

    def check(self, *, keep: int = 0) -> int:
        """Read every row and count the good ones; raises BadRows as iterating does.

        If they have no more than `keep` characters, they stay in memory until the next iteration, which reads nothing."""
        count = size = 0
        kept: list[Record] = []
        for count, record in enumerate(self, 1):  # noqa: B007  read after the loop
            size += len(record.row)
            if size <= keep:
                kept.append(record)
            else:
                kept.clear()
        if kept:
            self._kept = kept
        return count

    def peek(self, count: int) -> list[Record]:
        """Return the first good rows; bad rows are skipped here and reported by the full iteration."""
        if self.limit is not None:
            count = min(count, self.limit)
        # a copy: the errors of a peek must not replace those of the full iteration
        return list(replace(self, skip_bad_rows=True, limit=count, _kept=None))

    def _report_bad_row(self, at: int | str, bad: BadRow) -> None:
        # a number is a line; a text is the whole location already
        location = at if isinstance(at, str) else f"{self.source}:{at}"
        self.bad_count += 1
        if len(self.bad) < MAX_LISTED_BAD_ROWS:
            self.bad.append(f"{location}: {bad}")
        elif not self.skip_bad_rows:
            raise BadRows(self.bad, more=True)

    def _raise_empty(self) -> None:
        if self.bad:
            raise BadRows(self.bad, more=self.bad_count > len(self.bad))
        raise DataError(f"{self.source!r} has no rows; give one sample or more")


def read(
    source: Any,
    *,
    format: str | None = None,
    fields: Mapping[str, str] | None = None,
    skip_bad_rows: bool = False,
    limit: int | None = None,
) -> Dataset:
    """Read the samples of a source, in the format that its columns show.

    `source` is a path (jsonl, json, csv, parquet; gzip is fine), `-` for standard input, a BEIR
    folder, TREC files joined as `run.trec+qrels.txt`, a list or iterable of Samples or dicts, a
    DataFrame or a Hugging Face dataset. `fields` names the column of a field where no known format
    does, dotted when nested: `{"question": "input.text", "contexts": "hits.body"}`."""
    if limit is not None and limit < 0:
        raise DataError(f"the limit is {limit}; give 0 or more")
    rows = _open_source(source, limit)
    first_rows = _read_first_rows(rows)
    if not rows.is_native and not fields:
        grouped = regroup_source(rows, first_rows[0], format)
        if grouped is not None:
            rows, format, first_rows = grouped, None, _read_first_rows(grouped)
    if format in _LINE_FORMATS and not rows.line_format:
        raise UnknownFormat(f"{rows.name!r} is not {format}; write run.trec+qrels.txt")
    if rows.is_native and (format is None or format in _LINE_FORMATS):
        format = NATIVE_FORMAT.name
    row_format, title, left_over = _choose_format(rows, first_rows, format, fields)
    dataset = Dataset(
        rows.name,
        rows.line_format or title,
        {"format": row_format.name},
        skip_bad_rows,
        limit,
        left_over=left_over,
        notes=rows.notes,
        _row_source=rows,
    )
    if fields:
        dataset.shape["fields"] = dict(fields)
    if rows.cell_style:
        dataset.shape["cells"] = rows.cell_style
    return dataset


def _open_source(source: Any, limit: int | None) -> RowSource:
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
        if isinstance(source, bytes):
            source = os.fsdecode(source)
    if not isinstance(source, str):
        return open_objects(source, limit)
    if source == "-":
        return open_source(source)
    with translate_errors(source):
        saved = open_saved_dataset(source) or open_inspect_log(source)
    if saved is not None:
        return saved
    if source.endswith((".pb", ".otlp")):
        return open_protobuf_traces(source)
    # rankings first: a TREC run would pass for a CSV file with one column
    return open_rankings(source) or open_source(source)


def _choose_format(
    source: RowSource,
    rows: list[dict[str, Any]],
    name: str | None,
    fields: Mapping[str, str] | None,
) -> tuple[Format, str, tuple[str, ...]]:
    """The format of the first rows, by name or by their columns; its title, and the columns it leaves over."""
    columns = {column for row in rows for column in row}
    if name is not None:
        row_format, title = get_format(name), get_format(name).title
    else:
        try:
            row_format = _match_rows(rows) or detect_format(columns, source.name)
            title = row_format.title
        except UnknownFormat:
            if not fields:
                raise
            row_format, title = NATIVE_FORMAT, "your own columns"
    _check_columns(source, rows, row_format, title, fields)
    return row_format, title, list_left_over(rows, row_format, fields)


def _match_rows(rows: list[dict[str, Any]]) -> Format | None:
    """The format that recognises all of the rows by more than their columns."""
    for row_format in FORMATS.values():
        if row_format.matches is not None and all(map(row_format.matches, rows)):
            return row_format
    return None


def _check_columns(
    source: RowSource,
    rows: list[dict[str, Any]],
    row_format: Format,
    title: str,
    fields: Mapping[str, str] | None,
) -> None:
    """Raise when the first rows lack a column that the user named, or have nothing that the format knows."""
    columns = sorted({column for row in rows for column in row})
    paths = map_fields(row_format, fields)
    for field_name, column in (fields or {}).items():
        if all(get_path(row, column) is None for row in rows):
            raise DataError(
                f"fields: {field_name} is to come from {column!r}, which the first "
                f"{len(rows)} rows of {source.name} lack{suggest_nearest(column, columns)}"
            )
    if row_format.convert is not None:
        rows = [row_format.convert(parse_cells(row) if source.cell_style else row) for row in rows]
    if not any(
        get_path(row, path) is not None
        for row in rows
        for field_name, names in paths.items()
        if field_name not in ("id", "meta", "group", "language")  # these alone are no sample
        for path in names
    ):
        raise UnknownFormat(
            f"{source.name}: the columns ({shorten_names(columns)}) have nothing of {title} "
            f"({', '.join(sorted(row_format.columns))}); choose another --format, or name your columns "
            "with fields"
        )


def _read_first_rows(source: RowSource) -> list[dict[str, Any]]:
    """Return the first rows that are JSON objects; when there is none, raise what is wrong with them."""
    errors: list[str] = []

    def parse_rows() -> Iterator[dict[str, Any]]:
        for at, text in source.rows():
            try:
                if isinstance(text, RejectedRow):
                    raise BadRow(text.reason)
                row = parse_json(text)
                if not isinstance(row, dict):
                    raise BadRow("the row is not an object; write {column: value, …}")
            except BadRow as refused:
                if len(errors) < MAX_LISTED_BAD_ROWS:
                    location = at if isinstance(at, str) else f"{source.name}:{at}"
                    errors.append(f"{location}: {refused}")
                continue
            yield row

    rows = list(islice(parse_rows(), _DETECTION_ROWS))
    if not rows and errors:
        raise BadRows(errors)
    if not rows:
        raise DataError(f"{source.name!r} has no rows; give one sample or more")
    return rows
