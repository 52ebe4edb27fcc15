"""Which Spanish nouns are people, so that a question asks quién and not qué."""

from __future__ import annotations

import re

from ragstone.testset.vocabulary import ROLES, word_set

PEOPLE = word_set(
    "socios abonados menores adultos niños padres visitantes lectores pacientes vecinos "
    "miembros ingenieros colonos soldados médicos maestros profesores farmacéuticos activistas "
    "investigadores académicos ciudadanos residentes críticos inmigrantes "
    "alumnos estudiantes viajeros usuarios familiares científicos economistas historiadores"
)
_PEOPLE = re.compile(r"[^\W\d_]{3,}(?:ólog[oa]s|istas|ógraf[oa]s)$|compañer[oa]s?$")


def is_people(noun: str) -> bool:
    """Whether a lower-case noun means people or one of them."""
    return noun in PEOPLE or noun in ROLES or _PEOPLE.match(noun) is not None
