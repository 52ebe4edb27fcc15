"""Which English nouns are people, so that a question asks who and not what."""

from __future__ import annotations

import re

from ragstone.testset.vocabulary import ROLES, word_set

PEOPLE = word_set(
    "adults children visitors members students relatives patients subscribers riders owners parents "
    "people men women readers workers teachers guests walkers scientists engineers economists "
    "historians scholars pharmacists physicians settlers colonists citizens residents missionaries "
    "critics researchers mercenaries soldiers officers fighters advisers advisors leaders lawyers "
    "farmers traders players rulers followers voters users customers drivers employers employees "
    "passengers pilots astronauts activists artists emperors kings presidents ministers senators "
    "buyers doctors nurses managers founders governors generals merchants monks priests nobles "
    "refugees immigrants emigrants inhabitants slaves peasants delegates deputies authors writers "
    "rider customer student reader tenant subscriber patient "
    "leader adviser advisor founder owner member visitor winner champion commander physician cleric"
)
_PEOPLE = re.compile(r"[a-z]{3,}(?:ists|ians|ologists?|ographers?)$")


def is_people(noun: str) -> bool:
    """Whether a lower-case noun means people or one of them."""
    return noun in PEOPLE or noun in ROLES or _PEOPLE.match(noun) is not None
