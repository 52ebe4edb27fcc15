"""The rows of one JSON document: a list, an object that contains a list, or a single row.

Each row keeps its exact text from the file, so that numbers and escapes are exported as they were read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Set
from typing import Any

from ragstone.data.formats import FORMATS
from ragstone.errors import DataError

_WHITESPACE = " \t\n\r"
_LIST_KEYS = ("results", "data", "samples", "rows", "examples", "records", "runs", "dataset", "tests",
          "test_cases", "testCases", "goldens", "items", "questions", "queries", "predictions")  # fmt: skip
"""Keys that may hold the rows, tried in this order before any other list of objects."""
_DECODER = json.JSONDecoder()


def split_rows(text: str, source: str) -> Iterator[tuple[int, str]]:
    """Yield each row of the document with its line number."""
    start = _skip_whitespace(text, 0)
    if text.startswith("{", start):
        list_start = _find_list(text, start, source)
        if list_start is None:
            yield 1 + text.count("\n", 0, start), _join_lines(text[start:].rstrip(_WHITESPACE))
            return
        start = list_start
    line, at = 1, 0
    for begin, end, _ in _scan_items(text, start, source):
        # counted on from the last row: from the start each time would be quadratic
        line += text.count("\n", at, begin)
        at = begin
        yield line, _join_lines(text[begin:end])


def _find_list(text: str, start: int, source: str, depth: int = 0) -> int | None:
    """Return the offset of the list of rows in an object; None if the object itself is a row, or has no such list."""
    members = {key: (begin, value) for begin, _, value, key in _scan_members(text, start, source)}
    # a row with a list inside it (contexts, messages) must not be taken for a wrapper of rows;
    # promptfoo names the variables beside its results
    if depth == 0 and _is_row(members.keys()) and "evalId" not in members:
        return None
    # a list before an object that may hold one: Inspect writes `results: {…}` beside `samples: […]`
    for keys, kind in ((_LIST_KEYS, list), (_LIST_KEYS, dict), (tuple(members), list)):
        for key in keys:
            begin, value = members.get(key, (0, None))
            if not value or not isinstance(value, kind):
                continue
            if isinstance(value, list) and all(isinstance(item, dict) for item in value):
                return begin
            if isinstance(value, dict) and depth < 3:
                inner = _find_list(text, begin, source, depth + 1)
                if inner is not None:
                    return inner
    return None


def _is_row(columns: Set[str]) -> bool:
    """Whether the columns are those of a row in a known format."""
    signatures = (known for row_format in FORMATS.values() for known in row_format.signatures)
    return any(signature <= columns for signature in signatures)


def _scan_items(text: str, start: int, source: str) -> Iterator[tuple[int, int, Any]]:
    """Yield start, end and leniently parsed value of each item of a list."""
    at = _skip_whitespace(text, start + 1)
    if text.startswith("]", at):
        return
    while True:
        value, end = _decode_value(text, at, source)
        yield at, end, value
        at = _skip_whitespace(text, end)
        if text.startswith("]", at):
            return
        at = _skip_mark(text, at, ",", source)


def _scan_members(text: str, start: int, source: str) -> Iterator[tuple[int, int, Any, str]]:
    """Yield start, end, value and key of each member of an object."""
    at = _skip_whitespace(text, start + 1)
    if text.startswith("}", at):
        return
    while True:
        key, end = _decode_value(text, at, source)
        if not isinstance(key, str):
            raise _syntax_error(text, at, "expected a key in quotes", source)
        at = _skip_mark(text, _skip_whitespace(text, end), ":", source)
        value, end = _decode_value(text, at, source)
        yield at, end, value, key
        at = _skip_whitespace(text, end)
        if text.startswith("}", at):
            return
        at = _skip_mark(text, at, ",", source)


def _decode_value(text: str, at: int, source: str) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except RecursionError:
        raise _syntax_error(text, at, "nested too deeply", source) from None
    except json.JSONDecodeError as bad:
        raise _syntax_error(text, bad.pos, bad.msg, source) from None
    except ValueError:
        raise _syntax_error(text, at, "a number has thousands of digits", source) from None


def _skip_mark(text: str, at: int, mark: str, source: str) -> int:
    if not text.startswith(mark, at):
        raise _syntax_error(text, at, f"expected {mark!r}", source)
    return _skip_whitespace(text, at + 1)


def _skip_whitespace(text: str, at: int) -> int:
    while at < len(text) and text[at] in _WHITESPACE:
        at += 1
    return at


def _join_lines(text: str) -> str:
    # JSON allows line breaks only between tokens, where a space means the same.
    if "\n" in text or "\r" in text:
        return text.replace("\r", " ").replace("\n", " ")
    return text


def _syntax_error(text: str, at: int, problem: str, source: str) -> DataError:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return DataError(
        f"{source}:{line}: not JSON at column {column} ({problem}); correct it, or write one object "
        "a line as .jsonl, where --skip-bad-rows can pass over it"
    )
