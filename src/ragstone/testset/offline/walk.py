"""A document walked sentence by sentence: what is said of what, with pronouns told by the sentence before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ragstone.data.documents import Document
from ragstone.testset.offline import english, spanish
from ragstone.testset.offline.facts import Fact, Source
from ragstone.testset.prose import prose, read_sentences
from ragstone.testset.spans import is_person, names, tokens_of
from ragstone.testset.vocabulary import MONTHS_AND_DAYS

_RULES: dict[str, Any] = {"en": english, "es": spanish}
_HEADING = re.compile(r"\s*#{1,6}\s")
_LONGEST = 420
"""Characters of a sentence that is read; longer ones are tables, lists or faults of the splitter."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a document calls by name."""

    words: frozenset[str]
    people: frozenset[str]
    common: frozenset[str]


def facts_of(document: Document, language: str) -> Iterator[Fact]:
    """Every fact of a document, in the order of its text."""
    rules = _RULES[language]
    whole = prose(document.text)
    spans = [
        (c, d)
        for a, b in read_sentences(document.text, language)
        if not _HEADING.match(whole[a:b])
        for c, d in apart(whole, a, b)
        if d - c <= _LONGEST
    ]
    read = [(a, whole[a:b], tuple(tokens_of(whole[a:b]))) for a, b in spans]
    named = _named([tokens for _, _, tokens in read], language)
    subject, many, person = "", False, ""
    for start, text, tokens in read:
        if not tokens:
            continue
        if tokens[0].lower in _HIS and person:
            subject, many = person, False
        source = Source(text, start, tokens, subject, many, named.words, named.people, named.common)
        found = list(rules.clauses(source))
        yield from rules.facts(source, found)
        person = _person(source, found, language, person)
        told = {clause.subject for clause in found if not clause.relative}
        if len(told) == 1 and found[0].subject:  # with two subjects, a pronoun may mean either
            subject, many = found[0].subject, found[0].many
        else:
            subject, many = "", False


_HIS = frozenset(["he", "she", "his", "her"])


def _person(source: Source, found: list[Any], language: str, before: str) -> str:
    """Whom `he` or `she` means in the next sentence: the one person this one speaks of; nobody when there are several."""
    for clause in found:
        if clause.person and clause.words and not clause.relative:
            return source.say(clause.first, clause.close)
    people = set()
    for a, b in names(source.tokens, language, source.names):
        words = [one.text for one in source.tokens[a:b]]
        if is_person(words, source.tokens[a - 1].lower if a else "", source.people):
            people.add(" ".join(words))
    return before if not people else people.pop() if len(people) == 1 else ""


_MISSED = re.compile(r"(?<=[^\W\d_]{2}[.!?]) (?=[A-ZÁÉÍÓÚÑ¿¡])")


def apart(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """What stands on its own in a sentence: halves around a semicolon, and what the splitter took for an abbreviation (`fed.`)."""
    cuts = [start]
    for gap in _MISSED.finditer(text, start, end):
        word = text[max(start, gap.start() - 40) : gap.start()].rsplit(" ", 1)[-1].strip(".!?")
        code = text.count("`", start, gap.start()) % 2
        if word.islower() and len(word) > 2 and not code:
            cuts.append(gap.end())
    for gap in re.compile("; ").finditer(text, start, end):
        if text.count("`", start, gap.start()) % 2:
            continue  # inside a span of code
        if (
            len(text[cuts[-1] : gap.start()].split()) >= 4
            and len(text[gap.end() : end].split()) >= 4
        ):
            cuts.append(gap.end())
    cuts.sort()
    return [
        (a, a + len(text[a:b].rstrip(" ;")) if b < end else b)
        for a, b in zip(cuts, [*cuts[1:], end], strict=True)
    ]


def _named(read: list[tuple[Any, ...]], language: str) -> Named:
    """Words written with a capital inside a sentence, and those of them that are people's names."""
    small: set[str] = set()
    words: set[str] = set()
    people: set[str] = set()
    for tokens in read:
        for n, token in enumerate(tokens):
            if not token.word:
                continue
            if not token.capital:
                small.add(token.lower)
            elif n and tokens[n - 1].text not in '"“‘«:.—' and token.lower not in MONTHS_AND_DAYS:
                words.add(token.text)
    for tokens in read:
        for a, b in names(tokens, language, frozenset(words)):
            found = [one.text for one in tokens[a:b]]
            before = tokens[a - 1].lower if a else ""
            if 2 <= len(found) <= 4 and is_person(found, before, frozenset()):
                people.add(found[-1].removesuffix("'s").removesuffix("’s"))
    return Named(frozenset(words), frozenset(people), frozenset(small))
