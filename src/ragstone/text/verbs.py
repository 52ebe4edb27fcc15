"""What form of a verb a word can be, by tables and endings: enough to find clauses, not to parse.
Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from ragstone.text import verb_forms as forms
from ragstone.text.clause_words import to_word_set

VerbForm = Literal["finite", "past", "noun_like", "base", "participle", "infinitive", ""]
"""`past` may also be a participle (published), `noun_like` a plural (plays), `base` a noun
(work)."""

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
    """The third persons and the first plural, vive viven vivimos; the second person looks like a
    plural noun."""
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


def has_clause(text: str, language: str) -> bool:
    """Whether a text has a finite verb, so that it states something and does not only name it."""
    words = WORD.findall(text)
    for index, word in enumerate(words):
        before = words[index - 1].lower() if index else ""
        following = words[index + 1] if index + 1 < len(words) else ""
        if word[0].isupper() and (index or following[:1].isupper()):
            continue  # of a name: Will Smith
        form = find_verb_form(word.lower(), language)
        if form == "finite":
            return True
        if form == "past" and index and before not in _BEFORE_NOUNS:
            return True
        if form in ("noun_like", "base"):
            is_free = index > 0 and before not in _BEFORE_NOUNS
            is_plural = form == "base" and before.endswith("s")
            # items go back; the train needs 5 hours; the shop opens at nine
            is_verb = is_plural or _OBJECT_START.match(following) or _ADVERBIAL.match(following)
            if before in _SUBJECTS or (is_free and is_verb):
                return True
    return False


_BEFORE_NOUNS = to_word_set(
    "a an the this that these those its their his her my our your no some any of in on at by for with from to and or"
    " very more most el la los las un una de en por con para y o"
)
_ADVERBIAL = re.compile(r"(?:in|at|on|from|until|every|daily|by|for)$", re.IGNORECASE)
_OBJECT_START = re.compile(
    r"\d|(?:a|an|the|to|its|his|her|their|up|more|el|la|los|las|un|una|su)$", re.IGNORECASE
)
_SUBJECTS = to_word_set("i you he she it we they who which that there se que yo ella ellos ellas")
"""Words after which a form that may be a noun is a verb."""
