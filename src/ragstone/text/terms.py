"""Words as retrieval compares them: folded, stemmed by language, without those that carry nothing."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

_ENGLISH = """
a about after all also am an and any are as at be because been before being between both but by can could
did do does doing down during each else few for from had has have having he her here hers him his how i if in
into is it its just may me might more most must my no nor not of off on once one only or other our out over own
per same shall she should so some such than that the their them then there these they this those through to
too under until up upon very was we were what when where which while who whom whose why will with within
without would you your yours s
"""
_SPANISH = """
a al algo algún alguna alguno algunos ante antes aunque bajo cada como con cómo cual cuál cuáles cuales cuando
cuándo cuanta cuánta cuantas cuántas cuanto cuánto cuantos cuántos de del desde donde dónde durante e el él ella
ellas ellos en entre era es esa ese eso esas esos esta está están estas este esto estos fue fuera ha hace hacer
hacia han hasta hay la las le les lo los más me mi mis muy ni no nos o os otra otro otros para pero por porque
puede pueden puedo que qué quien quién se según ser si sí sin sobre solo son su sus también te tengo tiene tienen
todo todos tras tu tus un una uno unos unas y ya yo
"""
STOPWORDS = {"en": frozenset(_ENGLISH.split()), "es": frozenset(_SPANISH.split())}
"""Words that say nothing of what a text is about."""
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_SIGNS = re.compile("[¿¡ñáéíóú]", re.IGNORECASE)


def detect_language(text: str, given: str | None = None) -> str:
    """`en` or `es`: the language given, else what signs and small words show."""
    if given:
        return "es" if given.lower().startswith("es") else "en"
    if _SIGNS.search(text):
        return "es"
    found = [word.lower() for word in _WORD.findall(text)]
    spanish = sum(word in STOPWORDS["es"] for word in found)
    return "es" if spanish > sum(word in STOPWORDS["en"] for word in found) else "en"


def extract_terms(text: str, language: str) -> list[str]:
    """The stems of the words that carry meaning, in order, repetitions kept."""
    stopped = STOPWORDS[language]
    found = (word.casefold() for word in _WORD.findall(unicodedata.normalize("NFKC", text)))
    return [_stem(word, language) for word in found if word not in stopped]


@lru_cache(maxsize=50_000)
def _stem(word: str, language: str) -> str:
    if not word.isalpha():
        return word
    stem: str = _stemmer(language).stemWord(word)
    return strip_accents(stem)


@lru_cache(maxsize=2)
def _stemmer(language: str) -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer({"en": "english", "es": "spanish"}[language])


def strip_accents(text: str) -> str:
    """The text as people type it in a hurry; ñ stays."""
    out = []
    for letter in text:
        plain = unicodedata.normalize("NFD", letter)
        out.append(letter if letter in "ñÑ" else plain[0])
    return "".join(out)
