"""Samples from whatever a user has: a file, standard input, a folder, or objects in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from ragstone.data.containers import Container, Refused, container
from ragstone.data.formats import OWN, Format, detect, mapping, named
from ragstone.data.ids import SeenIds
from ragstone.data.objects import objects
from ragstone.data.rows import Mapper, compile_shape, path_in
from ragstone.data.strict import BadRow, parse
from ragstone.data.trec import ranking
from ragstone.errors import BadRows, DataError, UnknownFormat, nearest
from ragstone.types import Sample

LISTED = 20
"""How many bad rows are named."""

_LOOKED_AT = 20
"""How many rows the format is recognised by."""


@dataclass(frozen=True, slots=True)
class Record:
    """One sample with the row it came from."""

    sample: Sample
    row: str
    """The input row, untouched, as one JSON document."""


@dataclass(slots=True)
class Reading:
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
    _container: Container = field(default=Container("", lambda: iter(())), repr=False)

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
                if text.__class__ is Refused:
                    raise BadRow(text.why)
                sample, given = mapper(parse(text), position + 1)  # type: ignore[arg-type]
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
        if len(self.bad) < LISTED:
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
) -> Reading:
    """The samples of a source, in the format its columns show.

    `source` is a path (jsonl, json, csv, parquet; gzip is fine), `-` for standard input, a BEIR
    folder, TREC files joined as `run.trec+qrels.txt`, a list or iterable of Samples or dicts, a
    DataFrame or a Hugging Face dataset. `fields` names the column of a field where no known format
    does, dotted when nested: `{"question": "input.text", "contexts": "hits.body"}`."""
    if limit is not None and limit < 0:
        raise DataError(f"the limit is {limit}; give 0 or more")
    found = _container(source, limit)
    if format in _LINES and not found.lines:
        raise UnknownFormat(f"{found.shown!r} is not {format}; write run.trec+qrels.txt")
    if found.own and (format is None or format in _LINES):
        format = OWN.name
    known, title = _known(found, format, fields)
    reading = Reading(
        found.shown,
        found.lines or title,
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


_LINES = ("trec", "beir")


def _container(source: Any, limit: int | None) -> Container:
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
        if isinstance(source, bytes):
            source = os.fsdecode(source)
    if not isinstance(source, str):
        return objects(source, limit)
    if source == "-":
        return container(source)
    return ranking(source) or container(source)


def _known(
    found: Container, name: str | None, fields: Mapping[str, str] | None
) -> tuple[Format, str]:
    """The format of the rows, by name or by the columns of the first good ones."""
    rows = _first_rows(found)
    columns = {column for row in rows for column in row}
    if name is not None:
        known, title = named(name), named(name).title
    else:
        try:
            known = detect(columns, found.shown)
            title = known.title
        except UnknownFormat:
            if not fields:
                raise
            known, title = OWN, "your own columns"
    paths = mapping(known, fields)
    for field_name, column in (fields or {}).items():
        if rows and all(path_in(row, column) is None for row in rows):
            raise DataError(
                f"fields: {field_name} is to come from {column!r}, which the first "
                f"{len(rows)} rows of {found.shown} lack{nearest(column, sorted(columns))}"
            )
    if rows and not any(
        path_in(row, path) is not None
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


def _first_rows(found: Container) -> list[dict[str, Any]]:
    """The first rows that are objects; when none is, what is wrong with them."""
    bad: list[str] = []

    def good() -> Iterator[dict[str, Any]]:
        for at, text in found.rows():
            try:
                if isinstance(text, Refused):
                    raise BadRow(text.why)
                row = parse(text)
                if not isinstance(row, dict):
                    raise BadRow("the row is not an object; write {column: value, …}")
            except BadRow as refused:
                if len(bad) < LISTED:
                    place = at if isinstance(at, str) else f"{found.shown}:{at}"
                    bad.append(f"{place}: {refused}")
                continue
            yield row

    rows = list(islice(good(), _LOOKED_AT))
    if not rows and bad:
        raise BadRows(bad)
    if not rows:
        raise DataError(f"{found.shown!r} has no rows; give one sample or more")
    return rows
