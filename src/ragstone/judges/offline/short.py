"""A short answer as it is compared: the words that count, its quantities, yes and no. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ragstone.judges.offline.aliases import TITLES
from ragstone.judges.offline.plain import plain
from ragstone.judges.offline.reading import NEGATION, NUMBER, STOP, Reading, read, unaccented
from ragstone.text.quantities import Quantity, find_quantities

TITLE, DAY, ASIDE = 0.3, 0.5, 0.3
"""How much a title counts beside a name, a day or a month beside its year, and what stands in brackets."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word that counts in a short answer."""

    text: str
    """Small letters without accents."""
    id: int
    is_number: bool
    capital: bool
    weight: float
    at: int
    """Where it starts."""
    token: int


@dataclass(frozen=True, slots=True)
class Short:
    """A text to compare: its words that count and its quantities."""

    reading: Reading
    words: tuple[Word, ...]
    ids: frozenset[int]
    quantities: tuple[Quantity, ...]
    says_yes: bool | None
    """True for yes, False for no, None for an answer that is neither."""


@lru_cache(maxsize=1024)
def short(text: str, language: str) -> Short:
    """The text as it is compared."""
    reading = read(plain(text), language)
    kinds = reading.kinds.tolist()
    quantities = tuple(find_quantities(reading.raw, language))
    counting = [
        n
        for n, kind in enumerate(kinds)
        if kind not in (STOP, NEGATION) or is_inside(reading.places[n][0], quantities)
    ]
    counting = counting or [n for n, kind in enumerate(kinds) if kind == NEGATION]
    counting = counting or [*range(len(kinds))]
    lesser = dict.fromkeys(_find_days(reading.raw, quantities), DAY) | dict.fromkeys(
        _find_asides(reading.raw), ASIDE
    )
    words = tuple(_read_word(reading, n, lesser, alone=len(counting) == 1) for n in counting)
    polar = _YES_NO.search(reading.raw)
    return Short(
        reading=reading,
        words=words,
        ids=frozenset(word.id for word in words),
        quantities=quantities,
        says_yes=polar.group().lower() != "no" if polar else None,
    )


def is_inside(offset: int, quantities: tuple[Quantity, ...] | list[Quantity]) -> bool:
    """Whether an offset of the text lies in one of the quantities."""
    return any(quantity.start <= offset < quantity.end for quantity in quantities)


def _read_word(reading: Reading, n: int, lesser: dict[int, float], alone: bool) -> Word:
    raw = reading.surface(n)
    at = reading.places[n][0]
    following = reading.surface(n + 1).lower() if n + 1 < len(reading.ids) else ""
    titled = raw.lower() in TITLES and not alone and following not in _OF
    return Word(
        text=unaccented(raw.lower().replace("’", "'").removesuffix("'s")),
        id=int(reading.ids[n]),
        is_number=bool(reading.kinds[n] == NUMBER),
        capital=raw[0].isupper(),
        weight=float(reading.weights[n]) * (TITLE if titled else lesser.get(at, 1.0)),
        at=at,
        token=n,
    )


_YES_NO = re.compile(
    r"(?<![^\s])(?:yes|no|sí)(?=[.!]?$)|^(?:yes|no|sí)(?=\s*[,.;:!])", re.IGNORECASE
)


def _find_days(text: str, quantities: tuple[Quantity, ...]) -> frozenset[int]:
    """Where the words of dates begin, but for their years."""
    return frozenset(
        piece.start()
        for quantity in quantities
        if quantity.date is not None and quantity.date.years is not None
        for piece in _PIECE.finditer(text, quantity.start, quantity.end)
        if piece.group() != str(quantity.date.years[0])
    )


def _find_asides(text: str) -> frozenset[int]:
    """Where the words in brackets begin, unless all words are."""
    return frozenset(
        piece.start()
        for aside in _ASIDE.finditer(text)
        if aside.start()
        for piece in _PIECE.finditer(text, *aside.span())
    )


_OF = frozenset(["of", "de", "del"])
"""After these a title is no title: the President of the United States."""
_ASIDE = re.compile(r"\([^()]*\)")
_PIECE = re.compile(r"[^\W_]+")
