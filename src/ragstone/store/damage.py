"""The error for a stored row that cannot be read."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from ragstone.errors import StoreError


@contextmanager
def explain_damage(what: str) -> Iterator[None]:
    """Turn any failure to decode a stored row into a StoreError with the remedy."""
    try:
        yield
    # whatever decoders raise: changed bytes may break JSON, a number, a key or a list's length
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, zlib.error):
        raise StoreError(
            f"{what} is damaged; `ragstone store check` lists what is, and docs/store.md says how to save the rest"
        ) from None
