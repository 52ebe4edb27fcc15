"""What a quantity says, apart from how it is written, and when one says what another does. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ragstone.text.quantities.units import CURRENCIES, TIME_SPANS, convert

Kind = Literal["number", "measure", "share", "ordinal", "date", "time"]

ROUNDING = 0.02
"""Largest relative difference between a figure and its rounding: 2.5 million is 2,487,000, 5 is not 4.6."""
APPROXIMATION = 0.05
"""The same where the writer says "about"."""
MINUTES_PER_DAY = 24 * 60
MONTH_SECONDS, MONTH_ROUNDING = 30.4 * 86400, 0.1
"""A month in days is not exact: 30 days may be a month."""


@dataclass(frozen=True, slots=True)
class CalendarDate:
    """A calendar date; what the text leaves open is None."""

    years: tuple[int, int] | None = None
    """First and last year: equal for a year, apart for a decade or a century; negative before Christ."""
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    """1 is Monday."""
    ambiguous: bool = False
    """Whether day and month may be the other way round: 03/04/2005 in English."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity and where it stands in its text."""

    kind: Kind
    start: int
    end: int
    low: float = 0.0
    """Lowest value, in base units; equal to `high` unless it is a range. A time of day is in minutes, a share is a part of 1."""
    high: float = 0.0
    unit: str = ""
    """Base unit, empty when none is named: `km` and `m` are both `m`, `weeks` are `s`."""
    factor: float = 1.0
    """Base units in one of the unit as written: 1000 for km."""
    step: float = 0.0
    """Weight of the last written digit: 0.1 for 2.5, 100,000 for 2.5 million."""
    bound: str = ""
    """`about`, `over`, `at_least`, `under` or `at_most`; empty for an exact one."""
    is_denied: bool = False
    """Whether the bound comes of a denial: not exceeding 40."""
    date: CalendarDate | None = None
    has_counted_noun: bool = False
    """Whether a noun follows that is no unit: 5 dogs."""
    indefinite: bool = False
    """Whether the number is an article: a week."""
    rate: str = ""
    """The time that it is for, as base unit and how many: `month 1` of 500 euros a month; empty for none."""
    half_day_known: bool = True
    """False for a time of day that may be before or after noon: two o'clock."""

    @property
    def value(self) -> float:
        """The number, or the middle of a range."""
        return self.low if self.low == self.high else (self.low + self.high) / 2

    @property
    def is_range(self) -> bool:
        return self.low != self.high


def matches(claim: Quantity, source: Quantity) -> bool:
    """Whether the source says what the claim says; a claim may say less: 1937 for May 27, 1937."""
    if claim.kind == "time" or source.kind == "time":
        return claim.kind == source.kind and _is_same_time(claim, source)
    if claim.date and source.date:
        return any(_is_date_within(claim.date, date) for date in _list_possible_dates(source.date))
    if claim.date or source.date:
        return _is_bare_year(claim) and _is_bare_year(source) and _year(claim) == _year(source)
    if claim.rate and source.rate and claim.rate != source.rate:
        return False
    limits = _convert_limits(source, claim)
    return limits is not None and _is_within(claim, source, *limits)


def differs(claim: Quantity, source: Quantity) -> bool:
    """Whether both speak of the same kind of thing and cannot both be right."""
    if "time" in (claim.kind, source.kind):
        return claim.kind == source.kind and not _is_same_time(claim, source)
    if claim.date and source.date:
        return _are_dates_comparable(claim.date, source.date) and not any(
            _overlap(claim.date, date) for date in _list_possible_dates(source.date)
        )
    if claim.date or source.date or matches(claim, source):
        return False
    if claim.kind == "measure" and source.kind == "number" and not source.has_counted_noun:
        return True  # the first takes six minutes, the second fifteen
    return claim.kind == source.kind and _differ_in_amount(claim, source)


def _differ_in_amount(claim: Quantity, source: Quantity) -> bool:
    """Whether two figures of one kind exclude each other: by what they are for, their unit or their value."""
    if claim.rate and source.rate and claim.rate != source.rate:
        return True
    if claim.unit != source.unit and convert(1, source.unit, claim.unit) is None:
        return _is_same_sort(claim, source) and not _is_about_as_long(claim, source)
    if _BOUND_DIRECTION.get(claim.bound, 0) * _BOUND_DIRECTION.get(source.bound, 0) > 0:
        return True  # at least 12 and at least 16
    limits = _convert_limits(source, claim)
    if limits is None:
        return False
    if _are_opposed(claim, source) and abs(claim.value - sum(limits) / 2) <= ROUNDING * abs(
        claim.value
    ):
        return True
    low, high = _interval(claim)
    other_low, other_high = _interval(source, *limits)
    return other_low > high or other_high < low


def _are_opposed(claim: Quantity, source: Quantity) -> bool:
    """Whether the bounds of one value exclude each other: at least 5 and at most 5."""
    return _BOUND_DIRECTION.get(claim.bound, 0) * _BOUND_DIRECTION.get(source.bound, 0) < 0


def is_comparable(claim: Quantity, source: Quantity) -> bool:
    """Whether both are of the same sort: two times of day, two dates, two lengths."""
    if "time" in (claim.kind, source.kind):
        return claim.kind == source.kind
    if claim.date and source.date:
        return _are_dates_comparable(claim.date, source.date)
    if claim.date or source.date:
        return matches(claim, source)
    return _convert_limits(source, claim) is not None or _is_same_sort(claim, source)


def _is_same_sort(claim: Quantity, source: Quantity) -> bool:
    """Whether both are amounts of money, or both spans of time, in units that no fixed factor joins."""
    return any({claim.unit, source.unit} <= sort for sort in (CURRENCIES, TIME_SPANS))


_BOUND_DIRECTION = {"over": 1, "at_least": 1, "under": -1, "at_most": -1}


def _is_about_as_long(claim: Quantity, source: Quantity) -> bool:
    """Whether days and months may be the same time: 30 days, a month."""
    if claim.unit not in TIME_SPANS or source.unit not in TIME_SPANS:
        return False
    claim_value, source_value = (
        quantity.value * (MONTH_SECONDS if quantity.unit == "month" else 1)
        for quantity in (claim, source)
    )
    return abs(claim_value - source_value) <= MONTH_ROUNDING * max(claim_value, source_value)


def _is_same_time(claim: Quantity, source: Quantity) -> bool:
    apart = abs(claim.value - source.value)
    if claim.half_day_known and source.half_day_known:
        return apart < 1
    return apart % (MINUTES_PER_DAY // 2) < 1


def _list_possible_dates(date: CalendarDate) -> tuple[CalendarDate, ...]:
    if not date.ambiguous:
        return (date,)
    return date, CalendarDate(date.years, date.day, date.month)


def _is_date_within(claim: CalendarDate, source: CalendarDate) -> bool:
    """Whether everything that the claim says of the date stands in the source."""
    if claim.ambiguous:
        return any(
            _is_date_within(CalendarDate(c.years, c.month, c.day), source)
            for c in _list_possible_dates(claim)
        )
    if claim.years and not (
        source.years and claim.years[0] <= source.years[0] and source.years[1] <= claim.years[1]
    ):
        return False
    return all(
        claim_value is None or claim_value == source_value
        for claim_value, source_value in (
            (claim.month, source.month),
            (claim.day, source.day),
            (claim.weekday, source.weekday),
        )
    )


def _are_dates_comparable(claim: CalendarDate, source: CalendarDate) -> bool:
    """Whether both name a year, or a month, or a weekday."""
    return bool(
        (claim.years and source.years)
        or (claim.month and source.month)
        or (claim.weekday and source.weekday)
    )


def _overlap(one: CalendarDate, other: CalendarDate) -> bool:
    if (
        one.years
        and other.years
        and not (one.years[0] <= other.years[1] and other.years[0] <= one.years[1])
    ):
        return False
    pairs = ((one.month, other.month), (one.day, other.day), (one.weekday, other.weekday))
    return all(
        claim_value is None or source_value is None or claim_value == source_value
        for claim_value, source_value in pairs
    )


def _is_bare_year(quantity: Quantity) -> bool:
    """Whether the quantity is four digits that may be a year or a number: 2000 people."""
    if quantity.date:
        date = quantity.date
        return bool(date.years) and not (date.month or date.day or date.weekday)
    return quantity.kind == "number" and not quantity.is_range


def _year(quantity: Quantity) -> float:
    if quantity.date and quantity.date.years:
        low, high = quantity.date.years
        return low if low == high else -1.0
    return quantity.value


def _convert_limits(source: Quantity, claim: Quantity) -> tuple[float, float] | None:
    """The source's lowest and highest value in the claim's unit; None where the two are of different sorts."""
    if claim.unit == source.unit and claim.kind == source.kind:
        return source.low, source.high
    bare = next((q for q in (claim, source) if q.kind == "number" and not q.has_counted_noun), None)
    if bare is not None and "share" not in (claim.kind, source.kind):
        # a figure without a unit is compared with the digits of the other one
        scale = claim.factor / source.factor
        return source.low * scale, source.high * scale
    if claim.kind == source.kind == "measure":
        low = convert(source.low, source.unit, claim.unit)
        high = convert(source.high, source.unit, claim.unit)
        return None if low is None or high is None else (low, high)
    return None


def _interval(
    quantity: Quantity, low: float | None = None, high: float | None = None
) -> tuple[float, float]:
    """From where to where the value may lie."""
    low = quantity.low if low is None else low
    high = quantity.high if high is None else high
    slack = 1e-9 * max(abs(low), 1.0)
    match quantity.bound:
        case "over":
            return high + slack, float("inf")
        case "at_least":
            return low - slack, float("inf")
        case "under":
            return float("-inf"), low - slack
        case "at_most":
            return float("-inf"), high + slack
        case "about":
            wide = max(APPROXIMATION * abs(low), slack)
            return low - wide, high + wide
    wide = max(min(quantity.step / 2, ROUNDING * abs(low)), slack)
    return low - wide, high + wide


def _is_within(claim: Quantity, source: Quantity, low: float, high: float) -> bool:
    claim_value = _interval(claim)
    if claim.bound in ("", "about"):
        # a claim may leave out the source's "about" or "more than", not the other end of a range
        return claim_value[0] <= low and high <= claim_value[1]
    if claim.bound in ("at_most", "at_least") and source.bound in ("", "about"):
        # 40 is more than 30, but who says "up to 50" of 40 says another number
        return abs(claim.value - (low + high) / 2) <= ROUNDING * max(abs(low), 1e-9)
    source_value = (
        _interval(source, low, high) if source.bound not in ("", "about") else (low, high)
    )
    if _BOUND_DIRECTION.get(claim.bound, 0) * _BOUND_DIRECTION.get(source.bound, 0) > 0:
        # who is under 6 is under 10, and yet what holds for children under 6 need not hold for those under 10
        return abs(claim.low - low) <= ROUNDING * max(abs(low), 1e-9)
    return claim_value[0] <= source_value[0] and source_value[1] <= claim_value[1]
