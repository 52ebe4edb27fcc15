"""`embed`: texts as vectors whose cosine is their similarity."""

from __future__ import annotations

from ragstone.asks.kind import Kind, register
from ragstone.asks.schemas import array_of, object_of
from ragstone.asks.types import Ask


def embed(*texts: str) -> Ask:
    """Embed texts as vectors whose cosine is their similarity."""
    return Ask("embed", {"texts": list(texts)}, EMBED)


EMBED = object_of(vectors=array_of(array_of({"type": "number"})))


KIND = register(Kind("embed", lambda language: embed("x"), by_first=True))
