"""Plain facts about text: folding, words, sentences, and what differs between languages."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

LANGUAGES = ("en", "es")
"""Languages with prompts, messages and measured judge quality of our own."""

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
    """The text as it is compared: NFKC, case-folded, white space collapsed."""
    if text.isascii():
        return " ".join(text.lower().split())
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def sentences(text: str, language: str | None = None) -> list[tuple[int, int]]:
    """Where each sentence starts and ends in the text, surrounding white space left out."""
    from sentencex import segment

    spans: list[tuple[int, int]] = []
    at = 0
    for piece in segment(language or "en", text):
        for part in _LINES.split(piece):
            body = part.strip()
            if not body:
                continue
            start = text.find(body, at)
            if start < 0:
                continue
            spans.append((start, start + len(body)))
            at = start + len(body)
    return spans


_LINES = re.compile(r"\n+")


@lru_cache(maxsize=4)
def articles(language: str | None) -> frozenset[str]:
    """Articles to drop when comparing; those of every known language when it is not given."""
    if language is None:
        return frozenset().union(*ARTICLES.values())
    return ARTICLES.get(language.split("-")[0], frozenset())
