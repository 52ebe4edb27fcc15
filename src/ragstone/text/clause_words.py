"""Closed word classes of English and Spanish: what stands before a noun. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def to_word_set(text: str) -> frozenset[str]:
    """The words of a table that is written as text."""
    return frozenset(text.split())


DETERMINERS: Final[Mapping[str, frozenset[str]]] = {
    "en": to_word_set(
        "a an the this that these those its their his her my our your no some any each every both all several many"
    ),
    "es": to_word_set(
        "el la los las un una unos unas este esta estos estas ese esa esos esas su sus mi mis tu tus nuestro nuestra cada"
        " ambos ambas todo toda todos todas varios varias muchos muchas ningún ninguna algún alguna algunos algunas"
    ),
}
PREPOSITIONS: Final[Mapping[str, frozenset[str]]] = {
    "en": to_word_set(
        "of in on at by for with from to into onto as about over under between among through during before after since"
        " until against within without near across along around behind beyond out up down off"
    ),
    "es": to_word_set(
        "de del en a al por para con sin sobre entre desde hasta hacia durante contra según tras como ante bajo mediante"
    ),
}
