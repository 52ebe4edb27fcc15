"""What form of a verb a word can be, by tables and endings: enough to find clauses, not to parse. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from ragstone.text import verb_forms as forms

VerbForm = Literal["finite", "past", "noun_like", "base", "participle", "infinitive", ""]
"""`past` may also be a participle (published), `noun_like` a plural (plays), `base` a noun (work)."""

WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")


@lru_cache(maxsize=8192)
def find_verb_form(word: str, language: str) -> VerbForm:
    """Return the verb form that a lower-case word most likely is; empty for a word that is none."""
    word = word.replace("’", "'")
    return _find_spanish(word) if language == "es" else _find_english(word)


def _find_english(word: str) -> VerbForm:
    for form, words in _ENGLISH:
        if word in words:
            return form
    if word in _EN_NOT or not word.isalpha():
        return ""
    if len(word) > 3 and word.endswith("ed") and not word.endswith("eed"):
        return "past"
    return ""


def _add_s(base: str) -> str:
    """The third person of a verb: tries, goes, passes, takes."""
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


_BASES = forms.EN_BASES.split()
NOUN_LIKE = frozenset(forms.EN_NOUN_LIKE.split())
_EN_NOT = frozenset(forms.EN_NO_PARTICIPLES.split())
_ENGLISH: tuple[tuple[VerbForm, frozenset[str]], ...] = (
    ("finite", frozenset([*forms.EN_AUXILIARIES.split(), *forms.EN_PASTS.split()])),
    ("past", frozenset(forms.EN_PAST_PARTICIPLES.split())),
    ("finite", frozenset(_add_s(base) for base in _BASES if base not in NOUN_LIKE)),
    ("noun_like", frozenset(_add_s(base) for base in NOUN_LIKE)),
    ("participle", frozenset(forms.EN_PARTICIPLES.split())),
    ("base", frozenset(_BASES)),
)


def _add_ed(base: str) -> str:
    """The regular past of a verb: tried, moved, opened."""
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ied"
    return base + ("d" if base.endswith("e") else "ed")


_TO_BASE = {form(base): base for base in _BASES for form in (_add_ed, _add_s, str)} | {
    "has": "have",
    "have": "have",
    "began": "begin",
}


def to_base_form(word: str) -> str:
    """The plain form of an English verb in the third person or the regular past; empty for what is no verb."""
    return _TO_BASE.get(word, "")


def is_base_form(word: str) -> bool:
    """Whether an English word is the plain form of a verb, as an order begins with."""
    return _TO_BASE.get(word) == word


def _find_spanish(word: str) -> VerbForm:
    if word in _ES_NOT:
        return ""
    if word in _ES_NOUN_LIKE:
        return "noun_like"
    if word in _ES_FINITE or _ES_FINITE_ENDING.fullmatch(word):
        return "finite"
    if word in _ES_PARTICIPLES or _ES_PARTICIPLE_ENDING.fullmatch(word):
        return "participle"
    return "infinitive" if _ES_INFINITIVE_ENDING.fullmatch(word) else ""


def _list_present(infinitive: str) -> list[str]:
    """The third persons and the first plural, vive viven vivimos; the second person looks like a plural noun."""
    vowel = "a" if infinitive.endswith("ar") else "e"
    stem = infinitive[:-2]
    return [f"{stem}{vowel}", f"{stem}{vowel}n", f"{infinitive[:-1]}mos"]


_ES_NOUN_LIKE = frozenset(forms.ES_NOUN_LIKE.split())
_ES_FINITE = frozenset([*forms.ES_FINITE.split(), *forms.ES_SUBJUNCTIVES.split()]).union(
    *(_list_present(infinitive) for infinitive in forms.ES_REGULAR.split())
)
_ES_NOT = frozenset(forms.ES_NO_FINITE.split())
_ES_PARTICIPLES = frozenset(forms.ES_PARTICIPLES.split())
_ES_FINITE_ENDING = re.compile(forms.ES_FINITE_ENDING)
_ES_PARTICIPLE_ENDING = re.compile(forms.ES_PARTICIPLE_ENDING)
_ES_INFINITIVE_ENDING = re.compile(forms.ES_INFINITIVE_ENDING)
