"""What an answer says of itself and its sources before it says something: according to passage 1, según el texto."""

from __future__ import annotations

from ragstone.text.verbs import WORD

_APPEAL = frozenset(
    """
    as the this that these is are it to of in by and so clearly fully correct supported answer answers question context
    contexts state states stated says said see source sources document documents passage passages text article given provided
    according above mentioned described based on per from chunk
    como el la los las esta este es son según lo que se y en por de del dice indica afirma respuesta pregunta contexto fuente
    fuentes documento documentos texto pasaje pasajes correcta correcto claramente acuerdo con base artículo ver fragmento
    """.split()
)


def is_appeal(text: str) -> bool:
    """Whether the words of a text only appeal to sources, so that there is nothing to look up."""
    return all(word.lower() in _APPEAL for word in WORD.findall(text))
