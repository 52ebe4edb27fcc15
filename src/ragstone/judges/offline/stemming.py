"""Stems of words: looked up where training made them, else worked out."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import snowballstemmer

from ragstone.judges.offline.english import english_stem
from ragstone.judges.offline.tables import stems


@lru_cache(maxsize=131072)
def stem_of(word: str, language: str) -> str:
    """The stem of a lower-case word; the word itself in a language without a stemmer."""
    known = stems(language).get(word)
    if known is not None:
        return known
    if language == "en" and word.isascii() and word.isalpha():
        return english_stem(word)
    stemmer = _stemmer(language)
    return stemmer(word) if stemmer else word


@lru_cache(maxsize=32)
def _stemmer(language: str) -> Callable[[str], str] | None:
    names = {
        "en": "english", "es": "spanish", "fr": "french", "de": "german", "it": "italian",
        "pt": "portuguese", "nl": "dutch", "ru": "russian", "ar": "arabic",
    }  # fmt: skip
    if language not in names:
        return None
    made: Any = snowballstemmer.stemmer(names[language])
    stem: Callable[[str], str] = made.stemWord
    return stem
