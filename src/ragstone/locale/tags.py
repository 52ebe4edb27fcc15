"""Language tags: the closed grammar that every language named in data or settings must follow.

A subset of BCP 47: language, script, region (`es`, `es-MX`, `zh-Hant-TW`). Nothing that is not such a tag goes further
than the reader of its row, so that no path, template or prompt can be chosen by data."""

from __future__ import annotations

import re
from functools import lru_cache

_TAG = re.compile(r"([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|[0-9]{3}))?", re.IGNORECASE)
_NAMES = {"english": "en", "inglés": "en", "ingles": "en", "spanish": "es", "español": "es"}
"""What people write instead of a tag, for the languages of the catalogue."""
TAG_HINT = "give a language tag such as en or es-MX"


@lru_cache(maxsize=1024)
def to_language_tag(text: str) -> str | None:
    """Return the tag in its usual spelling (`es_mx` → `es-MX`); None when the text is no language tag."""
    named = _NAMES.get(text.strip().lower())
    # ASCII only: with IGNORECASE, [a-z] also matches a few letters such as the long s
    match = _TAG.fullmatch(text) if text.isascii() else None
    if named is not None or match is None:
        return named
    language, script, region = match.groups()
    parts = (language.lower(), script and script.title(), region and region.upper())
    return "-".join(part for part in parts if part)
