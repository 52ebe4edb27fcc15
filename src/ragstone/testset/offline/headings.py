"""Headings as a question uses them: quoted, where they tell anything."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragstone.testset.offline.grammar import Grammar
from ragstone.testset.outline import DOCUMENT_WORDS
from ragstone.testset.question_terms import extract_content_stems
from ragstone.text.clause_words import to_word_set

MAX_HEADING_WORDS = 12
GENERAL_HEADINGS = DOCUMENT_WORDS | to_word_set(
    "abstract todo table tabla nota aviso avisos importante important caution precaución atención attribution tip tips pros cons warning external others general background summary conclusion conclusions description synopsis name example examples more other further additional misc miscellaneous details information contents content purpose scope thanks "
    "acknowledgements credits license licence copyright authors author notes note see related references links resources next what why usage options parameters arguments returns history changelog changes status "
    "consejo consejos ventajas advertencia externos otros antecedentes resumen conclusión conclusiones descripción sinopsis nombre ejemplo ejemplos más otros otras adicional varios detalles información contenido contenidos objeto alcance gracias agradecimientos créditos "
    "licencia autores autor véase ver relacionados referencias enlaces recursos siguiente uso opciones parámetros argumentos historia cambios estado observaciones"
)
"""Words of headings that any page could have."""


def is_telling(heading: str, language: str) -> bool:
    """Whether a heading says what stands below it: it has a word of meaning that not any page could have."""
    words = re.findall(r"[^\W\d_][\w’'-]+", heading.lower())
    known = [word for word in words if word not in GENERAL_HEADINGS]
    return len(heading.split()) <= MAX_HEADING_WORDS and bool(extract_content_stems(" ".join(known), language))  # fmt: skip


def quote_label(heading: str, grammar: Grammar) -> str:
    """A heading in quotes, without marks of its own."""
    return grammar.templates["quote"].format(re.sub("[“”«»`]|:$", "", heading))


def is_named(subject: str, names: Sequence[str], language: str) -> bool:
    """Whether a subject makes up half or more of one of the names: those of a page, or a heading."""
    own = set(extract_content_stems(subject, language))
    about = (set(extract_content_stems(name, language)) for name in names if name)
    return bool(own) and any(own <= stems and 2 * len(own) >= len(stems) for stems in about)
