"""Words that only appeal to sources: according to passage 1, según el texto. Versioned by VERSION in judges/offline and PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

import re

from ragstone.text.clause_words import to_word_set
from ragstone.text.verbs import WORD

_APPEAL = to_word_set(
    """
    as the this that these is are it to of in by and so clearly fully correct supported answer answers question context
    contexts state states stated says said see source sources document documents passage passages text article given provided
    according above mentioned described based on per from chunk i we have looked checked searched read through found here
    como el la los las esta este es son según lo que se y en por de del dice indica afirma respuesta pregunta contexto fuente
    fuentes documento documentos texto pasaje pasajes correcta correcto claramente acuerdo con base artículo ver fragmento a
    he hemos mirado revisado consultado buscado leído encontrado aquí dicen tanto
    """
)


_NUMBERED = to_word_set(
    "source document passage text article chunk context fuente documento pasaje texto artículo fragmento"
)
"""What a number names in an appeal: passage 2."""


_ONE_OF_THEM = re.compile(
    r"\b(?:one|some|all) of (?:them|these|the)\b|\b(?:un[oa]|algun[oa]s) de (?:ell|est|l)[oa]s\b",
    re.IGNORECASE,
)
"""Words that point at sources only together: one alone is a number."""


def is_appeal(text: str) -> bool:
    """Whether the words of a text only appeal to sources, so that there is nothing to look up."""
    words: list[str] = []
    for match in WORD.finditer(_ONE_OF_THEM.sub("", text)):
        word = match.group().lower()
        if word not in _APPEAL and not word.isdigit():
            return False
        words.append(word)
    return _APPEAL.issuperset(words) or not _NUMBERED.isdisjoint(words)
