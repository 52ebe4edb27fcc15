"""Read a number at a token: digits, words, or both (2.5 million, three and a half, cuarenta mil). Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ragstone.text.clause_words import to_word_set
from ragstone.text.quantities.tokens import QuantityTokens
from ragstone.text.quantities.vocabulary import ROMANS, VULGAR

_AFTER_DIGITS = frozenset({"k", "m", "b", "mn", "mm", "bn", "tn"})
"""Scales that are other words or units elsewhere."""


class Number(NamedTuple):
    """A number, the weight of its last digit and the token after it."""

    value: float
    step: float
    end: int
    is_plain_digits: bool = False
    """Whether it is written in digits alone, without any mark: it may be a year."""


def read_number(tokens: QuantityTokens, at: int, is_money: bool = False) -> Number | None:
    """Read the number that starts at a token."""
    word = tokens.word(at)
    if not word:
        return None
    if word in VULGAR:
        return Number(VULGAR[word], 0.01, at + 1)
    if word[0].isdecimal():
        parsed = parse_digits(word, tokens.vocabulary.is_spanish)
        if parsed is None:
            return None
        number = Number(*parsed, at + 1, word.isdecimal())
        return _add_half(tokens, _scale_digits(tokens, number, is_money))
    number_in_words = _read_words(tokens, at)
    return _add_half(tokens, number_in_words) if number_in_words else None


@lru_cache(maxsize=4096)
def parse_digits(raw: str, is_spanish: bool) -> tuple[float, float] | None:
    """Value and weight of the last digit; None for what is no number, as a version: 3.11.2."""
    digits = raw.replace("\u00a0", " ").replace("\u202f", " ")
    if _COMMA_THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "").replace(" ", "")
    elif _DOT_THOUSANDS.fullmatch(digits) and (is_spanish or digits.count(".") > 1):
        digits = digits.replace(".", "").replace(" ", "").replace(",", ".")
    elif is_spanish and _DECIMAL_COMMA.fullmatch(digits):
        digits = digits.replace(",", ".")
    if len(digits) > 25 or not _PLAIN.fullmatch(digits):
        return None
    _, _, decimals = digits.partition(".")
    return float(digits), 10.0 ** -len(decimals)


_COMMA_THOUSANDS = re.compile(r"\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?")
_DOT_THOUSANDS = re.compile(r"\d{1,3}(?:[. ]\d{3})+(?:,\d+)?")
_DECIMAL_COMMA = re.compile(r"\d+,\d+")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")


def _scale_digits(tokens: QuantityTokens, number: Number, is_money: bool) -> Number:
    """Multiply by the words after the digits: 2.5 million, 40 mil, 5k."""
    value, step, at, plain = number
    if tokens.word(at) in VULGAR and tokens.gap(at - 1) in ("", " "):
        return Number(value + VULGAR[tokens.word(at)], 0.01, at + 1)
    fraction = _MIXED.fullmatch(tokens.word(at))
    if fraction and tokens.gap(at - 1) == " " and int(fraction[1]) < int(fraction[2]) <= 16:
        return Number(value + int(fraction[1]) / int(fraction[2]), 0.01, at + 1)
    while tokens.is_joined(at - 1):
        word = tokens.word(at)
        factor = tokens.vocabulary.scales.get(word)
        if factor is None:
            break
        if word in _AFTER_DIGITS and not _is_scale_letter(tokens, at, is_money):
            break
        value, step, at, plain = value * factor, step * factor, at + 1, False
    return Number(value, step, at, plain)


_MIXED = re.compile(r"(\d{1,2})/(\d{1,2})")


def _is_scale_letter(tokens: QuantityTokens, at: int, is_money: bool) -> bool:
    if tokens.word(at) in ("mn", "bn", "tn"):
        return True
    if is_money:
        return tokens.gap(at - 1) in ("", " ")
    return tokens.gap(at - 1) == "" and (tokens.word(at) == "k" or tokens.raw(at) in ("M", "B"))


def _read_words(tokens: QuantityTokens, at: int) -> Number | None:
    """Add up number words: two hundred and five, mil novecientos noventa y nueve, nineteen ninety-nine."""
    vocabulary, parts, start = tokens.vocabulary, _WordSum(), at
    while at == start or tokens.is_joined(at - 1):
        word = tokens.word(at)
        is_first = not parts.has_words
        if word in vocabulary.cardinals:
            if not parts.add(vocabulary.cardinals[word]):
                break
        elif word in vocabulary.scales and word not in _AFTER_DIGITS:
            if is_first and word != "mil":
                break
            parts.multiply(vocabulary.scales[word])
        elif is_first or not _continues(tokens, at, parts.current):
            break
        at += 1
    return Number(parts.value, parts.step, at) if parts.has_words else None


@dataclass(slots=True)
class _WordSum:
    """Number words while they are added up."""

    total: float = 0.0
    """What thousands and millions have multiplied."""
    current: float = 0.0
    """What was added since."""
    scale: float = 1.0
    has_words: bool = False

    @property
    def value(self) -> float:
        return self.total + self.current

    @property
    def step(self) -> float:
        return self.scale if self.total or self.current >= 100 else 1.0

    def add(self, value: float) -> bool:
        """Add a cardinal, and whether it goes on with the same number."""
        if self._fits(value):
            self.current += value
            self.scale = 1.0
        elif 13 <= self.current <= 20 and value >= 10 and not self.total:
            self.current = 100 * self.current + value  # nineteen ninety
        else:
            return False
        self.has_words = True
        return True

    def multiply(self, factor: float) -> None:
        if factor == 100:
            self.current, self.scale = (self.current or 1) * 100, 1.0
        elif 0 < self.total < factor:  # mil millones
            self.total, self.current, self.scale = self.value * factor, 0.0, factor
        else:
            self.total += (self.current or 1) * factor
            self.current, self.scale = 0.0, factor
        self.has_words = True

    def _fits(self, value: float) -> bool:
        """Whether a number word can be added to what was read: twenty + five, not five + twenty."""
        if not self.has_words or self.current == 0:
            return True
        tens = self.current % 100
        if value < 10:
            return value > 0 and (tens == 0 or (tens % 10 == 0 and tens >= 20))
        return value < 100 <= self.current and tens == 0


def _continues(tokens: QuantityTokens, at: int, current: float) -> bool:
    """Whether "and" goes on with the same number: after hundreds, in Spanish after tens."""
    after = tokens.vocabulary.cardinals.get(tokens.word(at + 1))
    if tokens.word(at) not in tokens.vocabulary.joins or after is None or not tokens.is_joined(at):
        return False
    if tokens.vocabulary.is_spanish:
        return 0 < after < 10 and current % 100 >= 30 and current % 10 == 0
    return 0 < after < 100 and current % 100 == 0 and tokens.word(at - 1) in ("hundred", "thousand")


def _add_half(tokens: QuantityTokens, number: Number) -> Number:
    """Add "and a half", "y medio" after a number; a scale after it multiplies both: two and a half million."""
    after = read_half(tokens, number.end)
    if after == number.end:
        return number
    factor = tokens.vocabulary.scales.get(tokens.word(after), 0.0)
    if factor and tokens.is_joined(after - 1) and tokens.word(after) not in _AFTER_DIGITS:
        return Number((number.value + 0.5) * factor, 0.1 * factor, after + 1)
    unit = 10 ** (len(str(int(number.step))) - 1) if number.step >= 1000 else 1
    return Number(number.value + 0.5 * unit, 0.1 * unit, after)


def read_half(tokens: QuantityTokens, at: int) -> int:
    """The token after "and a half" or "y medio"; `at` where there is none."""
    vocabulary = tokens.vocabulary
    if tokens.word(at) not in vocabulary.joins or not tokens.is_joined(at - 1):
        return at
    after = at + 2 if tokens.word(at + 1) in vocabulary.articles else at + 1
    if tokens.word(after) in vocabulary.halves and tokens.word(after) != "mitad":
        return after + 1
    return at


def read_roman(tokens: QuantityTokens, at: int) -> int | None:
    """The number of a numeral in capitals after a name or the word that it counts: Felipe II, part IV."""
    value = ROMANS.get(tokens.word(at))
    before = tokens.raw(at - 1)
    if value is None or not tokens.raw(at).isupper():
        return None
    if len(tokens.raw(at)) > 1 and tokens.raw(at + 1)[:1].isupper() and tokens.gap(at) == " ":
        return value  # la II Guerra Mundial
    if tokens.gap(at - 1) not in (" ", "\u00a0"):
        return None
    if before.lower() in _NUMBERED:
        return value
    if value == 1 and not tokens.vocabulary.is_spanish:
        return None
    return value if before[:1].isupper() and before.isalpha() and len(before) > 2 else None


_NUMBERED = to_word_set(
    "siglo siglos century part parte volume tomo chapter capítulo phase fase type tipo title título"
    " class clase war"
)
