"""The subject of a fact as its question names it, and the name that the question needs before it."""

from __future__ import annotations

import re
from itertools import pairwise

from ragstone.testset.offline import gate
from ragstone.testset.offline.grammar import Grammar, Pattern
from ragstone.testset.offline.page import Page

_INTERFACE_PART = re.compile(
    r"\b(?:key|tab|button|field|check ?box|menu|panel|pane|column|item|elemento|tecla|pestaña|botón|campo|casilla|menú|columna)s?\b",
    re.IGNORECASE,
)
"""Parts that every dialog or tool has: of which one, the sentence leaves to its page."""
_NAMED_PATTERNS = ("when", "who")
"""Patterns whose subject has a name that is known outside of its program."""
_CODE_NAME = re.compile(r"[`_“«]|\w\.\w|[a-z][A-Z]| [A-Z][a-z]")
"""Signs of a name: written as in code, or with a capital inside the phrase."""
_PLURAL_VERBS = ("are", "were", "can", "must", "may")
"""Verbs that a plural may have: a capital before them is no name."""
_INDEFINITE = ("a", "an", "un", "una")
_LONE_WORD = re.compile(r"[A-ZÁÉÍÓÚÑ][a-zñáéíóú]+")
_QUOTED_WORD = re.compile(r"[“«\"][^”»\"]+[”»\"]")


def name_subject(
    page: Page, headings: tuple[str, ...], pattern: Pattern, parts: dict[str, str]
) -> str | None:
    """The subject as the question names it; None when nobody could tell from it what is asked about."""
    subject = parts["subject"]
    if subject == "You":
        return "I" if page.has_home else None
    # `Cervisia has two modes`: of a program that says nothing, nor does `founded Debian` before its name
    if (pattern.name in ("how_many", "place") and page.product) or parts.get("rest", "")[
        :1
    ].isupper():
        return None
    if pattern.kind == "conceptual" and _is_misnamed(subject, pattern, page):
        return None
    is_general = pattern.name == "definition" and _is_indefinite(subject)
    if not _is_good_subject(subject, parts["verb"], page, headings, is_general):
        return None
    return _write_subject(page, pattern.kind == "factual", subject, parts["verb"])


def _write_subject(page: Page, is_factual: bool, subject: str, verb: str) -> str | None:
    """The subject as it stands inside a question; None for a word of which nobody can tell whether it is a name."""
    subject = _name_in_full(page, page.lower_start(subject))
    if not _LONE_WORD.fullmatch(subject) or subject.lower() in page.names - page.small:
        return subject
    is_plural = is_factual and subject.endswith("s") and not verb.endswith("s")
    if is_plural or verb in _PLURAL_VERBS:
        return subject.lower()
    # `Glass goes in the black box`: a noun of prose that only begins its sentence
    return None if page.has_home and is_factual else subject


def _is_indefinite(subject: str) -> bool:
    """`A security token is …` says of every one what it is, whatever its page is about."""
    return subject.split()[0].lower() in _INDEFINITE


def _is_misnamed(subject: str, pattern: Pattern, page: Page) -> bool:
    """Whether what is defined has no name outside of its sentence: a placeholder (`x`), a word in quotes, a common word
    for a part of a program (Castle) or a parameter (Mode), a Spanish noun without its article, `the FAQ` being read."""
    is_definite = re.match(r"(?:The|El|La|Los|Las) ", subject) is not None
    if pattern.name == "part":
        return not (is_definite and page.has_home)
    is_placeholder = re.fullmatch(r"`[^`]*`", subject) is not None
    if pattern.name == "definition" and (is_placeholder or (is_definite and subject.count(" ") == 1)):  # fmt: skip
        return True
    lacks_article = pattern.name == "definition" and _lacks_article(subject, page.grammar)
    return lacks_article or _is_common_word(subject, page)


def _is_common_word(subject: str, page: Page) -> bool:
    """Whether a single word names a part of a program, or only begins its sentence."""
    if not _LONE_WORD.fullmatch(subject) and not _QUOTED_WORD.fullmatch(subject):
        return False
    is_part = bool(page.product) or subject.lower() not in page.names
    return is_part and page.product != subject and subject not in page.title


def _lacks_article(subject: str, grammar: Grammar) -> bool:
    """`Gestor de particiones de KDE`, `LVM volume group`, which are asked for with an article."""
    is_bare = subject.split()[0].lower() not in grammar.articles
    noun = r" (?:de|del) " if grammar.language == "es" else r" [a-z]+(?<!s)$"
    return is_bare and re.search(noun, subject) is not None


def _name_in_full(page: Page, subject: str) -> str:
    """`the reserve` of the page on Skerrow Marsh Nature Reserve by its whole name; any other subject as it is."""
    match = re.fullmatch(r"(the|el|la) (\w+)", subject)
    name = page.setting.name
    if not match or match[2] not in name.lower().split():
        return subject
    is_bare = match[1] == "the" and f"the {name}" not in page.document.text.replace("The ", "the ")
    return name if is_bare else f"{match[1]} {name}"


def _is_good_subject(
    subject: str, verb: str, page: Page, headings: tuple[str, ...], is_general: bool
) -> bool:
    """Whether a subject is a simple noun phrase that is known by its name, is what its section is about, or stands for all."""
    grammar, is_prose = page.grammar, page.has_home
    if not _is_phrase(subject, grammar, is_prose) or _is_disagreeing(subject, verb, grammar.language):  # fmt: skip
        return False
    words = [word.lower() for word in subject.split() if word.lower() not in grammar.articles]
    is_whole = is_prose and len(words) > 1  # `the garden waste service`
    if (_is_vague(words, subject, grammar) and not is_whole) or _INTERFACE_PART.search(subject):
        return False
    is_plural = verb in _PLURAL_VERBS
    is_name = " " not in subject and not is_plural and subject.lower() not in page.small
    if is_name or is_general or gate.is_specific(subject):
        return True
    return _is_topic(subject, words, page, headings)


def _is_phrase(subject: str, grammar: Grammar, is_prose: bool) -> bool:
    """Whether a subject is a noun phrase, or in prose two of them: `paper and cardboard`."""
    # a number inside: `Employees receive 25 days of annual leave`, whose last word is no verb
    if subject.split()[0].lower() in grammar.bad_starts - grammar.articles or re.search(r"\s\d", subject):  # fmt: skip
        return False
    links = grammar.wide_links if is_prose else grammar.links
    halves = re.split(r" (?:and|y) ", subject) if is_prose else [subject]
    return len(halves) < 3 and all(gate.is_noun_phrase(half, grammar, links) for half in halves)


def _is_vague(words: list[str], subject: str, grammar: Grammar) -> bool:
    """Whether nobody can tell which one is meant: `the PPD file`. `words` are those of the subject without articles."""
    heads = [word for word, link in pairwise([*words, "of"]) if link in grammar.links]
    vague = [head in grammar.vague_nouns for head in heads]
    # `the file format for Tellico data`: a name behind it does not make the noun itself one
    return any(vague[:-1]) or (any(vague) and not _CODE_NAME.search(subject))


def _is_topic(subject: str, words: list[str], page: Page, headings: tuple[str, ...]) -> bool:
    """Whether a common noun is what its section is about; of `the utility` alone nobody knows which."""
    about = " ".join((page.title, *headings[:2])).lower()
    if page.has_home:  # `the programme` below the heading Descaling: only that tells which
        return len(words) > 1 or len(headings) < 2 or words[0].rstrip("s")[:5] in about
    is_definite = subject.split()[0].lower() in ("the", "el", "la", "los", "las")
    if len(words) == 1 and (is_definite or words[0] in page.grammar.vague_nouns):
        return False
    return all(word.rstrip("s")[:5] in about for word in words if word not in page.grammar.links)


def _is_disagreeing(subject: str, verb: str, language: str) -> bool:
    """A plural with a singular verb (`User websites is`), or a lone infinitive that only looks like a noun (`Instalar`)."""
    if language == "es":
        plural = subject[:3].lower() in ("los", "las")
        infinitive = re.fullmatch(r"[A-ZÁÉÍÓÚ][a-zñ]+(?:ar|er|ir)", subject) is not None
        return infinitive or (plural and not verb.endswith(("n", "ó")))
    is_singular = verb == "is" or verb.endswith("s")
    return is_singular and re.search(r" \S*[a-z]{3}(?<![sui])s$", subject) is not None


def frame_subject(page: Page, pattern: Pattern, question: str, subject: str) -> str | None:
    """The question with the name that it needs; None when it needs one and the page gives none."""
    is_definition = pattern.name == "definition"
    # a product of its own (`SpamAssassin`) is what it is everywhere
    is_defined = is_definition and _is_own_name(subject, page)
    if page.setting.frame and (is_defined or (is_definition and _is_indefinite(subject))):
        return question
    if page.manual not in (0, 1, 8) and subject.isupper():
        return None  # a name that only a file format or a function knows
    is_code, is_named = _is_local_code(subject), is_defined or pattern.name in _NAMED_PATTERNS
    tool = is_code or subject.isupper()  # an argument (`INDEX`) of the command of a manual page
    framed = frame_question(page, question, tool=tool, product=not is_named)
    if framed == question:
        return None if is_code or not _is_known(question, pattern, subject, page) else question
    # `In Cantor, what is Python?`: a name of its own, or a part of the program that has no other name
    return None if is_definition and subject[:1].isupper() else framed


def _is_own_name(subject: str, page: Page) -> bool:
    """Whether a subject is known everywhere by its name; `the SVG file` is not."""
    is_local = re.match(r"(?i:the|el|la|los|las) (?:[\"“«]|.*\b[a-zñáéíóú]{3,})", subject)
    is_name = gate.is_specific(subject) or subject in (page.product, *page.title.split())
    return "`" not in subject and not is_local and is_name


def _is_known(question: str, pattern: Pattern, subject: str, page: Page) -> bool:
    """Whether a question without a frame says what it is about: by a name, or because of what it asks."""
    if pattern.name == "definition":  # `a storage model`, not `a piece` nor `the model`
        return _is_own_name(subject, page) or (_is_indefinite(subject) and subject.count(" ") > 1)
    is_common = pattern.kind == "factual" and pattern.name != "where"
    return is_common or gate.is_specific(question.lstrip("¿"))


def _is_local_code(subject: str) -> bool:
    """Whether a subject is known by a name in code that means something in its own program alone: `rules`, the `-w` option."""
    code = re.findall(r"`([^`]+)`|(?<!\S)(--?\w[\w-]*)", subject)
    # a command or a package has its name in every program
    if re.search(
        r"\b(?:command|program|utility|package|daemon|tool|herramienta|orden|comando|programa|paquete|demonio)\b",
        subject,
    ):
        return False
    return bool(code) and not any(re.search(r"\w[_./:(]|\w-\w+-\w", first) for first, _ in code)


def frame_question(page: Page, question: str, *, tool: bool = False, product: bool = False) -> str:
    """The question with the owner of the document, the tool of a manual page (`tool`) or the name that the document is
    about (`product`, and for a task without any name), where it does not name it."""
    owner = f"`{page.command}`" if tool and page.command else page.owner
    template = "frame_tool" if tool and page.command else "frame_at"
    if not owner and (product or (tool and not gate.is_specific(question.lstrip("¿")))):
        owner, template = page.product, "frame_in"
    frame, owner = (page.grammar.templates[template], owner) if owner else (page.setting.frame, page.setting.name)  # fmt: skip
    names = [owner.strip("`")] if "`" in owner else re.findall(r"[A-ZÁÉÍÓÚÑ][\w-]{2,}", owner)
    # `Library` in the question does not yet name Wexcombe City Library
    if not frame or 2 * sum(name in question for name in names) > len(names):
        return question
    at = int(question[:1] == "¿")  # where its first letter stands
    is_me = question[at:].startswith("I ")
    small = question if is_me else question[:at] + question[at : at + 1].lower() + question[at + 1 :]  # fmt: skip
    return frame.format(owner=owner, question=small)
