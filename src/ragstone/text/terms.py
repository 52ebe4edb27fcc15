"""Search terms: the stems of a text's content words. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ragstone.text.stems import stem_word
from ragstone.text.stopwords import STOPWORDS

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")


def extract_terms(text: str, language: str) -> list[str]:
    """Return the stems of the words that are not stop words, in order, repetitions included."""
    stopwords = STOPWORDS[language]
    words = (word.casefold() for word in _WORD.findall(unicodedata.normalize("NFKC", text)))
    return [_to_term(word, language) for word in words if word not in stopwords]


@lru_cache(maxsize=50_000)
def _to_term(word: str, language: str) -> str:
    return strip_accents(stem_word(word, language)) if word.isalpha() else word


def strip_accents(text: str) -> str:
    """Remove accents, as people do who type in a hurry; ñ is a letter of its own and stays."""
    return text if text.isascii() else text.translate(_BARE_LETTERS)


class _BareLetterTable(dict[int, str]):
    """Table for str.translate: every character without its accent."""

    def __missing__(self, code: int) -> str:
        letter = self[code] = unicodedata.normalize("NFD", chr(code))[0]
        return letter


_BARE_LETTERS = _BareLetterTable({ord(letter): letter for letter in "ñÑ"})
