"""One JSON document from text, strictly: what is refused here never reaches a sample.

Refused: NaN, Infinity and numbers beyond a float, duplicate keys, nesting deeper than `DEPTH`,
anything after the document. Replaced by U+FFFD: halves of surrogate pairs and NUL characters, which
no UTF-8 file, HTML page or PostgreSQL text can hold (the row's own text keeps them as escapes)."""

from __future__ import annotations

import json
import math
import re
from typing import Any

DEPTH = 100
"""How deep a row may nest; far below Python's own limit, which depends on who calls."""


class BadRow(Exception):
    """A row that is refused: what is wrong and what to do, without its place."""


def parse(text: str) -> Any:
    """The document, checked in full."""
    try:
        value, end = _CHECKED.raw_decode(text)
    except RecursionError:
        raise BadRow(_TOO_DEEP) from None
    except json.JSONDecodeError as bad:
        raise BadRow(
            f"not JSON at column {bad.pos + 1} ({bad.msg}); write one JSON object a row"
        ) from None
    except ValueError as bad:
        what = str(bad)
        if "integer string conversion" in what:
            what = "a number has thousands of digits; write it as a text"
        raise BadRow(what) from None
    if end != len(text):
        raise BadRow(f"not JSON at column {end + 1} (text after the object); one object a row")
    if text.count("[") + text.count("{") > DEPTH and _deeper(value, DEPTH):
        raise BadRow(_TOO_DEEP)
    return _mended(value, text)


def reparse(text: str) -> Any:
    """The same value for a text that `parse` has accepted before, without checking again."""
    value, _ = _PLAIN.raw_decode(text)
    return _mended(value, text)


def mend(text: str) -> str:
    """The text with what cannot be stored or shown replaced by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_TOO_DEEP = f"nested more than {DEPTH} levels deep; flatten the row"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {mend(key)!r} stands twice in one object; keep one")
            seen.add(key)
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON; write null where there is no number")


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:20]} is too large; write null or a smaller one")
    return value


_CHECKED = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_constant, parse_float=_number)
_PLAIN = json.JSONDecoder()


def _deeper(value: Any, levels: int) -> bool:
    """Whether containers nest deeper than this; a loop, since the depth is what is in doubt."""
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


def _mended(value: Any, text: str) -> Any:
    # Most rows have no escape at all: one search for a single character settles those.
    if "\\" in text and ("\\ud" in text or "\\uD" in text or "\\u0000" in text):
        return _mend_all(value)
    return value


def _mend_all(value: Any) -> Any:
    if isinstance(value, str):
        return mend(value)
    if isinstance(value, list):
        return [_mend_all(item) for item in value]
    if isinstance(value, dict):
        return {mend(key): _mend_all(item) for key, item in value.items()}
    return value
