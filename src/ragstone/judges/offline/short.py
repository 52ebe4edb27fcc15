"""A short answer as it is compared: the words that count, what a number counts, dates, ranges, yes and no."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ragstone.judges.offline.aliases import MEASURES, TITLES
from ragstone.judges.offline.plain import plain
from ragstone.judges.offline.reading import NEGATION, NUMBER, STOP, Reading, read, unaccented
from ragstone.judges.offline.spans import Date, Range, dates, ranges

TITLE, DAY, ASIDE = 0.3, 0.5, 0.3
"""How much a title counts beside a name, a day or a month beside its year, and what stands in brackets."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word that counts in a short answer."""

    text: str
    """Small letters without accents."""
    id: int
    number: float | None
    """Its value when it is a figure, NaN for a month or a time of day, None for no number."""
    capital: bool
    weight: float
    at: int
    """Where it starts."""
    token: int
    unit: str | None
    """What a number counts."""


@dataclass(frozen=True, slots=True)
class Short:
    """A text to compare: its words that count, its dates and its ranges."""

    reading: Reading
    words: tuple[Word, ...]
    ids: frozenset[int]
    dates: tuple[Date, ...]
    ranges: tuple[Range, ...]
    says_yes: bool | None
    """True for yes, False for no, None for an answer that is neither."""


@lru_cache(maxsize=1024)
def short(text: str, language: str) -> Short:
    """The text as it is compared."""
    reading = read(plain(text), language)
    kinds = reading.kinds.tolist()
    told = [n for n, kind in enumerate(kinds) if kind not in (STOP, NEGATION)]
    told = told or [n for n, kind in enumerate(kinds) if kind == NEGATION] or [*range(len(kinds))]
    found = dates(reading.raw)
    lesser = dict.fromkeys(_days(reading.raw, found), DAY) | dict.fromkeys(
        _asides(reading.raw), ASIDE
    )
    words = tuple(_word(reading, n, lesser, alone=len(told) == 1) for n in told)
    polar = _YES_NO.search(reading.raw)
    return Short(
        reading=reading,
        words=words,
        ids=frozenset(word.id for word in words),
        dates=found,
        ranges=ranges(reading.raw),
        says_yes=polar.group().lower() != "no" if polar else None,
    )


def _word(reading: Reading, n: int, lesser: dict[int, float], alone: bool) -> Word:
    raw = reading.surface(n)
    at = reading.places[n][0]
    following = reading.surface(n + 1).lower() if n + 1 < len(reading.ids) else ""
    titled = raw.lower() in TITLES and not alone and following not in _OF
    number = bool(reading.kinds[n] == NUMBER)
    return Word(
        text=unaccented(raw.lower().replace("’", "'").removesuffix("'s")),
        id=int(reading.ids[n]),
        number=_value(raw) if number else None,
        capital=raw[0].isupper(),
        weight=float(reading.weights[n]) * (TITLE if titled else lesser.get(at, 1.0)),
        at=at,
        token=n,
        unit=MEASURES.get(following) if number else None,
    )


_YES_NO = re.compile(
    r"(?<![^\s])(?:yes|no|sí)(?=[.!]?$)|^(?:yes|no|sí)(?=\s*[,.;:!])", re.IGNORECASE
)


def _days(text: str, found: tuple[Date, ...]) -> frozenset[int]:
    """Where the words of dates begin, but for their years."""
    return frozenset(
        piece.start()
        for date in found
        if date.year is not None
        for piece in _PIECE.finditer(text, date.start, date.end)
        if piece.group() != str(date.year)
    )


def _asides(text: str) -> frozenset[int]:
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


def _value(raw: str) -> float:
    match = re.match(r"\d+(?:,\d{3})*(?:\.\d+)?", raw)
    return float(match.group().replace(",", "")) if match and ":" not in raw else float("nan")
