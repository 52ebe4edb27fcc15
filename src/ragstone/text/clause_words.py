"""Closed word classes by which clauses are cut and names told from other words, for English and Spanish. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ClauseWords:
    """The function words of a language that say where a clause starts, and what hangs together."""

    joint_pattern: str
    """Pattern of what may stand between two clauses or predicates; bare commas have the group `comma`."""
    starters: frozenset[str]
    """Words that a subject starts with."""
    determiners: frozenset[str]
    objects: frozenset[str]
    """Other words that an object starts with: pronouns and numbers."""
    prepositions: frozenset[str]
    adverbs: frozenset[str]
    """Words between a conjunction and its verb, clitics included."""
    subordinators: frozenset[str]
    """Words that open a clause inside another, to which a following `and` may belong."""
    time_conjunctions: frozenset[str]
    """Words that open a clause inside another when a verb follows."""
    openers: frozenset[str]
    """Words of an introductory phrase that ends at a comma."""
    auxiliaries: frozenset[str]
    """Auxiliaries that a participle follows."""
    condition_pattern: str
    """Pattern of a conjunction that names a requirement."""


def to_word_set(text: str) -> frozenset[str]:
    """The words of a table that is written as text."""
    return frozenset(text.split())


_EN_DETERMINERS = "a an the this that these those its their his her my our your no some any each every both all several many"
_ES_DETERMINERS = (
    "el la los las un una unos unas este esta estos estas ese esa esos esas su sus mi mis tu tus nuestro nuestra cada ambos "
    "ambas todo toda todos todas varios varias muchos muchas ningún ninguna algún alguna algunos algunas"
)
_EN_PREPOSITIONS = (
    "of in on at by for with from to into onto as about over under between among through during before after since until "
    "against within without near across along around behind beyond out up down off"
)
_ES_PREPOSITIONS = "de del en a al por para con sin sobre entre desde hasta hacia durante contra según tras como ante bajo mediante"

CLAUSE_WORDS: Final[dict[str, ClauseWords]] = {
    "en": ClauseWords(
        joint_pattern=r"\s*;\s+(?:(?:and|but)\s+)?|,\s+(?:while|whereas)\s+|,?\s+(?:and|but)\s+|(?P<comma>,\s+)",
        starters=to_word_set(f"he she it they we you i there {_EN_DETERMINERS}") - {"that"},
        determiners=to_word_set(_EN_DETERMINERS),
        objects=to_word_set(
            "it he she they we i there him them us me you one two three four five six seven eight nine ten"
        ),
        prepositions=to_word_set(_EN_PREPOSITIONS),
        adverbs=to_word_set(
            "also then later subsequently first now still even often usually thus therefore finally soon not never only "
            "currently originally eventually again always once twice"
        ),
        subordinators=to_word_set(
            "that who which whose whom if whether because when while whereas since although though unless how what where why "
            "until"
        ),
        time_conjunctions=to_word_set("after before since until once as"),
        openers=to_word_set(
            f"{_EN_PREPOSITIONS} when while if although though because once unless whenever where despite according given due thanks"
        ),
        auxiliaries=to_word_set("is are was were be been being am has have had"),
        condition_pattern=r",?\s+(?:as long as|so long as|on (?:the )?condition that|only if)\s+|,\s+provid(?:ed|ing) that\s+",
    ),
    "es": ClauseWords(
        joint_pattern=(
            r"\s*;\s+(?:(?:y|e|pero)\s+)?|,\s+(?:mientras que|en tanto que)\s+|,?\s+(?:y|e|pero)\s+|(?P<comma>,\s+)"
        ),
        starters=to_word_set(f"él ella ellos ellas esto eso usted tú yo {_ES_DETERMINERS}"),
        determiners=to_word_set(_ES_DETERMINERS),
        objects=to_word_set("a al lo le les dos tres cuatro cinco seis siete ocho nueve diez"),
        prepositions=to_word_set(_ES_PREPOSITIONS),
        adverbs=to_word_set(
            "también luego después posteriormente no se le les lo nunca además ya aún siempre finalmente más tarde me te nos "
            "actualmente originalmente solo sólo"
        ),
        subordinators=to_word_set(
            "que quien quienes cual cuales cuyo cuya cuyos cuyas si porque cuando donde mientras aunque qué quién cuál cómo "
            "dónde cuándo hasta"
        ),
        time_conjunctions=to_word_set("como tras"),
        openers=to_word_set(
            f"{_ES_PREPOSITIONS} cuando mientras si aunque porque donde tras antes después pese dado puesto debido gracias mucho poco"
        ),
        auxiliaries=to_word_set(
            "es son era eran fue fueron será serán ser sido está están estaba estaban estar ha han había habían haber he hemos"
        ),
        condition_pattern=(
            r",?\s+(?:siempre que|siempre y cuando|con tal de que|a condición de que|con la condición de que|solo si|sólo si|"
            r"únicamente si)\s+"
        ),
    ),
}
