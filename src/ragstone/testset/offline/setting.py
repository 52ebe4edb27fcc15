"""The setting of a page of ordinary prose: the name by which a question says whose museum, rent or password it means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ragstone.testset.outline import DOCUMENT_WORDS
from ragstone.text.clause_words import to_word_set
from ragstone.text.sentences import split_sentences

_CAPITAL = r"[A-ZÁÉÍÓÚÑ][\w’'.-]*[\w’']"
_NAME = rf"{_CAPITAL}(?: (?:(?:of|the|de|del|la|las|los|el|y|and|&) )*{_CAPITAL})+"
"""A name of several words: `Pellow & Daughters`, `Hospital San Telmo`."""
_WHOLE_NAME = re.compile(
    rf"(?:(?:Using|Visiting|About) )?(?:[Tt]he |[EeLl][la] )?(?P<name>(?!(?:Using|Visiting|About|The|El|La) ){_NAME})"
)
_PLACE = re.compile(rf".+ (?:in|at|en) (?P<name>{_CAPITAL}(?: {_CAPITAL})*)")
_FIRST_NAME = re.compile(
    rf"(?:(?:[^\s,.;:]+ ){{1,5}}(?:at|of|del?|en) )?(?:The |El |La )?(?P<name>(?!(?:The|El|La) ){_NAME})(?! ?[,(])"
)
_OURS = re.compile(r"\b(?:we|our|us|nosotros|nuestr[oa]s?)\b", re.IGNORECASE)
_GENERIC_TITLES = DOCUMENT_WORDS | to_word_set(
    "home index contents readme about inicio índice contenido our nuestra nuestro untitled"
)
MAX_TITLE_WORDS = 9


@dataclass(frozen=True, slots=True)
class Setting:
    """What a page is about, by its own words; all fields are empty where it does not say."""

    name: str = ""
    """The house, place or firm: `Oakmere Primary School`."""
    frame: str = ""
    """A template over `question` that names it, or else the title of the page."""


def find_setting(title: str, text: str, templates: Mapping[str, str]) -> Setting:
    """The setting of a page of ordinary prose.

    By a name in the title or in its first sentence; else by the title itself, unless that could be the title of any page."""
    body = text.split("\n", 1)[-1]
    for part in title.split(": ")[::-1]:
        place, whole = _PLACE.fullmatch(part), _WHOLE_NAME.fullmatch(part)
        if place and place["name"] in body:
            return Setting(place["name"], templates["frame_in"].replace("{owner}", place["name"]))
        if whole and _is_name(whole["name"], body):
            return _name_setting(whole["name"], text, templates)
    name = _find_first_name(body)
    if name and (_OURS.search(body) or f" at {name}" in body):
        return _name_setting(name, body, templates)
    words = title.split()
    if not words or len(words) > MAX_TITLE_WORDS or words[0].lower() in _GENERIC_TITLES:
        return Setting()
    return Setting("", templates["frame_page"].replace("{title}", templates["quote"].format(title)))


def _name_setting(name: str, text: str, templates: Mapping[str, str]) -> Setting:
    """The setting of a name, with the article that the page writes before it: `En el Colegio Los Olmos`."""
    noun = re.escape(
        name.split()[0].lower()
    )  # Spanish: `la biblioteca` of the Biblioteca Municipal
    article = re.search(rf"\b(the|el|la|del|al) (?:{re.escape(name)}|(?i:(?<=el )|(?<=la )){noun})\b", text, re.I)  # fmt: skip
    the = {"the": "the ", "la": "la "}.get(article[1].lower(), "el ") if article else ""
    return Setting(name, templates["frame_at"].replace("{owner}", the + name))


def _is_name(name: str, body: str) -> bool:
    """Whether the page uses its title as a name: never in small letters, and it has the name or its noun, as in
    `the library` of the page Using Wexcombe City Library."""
    first, *_, last = words = name.split()
    nouns = (f"the {last.lower()} ", f"la {first.lower()} ", f"el {first.lower()} ")
    is_used = first in body or any(noun in body.lower() for noun in nouns)
    return is_used and " ".join(words[:2]).lower() not in body


def _find_first_name(body: str) -> str:
    """The name that the first sentence of a page begins with, or `Everyone at` it."""
    paragraph = next(
        (line for line in body.split("\n") if line.strip() and line[0] not in "#|-*"), ""
    )
    spans = split_sentences(paragraph, "en")
    match = _FIRST_NAME.match(paragraph[: spans[0][1]]) if spans else None
    return match["name"] if match else ""
