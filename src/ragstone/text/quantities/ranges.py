"""Join two quantities that are the ends of a range: 5-7 days, between 5 and 7, del 3 al 5 de junio. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ragstone.text.quantities.moments import LAST_YEAR, QuantityMatch
from ragstone.text.quantities.quantity import CalendarDate, Quantity
from ragstone.text.quantities.tokens import QuantityTokens

_DASHES = frozenset({"-", "–", "—", "‒", "−"})


def join_range(
    tokens: QuantityTokens,
    at: int,
    first: QuantityMatch,
    read: Callable[[QuantityTokens, int], QuantityMatch | None],
) -> tuple[list[Quantity], int]:
    """The range that begins with a quantity, or the quantity alone; and the token after it.

    `read` reads the second quantity: it is in `scan`, which imports this module. The ends of a time span are two quantities: what lasted from 1914 to 1918 began in 1914."""
    second_at = _find_second(tokens, at, first)
    second = read(tokens, second_at) if second_at is not None else None
    if second is None:
        return [first.quantity], first.end
    for join in (_join_days, _join_times, _join_years, _join_amounts):
        joined = join(first.quantity, second.quantity)
        if joined:
            return joined, second.end
    return [first.quantity], first.end


def _join_days(low: Quantity, high: Quantity) -> list[Quantity]:
    """Two days of which one has the month and the year of both: 3-5 June, June 3-5."""
    if low.kind == "number" and high.date and high.date.day and _is_day(low):
        return [_to_day(low, high.date), high]
    if low.date and low.date.day and high.kind == "number" and _is_day(high):
        return [low, _to_day(high, low.date)]
    return []


def _to_day(number: Quantity, other: CalendarDate) -> Quantity:
    return replace(
        number, kind="date", date=CalendarDate(other.years, other.month, int(number.value))
    )


def _join_times(low: Quantity, high: Quantity) -> list[Quantity]:
    may_be_hour = low.kind == "time" or (low.kind == "number" and low.value <= 12)
    return [_to_first_time(low, high), high] if high.kind == "time" and may_be_hour else []


def _join_years(low: Quantity, high: Quantity) -> list[Quantity]:
    """A year and the last two digits of another: 1914-18."""
    years = low.date.years if low.date and not low.date.month else None
    if not years or high.kind != "number" or not 0 < high.value < 100:
        return []
    first = years[0]
    last = first // 100 * 100 + int(high.value)
    if not first < last <= LAST_YEAR:
        return []
    return [low, replace(high, kind="date", date=CalendarDate((last, last)))]


def _join_amounts(low: Quantity, high: Quantity) -> list[Quantity]:
    """One quantity with two ends; the first takes over the unit of the second: 5-7 days."""
    if low.kind == "number" and high.kind in ("measure", "share"):
        factor = high.factor if high.kind == "measure" else 0.01
        low = replace(
            low, low=low.low * factor, high=low.high * factor, kind=high.kind, unit=high.unit
        )
    if low.kind != high.kind or low.unit != high.unit or low.date or low.low >= high.low:
        return []
    return [replace(high, start=low.start, low=low.low, step=max(low.step, high.step))]


def _find_second(tokens: QuantityTokens, at: int, first: QuantityMatch) -> int | None:
    """Where the other end may start."""
    end, vocabulary = first.end, tokens.vocabulary
    if tokens.gap(end - 1).strip() in _DASHES:
        return end
    word = tokens.word(end)
    if not tokens.gap(end - 1).isspace():
        return None
    is_between = tokens.word(at - 1) == vocabulary.between or (
        tokens.word(at - 2) == vocabulary.between and tokens.word(at - 1) in ("las", "el", "los")
    )
    if word not in vocabulary.to and not (is_between and word in vocabulary.joins):
        return None
    after = end + 1
    while tokens.word(after) in ("las", "el", "los", "the") and after < end + 3:
        after += 1
    return after


def _is_day(quantity: Quantity) -> bool:
    return 1 <= quantity.value <= 31 and quantity.value == int(quantity.value)


def _to_first_time(low: Quantity, high: Quantity) -> Quantity:
    """The hour before "to 5 pm": in the same half of the day unless it would come after."""
    if low.kind == "time" and low.half_day_known:
        return low
    minutes = low.value if low.kind == "time" else 60 * low.value
    if high.half_day_known and minutes < 720 <= high.value and minutes + 720 < high.value:
        minutes += 720
    return replace(
        low, kind="time", low=minutes, high=minutes, half_day_known=high.half_day_known, step=0.0
    )
