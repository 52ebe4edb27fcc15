"""Compact encoding of numeric columns: a constant column is one number, whole numbers use the smallest unsigned type.

Stored roll-ups have this format: four bytes with the length of the header, the header as JSON, the bytes of the columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

AnyArray = NDArray[Any]
FloatArray = NDArray[np.float64]

_UNSIGNED_TYPES = ("u1", "<u2", "<u4")
# the header must start with these two keys in this order, without spaces: `unpack_columns` cuts it
_VALUES, _NAMES = b'{"values":', b'],"names":'
_LENGTH_BYTES = 4
"""Bytes at the start that hold the length of the JSON header."""


def pack_columns(
    values: Sequence[str],
    names: Sequence[str],
    more: Mapping[str, Any],
    parts: Sequence[FloatArray],
) -> bytes:
    """Values, names and further JSON facts as a header, followed by the columns of some tables."""
    shapes: list[list[Any]] = []
    blocks: list[bytes] = []
    for part in parts:
        shapes.append([len(part), *(_encode_columns(part, blocks) if len(part) else ())])
    head = {"values": list(values), "names": list(names), **more, "parts": shapes}
    text = json.dumps(head, separators=(",", ":")).encode()
    return b"".join([len(text).to_bytes(_LENGTH_BYTES, "little"), text, *blocks])


def unpack_columns(body: bytes) -> tuple[bytes, dict[str, Any], list[list[AnyArray]]]:
    """Decode what `pack_columns` wrote: the values as undecoded JSON, because many bodies share the same long list; the other facts;
    and the columns in the types that hold them, none for an empty table."""
    start = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES], "little")
    text = body[_LENGTH_BYTES:start]
    end = text.index(_NAMES) + 1  # cannot occur inside a value, where the quotes would be escaped
    head: dict[str, Any] = json.loads(b"{" + text[end + 1 :])
    parts = []
    for rows, *shape in head.pop("parts"):
        columns: list[AnyArray] = []
        for encoding in shape:
            if isinstance(encoding, str):
                column: AnyArray = np.frombuffer(body, encoding, rows, start)
                start += column.nbytes
            else:
                column = np.full(rows, encoding)
            columns.append(column)
        parts.append(columns)
    return text[len(_VALUES) : end], head, parts


def _encode_columns(part: FloatArray, blocks: list[bytes]) -> list[str | int | float]:
    """The encoding of each column; encoded bytes are appended to the blocks. All columns are examined in one numpy call each:
    there are many small tables, for which the call overhead dominates."""
    lowest, highest = part.min(axis=0), part.max(axis=0)
    whole = (np.rint(part) == part).all(axis=0) & (lowest >= 0) & (highest < 1 << 32)
    size = (highest >= 1 << 8).astype(int) + (highest >= 1 << 16)  # index into _UNSIGNED_TYPES
    shape: list[str | int | float] = []
    facts = zip(lowest.tolist(), highest.tolist(), whole.tolist(), size.tolist(), strict=True)
    for number, (low, high, is_whole, size_class) in enumerate(facts):
        if low == high:
            shape.append(int(low) if is_whole else low)
        else:
            encoding = _UNSIGNED_TYPES[size_class] if is_whole else "<f8"
            shape.append(encoding)
            blocks.append(part[:, number].astype(encoding).tobytes())
    return shape
