"""Plain facts about text: folding, words, sentences, and what differs between languages."""

from __future__ import annotations

import re
import string
import unicodedata
from functools import lru_cache

from ragstone.locale.catalogue import LANGUAGES as LANGUAGES

ARTICLES: dict[str, frozenset[str]] = {
    "en": frozenset({"a", "an", "the"}),
    "es": frozenset({"el", "la", "los", "las", "un", "una", "unos", "unas", "lo"}),
}

ABSTENTIONS: tuple[str, ...] = (
    "It is not mentioned in the document.",
    "No se menciona en el documento.",
)
"""Texts that count as declining to answer unless the user names others."""


def fold(text: str) -> str:
    """The text as it is compared: NFKC, case-folded, white space collapsed, accents kept."""
    return " ".join(words(text))


def words(text: str) -> list[str]:
    """The white-space separated tokens of the folded text."""
    return (text.lower() if text.isascii() else _caseless(text)).split()


def bare_words(text: str, language: str | None = None) -> list[str]:
    """The tokens of the folded text without punctuation and without the language's articles."""
    dropped = articles(language)
    folded = (text.lower() if text.isascii() else _caseless(text)).translate(_PUNCTUATION)
    return [word for word in folded.split() if word not in dropped]


def strip_end(text: str) -> str:
    """The text without the punctuation and white space it ends with."""
    end = len(text)
    while end and (text[end - 1].isspace() or _PUNCTUATION[ord(text[end - 1])] is None):
        end -= 1
    return text[:end]


def sentences(text: str, language: str | None = None) -> list[tuple[int, int]]:
    """Where each sentence starts and ends in the text, surrounding white space left out."""
    return list(_sentences(text, language))


@lru_cache(maxsize=256)
def _sentences(text: str, language: str | None) -> tuple[tuple[int, int], ...]:
    """Kept for a while: whoever asks about a text and whoever reads the reply both want them."""
    from sentencex import segment

    spans: list[tuple[int, int]] = []
    at = 0
    for piece in segment(language or "en", text):
        for part in _LINES.split(piece) if "\n" in piece else (piece,):
            body = part.strip()
            if not body:
                continue
            start = text.find(body, at)
            if start < 0:
                continue
            spans.append((start, start + len(body)))
            at = start + len(body)
    return tuple(spans)


_LINES = re.compile(r"\n+")


@lru_cache(maxsize=4)
def articles(language: str | None) -> frozenset[str]:
    """Articles to drop when comparing; English ones, as in SQuAD, when the language is not given."""
    if language is None:
        return ARTICLES["en"]
    return ARTICLES.get(re.split("[-_]", language.lower())[0], frozenset())


def _caseless(text: str) -> str:
    """Case and compatibility variants made one; case folding can undo NFKC, hence twice."""
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).translate(_TURKISH).casefold()
    return unicodedata.normalize("NFKC", text).translate(_TURKISH)


_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
"""Soft hyphen, zero-width space, word joiner, byte order mark: seen by no reader."""

_TURKISH = {ord("İ"): "i", ord("ı"): "i"}
"""Plain case folding pairs neither İ with i nor ı with I."""


class _Punctuation(dict[int, int | None]):
    """For str.translate: deletes ASCII punctuation and every character of a Unicode class P."""

    def __missing__(self, code: int) -> int | None:
        kept = None if unicodedata.category(chr(code)).startswith("P") else code
        self[code] = kept
        return kept


_PUNCTUATION = _Punctuation(dict.fromkeys(map(ord, string.punctuation)))
