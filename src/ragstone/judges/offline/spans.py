"""Dates, spans of time and ranges of numbers in a short answer, each as what it says and what it leaves open."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from ragstone.judges.offline.lexicon import MONTHS


@dataclass(frozen=True, slots=True)
class Date:
    """A day, a month or a year; what is not said is None."""

    year: int | None
    month: int | None
    day: int | None
    start: int
    end: int

    def agrees(self, other: Date) -> bool:
        """Whether they differ in nothing that both say, and both say something."""
        pairs = self._beside(other)
        both = [mine == theirs for mine, theirs in pairs if mine is not None and theirs is not None]
        return bool(both) and all(both)

    def says_all_of(self, other: Date) -> bool:
        """Whether it has a year, month and day where the other has one."""
        return all(mine is not None or theirs is None for mine, theirs in self._beside(other))

    def _beside(self, other: Date) -> tuple[tuple[int | None, int | None], ...]:
        return (self.year, other.year), (self.month, other.month), (self.day, other.day)


@dataclass(frozen=True, slots=True)
class Range:
    """From one number to another, both included."""

    low: float
    high: float
    start: int
    end: int


@lru_cache(maxsize=1024)
def dates(text: str) -> tuple[Date, ...]:
    """Every date of the text: a year, a month of a year, or a day."""
    return tuple(_date(match) for match in _DATE.finditer(text))


def _date(match: re.Match[str]) -> Date:
    said = {name[0]: value for name, value in match.groupdict().items() if value}
    month = said.get("m")
    return Date(
        int(said["y"]) if "y" in said else None,
        None if month is None else int(month) if month.isdecimal() else MONTHS.get(month.lower()),
        int(said["d"]) if "d" in said else None,
        *match.span(),
    )


_MONTH = "|".join(sorted((name for name in MONTHS if len(name) > 2), key=len, reverse=True))
_YEAR = r"(?:1[0-9]|20)\d\d"
_DAY = r"(?:[12]\d|3[01]|0?[1-9])"
_ST = r"(?:st|nd|rd|th|º)?"
_OF = r"(?:of\s+|de\s+|del\s+)?"
# the first letter of a group's name says what it is
_DATE = re.compile(
    rf"(?<![\d.,$€£-])(?:"
    rf"(?P<y1>{_YEAR})-(?P<m1>0[1-9]|1[0-2])-(?P<d1>{_DAY})"
    rf"|(?P<d2>{_DAY}){_ST}\s+{_OF}(?P<m2>{_MONTH})\b\.?(?:\s*,?\s*{_OF}(?P<y2>{_YEAR})\b)?"
    rf"|\b(?P<m3>{_MONTH})\b\.?\s+(?P<d3>{_DAY}){_ST}(?!\d)(?:\s*,?\s*(?P<y3>{_YEAR})\b)?"
    rf"|\b(?P<m4>{_MONTH})\b\.?\s*,?\s*{_OF}(?P<y4>{_YEAR})\b"
    rf"|(?P<y5>{_YEAR})(?![\d%]|[.,]\d|'?s\b)"
    rf")",
    re.IGNORECASE,
)


FIRST_YEAR, LAST_YEAR = 1000, 2100
"""Figures that are years when nothing else is said of them."""


@lru_cache(maxsize=1024)
def ranges(text: str) -> tuple[Range, ...]:
    """Every range of the text: 10–12, 10 to 12, the 1960s, the 18th century."""
    found = []
    for match in _RANGE.finditer(text):
        low, high = sorted((float(match[1]), float(match[2])))
        # from one year to another is how long something lasted, not a year that is not known better
        if not FIRST_YEAR <= low < high < LAST_YEAR:
            found.append(Range(low, high, *match.span()))
    for match in _DECADE.finditer(text):
        first = float(match["decade"])
        found.append(_part(Range(first, first + 9, *match.span()), match["part"]))
    for match in _CENTURY.finditer(text):
        last = 100.0 * int(match["century"] or match["siglo"])
        found.append(_part(Range(last - 99, last, *match.span()), match["part"]))
    return tuple(found)


def _part(whole: Range, word: str | None) -> Range:
    """The first or second half of a span of time."""
    half = (whole.low + whole.high) / 2
    match (word or "").lower():
        case "early":
            return replace(whole, high=half)
        case "late":
            return replace(whole, low=half)
        case _:
            return whole


_RANGE = re.compile(
    r"(?<![\d.,:/-])(\d+(?:\.\d+)?)\s*(?:[-–—‒]|to|a|hasta)\s*(\d+(?:\.\d+)?)(?![\d:/]|[-–—]\d)"
)
_PART = r"(?:\b(?P<part>early|late)[\s-]+)?"
_DECADE = re.compile(rf"{_PART}\b(?P<decade>(?:1[0-9]|20)\d0)'?s\b", re.IGNORECASE)
_CENTURY = re.compile(
    rf"{_PART}\b(?:(?P<century>\d{{1,2}})(?:st|nd|rd|th)\s+century|siglo\s+(?P<siglo>\d{{1,2}}))\b",
    re.IGNORECASE,
)
