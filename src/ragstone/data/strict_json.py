"""A strict JSON parser for input rows, which says what is wrong with one.

Rejected: NaN, Infinity and numbers beyond a float, duplicate keys, nesting deeper than `MAX_DEPTH`,
anything after the document. Replaced by U+FFFD: halves of surrogate pairs and NUL characters, which
no UTF-8 file, HTML page or PostgreSQL text can hold (the row's own text keeps them as escapes)."""

from __future__ import annotations

import json
import math
import re
from typing import Any, TypeGuard

import msgspec

from ragstone.data.limits import MAX_COLUMNS, MAX_ROW_BYTES, ROW_TOO_LONG, describe_columns

MAX_DEPTH = 100
"""Nesting levels of a row; far below Python's recursion limit, which depends on the caller's stack."""


class BadRow(Exception):
    """A rejected row: what is wrong and how to correct it, without its location."""


def parse_json(text: str) -> Any:
    """Parse one document with all checks."""
    if len(text) > MAX_ROW_BYTES:
        raise BadRow(ROW_TOO_LONG)
    try:
        # raw_decode: `decode` would also look for white space at both ends
        value, end = _STRICT_DECODER.raw_decode(text)
    except RecursionError:
        raise BadRow(_TOO_DEEP) from None
    except json.JSONDecodeError as bad:
        raise BadRow(
            f"not JSON at column {bad.pos + 1} ({bad.msg}); write one JSON object a row"
        ) from None
    except ValueError as bad:
        problem = str(bad)
        if "integer string conversion" in problem:
            problem = "a number has thousands of digits; write it as a text"
        raise BadRow(problem) from None
    if end != len(text):
        raise BadRow(f"not JSON at column {end + 1} (text after the object); one object a row")
    if isinstance(value, dict) and len(value) > MAX_COLUMNS:
        raise BadRow(describe_columns(len(value)))
    # brackets are counted first: a text with few of them cannot be deep, and counting is fast
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deeper(value, MAX_DEPTH):
        raise BadRow(_TOO_DEEP)
    return _replace_if_needed(value, text)


def reparse_json(text: str) -> Any:
    """Parse a text that `parse_json` has accepted before, without its checks; the value is the same."""
    try:
        value = msgspec.json.decode(text)
    except ValueError:  # half a surrogate pair, or an integer that only Python reads
        value = json.loads(text)
    return _replace_if_needed(value, text)


def write_json(value: Any) -> str:
    """Write a parsed value as one line, with a space after each comma and colon as `json.dumps` does."""
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()


def replace_unstorable(text: str) -> str:
    """Replace characters that cannot be stored or displayed by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep; flatten the row"


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(
                    f"the key {replace_unstorable(key)!r} stands twice in one object; keep one"
                )
            seen.add(key)
    return members


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON; write null where there is no number")


def _parse_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:20]} is too large; write null or a smaller one")
    return value


_STRICT_DECODER = json.JSONDecoder(
    object_pairs_hook=_reject_duplicates, parse_constant=_reject_constant, parse_float=_parse_float
)


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether containers nest deeper than `levels`; not recursive, since the depth may exceed the stack."""
    layer = [value]
    while layer and levels >= 0:
        levels -= 1
        layer = [
            inner
            for item in layer
            for inner in (
                item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
            )
            if isinstance(inner, dict | list)
        ]
    return bool(layer)


def _replace_if_needed(value: Any, text: str) -> Any:
    # Most rows have no escape at all: searching for a single character is the fastest test.
    if "\\" in text and ("\\ud" in text or "\\uD" in text or "\\u0000" in text):
        return _replace_all(value)
    return value


def _replace_all(value: Any) -> Any:
    if isinstance(value, str):
        return replace_unstorable(value)
    if isinstance(value, list):
        return [_replace_all(item) for item in value]
    if isinstance(value, dict):
        return {replace_unstorable(key): _replace_all(item) for key, item in value.items()}
    return value


def is_moderate_number(value: Any) -> TypeGuard[float]:
    """Whether it is a number between -1e15 and 1e15. `math.isfinite` would fail on an int too large for a float."""
    return isinstance(value, int | float) and -1e15 <= value <= 1e15


def decode_json_text(value: Any) -> Any:
    """The value of a text that is a JSON list, object or string; anything else unchanged."""
    if not isinstance(value, str) or value[:1] not in ("[", "{", '"'):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
