"""Headings as a question uses them: quoted, where they tell anything, or as a task from its verb on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragstone.testset.offline.grammar import Grammar
from ragstone.testset.offline.page import Page
from ragstone.testset.outline import DOCUMENT_WORDS
from ragstone.testset.question_terms import extract_content_stems
from ragstone.text.clause_words import to_word_set
from ragstone.text.verbs import is_base_form

MAX_HEADING_WORDS = 12
GENERAL_HEADINGS = DOCUMENT_WORDS | to_word_set(
    "abstract todo table tabla nota aviso avisos importante important caution precaución atención attribution tip tips pros cons warning external others general background summary conclusion conclusions description synopsis name example examples more other further additional misc miscellaneous details information contents content purpose scope thanks "
    "acknowledgements credits license licence copyright authors author notes note see related references links resources next what why usage options parameters arguments returns history changelog changes status "
    "consejo consejos ventajas advertencia externos otros antecedentes resumen conclusión conclusiones descripción sinopsis nombre ejemplo ejemplos más otros otras adicional varios detalles información contenido contenidos objeto alcance gracias agradecimientos créditos "
    "licencia autores autor véase ver relacionados referencias enlaces recursos siguiente uso opciones parámetros argumentos historia cambios estado observaciones"
)
"""Words of headings that any page could have."""
_PARTICLES = to_word_set("up out in off on down back away")
_ADVERB = re.compile(r"\w+ly|\w+mente", re.IGNORECASE)
_NEEDS_NOUN = {
    "en": to_word_set("to by with from at in on of for"),
    "es": to_word_set("a de por con en para desde como"),
}
"""A task that goes on so lacks what it is done to: `announce to the world`."""


def is_telling(heading: str, language: str) -> bool:
    """Whether a heading says what stands below it: it has a word of meaning that not any page could have."""
    words = re.findall(r"[^\W\d_][\w’'-]+", heading.lower())
    known = [word for word in words if word not in GENERAL_HEADINGS]
    return len(heading.split()) <= MAX_HEADING_WORDS and bool(extract_content_stems(" ".join(known), language))  # fmt: skip


def quote_label(heading: str, grammar: Grammar) -> str:
    """A heading in quotes, without marks of its own."""
    return grammar.templates["quote"].format(re.sub("[“”«»`]|:$", "", heading))


def name_task(page: Page, heading: str) -> str:
    """The task of a heading as it stands inside a question; empty for a heading that names none."""
    verb, _, rest = read_task(heading, page.grammar).partition(" ")
    return f"{verb} {_lower_capitals(page, rest.split())}" if rest else ""


def _lower_capitals(page: Page, words: Sequence[str]) -> str:
    """Words of a heading as inside a sentence: `Late Returns` loses its capitals, `Debian packages` keeps them."""
    grammar = page.grammar
    large = [word for word in words if word.lower() not in grammar.links | grammar.closed_words]
    # of a heading in capitals throughout none tells a name; in Spanish a capital inside a heading does
    is_title_case = grammar.language == "en" and all(not word[0].islower() for word in large)
    return " ".join(_lower_word(page, word, is_title_case=is_title_case) for word in words)


def _lower_word(page: Page, word: str, *, is_title_case: bool) -> str:
    """A word of a heading in small letters, unless it is a name."""
    bare, small = word.rstrip(","), word.lower()
    is_shaped = not re.fullmatch(r"[A-ZÁÉÍÓÚÑ]?[a-zñáéíóúü’'/-]+|[A-ZÁÉÍÓÚÑ]+", bare)
    if is_shaped or (bare.isupper() and bare.lower() not in page.small | page.grammar.articles):
        return word  # `macOS`, `CVE`
    # in Spanish an inner word is written large by mistake where the page writes it small
    is_slip = page.grammar.language == "es" and bare.lower() in page.small
    is_kept = bare.lower() in page.names or not (is_title_case or is_slip or bare.isupper())
    return word if is_kept and bare.lower() not in page.grammar.articles else small


def is_named(subject: str, names: Sequence[str], language: str) -> bool:
    """Whether a subject makes up half or more of one of the names: those of a page, or a heading."""
    own = set(extract_content_stems(subject, language))
    about = (set(extract_content_stems(name, language)) for name in names if name)
    return bool(own) and any(own <= stems and 2 * len(own) >= len(stems) for stems in about)


def read_task(heading: str, grammar: Grammar) -> str:
    """The task that a heading names, from its plain verb on (`install packages`); empty when it names none."""
    match = grammar.task.fullmatch(grammar.to_own_words(heading.rstrip("?.: ")))
    if match is None:
        return ""
    verb, rest = match["verb"].lower(), match["rest"].split(" ")
    # `Release notes` is no order; `Release the lock` is
    is_marked = match["asked"] or grammar.language == "es" or verb.endswith("ing") or rest[0].lower() in grammar.articles | {"my"}  # fmt: skip
    verb = verb if grammar.language == "es" or match["asked"] else _find_base(verb)
    # `get involved`, `set up`: done to what?
    lacks_noun = len(rest) == 1 and (rest[0].endswith("ed") or rest[0] in _PARTICLES)
    is_cut = lacks_noun or rest[-1].lower() in grammar.dangling_end or rest[0].lower() in _NEEDS_NOUN[grammar.language] or _ADVERB.fullmatch(rest[0])  # fmt: skip
    return f"{verb} {' '.join(rest)}" if verb and is_marked and not is_cut else ""


def _find_base(verb: str) -> str:
    """The plain form of an English verb or gerund: `configuring`, `running`; empty for what is none."""
    stem = verb.removesuffix("ing")
    forms = (verb,) if stem == verb else (stem, f"{stem}e", stem[:-1])
    return next((form for form in forms if is_base_form(form)), "")
