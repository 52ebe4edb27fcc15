"""Read dates and times of day in any usual writing. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from typing import NamedTuple

from ragstone.text.quantities.numerals import Number, read_number, read_roman
from ragstone.text.quantities.quantity import MINUTES_PER_DAY, CalendarDate, Quantity
from ragstone.text.quantities.tokens import QuantityTokens

FIRST_YEAR, LAST_YEAR = 1000, 2099
"""Four digits in between are a year unless a unit or the like follows."""
PIVOT = 50
"""Two digits of a year from here on are of the twentieth century."""


class QuantityMatch(NamedTuple):
    """A quantity and the token after it."""

    quantity: Quantity
    end: int
    """Index of the first token after the quantity."""


def make_date(tokens: QuantityTokens, at: int, end: int, date: CalendarDate) -> QuantityMatch:
    return QuantityMatch(
        Quantity("date", tokens.spans[at][0], tokens.spans[end - 1][1], date=date), end
    )


def read_numeric_date(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    """Read 2003-06-11, 11.06.2003 and 6/11/2003; None for what is no date."""
    match = _NUMERIC_DATE.fullmatch(tokens.word(at))
    if not match:
        return None
    first, second, third = (int(part) for part in match.groups() if part)
    if match[1]:
        date = _check_date(first, second, third)
    else:
        year = third if third > 99 else third + (1900 if third >= PIVOT else 2000)
        # in English, 6/11 may have the month first
        slash = "/" in tokens.word(at) and not tokens.vocabulary.is_spanish
        day_first = _check_date(year, second, first)
        date = day_first or _check_date(year, first, second)
        if slash and day_first and first <= 12 and first != second:
            date = CalendarDate(day_first.years, day_first.month, day_first.day, ambiguous=True)
    return make_date(tokens, at, at + 1, date) if date else None


_NUMERIC_DATE = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})"
)


def _check_date(year: int, month: int, day: int) -> CalendarDate | None:
    return CalendarDate((year, year), month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def is_month(tokens: QuantityTokens, at: int, beside_number: bool = False) -> bool:
    """Whether the word is a month here: "May" needs a number or a preposition beside it."""
    vocabulary, word = tokens.vocabulary, tokens.word(at)
    if word not in vocabulary.months:
        return False
    if vocabulary.is_spanish:
        if word not in vocabulary.needs_context:
            return True
    elif not tokens.raw(at)[:1].isupper():
        return False
    elif (
        word not in vocabulary.needs_context or tokens.word(at - 1) in vocabulary.date_prepositions
    ):
        return True
    after = at + 2 if tokens.word(at + 1) == "the" else at + 1
    return beside_number or (
        tokens.word(after)[:1].isdecimal() and tokens.gap(at) in (" ", ". ", "-")
    )


def read_month(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    """Read a date that begins with its month: June 11th, 2003; junio de 2003; in May."""
    if not is_month(tokens, at):
        return None
    month = int(tokens.vocabulary.months[tokens.word(at)])
    end = at + 1
    day = _read_day(tokens, end)
    if day:
        value, end = day
        years, end = _read_year_after(tokens, end)
        return make_date(tokens, at, end, CalendarDate(years, month, value))
    years, end = _read_year_after(tokens, end)
    return make_date(tokens, at, end, CalendarDate(years, month))


def _read_day(tokens: QuantityTokens, at: int) -> tuple[int, int] | None:
    """A day of the month after its month, and the token after it."""
    if tokens.vocabulary.is_spanish or tokens.gap(at - 1) not in (" ", ". ", "-", "\u00a0", ""):
        return None
    if tokens.word(at) == "the":
        at += 1
    word = tokens.word(at)
    if word.isdecimal() and len(word) <= 2 and 1 <= int(word) <= 31:
        end = at + 1
        if tokens.word(end) in tokens.vocabulary.suffixes and tokens.gap(at) == "":
            end += 1
        is_clock = tokens.vocabulary.half_days.match(tokens.text, tokens.spans[at][1])
        return None if is_clock else (int(word), end)
    ordinal = read_ordinal(tokens, at)
    return (int(ordinal.value), ordinal.end) if ordinal and ordinal.value <= 31 else None


def _read_year_after(tokens: QuantityTokens, at: int) -> tuple[tuple[int, int] | None, int]:
    """The year after a day or a month, with the comma or preposition between; the token after it."""
    start = at
    if tokens.gap(at - 1) not in (" ", ", ", ". ", "-", "\u00a0", "., "):
        return None, start
    while tokens.word(at) in ("of", "de", "del", "año") and at < start + 3:
        at += 1
    word = tokens.word(at)
    if len(word) == 4 and word.isdecimal() and FIRST_YEAR <= int(word) <= LAST_YEAR:
        return (int(word), int(word)), at + 1
    return None, start


def read_day_first(tokens: QuantityTokens, at: int, day: float, end: int) -> QuantityMatch | None:
    """Read a date whose day was read already: 11 June 2003, 11 de junio de 2003, the third of May."""
    if day != int(day) or not 1 <= day <= 31:
        return None
    month_at = end
    if tokens.gap(end - 1) not in (" ", "-", "\u00a0", ". ", ""):
        return None
    while tokens.word(month_at) in ("of", "de", "del") and month_at < end + 2:
        month_at += 1
    if not is_month(tokens, month_at, beside_number=True):
        return None
    years, after = _read_year_after(tokens, month_at + 1)
    month = int(tokens.vocabulary.months[tokens.word(month_at)])
    return make_date(tokens, at, after, CalendarDate(years, month, int(day)))


def read_ordinal(tokens: QuantityTokens, at: int) -> Number | None:
    """Read 3rd, third, twenty-first, 3.º, tercero."""
    vocabulary, word = tokens.vocabulary, tokens.word(at)
    if word in vocabulary.ordinals:
        return Number(vocabulary.ordinals[word], 1.0, at + 1)
    number = read_number(tokens, at)
    if number is None or number.value != int(number.value):
        return None
    after = tokens.word(number.end)
    if word[0].isdecimal():
        glued = tokens.gap(number.end - 1) in (("", ".") if after in ("º", "ª") else ("",))
        is_suffix = after in vocabulary.suffixes and glued
        return Number(number.value, 1.0, number.end + 1) if is_suffix else None
    ones = vocabulary.ordinals.get(after, 0.0)
    if 0 < ones < 10 and number.value % 10 == 0 and tokens.gap(number.end - 1) == "-":
        return Number(number.value + ones, 1.0, number.end + 1)
    return None


def read_century(tokens: QuantityTokens, at: int, number: float, end: int) -> QuantityMatch | None:
    """Read a century whose number was read already, or a Spanish one whose noun comes first."""
    if not 1 <= number <= 21 or number != int(number):
        return None
    last = 100 * int(number)
    years = (last - 100, last)
    era = tokens.vocabulary.eras.match(tokens.text, tokens.spans[end - 1][1])
    if era:
        end = tokens.index_at(era.end(), end)
        if era["before"]:
            years = (-last, -last + 100)
    return make_date(tokens, at, end, CalendarDate(years))


def read_spanish_period(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    """Read "siglo XIX", "década de 1990", "años noventa"."""
    vocabulary = tokens.vocabulary
    if tokens.word(at) in vocabulary.centuries:
        roman = read_roman(tokens, at + 1) if tokens.word(at) != "s" else None
        number = read_number(tokens, at + 1) if tokens.word(at) != "s" else None
        if roman:
            return read_century(tokens, at, roman, at + 2)
        return read_century(tokens, at, number.value, number.end) if number else None
    after = at + 1
    while tokens.word(after) in ("de", "los", "años", "the") and after < at + 5:
        after += 1
    digits, decade = tokens.word(after), vocabulary.decades.get(tokens.word(after))
    if digits.isdecimal() and int(digits) % 10 == 0 and len(digits) in (2, 4):
        decade = int(digits) + (1900 if len(digits) == 2 else 0)
    if decade is None or not all(tokens.is_joined(n) for n in range(at, after)):
        return None
    return make_date(tokens, at, after + 1, CalendarDate((int(decade), int(decade) + 9)))


def read_decade(tokens: QuantityTokens, at: int, number: Number) -> QuantityMatch | None:
    """Read 1990s and 90s; 1800s are a century."""
    if tokens.word(number.end) != "s" or tokens.gap(number.end - 1) not in ("", "'", "’"):
        return None
    first = int(number.value)
    if first % 10 or not (first < 100 or FIRST_YEAR <= first <= LAST_YEAR):
        return None
    first += 1900 if first < 100 else 0
    return make_date(
        tokens, at, number.end + 1, CalendarDate((first, first + (99 if first % 100 == 0 else 9)))
    )


def read_year(tokens: QuantityTokens, at: int, number: Number) -> QuantityMatch | None:
    """Read a year of four digits, or any before or after Christ."""
    era = tokens.vocabulary.eras.match(tokens.text, tokens.spans[number.end - 1][1])
    if era and number.is_plain_digits:
        year = int(number.value) * (-1 if era["before"] else 1)
        end = tokens.index_at(era.end(), number.end)
        return make_date(tokens, at, end, CalendarDate((year, year)))
    if FIRST_YEAR <= number.value <= LAST_YEAR and number.value == int(number.value):
        written = number.is_plain_digits and tokens.spans[at][1] - tokens.spans[at][0] == 4
        if written or (not tokens.word(at)[0].isdecimal() and number.step == 1.0):
            return make_date(tokens, at, number.end, CalendarDate((int(number.value),) * 2))
    return None


def read_clock(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    """Read 14:00, 2:30 pm, 20:0 (a record's way)."""
    parts = tokens.word(at).split(":")
    hour, minute = int(parts[0]), int(parts[1])
    if hour > 24 or minute > 59:
        return None
    known = hour > 12 or hour == 0 or (len(parts[0]) == 2 and hour < 10)
    return read_half_day(tokens, at, 60 * hour + minute, at + 1) or make_time(
        tokens, at, at + 1, 60 * hour + minute, known or tokens.vocabulary.is_spanish
    )


def make_time(
    tokens: QuantityTokens, at: int, end: int, minutes: float, known: bool = True
) -> QuantityMatch:
    """Make a time of day; `known` says whether it is clear which half of the day is meant."""
    start = tokens.spans[at][0]
    quantity = Quantity(
        "time", start, tokens.spans[end - 1][1], minutes, minutes, half_day_known=known
    )
    return QuantityMatch(quantity, end)


def to_minutes(hour: Number) -> float:
    """The minutes of an hour; after a point two digits are minutes: 9.45 pm."""
    minute = round(100 * (hour.value % 1))
    return 60 * int(hour.value) + minute if hour.step == 0.01 and minute < 60 else 60 * hour.value


def read_half_day(
    tokens: QuantityTokens, at: int, minutes: float, end: int
) -> QuantityMatch | None:
    """Read "pm", "o'clock" or "de la tarde" after an hour."""
    match = tokens.vocabulary.half_days.match(tokens.text, tokens.spans[end - 1][1])
    if not match or minutes >= 13 * 60:
        return None
    if match["sharp"] and not match["more"]:
        known, late = False, False
    else:
        known, late = True, bool(match["pm"] or (match["sharp"] and not match["am2"]))
        minutes = minutes % 720 + (720 if late else 0)
    return make_time(tokens, at, tokens.index_at(match.end(), end), minutes, known)


def read_spoken_time(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    """Read "half past two", "quarter to three", "las dos y media", "a las 9"."""
    if tokens.vocabulary.is_spanish:
        return _read_spanish_time(tokens, at)
    minutes = 30.0 if tokens.word(at) == "half" else 15.0 if tokens.word(at) == "quarter" else None
    end = at + 1
    if minutes is None:
        number = read_number(tokens, at)
        if number is None or not 1 <= number.value < 60:
            return None
        minutes, end = number.value, number.end
    sign = {"past": 1, "to": -1}.get(tokens.word(end))
    if sign is None or (sign < 0 and tokens.word(at) != "quarter"):
        return None
    named = tokens.vocabulary.clock_words.get(tokens.word(end + 1))
    if named is not None:
        return make_time(tokens, at, end + 2, (60 * named + sign * minutes) % MINUTES_PER_DAY)
    hour = read_number(tokens, end + 1)
    if hour is None or not 1 <= hour.value <= 12:
        return None
    total = 60 * hour.value + sign * minutes
    return read_half_day(tokens, at, total, hour.end) or make_time(
        tokens, at, hour.end, total, False
    )


def _read_spanish_time(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    if tokens.word(at - 1) not in ("las", "la"):
        return None
    hour = read_number(tokens, at)
    if hour is None or not 1 <= hour.value <= 24:
        return None
    minutes, end = 60 * hour.value, hour.end
    if hour.value % 1 == 0 and tokens.word(end) in ("y", "menos"):
        sign = 1 if tokens.word(end) == "y" else -1
        part, after = _read_spanish_minutes(tokens, end + 1)
        if part:
            minutes, end = minutes + sign * part, after
    half_day = read_half_day(tokens, at, minutes, end)
    if half_day:
        return half_day
    if tokens.word(end) in ("h", "hs", "horas"):
        return make_time(tokens, at, end + 1, minutes)
    has_minutes = end > hour.end or hour.value % 1
    closed = tokens.word(at - 2) in ("a", "hasta", "desde") and not tokens.is_noun_after(end)
    return make_time(tokens, at, end, minutes, hour.value > 12) if has_minutes or closed else None


def _read_spanish_minutes(tokens: QuantityTokens, at: int) -> tuple[float, int]:
    """The minutes after "las cinco y", 0 for none; and the token after them."""
    part = {"media": 30.0, "cuarto": 15.0}.get(tokens.word(at))
    if part:
        return part, at + 1
    number = read_number(tokens, at)
    if number is None or not 1 <= number.value < 60 or tokens.is_noun_after(number.end):
        return 0.0, at
    return number.value, number.end
