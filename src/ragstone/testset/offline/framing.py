"""A question made to stand on its own: whose document it is, or what it is about, said where nothing else tells."""

from __future__ import annotations

import re
from dataclasses import replace

from ragstone.data.documents import Document
from ragstone.testset.offline.facts import Fact, even
from ragstone.testset.offline.phrases import AT, ON
from ragstone.testset.vocabulary import word_set
from ragstone.testset.wording import asked, content

_NAME = re.compile(r"`[^`]+`|(?<![.?!¿:“«] )(?<!^)(?<!^¿)\b[A-ZÁÉÍÓÚÑ][\w’'-]+")
_ENOUGH = 5
"""Content words from which a question without any name is taken to be specific."""
_BARE = re.compile(r"(?:the|el|la) [^\W\d_]+$")
"""`the court`: nobody knows which."""
_SELF = word_set(
    "I Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April "
    "May June July August September October November December"
)


def owner(title: str) -> str:
    """Whose document it is: `Casa Almendro` of `Casa Almendro: envíos y montaje`; empty when the title does not say."""
    head, colon, _ = title.partition(":")
    words = head.split()
    if not colon or not 0 < len(words) <= 6 or words[0].lower() in _NO_OWNER:
        return ""
    return head.strip()


_NO_OWNER = word_set("the a an how what why your our el la los las un una cómo qué por su")
"""Words that begin the title of a chapter, not the name of somebody."""


def topic(title: str) -> str:
    """What a document is about, as a sentence says it: `the monitor` of `The monitor: windows and alerts`."""
    head = title.partition(":")[0].strip()
    first, _, rest = head.partition(" ")
    return f"{first.lower()} {rest}" if rest and first.lower() in _NO_OWNER else head


_EL = word_set(
    "hospital parque museo ayuntamiento centro instituto servicio colegio club banco teatro "
    "ministerio departamento grupo consejo hotel mercado"
)
_LA = word_set(
    "biblioteca cooperativa universidad escuela empresa asociación fundación oficina tienda "
    "clínica compañía red agencia federación"
)


def called(whose: str, language: str) -> str:
    """The owner as a sentence names it: Spanish puts an article before `Hospital Comarcal`, none before a brand."""
    head = whose.split()[0].lower() if language == "es" and whose else ""
    return f"el {whose}" if head in _EL else f"la {whose}" if head in _LA else whose


def framed(fact: Fact, document: Document, language: str, *, few: bool = False) -> Fact | None:
    """The fact with a question that needs nothing beside it; None when it cannot be had.

    Among few documents less needs to be said to tell which is meant."""
    question = fact.question
    title = even(document.title)
    mine = owner(title)
    told = set(content(title, language)) & set(asked(question, language))
    found = [name for name in _NAME.findall(question) if name not in _SELF]
    if len(asked(question, language)) < 2 and not found:
        return None
    if fact.subject == "we" and not mine:
        return None
    if mine:
        for word in re.findall(r"\b(?:the|el|la) ([^\W\d_]+)", question):
            if (
                word in mine.lower().split()
            ):  # `the hospital` of St Brannock Hospital is St Brannock Hospital
                plain = re.compile(rf"\b(?:the|el|la) {word}\b")
                name = called(mine, language)
                return replace(
                    fact,
                    question=plain.sub(name, question, count=1),
                    why=plain.sub(name, fact.why, count=1),
                )
        if any(word in question for word in mine.split() if word[:1].isupper()):
            return fact
        return replace(
            fact, question=_with(AT[language], called(mine, language), question, language),
            why=_with(AT[language], called(mine, language), fact.why, language) if fact.why else "",
        )  # fmt: skip
    if found or (told and len(asked(question, language)) >= 3):
        return fact
    if title and title[:1].isupper() and len(topic(title).split()) <= 8:
        return replace(fact, question=_with(ON[language], topic(title), question, language))
    told_enough = 2 if few else _ENOUGH if _BARE.match(fact.subject) else _ENOUGH - 2
    return fact if len(asked(question, language)) >= told_enough else None


def _with(frame: str, whose: str, question: str, language: str) -> str:
    """The question behind its frame; English puts a short frame at the end where that reads better."""
    if language == "en" and frame == AT["en"]:
        if (
            not re.search(r"\b(?:at|in|on|within|from)\b", question.lower())
            and len(question.split()) <= 12
        ):
            return f"{question[:-1]} at {whose}?"
        if re.match(
            r"(?:Who|What|When|Where|Which|Why|How|For how|Until when|Since when|By what|From when)\b",
            question,
        ):
            return frame.format(whose, question[:1].lower() + question[1:])
        return f"{question[:-1]} at {whose}?"
    if language == "en":
        return frame.format(whose, question[:1].lower() + question[1:])
    asks = 1 if question.startswith("¿") else 0
    lowered = f"{question[:asks]}{question[asks : asks + 1].lower()}{question[asks + 1 :]}"
    return frame.format(whose, lowered).replace(" a el ", " al ", 1)


def unframed(question: str, title: str, language: str) -> str:
    """The question without its frame, for where the frame was said before."""
    whose = owner(title)
    for head in (
        AT[language].format(called(whose, language), ""),
        ON[language].format(topic(title), ""),
    ):
        if question.startswith(head) and (whose or title):
            rest = question[len(head) :]
            if rest.startswith("¿"):
                return f"¿{rest[1:2].upper()}{rest[2:]}"
            return rest[:1].upper() + rest[1:]
    return question.replace(f" at {whose}?", "?") if language == "en" and whose else question


_FRAMED = {
    "en": re.compile(
        r"Regarding (.+?), (?=(?:who|what|when|where|which|why|how|is|are|was|were|does|do|did|can|may|must|has|have|had|will|"
        r"in|on|at|of|for|from|until|since|by|under|into)\b)"
    ),
    "es": re.compile(r"En cuanto al? (.+?), (?=[^,]*¿|[^,]*, ¿)"),
}


def taken_apart(question: str, language: str) -> tuple[str, str]:
    """What a question is framed by (`Regarding X,`) and the bare question; the first is empty where no frame is."""
    found = _FRAMED[language].match(question)
    if found is None:
        return "", question
    about, bare = found.group(1), question[found.end() :]
    if question.startswith("En cuanto al "):
        about = f"el {about}"
    asks = int(bare.startswith("¿"))
    return about, f"{bare[:asks]}{bare[asks : asks + 1].upper()}{bare[asks + 1 :]}"


def put_before(about: str, said: str, language: str) -> str:
    """What is said behind its frame again: `Regarding X, I am writing …`."""
    start = said if language == "en" and said.startswith("I ") else f"{said[:1].lower()}{said[1:]}"
    return ON[language].format(about, start).replace(" a el ", " al ", 1)
