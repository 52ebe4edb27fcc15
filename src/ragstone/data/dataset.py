"""Samples from whatever a user has: a file, standard input, a folder, or objects in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from ragstone.data.sources import RowSource, RejectedRow, open_source
from ragstone.data.formats import NATIVE_FORMAT, Format, detect_format, map_fields, get_format
from ragstone.data.ids import SeenIds
from ragstone.data.objects import open_objects
from ragstone.data.rows import Mapper, compile_shape, get_path
from ragstone.data.strict_json import BadRow, parse_json
from ragstone.data.trec import open_rankings
from ragstone.errors import BadRows, DataError, UnknownFormat, nearest
from ragstone.types import Sample

MAX_LISTED_BAD_ROWS = 20
"""How many bad rows are named."""

_DETECTION_ROWS = 20
"""How many rows the format is recognised by."""


@dataclass(frozen=True, slots=True)
class Record:
    """One sample with the row it came from."""

    sample: Sample
    row: str
    """The input row, untouched, as one JSON document."""


@dataclass(slots=True)
class Dataset:
    """The samples of one source, read lazily, as often as wanted."""

    source: str
    """As shown to the user: `data.jsonl`, `-`, `3 samples`."""
    format: str
    """As shown to the user: `ragas columns`."""
    shape: dict[str, Any]
    """How a stored row maps to its sample again; JSON."""
    skip_bad_rows: bool = False
    limit: int | None = None
    bad: list[str] = field(default_factory=list)
    """The first complaints of the latest pass, when bad rows are skipped."""
    bad_count: int = 0
    _container: RowSource = field(default=RowSource("", lambda: iter(())), repr=False)

    def __iter__(self) -> Iterator[Record]:
        """Each good row in order; a bad one raises BadRows, which names those that follow too."""
        self.bad, self.bad_count = [], 0
        seen = SeenIds()
        mapper: Mapper = compile_shape(self.shape)
        position = 0
        if self.limit == 0:
            return
        for at, text in self._container.rows():
            try:
                if text.__class__ is RejectedRow:
                    raise BadRow(text.why)
                sample, given = mapper(parse_json(text), position + 1)  # type: ignore[arg-type]
                if not seen.add(sample.id if given else None, position + 1):
                    raise BadRow(
                        f"the id {sample.id!r} was given to an earlier row; "
                        "give each row its own id, or none"
                    )
            except BadRow as bad:
                self._refuse(at, bad)
                continue
            position += 1
            if not self.bad_count or self.skip_bad_rows:  # else: only looking for more complaints
                yield Record(sample, text)  # type: ignore[arg-type]
            if position == self.limit:
                break
        if self.bad and not self.skip_bad_rows:
            raise BadRows(self.bad)
        if not position:
            self._complain_of_nothing()

    def check(self) -> int:
        """The number of good rows, after looking at every row; raises BadRows as iterating does."""
        return sum(1 for _ in self)

    def peek(self, count: int) -> list[Record]:
        """The first good rows, past bad ones, which are left for the real pass to complain about."""
        if self.limit is not None:
            count = min(count, self.limit)
        return list(replace(self, skip_bad_rows=True, limit=count))

    def _refuse(self, at: int | str, bad: BadRow) -> None:
        place = at if isinstance(at, str) else f"{self.source}:{at}"
        self.bad_count += 1
        if len(self.bad) < MAX_LISTED_BAD_ROWS:
            self.bad.append(f"{place}: {bad}")
        elif not self.skip_bad_rows:
            raise BadRows(self.bad, more=True)

    def _complain_of_nothing(self) -> None:
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
    """The samples of a source, in the format its columns show.

    `source` is a path (jsonl, json, csv, parquet; gzip is fine), `-` for standard input, a BEIR
    folder, TREC files joined as `run.trec+qrels.txt`, a list or iterable of Samples or dicts, a
    DataFrame or a Hugging Face dataset. `fields` names the column of a field where no known format
    does, dotted when nested: `{"question": "input.text", "contexts": "hits.body"}`."""
    if limit is not None and limit < 0:
        raise DataError(f"the limit is {limit}; give 0 or more")
    found = _open_source(source, limit)
    if format in _LINE_FORMATS and not found.line_format:
        raise UnknownFormat(f"{found.shown!r} is not {format}; write run.trec+qrels.txt")
    if found.is_native and (format is None or format in _LINE_FORMATS):
        format = NATIVE_FORMAT.name
    known, title = _choose_format(found, format, fields)
    reading = Dataset(
        found.shown,
        found.line_format or title,
        {"format": known.name},
        skip_bad_rows,
        limit,
        _container=found,
    )
    if fields:
        reading.shape["fields"] = dict(fields)
    if found.cells:
        reading.shape["cells"] = found.cells
    return reading


_LINE_FORMATS = ("trec", "beir")


def _open_source(source: Any, limit: int | None) -> RowSource:
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
        if isinstance(source, bytes):
            source = os.fsdecode(source)
    if not isinstance(source, str):
        return open_objects(source, limit)
    if source == "-":
        return open_source(source)
    return open_rankings(source) or open_source(source)


def _choose_format(
    found: RowSource, name: str | None, fields: Mapping[str, str] | None
) -> tuple[Format, str]:
    """The format of the rows, by name or by the columns of the first good ones."""
    rows = _read_first_rows(found)
    columns = {column for row in rows for column in row}
    if name is not None:
        known, title = get_format(name), get_format(name).title
    else:
        try:
            known = detect_format(columns, found.shown)
            title = known.title
        except UnknownFormat:
            if not fields:
                raise
            known, title = NATIVE_FORMAT, "your own columns"
    paths = map_fields(known, fields)
    for field_name, column in (fields or {}).items():
        if rows and all(get_path(row, column) is None for row in rows):
            raise DataError(
                f"fields: {field_name} is to come from {column!r}, which the first "
                f"{len(rows)} rows of {found.shown} lack{nearest(column, sorted(columns))}"
            )
    if rows and not any(
        get_path(row, path) is not None
        for row in rows
        for field_name, names in paths.items()
        if field_name not in ("id", "meta", "group", "language")
        for path in names
    ):
        raise UnknownFormat(
            f"{found.shown}: the columns ({', '.join(sorted(columns))}) have nothing of {title} "
            f"({', '.join(sorted(known.columns))}); choose another --format, or name your columns "
            "with fields"
        )
    return known, title


def _read_first_rows(found: RowSource) -> list[dict[str, Any]]:
    """The first rows that are objects; when none is, what is wrong with them."""
    bad: list[str] = []

    def good() -> Iterator[dict[str, Any]]:
        for at, text in found.rows():
            try:
                if isinstance(text, RejectedRow):
                    raise BadRow(text.why)
                row = parse_json(text)
                if not isinstance(row, dict):
                    raise BadRow("the row is not an object; write {column: value, …}")
            except BadRow as refused:
                if len(bad) < MAX_LISTED_BAD_ROWS:
                    place = at if isinstance(at, str) else f"{found.shown}:{at}"
                    bad.append(f"{place}: {refused}")
                continue
            yield row

    rows = list(islice(good(), _DETECTION_ROWS))
    if not rows and bad:
        raise BadRows(bad)
    if not rows:
        raise DataError(f"{found.shown!r} has no rows; give one sample or more")
    return rows
