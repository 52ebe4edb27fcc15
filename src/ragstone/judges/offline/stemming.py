"""Stems of words: looked up where training made them, told at a glance where no ending is cut, else worked out."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import snowballstemmer

from ragstone.judges.offline.tables import stems


@lru_cache(maxsize=131072)
def stem_of(word: str, language: str) -> str:
    """The stem of a lower-case word; the word itself in a language without a stemmer."""
    known = stems(language).get(word)
    if known is None and language == "en":
        known = _at_a_glance(word)
    if known is not None:
        return known
    stemmer = _stemmer(language)
    return stemmer(word) if stemmer else word


_KEPT = frozenset("abfhjkopquvwxz")
"""Last letters of which no English ending is made."""
_CUT = frozenset("cdglmnrt")
_ENDINGS = ("al", "ant", "ed", "ent", "er", "ful", "ic", "ing", "ion", "ism", "ist", "ll", "or")
"""Of words that end in one of `_CUT`, those which the stemmer may shorten."""
_NO_PLURALS = frozenset({"andes", "atlas", "bias", "cosmos", "news"})


def _at_a_glance(word: str) -> str | None:
    """What the English stemmer would say, where the ending alone tells it: half of all rare words; else None.

    The stemmer takes as long as a hundred such looks, and names hardly ever stand in the table of stems."""
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return None
    if _stays(word):
        return word
    if word[-1] != "s" or word[-2] in "esui" or word in _NO_PLURALS:
        return None
    one = word[:-1]
    return one if _stays(one) and any(vowel in one[:-1] for vowel in "aeiou") else None


def _stays(word: str) -> bool:
    last = word[-1]
    return last in _KEPT or (last in _CUT and not word.endswith(_ENDINGS))


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
