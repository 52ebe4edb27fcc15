"""Headings as a question names them: a topic (in small letters, in Spanish with its article), or a task from its verb on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ragstone.testset.offline import gate
from ragstone.testset.offline.grammar import Grammar
from ragstone.testset.offline.page import Page
from ragstone.testset.outline import DOCUMENT_WORDS
from ragstone.testset.question_terms import extract_content_stems
from ragstone.testset.vocabulary import NUMBER_WORDS
from ragstone.text.clause_words import to_word_set
from ragstone.text.verbs import NOUN_LIKE, find_verb_form, is_base_form

MAX_TOPIC_WORDS = 6
MIN_CLAUSE_WORDS, MAX_CLAUSE_WORDS = 3, 10
GENERAL_HEADINGS = DOCUMENT_WORDS | to_word_set(
    "abstract attribution tip tips pros cons warning external others general background summary conclusion conclusions description synopsis name example examples more other further additional misc miscellaneous details information contents content purpose scope thanks "
    "acknowledgements credits license licence copyright authors author notes note see related references links resources next what why usage options parameters arguments returns history changelog changes status "
    "consejo consejos ventajas advertencia externos otros antecedentes resumen conclusión conclusiones descripción sinopsis nombre ejemplo ejemplos más otros otras adicional varios detalles información contenido contenidos objeto alcance gracias agradecimientos créditos "
    "licencia autores autor véase ver relacionados referencias enlaces recursos siguiente uso opciones parámetros argumentos historia cambios estado observaciones"
)
"""First words of headings that any page could have."""
_PLAIN = re.compile(r"[^\W\d_][\w’'.+-]*,?(?: [\w’'&.+-]+,?)*(?<!,)")
_CODE = re.compile(
    r"`[\w.<>-]+(?:\(\))?(?:, [\w.<>-]+)?`|(?=.*[_\d]|.*[a-z][A-Z])[a-z][\w.-]*[a-z\d]"
)
"""A heading that is a name in code: `sort_album`, `id3v23`."""
_MIN_PREFIX = 4
_WRITTEN = r"(?:\b({article})\s+)?(?<![\w-]){noun}\b(?!-)"
_ES_VERB = re.compile(r"\w+(?:[aei]r|ando|iendo)(?:se)?\b|\w+[ai]d[oa]s? (?:en|por|con|de|a|para) ")
_PARTICLES = to_word_set("up out in off on down back away")
_ADVERB = re.compile(r"\w+ly|\w+mente", re.IGNORECASE)
_NEEDS_NOUN = {
    "en": to_word_set("to by with from at in on of for"),
    "es": to_word_set("a de por con en para desde como"),
}
"""A task that goes on so lacks what it is done to: `announce to the world`."""


def name_task(page: Page, heading: str) -> str:
    """The task of a heading as it stands inside a question; empty for a heading that names none."""
    verb, _, rest = read_task(heading, page.grammar).partition(" ")
    # the first word behind the verb has no capital by its place
    return f"{verb} {lower_capitals(page, ['', *rest.split()]).strip()}" if rest else ""


def name_topic(page: Page, heading: str) -> str:
    """The topic of a heading as it stands inside a question; empty for a heading that names none, or needs an article
    that nothing tells."""
    if _CODE.fullmatch(heading):
        return f"`{heading.strip('`')}`"
    if page.grammar.asked_clause.match(heading):
        return _name_clause(page, heading.split())
    # `Tres días antes`: when, not what
    if (
        not is_nominal(page, heading)
        or heading.split()[0].lower() in NUMBER_WORDS[page.grammar.language]
    ):
        return ""
    # the links between several nouns stand at every second place
    parts = re.split(r"(,? (?:and|&|y|e) |, )", lower_capitals(page, heading.split()))
    parts[::2] = [_add_article(page, noun) for noun in parts[::2]]
    return "".join(parts) if all(parts) else ""


def is_nominal(page: Page, heading: str) -> bool:
    """Whether a heading is a noun phrase that not any page could have; no clause, no order, no contrast."""
    words, grammar = heading.split(), page.grammar
    is_shouted = heading.isupper() and len(words) > 1
    is_plain = _PLAIN.fullmatch(heading) and len(words) <= MAX_TOPIC_WORDS and not is_shouted
    told = words[1:] if words[0].lower() in grammar.articles and len(words) > 1 else words
    first = told[0].lower()
    is_leaning = first in GENERAL_HEADINGS or first in grammar.bad_starts - grammar.articles
    return bool(is_plain) and not is_leaning and " vs" not in heading and _has_noun(words, page)


def _name_clause(page: Page, words: Sequence[str]) -> str:
    """`When to call`, `How reports are handled`: what a page may say something about as it stands; empty for one that leans on others."""
    clause = page.grammar.to_own_words(lower_capitals(page, words))
    is_whole = MIN_CLAUSE_WORDS <= len(words) <= MAX_CLAUSE_WORDS and words[-1].lower() not in page.grammar.dangling_end  # fmt: skip
    leans = page.grammar.first_person.search(clause) or page.grammar.question_pointers.search(clause)  # fmt: skip
    return clause if is_whole and not leans else ""


def _has_noun(words: Sequence[str], page: Page) -> bool:
    """Whether the words are a noun phrase, in English also one behind a gerund (`obtaining tickets`); no clause, no order."""
    first, rest, grammar = words[0].lower(), words[1:], page.grammar
    if any(find_verb_form(word, grammar.language) == "finite" for word in rest if word.islower()):
        return False
    if grammar.language == "en" and first.endswith("ing") and rest:
        return _is_phrase(rest, grammar)
    is_order = bool(rest) and grammar.language == "en" and is_base_form(first) and _is_order(first, rest, page)  # fmt: skip
    # `Administrando cuentas`, `Basado en normas`
    is_verb = grammar.language == "es" and _ES_VERB.match(" ".join(words).lower())
    return not is_order and not is_verb and _is_phrase(words, grammar)


def _is_order(verb: str, rest: Sequence[str], page: Page) -> bool:
    """Whether a word that may be a noun too is a verb here: before an article, or because its page says `to report`."""
    if verb not in NOUN_LIKE or rest[0].lower() in page.grammar.articles:
        return True
    return re.search(rf"\b(?:to|can|you|please|must|should) {verb}\b", page.body) is not None


def _is_phrase(words: Sequence[str], grammar: Grammar) -> bool:
    """Whether the words are a noun phrase, or two of them: `paper and cardboard`."""
    halves = re.split(r",? (?:and|&|y|e) |, ", " ".join(words))
    return len(halves) < 4 and all(
        gate.is_noun_phrase(half, grammar) and half.lower() not in GENERAL_HEADINGS
        for half in halves
    )


def lower_capitals(page: Page, words: Sequence[str]) -> str:
    """The words of a heading as inside a sentence: `Late Returns` loses its capitals, `Debian packages` keeps them."""
    grammar = page.grammar
    large = [
        word for word in words if word and word.lower() not in grammar.links | grammar.closed_words
    ]
    # `VR Design`: of a heading in capitals throughout none tells a name; in Spanish a capital inside a heading does
    is_large = all(not word[0].islower() for word in large) and len(large) > (words[0] != "")
    is_title_case = grammar.language == "en" and is_large
    return " ".join(
        _lower_word(
            page,
            word,
            is_convention=at == 0 or is_title_case,
            is_first=at == 0 and words[-1].islower(),
        )
        for at, word in enumerate(words)
    )


def _lower_word(page: Page, word: str, *, is_convention: bool, is_first: bool) -> str:
    """A word of a heading in small letters, unless it is a name; `is_first`: the first of a heading in small letters."""
    bare, small = word.rstrip(","), word.lower()
    is_shaped = not re.fullmatch(r"[A-ZÁÉÍÓÚÑ]?[a-zñáéíóúü’'/-]+|[A-ZÁÉÍÓÚÑ]+", bare)
    if is_shaped or (bare.isupper() and bare.lower() not in page.small | page.grammar.articles):
        return word  # `macOS`, `CVE`
    is_name = bare.lower() in page.names and not (is_first and bare.lower() in page.small)
    # in Spanish an inner word is written large by mistake where the page writes it small
    is_slip = page.grammar.language == "es" and bare.lower() in page.small
    is_kept = is_name or not (is_convention or is_slip or bare.isupper())
    return word if is_kept and bare.lower() not in page.grammar.articles else small


def _add_article(page: Page, topic: str) -> str:
    """A topic with the article that its page writes before it; empty where nothing tells whether it needs one."""
    words, grammar = topic.split(), page.grammar
    if words[0] in grammar.articles or topic[0] == "`":
        return topic
    if (
        grammar.language == "es"
    ):  # the noun of a phrase stands first, and what follows belongs to it
        articles = Counter(filter(None, (article.lower() for article, _ in _find_uses(page, words[:1]))))  # fmt: skip
        told = grammar.add_article(topic) if words[0].islower() else topic
        return f"{grammar.before_noun_of(articles.most_common(1)[0][0])} {topic}" if articles else told  # fmt: skip
    if is_plural(topic, grammar) or words[0].endswith("ing"):
        return topic
    # `the safety lead` tells nothing of safety
    written = [article for article, rest in _find_uses(page, words) if _ends_phrase(rest, grammar)]
    if written and 2 * sum(map(bool, written)) >= len(written):
        return f"the {topic}"
    return topic if written or words[-1].istitle() else ""


def _find_uses(page: Page, words: Sequence[str]) -> list[tuple[str, str]]:
    """The article before each use of some words in a page, empty where there is none, and what follows the use."""
    noun = r"\s+".join(map(re.escape, words))
    expression = _WRITTEN.format(article=page.grammar.before_noun, noun=noun)
    uses = re.finditer(expression, page.body, re.IGNORECASE)
    return [(use[1] or "", page.body[use.end() : use.end() + 30]) for use in uses]


def _ends_phrase(rest: str, grammar: Grammar) -> bool:
    """Whether a phrase ends before the rest: a sign follows, a verb or a small word."""
    match = re.match(r"\s+([\w-]+)", rest)
    word = match[1].lower() if match else ""
    is_verb = find_verb_form(word, "en") in ("finite", "noun_like", "past")
    return not word or is_verb or word in grammar.closed_words | grammar.links | grammar.articles


def is_plural(topic: str, grammar: Grammar) -> bool:
    """Whether the noun of a topic is a plural: in English the last word before a preposition, in Spanish the first."""
    words = topic.split()
    if grammar.language == "es":
        return words[0].endswith("s") and not words[0].endswith("sis")
    end = next((at for at, word in enumerate(words) if word in grammar.links), len(words))
    return re.fullmatch(r".*[a-z]{2}(?<![sui])s", words[max(end, 1) - 1]) is not None


def list_prefixes(text: str, language: str) -> list[str]:
    """Beginnings by which forms of the words of meaning of a text are found: `impersonat` of Impersonation."""
    stems = extract_content_stems(text, language)
    return [stem[: max(_MIN_PREFIX, len(stem) - 1)] for stem in stems]


def is_topic(page: Page, headings: Sequence[str], subject: str) -> bool:
    """Whether a subject makes up half or more of what the title, the product or one of the headings above names."""
    language = page.grammar.language
    own = set(extract_content_stems(subject, language))
    named = (page.title, page.command, page.product, *headings[:2])
    about = (set(extract_content_stems(name, language)) for name in named if name)
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
