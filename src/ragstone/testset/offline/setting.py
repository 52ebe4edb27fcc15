"""The setting of a page of ordinary prose: the name by which a question says whose museum, rent or password it means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ragstone.testset.outline import DOCUMENT_WORDS
from ragstone.text.clause_words import to_word_set

_CAPITAL = r"[A-ZÁÉÍÓÚÑ][\w’'.-]*[\w’']"
_WHOLE_NAME = re.compile(
    rf"(?:(?:Using|Visiting|About) )?(?:[Tt]he |[EeLl][la] )?(?P<name>(?!(?:Using|Visiting|About|The|El|La) ){_CAPITAL}(?: (?:(?:of|the|de|del|la|las|los|el|y|and|&) )*{_CAPITAL})+)"
)
"""A name of several words: `Pellow & Daughters`, `Hospital San Telmo`."""
_GENERIC_TITLES = DOCUMENT_WORDS | to_word_set(
    "home index contents readme about inicio índice contenido our nuestra nuestro untitled"
)
MAX_TITLE_WORDS = 9
_WORD = re.compile(r"[A-ZÁÉÍÓÚÑ][a-zñáéíóú]+")
"""A word with a capital; a title of one word that is none, `expenses-2024`, is mostly the name of a file."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a page is about, by its own words; all fields are empty where it does not say."""

    name: str = ""
    """The house or firm: `Oakmere Primary School`."""
    frame: str = ""
    """A template over `question` that names it, or else the title of the page."""


def find_setting(title: str, owner: str, text: str, templates: Mapping[str, str]) -> Setting:
    """The setting of a page of ordinary prose: its owner or a name in its title, else the title itself."""
    body = text.split("\n", 1)[-1]
    wholes = filter(None, map(_WHOLE_NAME.fullmatch, title.split(": ")[::-1]))
    name = owner or next((whole["name"] for whole in wholes if _is_name(whole["name"], body)), "")
    # `Calder D40 dishwasher`: nobody is at a machine
    if not name or re.search(r"\d", name) or name.split()[-1].islower():
        return Setting("", frame_title(title, templates))
    return Setting(name, templates["frame_at"].replace("{owner}", _find_article(name, text) + name))


def frame_title(title: str, templates: Mapping[str, str]) -> str:
    """A template over `question` that names the page by its title; empty for a title that any page could have."""
    words = title.split()
    is_generic = not words or (len(words) < 3 and words[0].lower() in _GENERIC_TITLES)
    is_file_name = len(words) == 1 and not _WORD.fullmatch(title)
    if is_generic or is_file_name or len(words) > MAX_TITLE_WORDS or re.search(r"[,;?!…]", title):
        return ""
    return templates["frame_page"].replace("{title}", templates["quote"].format(title))


def _find_article(name: str, text: str) -> str:
    """The article that the page writes before a name or its noun: `la biblioteca` of the Biblioteca Municipal."""
    noun = re.escape(name.split()[0].lower())
    article = re.search(rf"\b(the|el|la|del|al) (?:{re.escape(name)}|(?i:(?<=el )|(?<=la )){noun})\b", text, re.I)  # fmt: skip
    return {"the": "the ", "la": "la "}.get(article[1].lower(), "el ") if article else ""


def _is_name(name: str, body: str) -> bool:
    """Whether the page uses its title as a name, inside its sentences and never in small letters; or its noun, as in
    `the library` of the page Using Wexcombe City Library."""
    first, *_, last = words = name.split()
    nouns = (f"the {last.lower()} ", f"la {first.lower()} ", f"el {first.lower()} ")
    is_used = name in body or any(noun in body.lower() for noun in nouns)
    return is_used and " ".join(words[:2]).lower() not in body
