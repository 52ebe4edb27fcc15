"""Read what stands after a number: its unit, or the whole that it is a share of. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re

from ragstone.text.quantities.moments import QuantityMatch
from ragstone.text.quantities.numerals import Number, read_number
from ragstone.text.quantities.quantity import Quantity
from ragstone.text.quantities.tokens import QuantityTokens
from ragstone.text.quantities.units import LONGEST_UNIT, SYMBOLS, UNIT_STARTS, UNITS, Unit

SHARE_TOLERANCE = 0.01
"""How far two thirds and 66 % may differ."""
MAX_WHOLE = 1000
"""Largest whole of a share: one in 5,000 is a rate, and 3 in 1998 a date."""


def read_share(tokens: QuantityTokens, at: int, number: Number) -> QuantityMatch | None:
    """Read two thirds, tres cuartas partes, one in five, uno de cada diez."""
    fraction, end = _read_fraction(tokens, number)
    if fraction:
        unit, after = read_parted_unit(tokens, end)
        if unit:  # three quarters of an hour
            return make_amount(tokens, at, after, number.value * fraction, SHARE_TOLERANCE, unit)
        return make_amount(
            tokens, at, end, number.value * fraction, SHARE_TOLERANCE, Unit("share", 1)
        )
    whole_at = _find_whole(tokens, number)
    whole = read_number(tokens, whole_at) if whole_at is not None else None
    if (
        whole
        and number.value < whole.value <= MAX_WHOLE
        and not read_unit(tokens, whole.end, True)[0]
    ):
        share = number.value / whole.value
        return make_amount(tokens, at, whole.end, share, SHARE_TOLERANCE, Unit("share", 1))
    return None


def _read_fraction(tokens: QuantityTokens, number: Number) -> tuple[float, int]:
    """The part that a noun after a number names, 0 for none; and the token after it."""
    vocabulary, end = tokens.vocabulary, number.end
    word = tokens.word(end)
    is_ordinal = word in vocabulary.ordinals and number.value != 1
    if word in vocabulary.fractions and tokens.is_joined(end - 1) and not is_ordinal:
        return vocabulary.fractions[word], end + 1
    if vocabulary.is_spanish and tokens.word(end + 1) == "partes":
        return vocabulary.fractions.get(word.removesuffix("s"), 0.0), end + 2
    return 0.0, end


def read_parted_unit(tokens: QuantityTokens, at: int) -> tuple[Unit | None, int]:
    """The unit after "of", of which a fraction is a measure and no share: a quarter of an hour, un cuarto de litro."""
    if tokens.word(at) not in ("of", "de"):
        return None, at
    after = at + 2 if tokens.word(at + 1) in ("a", "an") else at + 1
    if not all(tokens.is_joined(n) for n in range(at - 1, after)):
        return None, at
    unit, end = read_unit(tokens, after, False)
    return (unit, end) if unit and unit.base in PARTED_UNITS else (None, at)


PARTED_UNITS = frozenset({"s", "month", "l", "g", "m"})
"""Base units that are named by their parts."""


def _find_whole(tokens: QuantityTokens, number: Number) -> int | None:
    """Where the five of "one in five" stands."""
    end = number.end
    words = tuple(tokens.word(end + step) for step in range(3))
    if words[:2] == ("de", "cada"):
        return end + 2
    if words[0] == "in" and number.value == 1:  # two in five minutes is no share
        return end + 1
    return end + 3 if words == ("out", "of", "every") else None


def read_unit(tokens: QuantityTokens, at: int, after_number: bool) -> tuple[Unit | None, int]:
    """The unit at a token and the token after it; after a number an adjective may stand before it."""
    start = at
    if tokens.gap(at - 1) not in ("", " ", "-", "\u00a0", "\u202f", " (", "‑"):
        return None, at
    if after_number and tokens.word(at) in ("de", "of") and tokens.is_joined(at):
        at += 1  # cinco millones de euros
    unit, end = _match_unit_name(tokens, at)
    raw = tokens.raw(at)
    if unit is None and raw in SYMBOLS and tokens.gap(at) != "'":
        return SYMBOLS[raw], at + 1
    if unit is None and after_number and _is_qualifier(tokens, at):
        unit, end = _match_unit_name(tokens, at + 1)
    return (unit, end) if unit else (None, start)


def _match_unit_name(tokens: QuantityTokens, at: int) -> tuple[Unit | None, int]:
    """The longest name of a unit that starts at a token, and the token after it."""
    if tokens.word(at) not in UNIT_STARTS:
        return None, at
    for end in range(min(at + LONGEST_UNIT, len(tokens.words)), at, -1):
        phrase = tokens.text[tokens.spans[at][0] : tokens.spans[end - 1][1]]
        unit = UNITS.get(_SPACES.sub(" ", phrase.lower()))
        if unit:
            return unit, end
    return None, at


_SPACES = re.compile(r"[\s\u00a0-]+")


def _is_qualifier(tokens: QuantityTokens, at: int) -> bool:
    """Whether a word may stand between a number and its unit: five business days."""
    is_joined = tokens.is_joined(at) and tokens.is_joined(at - 1)
    return is_joined and tokens.word(at) in tokens.vocabulary.qualifiers


def make_amount(
    tokens: QuantityTokens, at: int, end: int, value: float, step: float, unit: Unit | None
) -> QuantityMatch:
    """The number, share or measure of a value; a temperature may be below zero."""
    start, stop = tokens.spans[at][0], tokens.spans[end - 1][1]
    if unit is None:
        counts = tokens.is_noun_after(end)
        return QuantityMatch(
            Quantity("number", start, stop, value, value, step=step, has_counted_noun=counts), end
        )
    if unit.base == "share":
        value, step = value * unit.factor, step * unit.factor
        return QuantityMatch(Quantity("share", start, stop, value, value, step=step), end)
    if unit.base.startswith("°"):
        below = _BELOW_ZERO.match(tokens.text, stop)
        end = tokens.index_at(below.end(), end) if below else end
        if below or _MINUS.search(tokens.text[max(start - 6, 0) : start]):
            value = -value
    low = value * unit.factor
    quantity = Quantity(
        "measure", start, stop, low, low, unit.base, unit.factor, step * unit.factor
    )
    return QuantityMatch(quantity, end)


_BELOW_ZERO = re.compile(r"\s(?:below (?:zero|freezing)|bajo cero)\b", re.IGNORECASE)
_MINUS = re.compile(r"(?:(?:^|[\s(])[-−–]|\bminus |\bmenos )$", re.IGNORECASE)
