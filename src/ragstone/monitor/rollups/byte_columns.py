"""Columns of numbers as bytes: a column that says the same in every row is one number, whole numbers take the fewest bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

AnyArray = NDArray[Any]
FloatArray = NDArray[np.float64]

_UNSIGNED_TYPES = ("u1", "<u2", "<u4")
_VALUES, _NAMES = b'{"values":', b'],"names":'
_LENGTH_BYTES = 4
"""Bytes at the start that say how long the head is."""


def pack(
    values: Sequence[str],
    names: Sequence[str],
    more: Mapping[str, Any],
    parts: Sequence[FloatArray],
) -> bytes:
    """Values, names and other facts of plain JSON, then some tables of numbers."""
    shapes: list[list[Any]] = []
    blocks: list[bytes] = []
    for part in parts:
        shapes.append([len(part), *(_pack_columns(part, blocks) if len(part) else ())])
    head = {"values": list(values), "names": list(names), **more, "parts": shapes}
    text = json.dumps(head, separators=(",", ":")).encode()
    return b"".join([len(text).to_bytes(_LENGTH_BYTES, "little"), text, *blocks])


def unpack(body: bytes) -> tuple[bytes, dict[str, Any], list[list[AnyArray]]]:
    """What `pack` packed: the values as JSON, which may be long and known already; the names and other facts; the columns in
    types that hold them, those of an empty table left out."""
    start = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES], "little")
    text = body[_LENGTH_BYTES:start]
    end = text.index(_NAMES) + 1  # within a value the quotes would be escaped
    head: dict[str, Any] = json.loads(b"{" + text[end + 1 :])
    parts = []
    for rows, *shape in head.pop("parts"):
        columns: list[AnyArray] = []
        for how in shape:
            if isinstance(how, str):
                column: AnyArray = np.frombuffer(body, how, rows, start)
                start += column.nbytes
            else:
                column = np.full(rows, how)
            columns.append(column)
        parts.append(columns)
    return text[len(_VALUES) : end], head, parts


def _pack_columns(part: FloatArray, blocks: list[bytes]) -> list[str | int | float]:
    """How each column is written; what is written goes to the blocks. All columns are looked at together: there are many
    small tables, and each look costs more than what it looks at."""
    least, most = part.min(axis=0), part.max(axis=0)
    whole = (np.rint(part) == part).all(axis=0) & (least >= 0) & (most < 1 << 32)
    size = (most >= 1 << 8).astype(int) + (most >= 1 << 16)
    shape: list[str | int | float] = []
    facts = zip(least.tolist(), most.tolist(), whole.tolist(), size.tolist(), strict=True)
    for number, (low, high, counts, large) in enumerate(facts):
        if low == high:
            shape.append(int(low) if counts else low)
        else:
            how = _UNSIGNED_TYPES[large] if counts else "<f8"
            shape.append(how)
            blocks.append(part[:, number].astype(how).tobytes())
    return shape
