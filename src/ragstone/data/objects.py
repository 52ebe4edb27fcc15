"""Samples, dicts and tables that a Python program hands over, as row texts."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sized
from itertools import chain
from typing import Any

from ragstone.data.containers import Container, Raw, Refused, spool_file
from ragstone.errors import DataError
from ragstone.types import Sample


def objects(source: Any, limit: int | None) -> Container:
    """The container of a list or iterable of Samples or dicts, a DataFrame or a dataset."""
    if isinstance(source, Mapping | Sample | bytes | bytearray):
        what = type(source).__name__
        raise DataError(f"one {what} was given; give a list of samples, or a path")
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        return Container(f"{len(source)} rows", lambda: _numbered(_frame(source)), "table")
    if hasattr(source, "column_names") and hasattr(source, "to_pylist"):
        return Container(f"{len(source)} rows", lambda: _numbered(source.to_pylist()), "table")
    if not isinstance(source, Iterable):
        raise DataError(f"{source!r} cannot be read; give a path or a list of samples")
    table = "table" if hasattr(source, "column_names") else ""
    if iter(source) is source:
        return _spooled(source, limit)
    shown = f"{len(source)} samples" if isinstance(source, Sized) else "samples"
    own = isinstance(next(iter(source), None), Sample)
    return Container(shown, lambda: _numbered(source), table, own=own)


def text_of_object(value: Any) -> str | Refused:
    """One row as JSON text: a Sample, a dict, a dataclass or a pydantic model."""
    if isinstance(value, Sample):
        value = _columns(value)
    elif hasattr(value, "model_dump"):
        value = value.model_dump()
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if not isinstance(value, Mapping):
        return Refused(f"a {type(value).__name__} was given; give a Sample or a dict")
    try:
        plain = _plain(value, 0)
        text = json.dumps(plain, ensure_ascii=False)
        # Half a surrogate pair has no UTF-8: it must leave as an escape.
        return text if _encodes(text) else json.dumps(plain)
    except (TypeError, ValueError, RecursionError) as bad:
        return Refused(f"{str(bad) or type(bad).__name__}; give texts, numbers, lists and dicts")


def _columns(sample: Sample) -> dict[str, Any]:
    """A Sample as a row of our own columns."""
    row: dict[str, Any] = {
        field: getattr(sample, field)
        for field in Sample.__slots__
        if getattr(sample, field) is not None
    }
    if not row["meta"]:
        del row["meta"]
    if sample.contexts is not None:
        row["contexts"] = [_chunk(item) for item in sample.contexts]
    return row


def _chunk(item: Any) -> Any:
    if not dataclasses.is_dataclass(item) or isinstance(item, type):
        return item
    return {
        name: getattr(item, name)
        for name in ("id", "text", "score")
        if getattr(item, name, None) not in (None, "")
    } or {"text": ""}


def _plain(value: Any, depth: int) -> Any:
    """The value in JSON's own types; NaN in a table means that the cell is empty."""
    if value is None or isinstance(value, str | bool):
        return value
    if depth > 200:
        raise ValueError("nested too deeply")
    if isinstance(value, Mapping):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, int):
        return value
    if isinstance(value, float | decimal.Decimal):
        number = float(value)
        if math.isinf(number):
            raise ValueError("a number is infinite")
        return None if math.isnan(number) else number
    if isinstance(value, datetime.date | datetime.time):
        # pandas marks an empty time by NaT, which is a datetime that is not equal to itself.
        return value.isoformat() if value == value else None
    if isinstance(value, set | frozenset):
        return sorted(_plain(item, depth + 1) for item in value)
    if hasattr(value, "tolist"):  # numpy arrays and scalars
        return _plain(value.tolist(), depth + 1)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    raise ValueError(f"a {type(value).__name__} stands in it")


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _numbered(items: Iterable[Any]) -> Iterator[Raw]:
    for number, item in enumerate(items, 1):
        yield f"sample {number}", text_of_object(item)


def _frame(frame: Any) -> Iterator[Any]:
    for start in range(0, len(frame), 1000):
        yield from frame.iloc[start : start + 1000].to_dict("records")


def _spooled(source: Iterator[Any], limit: int | None) -> Container:
    """An iterator can be read once: its rows go to a temporary file, not to memory."""
    spool = spool_file()
    good = 0
    first = next(source, None)
    items = chain((first,), source) if first is not None else source
    for _, text in _numbered(items):
        if limit is not None and good >= limit:
            break
        good += isinstance(text, str)
        line = json.dumps([text.why]) if isinstance(text, Refused) else text
        spool.write(line.encode() + b"\n")

    def rows() -> Iterator[Raw]:
        at = number = 0
        while True:
            spool.seek(at)
            line = spool.readline()
            at += len(line)
            if not line:
                return
            number += 1
            text = line.decode().rstrip("\n")
            # A row is an object; a list with one sentence stands for a refused one.
            yield f"sample {number}", Refused(json.loads(text)[0]) if text[0] == "[" else text

    return Container("samples", rows, own=isinstance(first, Sample))
