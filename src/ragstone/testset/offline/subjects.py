"""The subject of a fact as its question names it, and the name that the question needs before it."""

from __future__ import annotations

import re

from ragstone.testset.offline import gate
from ragstone.testset.offline.grammar import Grammar
from ragstone.testset.offline.page import Page

_PLURAL_VERBS = ("are", "were", "can", "must", "may")
"""Verbs that a plural may have: a capital before them is no name."""
_LONE_WORD = re.compile(r"[A-ZÁÉÍÓÚÑ][a-zñáéíóú]+")
_MEANING = re.compile(r"\w{3,}")


def name_subject(page: Page, headings: tuple[str, ...], subject: str, verb: str) -> str | None:
    """The subject of a clause as the question names it; None when nobody could tell from it what is asked about."""
    if subject == "You":
        return "I"
    words = [word for word in subject.lower().split() if word not in page.grammar.articles]
    is_known = len(words) > 1 or gate.is_specific(subject) or len(headings) < 2 or is_topic(page, headings, subject)  # fmt: skip
    if not is_known or not is_phrase(subject, page.grammar) or _is_disagreeing(subject, verb, page.grammar.language):  # fmt: skip
        return None
    subject = _name_in_full(page, page.lower_start(subject))
    if not _LONE_WORD.fullmatch(subject) or subject.lower() in page.names - page.small:
        return subject
    # `Glass goes in the black box`: a noun that only begins its sentence
    is_plural = subject.endswith("s") and not verb.endswith("s")
    return subject.lower() if is_plural or verb in _PLURAL_VERBS else None


def is_topic(page: Page, headings: tuple[str, ...], subject: str) -> bool:
    """Whether the title of the page or the headings above have every word of meaning of a subject."""
    about = " ".join((page.title, page.command, page.product, *headings[:2])).lower()
    words = [word for word in _MEANING.findall(subject.lower()) if word not in page.grammar.articles | page.grammar.links]  # fmt: skip
    return bool(words) and all(word.rstrip("s")[:5] in about for word in words)


def _name_in_full(page: Page, subject: str) -> str:
    """`the reserve` of the page on Skerrow Marsh Nature Reserve by its whole name; any other subject as it is."""
    match = re.fullmatch(r"(the|el|la) (\w+)", subject)
    name = page.setting.name
    if not match or match[2] not in name.lower().split():
        return subject
    is_bare = match[1] == "the" and f"the {name}" not in page.document.text.replace("The ", "the ")
    return name if is_bare else f"{match[1]} {name}"


def is_phrase(subject: str, grammar: Grammar) -> bool:
    """Whether a subject is a noun phrase, or two of them: `paper and cardboard`."""
    # a number inside: `Employees receive 25 days of annual leave`, whose last word is no verb
    if subject.split()[0].lower() in grammar.bad_starts - grammar.articles or re.search(r"\s\d", subject):  # fmt: skip
        return False
    halves = re.split(r" (?:and|y) ", subject)
    return len(halves) < 3 and all(gate.is_noun_phrase(half, grammar) for half in halves)


def _is_disagreeing(subject: str, verb: str, language: str) -> bool:
    """A plural with a singular verb (`User websites is`), or a lone infinitive that only looks like a noun (`Instalar`)."""
    if language == "es":
        plural = subject[:3].lower() in ("los", "las")
        infinitive = re.fullmatch(r"[A-ZÁÉÍÓÚ][a-zñ]+(?:ar|er|ir)", subject) is not None
        return infinitive or (plural and not verb.endswith(("n", "ó")))
    is_singular = verb == "is" or verb.endswith("s")
    return is_singular and re.search(r" \S*[a-z]{3}(?<![sui])s$", subject) is not None


def frame_question(page: Page, question: str, *, product: bool = False) -> str:
    """The question with the setting of its page or the name that the document is about (`product`), where it does not name it."""
    if not page.setting.frame and page.product and product:
        return _put_frame(page.grammar.templates["frame_in"], page.product, question)
    return _put_frame(page.setting.frame, page.setting.name, question)


def frame_home(page: Page, question: str) -> str:
    """The question with the setting, product or title of its page, or as it is where it has that name; empty where the page gives none."""
    if page.setting.frame or page.product:
        return frame_question(page, question, product=True)
    return _put_frame(page.title_frame, "", question) if page.title_frame else ""


def _put_frame(frame: str, owner: str, question: str) -> str:
    names = re.findall(r"[A-ZÁÉÍÓÚÑ][\w-]{2,}", owner)
    # `Library` in the question does not yet name Wexcombe City Library
    if not frame or 2 * sum(name in question for name in names) > len(names):
        return question
    at = int(question[:1] == "¿")  # where its first letter stands
    is_me = question[at:].startswith("I ")
    small = question if is_me else question[:at] + question[at : at + 1].lower() + question[at + 1 :]  # fmt: skip
    return frame.format(owner=owner, question=small)
