"""What a claim looks like by itself, whatever its sources say: length, capitals, hedges, stock phrases."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from functools import lru_cache

SHAPE: tuple[str, ...] = (
    "capitals", "colon", "question", "hedge", "meta", "absolutes", "generic", "first_person", "quoted", "list_item",
)  # fmt: skip


@lru_cache(maxsize=2048)
def shape_of(raw: str) -> tuple[float, ...]:
    """One figure for each of SHAPE."""
    text = raw.strip()
    low = text.lower()
    capitals, letters = _counts(text)
    return (
        capitals / max(letters, 1),
        text.endswith(":"),
        text.endswith("?"),
        *(count(low) for count in _COUNTED),
        _FIRST.search(" " + low) is not None,
        '"' in text or "“" in text,
        text[:1] in "-*•" or text[:2].rstrip(".)").isdigit(),
    )


_NO_LETTERS = bytes(set(range(128)) - set(string.ascii_letters.encode()))
_NO_CAPITALS = bytes(set(range(128)) - set(string.ascii_uppercase.encode()))


def _counts(text: str) -> tuple[int, int]:
    """How many capitals and how many letters."""
    if text.isascii():
        plain = text.encode("ascii")
        return len(plain.translate(None, _NO_CAPITALS)), len(plain.translate(None, _NO_LETTERS))
    return sum(map(str.isupper, text)), sum(map(str.isalpha, text))


def _counter(*phrases: str) -> Callable[[str], int]:
    """Counts the phrases in a text; `|` before one stands for the start of a word."""
    pattern = re.compile("|".join(re.escape(one).replace(r"\|", r"\b") for one in phrases))
    plain = [one.lstrip("|") for one in phrases]

    def count(low: str) -> int:
        # most claims hold none of them, and looking for plain text is far quicker than matching
        for one in plain:
            if one in low:
                return len(pattern.findall(low))
        return 0

    return count


_FIRST = re.compile(r"\s(?:i |i'|we |my |our |you |yo |mi |nos)")
_HEDGES = _counter(
    "|may ", "might", "could", "possibl", "likely", "suggest", "appear", "seem", "podría", "quizá", "parece",
    "probable",
)  # fmt: skip
_META = _counter(
    "passage", "context", "provided", "based on", "according to", "document", "mention", "given ", "summary",
    "article", "overall", "in conclusion", "según", "pasaje", "resumen", "en general",
)  # fmt: skip
_ABSOLUTES = _counter(
    "only", "all ", "every", "always", "never", "exclusiv", "solely", "entirely", "completely", "any ", "solo ",
    "sólo", "únic", "todos", "todas", "siempre", "nunca", "absolut", "jamás", "ningun", "ningún", "nadie",
    "cualquier", "total",
)  # fmt: skip
_GENERIC = _counter(
    "popular", "variety", "option", "great", "experience", "atmosphere", "customers", "known for", "perfect",
    "recommend", "important", "ideal", "suitable", "worth", "choice",
)  # fmt: skip
_COUNTED = (_HEDGES, _META, _ABSOLUTES, _GENERIC)
