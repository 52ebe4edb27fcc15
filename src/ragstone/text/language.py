"""Languages the package knows, and which of them a text is written in."""

from __future__ import annotations

import re

from ragstone.locale.catalogue import LANGUAGES as LANGUAGES
from ragstone.text.stopwords import STOPWORDS

ABSTENTIONS: tuple[str, ...] = (
    "It is not mentioned in the document.",
    "No se menciona en el documento.",
)
"""Texts that count as declining to answer unless the user names others."""


def detect_language(text: str, given: str | None = None) -> str:
    """Return `en` or `es`: the language given, else the one that Spanish letters or function words point to."""
    if given:
        return "es" if given.lower().startswith("es") else "en"
    if _SPANISH_LETTER.search(text):
        return "es"
    words = [word.lower() for word in _WORD.findall(text)]
    spanish = sum(word in STOPWORDS["es"] for word in words)
    return "es" if spanish > sum(word in STOPWORDS["en"] for word in words) else "en"


_WORD = re.compile(r"[^\W\d_]+")
_SPANISH_LETTER = re.compile("[¿¡ñáéíóú]", re.IGNORECASE)
