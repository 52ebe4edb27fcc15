"""Tokens of a sentence and the spans in it that can be asked for: numbers, money, dates, times, names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragstone.testset.vocabulary import NUMBER_WORDS, PLURALS, UNIT_STOPS

_TOKEN = re.compile(
    # a span of code and a_name are one word each, whatever stands in them
    r"``[^`\n]+``|`[^`\n]+`|(?=\w*[^\W_]_+[^\W_])[^\W\d_]\w*"
    # numbers with spaces between thousands, other numbers, words, signs
    r"|[$€£]?\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\d.,:]\d|\d)|[$€£]?\d+(?:[.,:]\d+)*(?:½|(?:st|nd|rd|th|s)\b)?|[^\W\d_]+(?:[-'’.](?=[^\W\d_]{2}|[ts]\b)[^\W\d_]+)*(?:['’]s)?|½|[^\w\s]"
)
_ASIDE = re.compile(r"\s*\([^()]*\)|\s*\[[^\[\]]*\]")
MONTH = {
    "en": "January|February|March|April|May|June|July|August|September|October|November|December",
    "es": "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
}
_YEAR = r"(?:1[0-9]\d\d|20[0-4]\d)"
_DATE = {
    "en": re.compile(
        rf"(?:(?:early|late|mid)[- ])?(?:\d{{1,2}} (?:{MONTH['en']})(?:,? {_YEAR})?"
        rf"|(?:{MONTH['en']}) \d{{1,2}}(?:st|nd|rd|th)?(?:,? {_YEAR})?\b|(?:{MONTH['en']})(?:,? {_YEAR})?\b"
        rf"|(?:the )?(?:early |late |mid-)?{_YEAR}s\b|{_YEAR}\b(?! [a-z]+s\b)|the (?:\d{{1,2}}th|[a-z]+th) century)"
    ),
    "es": re.compile(
        rf"(?:\d{{1,2}} de (?:{MONTH['es']})(?: de(?:l año)? {_YEAR})?|(?:{MONTH['es']}) de {_YEAR}"
        rf"|la década de {_YEAR}|(?:{MONTH['es']})\b|{_YEAR}\b|el siglo [XVI]+)"
    ),
}
_WEEKDAY = {
    "en": "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day",
    "es": "(?:lunes|martes|miércoles|jueves|viernes|sábados?|domingos?)",
}
_DAY = {
    "en": re.compile(
        rf"(?:every|each) (?:morning|evening|afternoon|night|day|week|month|year|weekday|{_WEEKDAY['en']})\b(?: and {_WEEKDAY['en']})?"
        rf"|{_WEEKDAY['en']}s?(?: (?:to|and) {_WEEKDAY['en']}s?)?\b|weekdays|weekends|public holidays"
        rf"|the (?:first|second|third|fourth|last|next) (?:working )?(?:day|morning|night|{_WEEKDAY['en']})\b(?: of (?:the month|[A-Z]\w+))?"
    ),
    "es": re.compile(
        rf"(?:cada (?:día|mañana|noche|semana|mes|año|{_WEEKDAY['es']})(?: de [a-z]+)?\b"
        rf"|(?:el (?:primer|segundo|tercer|último) |los |el )(?:{_WEEKDAY['es']}|fines de semana|festivos)\b(?: de (?:cada mes|mes|[a-z]+))?(?: y (?:los )?{_WEEKDAY['es']})?"
        rf"|todos los (?:días|años|meses|{_WEEKDAY['es']})\b)"
    ),
}
_CLOCK = r"\d{1,2}:\d{2}"
_MONEY = {
    "en": re.compile(
        r"(?:[$€£]\d[\d.,]*(?<![.,])(?: (?:million|billion))?"
        r"|\d[\d.,]*(?: (?:million|billion))? (?:euros?|cents?|dollars?|pounds)\b)"
    ),
    "es": re.compile(
        r"(?:[$€£]\d[\d.,]*(?<![.,])|\d[\d.,]*(?: (?:millones|mil millones) de)? (?:euros?|céntimos?|dólares|libras)\b)"
    ),
}
_PERCENT = re.compile(r"\d[\d.,]*\s?(?:%|percent\b|per cent\b|por ciento\b)")
_NUMBER = re.compile(r"\d+(?:[.,\s]\d+)*½?$")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign of a sentence with its offsets in it."""

    text: str
    lower: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """Whether it is letters or a span of code, not a number or a sign."""
        return self.text[0].isalpha() or (self.text[0] == "`" and len(self.text) > 2)

    @property
    def is_capital(self) -> bool:
        """Whether it starts with a capital letter."""
        return self.text[0].isupper()


@dataclass(frozen=True, slots=True)
class Span:
    """Tokens first ≤ i < last of a sentence that answer a question of this sort."""

    sort: str
    """`money`, `percent`, `clock`, `day`, `date` or `quantity`; reader.py says which answers what."""
    first: int
    last: int
    unit: str = ""
    """Of a quantity: what is counted (`working days`)."""


@lru_cache(maxsize=1024)
def split_tokens(sentence: str) -> tuple[Token, ...]:
    """The tokens, without what stands in brackets."""
    # What stands in brackets is never what a sentence says first; offsets stay those of the whole
    # sentence.
    asides = [match.span() for match in _ASIDE.finditer(sentence)]
    out = []
    for match in _TOKEN.finditer(sentence):
        start, end = match.span()
        if any(a <= start < b for a, b in asides):
            continue
        text = match.group()
        out.append(Token(text, text.lower(), start, end))
    return tuple(out)


def is_number(token: Token, language: str) -> bool:
    """Whether a token is a number: digits, or a number word other than `one`, which seldom counts anything."""
    return _NUMBER.match(token.text) is not None or token.lower in NUMBER_WORDS[language]


def _find_token_range(tokens: Sequence[Token], start: int, end: int) -> tuple[int, int] | None:
    """First token and the one after the last, of those whole inside these offsets; None when there are none."""
    inside = [n for n, token in enumerate(tokens) if token.start >= start and token.end <= end]
    return (inside[0], inside[-1] + 1) if inside else None


def find_spans(sentence: str, tokens: Sequence[Token], language: str) -> list[Span]:
    """Money, percentages, times, dates and quantities of a sentence; none overlaps another."""
    spans: list[Span] = []
    taken: set[int] = set()

    def add_span(sort: str, start: int, end: int) -> None:
        found = _find_token_range(tokens, start, end)
        if found is not None and not taken.intersection(range(*found)):
            taken.update(range(*found))
            spans.append(Span(sort, *found))

    # the most specific first: a span once taken is not taken again as a plain number
    for match in _MONEY[language].finditer(sentence):
        add_span("money", *match.span())
    for match in _PERCENT.finditer(sentence):
        add_span("percent", *match.span())
    for match in re.finditer(_CLOCK, sentence):
        add_span("clock", *match.span())
    for match in _DAY[language].finditer(sentence):
        add_span("day", *match.span())
    for match in _DATE[language].finditer(sentence):
        add_span("date", *match.span())
    for n, token in enumerate(tokens):
        if n in taken or not is_number(token, language):
            continue
        quantity = _find_quantity(tokens, n, language)
        if quantity is not None:
            taken.update(range(quantity.first, quantity.last))
            spans.append(quantity)
    return sorted(spans, key=lambda span: span.first)


def _find_quantity(tokens: Sequence[Token], at: int, language: str) -> Span | None:
    """A number with what it counts: `7 working days`, `96 puestos`."""
    first = _skip_number_words(tokens, at + 1, language)
    # in Spanish the noun comes first, in English after up to two adjectives
    most = 1 if language == "es" else 3
    for end, token in enumerate(tokens[first : first + most], first + 1):
        if not token.is_word or token.is_capital or token.lower in UNIT_STOPS[language]:
            return None
        if is_plural(token.lower, language):
            adjective = tokens[end].lower if language == "es" and end < len(tokens) else ""
            last = end + 1 if adjective and _is_adjective(adjective, token.lower) else end
            unit = " ".join(part.text for part in tokens[first:last])
            return Span("quantity", at, last, unit)
    return None


def _skip_number_words(tokens: Sequence[Token], at: int, language: str) -> int:
    """The token after the rest of a number: mil, millones de."""
    while at < len(tokens) and tokens[at].lower in NUMBER_WORDS[language]:
        at += 1
    is_counted = tokens[at - 1].lower in ("millones", "mil")
    if language == "es" and is_counted and at < len(tokens) and tokens[at].lower == "de":
        return at + 1
    return at


def _is_adjective(word: str, noun: str) -> bool:
    """Whether a Spanish word behind a noun belongs to it: by its ending, or because the two endings agree."""
    if word in UNIT_STOPS["es"] or word in NUMBER_WORDS["es"]:
        return False
    if len(word) > 4 and word[-2:] in ("as", "os") and word[-2:] == noun[-2:]:
        return True
    return bool(re.match(r"[^\W\d_]{3,}(?:bles|iles|ales|ivos|ivas)$", word))


def is_plural(word: str, language: str) -> bool:
    """Whether a word looks like a plural noun."""
    if word in PLURALS[language]:
        return True
    if language == "en":
        return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "ous"))
    return len(word) > 3 and word.endswith("s")
