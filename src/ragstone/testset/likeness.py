"""Checks of a question without its documents: it holds its answer, points at an unseen text, or repeats another
one."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ragstone.testset.question_terms import extract_question_stems
from ragstone.text.answers import says_yes
from ragstone.text.evidence import find_quote
from ragstone.text.language import detect_language
from ragstone.text.quantities import Quantity, find_quantities, is_comparable, matches
from ragstone.text.terms import extract_terms
from ragstone.text.words import fold_text, split_bare_words

SAME_QUESTION_SHARE = 0.85
"""Share of words in common, of all words of both, from which two questions are one."""

MIN_AGREEMENT = 0.5
"""F1 of words from which two answers are one."""

_DANGLING = {
    "en": re.compile(
        r"\b(?:the|this|that|given|provided) (?:\w+ )?(?:passage|excerpt|paragraph|extract|snippet)\b"
        r"|\b(?:according to|in|from|based on|mentioned in|described in) (?:the|this|that) "
        r"(?:\w+ )?(?:text|context|document|article|section|table above)\b"
        r"|\b(?:above|aforementioned|mentioned above|as stated above)\b"
    ),
    "es": re.compile(
        r"\b(?:el|este|ese|dicho) (?:\w+ )?(?:pasaje|fragmento|párrafo|extracto)\b"
        r"|\b(?:según|en|de acuerdo con) (?:el|este|ese|dicho) (?:\w+ )?"
        r"(?:texto|contexto|documento|artículo)\b"
        r"|\b(?:mencionad|citad|descrit|indicad)[oa]s? (?:arriba|anteriormente|más arriba)\b"
    ),
}
"""Words that point at a text which whoever answers does not see."""


MAX_BARE_STEMS = 2
"""Words of meaning of a question that has a verb and no noun for its pronoun: `Who founded them?`"""


def leaks_answer(question: str, answer: str) -> bool:
    """Whether a question holds its own answer; one of several that it offers, and an answer of one letter, do not
    count."""
    words = fold_text(answer).split()
    if not words or (len(words) == 1 and len(words[0]) < 2):
        return False
    at = 0
    while (span := find_quote(answer, question[at:])) is not None:
        if not _is_offered(question, at + span[0], at + span[1]):
            return True
        at += span[1]
    return False


# A or B, between A and B: what stands before and behind one of the things to choose among
_CHOICE_BEFORE = re.compile(
    r"\b(?:or|o|u)(?: the| an?| el| la| los| las| una?)? ?$|\b(?:between|entre)\b[^,?.;]*$",
    re.IGNORECASE,
)
_CHOICE_BEHIND = re.compile(r",? (?:or|o|u) \w", re.IGNORECASE)


def _is_offered(question: str, start: int, end: int) -> bool:
    """Whether these letters of a question are one of the things that it lets one choose among."""
    return bool(_CHOICE_BEFORE.search(question[:start]) or _CHOICE_BEHIND.match(question, end))


# words that stand for a noun, and those that point at one
_PRONOUNS = {
    "en": re.compile(
        r"\b(?:it(?! (?:possible|allowed|safe|necessary|ok|okay|true|legal|free|worth|better|best|too|take"
        r"|cost)\b)|they|them|he|she|him|this|these|those)\b(?! (?:day|week|month|year|time))"
    ),
    "es": re.compile(
        r"\b(?:él|ella|ellos|ellas|ello|est[aeo]s?|es[aeo]s?|dich[ao]s?)\b(?! (?:día|semana|mes|año|vez))"
    ),
}


def is_dangling(question: str, language: str | None) -> bool:
    """Whether a question speaks of a text that nobody sees, or of something that it does not name (`How high is
    it?`)."""
    language = detect_language(question, language)
    folded = question.lower()
    if _DANGLING[language].search(fold_text(question)) is not None:
        return True
    pronoun = _PRONOUNS[language].search(folded)
    if pronoun is None or re.search(r"[`\d]|(?<=\w )(?!I\b)[A-ZÁÉÍÓÚÑ]", question):
        return False
    # a noun before it may be meant; a question of two words of meaning has none
    before = extract_question_stems(folded[: pronoun.start()], language)
    # `dicho` is no stop word, but carries no meaning either
    rest = folded[: pronoun.start()] + folded[pronoun.end() :]
    return not before or len(extract_question_stems(rest, language)) <= MAX_BARE_STEMS


def find_alike(
    questions: Sequence[str], least: float = SAME_QUESTION_SHARE
) -> Iterator[tuple[int, int]]:
    """Pairs of positions, the earlier first, whose questions have so many of their words in common.

    Only the rarest words of a question are looked up: two sets that share enough must share one of those."""
    sets = [_extract_words(question) for question in questions]
    held = Counter(word for words in sets for word in words)
    places: dict[str, list[int]] = {}
    for at, words in enumerate(sets):
        rare = sorted(words, key=lambda word: (held[word], word))
        # prefix filtering (Chaudhuri et al. 2006): sets that overlap so much share a word among
        # these
        prefix = rare[: len(rare) - math.ceil(least * len(rare)) + 1]
        seen: set[int] = set()
        for word in prefix:
            for other in places.setdefault(word, []):
                if other in seen:
                    continue
                seen.add(other)
                shared = len(words & sets[other])
                if shared >= least * (len(words) + len(sets[other]) - shared):
                    yield other, at
            places[word].append(at)


def _extract_words(question: str) -> frozenset[str]:
    """The stems that carry meaning, or all words when there are none."""
    stems = extract_terms(question, detect_language(question))
    return frozenset(stems or fold_text(question).split())


def agrees(given: str, reference: str, language: str) -> bool:
    """Whether two answers say the same: half of their words and no figure that excludes the other, or yes and yes."""
    said = [says_yes(text.split(",")[0].split(".")[0]) for text in (given, reference)]
    if None not in said:
        return said[0] == said[1]
    tongue = detect_language(reference, language)
    figures, others = find_quantities(given, tongue), find_quantities(reference, tongue)
    for figure in figures:
        rivals = [other for other in others if is_comparable(figure, other)]
        if rivals and not any(matches(figure, other) or matches(other, figure) for other in rivals):
            return False
    words = set(split_bare_words(given, tongue)), set(split_bare_words(reference, tongue))
    shared = len(words[0] & words[1])
    if not words[0] or not words[1]:
        return False
    is_part = shared == min(map(len, words))
    return (
        is_part
        or 2 * shared / (len(words[0]) + len(words[1])) >= MIN_AGREEMENT
        or _share_figures(figures, others)
    )


def _share_figures(figures: Sequence[Quantity], others: Sequence[Quantity]) -> bool:
    """Whether two answers tell the same figure in other words: `5 days`, `five working days`."""
    return bool(figures) and any(matches(one, other) for one in figures for other in others)
