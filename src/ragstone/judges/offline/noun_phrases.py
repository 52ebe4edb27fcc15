"""Noun phrases of questions, by tables and places: enough to tell what a question is about, not to parse it. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.text.clause_words import CLAUSE_WORDS, to_word_set
from ragstone.text.content import find_content_words
from ragstone.text.stopwords import STOPWORDS
from ragstone.text.verbs import NOUN_LIKE, WORD, find_verb_form


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A determiner with what follows up to a verb or function word."""

    start: int
    end: int
    text: str
    is_asked: bool
    """Whether a question word goes with it: which plan."""

    @property
    def article(self) -> str:
        """Which article it starts with: indefinite, definite or none."""
        first = self.text.split()[0].lower()
        if first in _INDEFINITES:
            return "indefinite"
        return "definite" if first in ARTICLES["en"] | ARTICLES["es"] else "none"

    @property
    def is_definite(self) -> bool:
        """Whether it names something in particular: the plan, my dog, Acme."""
        return self.article == "definite" or self.shape != "noun"

    @property
    def shape(self) -> str:
        """A name, a figure, or a common noun."""
        if any(character.isdigit() for character in self.text):
            return "figure"
        bare = self.text.split(" ", 1)[-1]
        return "name" if bare[:1].isupper() else "noun"


_WH_WORDS = to_word_set(
    "who whom whose what which when where why how quién quiénes qué cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas"
)
_VERBAL_WH = to_word_set("how when where why cómo cuándo dónde")
_MEASURES = to_word_set(
    "long many much old tall high far deep wide big large heavy often fast soon"
)


def find_phrases(text: str, tongue: str) -> list[NounPhrase]:
    """The noun phrases of a question, in order; possessives and demonstratives are no part of one."""
    tokens = list(WORD.finditer(text))
    words = [token[0].lower() for token in tokens]
    verb = _find_verb(words) if tongue == "en" else None
    runs: list[list[int]] = []
    for index, token in enumerate(tokens):
        is_joined = bool(runs) and runs[-1][-1] == index - 1
        is_joined = is_joined and not text[tokens[index - 1].end() : token.start()].strip()
        if words[index] in ARTICLES[tongue]:
            runs.append([index])
        elif index != verb and _is_nominal(tokens, index, is_joined, tongue):
            if is_joined:
                runs[-1].append(index)
            else:
                runs.append([index])
    phrases = [
        NounPhrase(start, end, text[start:end], _is_asked(words, run[0]))
        for run in runs
        for start, end in [(tokens[run[0]].start(), tokens[run[-1]].end())]
    ]
    return [phrase for phrase in phrases if _has_noun(phrase.text)]


def _is_asked(words: Sequence[str], index: int) -> bool:
    before = words[max(index - 2, 0) : index]
    return bool(before) and (before[-1] in _WH_WORDS or _is_measure(before))


def _is_measure(words: Sequence[str]) -> bool:
    return len(words) == 2 and words[0] == "how" and words[1] in _MEASURES


def _has_noun(text: str) -> bool:
    return bool(find_content_words(text)) or any(character.isdigit() for character in text)


def _find_verb(words: Sequence[str]) -> int | None:
    """The verb of an English question with a helper: the last word that can be one, the first that is nothing else.

    Does the Pro plan | include …; how much does the Pro plan | cost."""
    helpers = [at for at, word in enumerate(words) if word.lower() in _HELPERS]
    chosen = None
    prepositions = CLAUSE_WORDS["en"].prepositions
    for index in range(helpers[0] + 2, len(words)) if helpers else ():
        word, before = words[index].lower(), words[index - 1].lower()
        if word in prepositions:
            break
        if find_verb_form(word, "en") != "base" or before in CLAUSE_WORDS["en"].determiners:
            continue
        chosen = index
        if word not in NOUN_LIKE:
            break
    return chosen


_COUNTED_VERB = re.compile(r"\bcuántos? \w+(?:a|an|e|en)\b", re.IGNORECASE)
"""How much something weighs: of a noun, cuánto would have its gender."""
_BEFORE_VERBS = to_word_set("i you we they he she se me te nos le les")
"""Pronouns that a verb follows."""
_HELPERS = to_word_set("do does did can could will would should may might must")
_INDEFINITES = to_word_set(
    "a an un una unos unas mucho mucha muchos muchas algún alguna algunos algunas"
)
ARTICLES = {
    "en": to_word_set("a an the my your our"),
    "es": to_word_set(
        "el la los las un una unos unas mi mis tu tus nuestro nuestra nuestros nuestras"
    ),
}


def _is_nominal(tokens: Sequence[re.Match[str]], index: int, in_phrase: bool, tongue: str) -> bool:
    """Whether a word can be part of a noun phrase, as far as tables and its place tell."""
    word = tokens[index][0]
    lower, before = word.lower(), tokens[index - 1][0].lower() if index else ""
    if _is_verb_place(lower, before) or lower in _WH_WORDS or _is_measure((before, lower)):
        return False
    if word[0].isdigit() or (word[0].isupper() and index and word != "I"):
        return True
    words = CLAUSE_WORDS[tongue]
    if lower in STOPWORDS[tongue] or lower in words.prepositions:
        return False
    return _is_noun_here(lower, before, in_phrase, tongue)


def _is_noun_here(lower: str, before: str, in_phrase: bool, tongue: str) -> bool:
    """Whether a word that may be a verb is a noun in this place."""
    words, form = CLAUSE_WORDS[tongue], find_verb_form(lower, tongue)
    if form == "" or (form == "participle" and in_phrase):
        return True
    is_bound = before in words.determiners or before in words.prepositions
    if tongue == "es":
        return is_bound and form != "infinitive"
    # a word that is verb or noun: a noun after its determiner, and at the end of a phrase if it usually is one
    return is_bound or (in_phrase and form in ("base", "noun_like") and lower in NOUN_LIKE)


def _is_verb_place(word: str, before: str) -> bool:
    return before in _BEFORE_VERBS or _COUNTED_VERB.fullmatch(f"{before} {word}") is not None


def has_clause(text: str, phrases: Sequence[NounPhrase], tongue: str) -> bool:
    """Whether a text has a verb outside its noun phrases: a whole question, not a fragment of one."""
    for token in WORD.finditer(text):
        is_inside = any(phrase.start <= token.start() < phrase.end for phrase in phrases)
        form = "" if is_inside else find_verb_form(token[0].lower(), tongue)
        if form in ("finite", "past", "base", "infinitive") and token[0].lower() not in _WH_WORDS:
            return True
    words = [word.lower() for word in WORD.findall(text)]
    if _WH_WORDS.isdisjoint(words):
        return False
    if any(not phrase.is_asked for phrase in phrases) or _COUNTED_VERB.search(text):
        return True  # qué | significa | el código, with a verb that no table knows
    # how and where go with a verb, if only with one that no table knows: cómo lo contrato
    asks = [at for at, word in enumerate(words) if word in _VERBAL_WH]
    return bool(asks) and any(word not in _MEASURES for word in words[asks[0] + 1 :])


def extend_phrase(phrase: NounPhrase, phrases: Sequence[NounPhrase], text: str) -> str:
    """The phrase with those that `of` hangs on it: the warranty of the Basic plan."""
    end = phrase.end
    for following in phrases:
        if following.start > end and _OF.fullmatch(text[end : following.start]):
            end = following.end
    return text[phrase.start : end]


_OF = re.compile(r"\s+(?:of|de|del)\s+", re.IGNORECASE)
