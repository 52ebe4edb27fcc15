"""Words of a text as metrics compare them: case and compatibility variants folded, punctuation and articles dropped. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
import string
import unicodedata
from functools import lru_cache

ARTICLES: dict[str, frozenset[str]] = {
    "en": frozenset({"a", "an", "the"}),
    "es": frozenset({"el", "la", "los", "las", "un", "una", "unos", "unas", "lo"}),
}


def fold_text(text: str) -> str:
    """Return the text normalised for comparison: NFKC, case-folded, white space collapsed, accents kept."""
    return " ".join(split_words(text))


def split_words(text: str) -> list[str]:
    """Split the folded text at white space."""
    return _fold_case(text).split()


def split_bare_words(text: str, language: str | None = None) -> list[str]:
    """Split the folded text into words without punctuation and without the language's articles."""
    dropped = find_articles(language)
    folded = _fold_case(text).translate(_PUNCTUATION)
    return [word for word in folded.split() if word not in dropped]


def strip_final_punctuation(text: str) -> str:
    """Remove the punctuation and white space that the text ends with."""
    end = len(text)
    while end and (text[end - 1].isspace() or _PUNCTUATION[ord(text[end - 1])] is None):
        end -= 1
    return text[:end]


@lru_cache(maxsize=4)
def find_articles(language: str | None) -> frozenset[str]:
    """Return the articles to drop when comparing: English ones, as in SQuAD, when no language is given."""
    if language is None:
        return ARTICLES["en"]
    return ARTICLES.get(re.split("[-_]", language.lower())[0], frozenset())


def _fold_case(text: str) -> str:
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).translate(_TURKISH).casefold()
    # case folding can produce text that is not NFKC, hence twice
    return unicodedata.normalize("NFKC", text).translate(_TURKISH)


_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
"""Soft hyphen, zero-width space, word joiner, byte order mark."""

_TURKISH = {ord("İ"): "i", ord("ı"): "i"}
"""Unicode case folding pairs neither İ with i nor ı with I."""


class _PunctuationTable(dict[int, int | None]):
    """Table for str.translate that deletes ASCII punctuation and every character of a Unicode class P."""

    def __missing__(self, code: int) -> int | None:
        target = None if unicodedata.category(chr(code)).startswith("P") else code
        self[code] = target
        return target


_PUNCTUATION = _PunctuationTable(dict.fromkeys(map(ord, string.punctuation)))
