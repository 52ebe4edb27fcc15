"""Checksums of stored rows, and the error for a row that does not match its own: a store may be damaged where SQLite sees nothing."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from ragstone.errors import StoreError

_MARK = "#"
"""Stands between a text and its checksum: no JSON document ends like this, so that texts of earlier versions are known."""
_LENGTH = 9
"""Characters of mark and checksum."""


class ChecksumMismatch(ValueError):
    """A stored row is not what was written."""


def add_checksum(text: str) -> str:
    """Add the CRC-32 of a text to its end."""
    return f"{text}{_MARK}{zlib.crc32(text.encode()):08x}"


def remove_checksum(text: str) -> str:
    """Return the text without its checksum, which must match; a text of an earlier version has none."""
    if text[-_LENGTH : 1 - _LENGTH] != _MARK:
        return text
    body = text[:-_LENGTH]
    if add_checksum(body) != text:
        raise ChecksumMismatch("the checksum does not match")
    return body


def add_bytes_checksum(body: bytes) -> bytes:
    """Add the CRC-32 of JSON Lines as a line of its own."""
    return b"%b\n#%08x" % (body, zlib.crc32(body))


def remove_bytes_checksum(body: bytes) -> bytes:
    """Return JSON Lines without their checksum, which must match; those of an earlier version have none."""
    if body[-_LENGTH - 1 : 1 - _LENGTH] != b"\n#":
        return body
    lines = body[: -_LENGTH - 1]
    if add_bytes_checksum(lines) != body:
        raise ChecksumMismatch("the checksum does not match")
    return lines


@contextmanager
def explain_damage(what: str) -> Iterator[None]:
    """Turn any failure to decode a stored row into a StoreError with the remedy."""
    try:
        yield
    # whatever decoders raise: changed bytes may break JSON, a number, a key or a list's length
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, zlib.error):
        raise StoreError(
            f"{what} is damaged; `ragstone store check` lists what is, and `ragstone store salvage FILE` saves the rest"
        ) from None
