"""The rows of one JSON document: a list, an object with a list inside, or a single row.

Each row keeps the very text it has in the file, so numbers and escapes come out as they went in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ragstone.data.formats import FORMATS
from ragstone.errors import DataError

_SPACE = " \t\n\r"
_LISTS = ("results", "data", "samples", "rows", "examples", "records", "runs", "dataset", "tests",
          "test_cases", "testCases", "goldens", "items", "questions", "queries", "predictions")  # fmt: skip
"""Keys that hold the rows, tried in this order before any other list of objects."""
_DECODER = json.JSONDecoder()


def rows_inside(text: str, shown: str) -> Iterator[tuple[int, str]]:
    """Each row of the document with its line."""
    start = _skip(text, 0)
    if text.startswith("{", start):
        found = _list_in(text, start, shown)
        if found is None:
            yield 1 + text.count("\n", 0, start), _on_one_line(text[start:].rstrip(_SPACE))
            return
        start = found
    line, at = 1, 0
    for begin, end, _ in _items(text, start, shown):
        line += text.count("\n", at, begin)
        at = begin
        yield line, _on_one_line(text[begin:end])


def _list_in(text: str, start: int, shown: str, depth: int = 0) -> int | None:
    """Where the list of rows starts in an object; None if the object is a row itself."""
    members = {key: (begin, value) for begin, _, value, key in _members(text, start, shown)}
    if depth == 0 and any(
        mark <= members.keys() for known in FORMATS.values() for mark in known.marks
    ):
        return None
    for key in (*_LISTS, *members):
        begin, value = members.get(key, (0, None))
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            return begin
        if isinstance(value, dict) and key in _LISTS and depth < 3:
            inner = _list_in(text, begin, shown, depth + 1)
            if inner is not None:
                return inner
    return None


def _items(text: str, start: int, shown: str) -> Iterator[tuple[int, int, Any]]:
    """Where each item of a list starts and ends, and its value read leniently."""
    at = _skip(text, start + 1)
    if text.startswith("]", at):
        return
    while True:
        value, end = _value(text, at, shown)
        yield at, end, value
        at = _skip(text, end)
        if text.startswith("]", at):
            return
        at = _after(text, at, ",", shown)


def _members(text: str, start: int, shown: str) -> Iterator[tuple[int, int, Any, str]]:
    at = _skip(text, start + 1)
    if text.startswith("}", at):
        return
    while True:
        key, end = _value(text, at, shown)
        if not isinstance(key, str):
            raise _broken(text, at, "expected a key in quotes", shown)
        at = _after(text, _skip(text, end), ":", shown)
        value, end = _value(text, at, shown)
        yield at, end, value, key
        at = _skip(text, end)
        if text.startswith("}", at):
            return
        at = _after(text, at, ",", shown)


def _value(text: str, at: int, shown: str) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except RecursionError:
        raise _broken(text, at, "nested too deeply", shown) from None
    except json.JSONDecodeError as bad:
        raise _broken(text, bad.pos, bad.msg, shown) from None
    except ValueError:
        raise _broken(text, at, "a number has thousands of digits", shown) from None


def _after(text: str, at: int, mark: str, shown: str) -> int:
    if not text.startswith(mark, at):
        raise _broken(text, at, f"expected {mark!r}", shown)
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _on_one_line(text: str) -> str:
    # Line breaks in JSON stand only between tokens: a space there means the same.
    if "\n" in text or "\r" in text:
        return text.replace("\r", " ").replace("\n", " ")
    return text


def _broken(text: str, at: int, what: str, shown: str) -> DataError:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return DataError(
        f"{shown}:{line}: not JSON at column {column} ({what}); correct it, or write one object "
        "a line as .jsonl, where --skip-bad-rows can pass over it"
    )
