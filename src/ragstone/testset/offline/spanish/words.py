"""Closed word classes of Spanish, and small looks at single words."""

from __future__ import annotations

import re

from ragstone.testset.offline.facts import Source
from ragstone.testset.offline.spanish.verbs import infinitive
from ragstone.testset.spans import Token, plural
from ragstone.testset.vocabulary import (
    DETERMINERS,
    MONTHS_AND_DAYS,
    NUMBER_WORDS,
    PREPOSITIONS,
    word_set,
)

PREP, DET = PREPOSITIONS["es"], DETERMINERS["es"]

RELATIVE = word_set(
    "que quien quienes cual cuales cuyo cuya cuyos cuyas donde cuando porque aunque si "
    "mientras pues como"
)

_ADVERBS = word_set(
    "también solo sólo ya aún todavía siempre nunca casi más muy además después luego antes "
    "así hoy ahora apenas incluso sobre-todo a-veces entonces pronto"
)

AROUND = word_set(
    "unos unas casi hasta solo sólo más menos de aproximadamente alrededor cerca al un máximo "
    "mínimo de"
)

BEFORE_NOUN = word_set(
    "gran grandes primer primera primero primeros primeras nuevo nueva nuevos nuevas mayor mayores "
    "principal principales último última últimos últimas mejor mejores único única segunda segundo "
    "tercer tercera pequeño pequeña buen buena dos tres cuatro propio propia antiguo antigua demás pocos pocas"
)
"""Adjectives that stand before their noun."""
SIGNS = frozenset(";:—–―")


def adverb(token: Token) -> bool:
    """Whether a word only colours a verb."""
    return token.lower in _ADVERBS or (token.lower.endswith("mente") and len(token.lower) > 7)


_NOUNISH = re.compile(r"(?:ción|miento|dad|ismo|istas?|os|as|es|ía)$")


def small(source: Source, first: int, last: int) -> str:
    """The words with the capital of a sentence's start taken away, where it is no name."""
    text = source.say(first, last)
    token = source.tokens[first]
    if first > 0 and not (first == 1 and source.tokens[0].text in '"“«'):
        return text
    if (
        (token.text in source.names and token.lower not in source.common)
        or (len(token.text) > 1 and token.text.isupper())
        or not token.word
    ):
        return text
    low = token.lower
    if low in DET | PREP | RELATIVE | NUMBER_WORDS["es"] | _ADVERBS or low in source.common:
        return text[:1].lower() + text[1:]
    if infinitive(low):
        return text[:1].lower() + text[1:]
    following = source.tokens[first + 1] if first + 1 < len(source.tokens) else token
    if following.word and following.capital:
        return text
    if _NOUNISH.search(low) or plural(low, "es") or low in MONTHS_AND_DAYS:
        return text[:1].lower() + text[1:]
    return text


_MASCULINE_A = word_set(
    "problema sistema programa mapa día idioma tema planeta clima poema síntoma"
)
_LA = re.compile(r"(?:a|ción|sión|dad|tad|tud|umbre|as|ciones|siones|dades|tades|tudes)$")


def owned(thing: str, owner: str) -> str:
    """`su existencia` of something named: la existencia de los cloroplastos."""
    noun = thing.split()[0].lower()
    many = plural(noun, "es")
    feminine = _LA.search(noun) is not None and noun.removesuffix("s") not in _MASCULINE_A
    article = ("las" if many else "la") if feminine else ("los" if many else "el")
    whose = f"del {owner[3:]}" if owner.startswith("el ") else f"de {owner}"
    return f"{article} {thing} {whose}"
