"""Python objects as row sources: lists of Samples or dicts, DataFrames, datasets, iterators."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import math
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sized
from itertools import chain
from pathlib import PurePath
from typing import Any

from ragstone.data.chunks import (
    find_document_id,
    find_text,
    is_framework_document,
    unwrap_node,
)
from ragstone.data.messages import message_to_json, step_to_json
from ragstone.data.sources import RawRow, RejectedRow, RowSource, open_spool
from ragstone.errors import DataError, MissingExtra
from ragstone.types import Sample


def open_objects(source: Any, limit: int | None) -> RowSource:
    """Open a list or iterable of Samples or dicts, a DataFrame or a dataset as a row source."""
    source = _choose_split(source)
    if isinstance(source, Mapping | Sample | bytes | bytearray):
        kind = type(source).__name__
        raise DataError(f"one {kind} was given; give a list of samples, or a path")
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        return RowSource(
            _count(len(source), "row"), lambda: _number_rows(_iter_frame(source)), "table"
        )
    if hasattr(source, "column_names") and hasattr(source, "to_pylist"):
        return RowSource(
            _count(len(source), "row"), lambda: _number_rows(source.to_pylist()), "table"
        )
    if hasattr(source, "collect") and hasattr(source, "lazy"):  # a LazyFrame of polars
        source = source.collect()
    if hasattr(source, "iter_rows") and hasattr(source, "iter_slices"):  # polars
        return RowSource(
            _count(len(source), "row"),
            lambda: _number_rows(source.iter_rows(named=True)),
            "table",
        )
    if hasattr(source, "__arrow_c_stream__") and not hasattr(source, "column_names"):
        rows = _read_arrow(source)
        return RowSource(_count(len(rows), "row"), lambda: _number_rows(rows), "table")
    if not isinstance(source, Iterable):
        raise DataError(f"{source!r} cannot be read; give a path or a list of samples")
    cell_style = "table" if hasattr(source, "column_names") else ""  # a Hugging Face dataset
    # an iterator can be read once, a run reads its data twice (check, then score)
    if iter(source) is source:
        return _spool_objects(source, limit)
    name = _count(len(source), "sample") if isinstance(source, Sized) else "samples"
    # Samples have our columns by definition; detection could take their words for another format's
    is_native = isinstance(next(iter(source), None), Sample)
    return RowSource(name, lambda: _number_rows(source), cell_style, is_native=is_native)


def _choose_split(source: Any) -> Any:
    """The only split of a Hugging Face DatasetDict; of several the caller says which."""
    if not isinstance(source, Mapping) or not source:
        return source
    if not all(hasattr(split, "column_names") for split in source.values()):
        return source
    if len(source) > 1:
        names = ", ".join(map(repr, source))
        raise DataError(
            f"a DatasetDict with the splits {names} was given; give one of them: data[{next(iter(source))!r}]"
        )
    return next(iter(source.values()))


def _read_arrow(source: Any) -> list[dict[str, Any]]:
    """The rows of any frame that speaks Arrow: a relation of DuckDB, tables of other engines."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra(f"a {type(source).__name__}", "parquet") from None
    rows: list[dict[str, Any]] = pyarrow.table(source).to_pylist()
    return rows


def to_row_text(value: Any) -> str | RejectedRow:
    """Convert a Sample, dict, dataclass or pydantic model to the JSON text of a row."""
    if isinstance(value, Sample):
        value = _to_row(value)
    elif hasattr(value, "model_dump"):
        value = value.model_dump()
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if not isinstance(value, Mapping):
        return RejectedRow(f"a {type(value).__name__} was given; give a Sample or a dict")
    try:
        plain = _to_plain(value, 0)
        text = json.dumps(plain, ensure_ascii=False)
        # A lone surrogate has no UTF-8 encoding: it must be written as an escape.
        return text if _is_encodable(text) else json.dumps(plain)
    except (TypeError, ValueError, RecursionError) as bad:
        return RejectedRow(
            f"{str(bad) or type(bad).__name__}; give texts, numbers, lists and dicts"
        )


def _to_row(sample: Sample) -> dict[str, Any]:
    """Convert a Sample to a row of ragstone columns."""
    row: dict[str, Any] = {
        field: getattr(sample, field)
        for field in Sample.__slots__
        if getattr(sample, field) is not None
    }
    if not row["meta"]:
        del row["meta"]
    if sample.contexts is not None:
        row["contexts"] = [_to_chunk_row(item) for item in sample.contexts]
    if sample.messages is not None:
        row["messages"] = [message_to_json(message) for message in sample.messages]
    for field in ("steps", "expected_steps"):
        if field in row:
            row[field] = [step_to_json(step) for step in row[field]]
    return row


def _to_chunk_row(item: Any) -> Any:
    if not dataclasses.is_dataclass(item) or isinstance(item, type):
        return item
    return {
        name: getattr(item, name)
        for name in ("id", "text", "score")
        if getattr(item, name, None) not in (None, "")
    } or {"text": ""}


def _to_plain(value: Any, depth: int) -> Any:
    """Convert a value to JSON types; NaN, which marks an empty cell of a table, becomes null."""
    if value is None or isinstance(value, str | bool):
        return value
    if depth > 200:
        raise ValueError("nested too deeply")
    if isinstance(value, Mapping):
        return {str(key): _to_plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain(item, depth + 1) for item in value]
    if isinstance(value, int):
        return value
    if isinstance(value, set | frozenset):
        return sorted(_to_plain(item, depth + 1) for item in value)
    if isinstance(value, float | decimal.Decimal | datetime.date | datetime.time):
        return _to_plain_scalar(value)
    # by attribute, so that numpy and pandas need not be imported here
    if hasattr(value, "tolist"):  # numpy arrays and scalars
        return _to_plain(value.tolist(), depth + 1)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    converted = _to_known_type(value)
    if converted is not None:
        return _to_plain(converted, depth + 1)
    raise ValueError(f"a {type(value).__name__} stands in it")


def _to_known_type(value: Any) -> Any:
    """Convert framework documents, pydantic models, dataclasses, enums, durations, paths; None for any other type."""
    if is_framework_document(value):
        node = unwrap_node(value)
        fields = {"id": find_document_id(node), "text": find_text(node)}
        score = getattr(value, "score", None)
        return {key: item for key, item in {**fields, "score": score}.items() if item is not None}
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    return str(value) if isinstance(value, uuid.UUID | PurePath) else None


def _to_plain_scalar(value: float | decimal.Decimal | datetime.date | datetime.time) -> Any:
    if isinstance(value, datetime.date | datetime.time):
        # pandas marks an empty time by NaT, a datetime that is not equal to itself.
        return value.isoformat() if value == value else None
    number = float(value)
    if math.isinf(number):
        raise ValueError("a number is infinite")
    return None if math.isnan(number) else number


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _number_rows(items: Iterable[Any]) -> Iterator[RawRow]:
    for number, item in enumerate(items, 1):
        yield f"sample {number}", to_row_text(item)


def _iter_frame(frame: Any) -> Iterator[Any]:
    for start in range(0, len(frame), 1000):
        yield from frame.iloc[start : start + 1000].to_dict("records")


def _spool_objects(source: Iterator[Any], limit: int | None) -> RowSource:
    """Write the rows of an iterator, which can be read only once, to a temporary file."""
    spool = open_spool()
    good_count = 0
    first = next(source, None)
    items = chain((first,), source) if first is not None else source
    for _, text in _number_rows(items):
        if limit is not None and good_count >= limit:
            break
        good_count += isinstance(text, str)
        line = json.dumps([text.reason]) if isinstance(text, RejectedRow) else text
        spool.write(line.encode() + b"\n")

    def rows() -> Iterator[RawRow]:
        offset = number = 0
        while True:
            spool.seek(offset)
            line = spool.readline()
            offset += len(line)
            if not line:
                return
            number += 1
            text = line.decode().rstrip("\n")
            # A row is an object; a list with one sentence stands for a rejected row.
            yield f"sample {number}", RejectedRow(json.loads(text)[0]) if text[0] == "[" else text

    return RowSource("samples", rows, is_native=isinstance(first, Sample))


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")
