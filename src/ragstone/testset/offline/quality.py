"""The measured gate of records: a description must begin with a verb, tell more than its key and be plain prose.

People read items that were made without it; bench/testset_quality.py measures on their sheets what each rule is worth."""

from __future__ import annotations

import re

from ragstone.testset.offline.grammar import Grammar
from ragstone.testset.question_terms import extract_content_stems
from ragstone.text.verbs import find_verb_form

MIN_NEWS = 3
"""Words of meaning that a description must add to its question."""
_COMMON_START = 4
"""Letters by which two stems are taken for forms of one word: `Save` and `saved`."""
_WORD_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|[_→`“”«».-]")
_CODE = re.compile(r"`[^`]*`")
_UNCLEAN = re.compile(
    r"[;\[\]{}<>|=+@!?\"ÃÂ]|--| - |(?<!\w)'|'(?!\w)|^[^“]*”|\b(?:[Ss]ee|[Vv]éase|[Cc]onsulte) "
)
"""Signs that prose seldom has: syntax, placeholders, a wrong encoding, half of a quotation; and a pointer to other pages."""
_VERB_FORMS = ("finite", "noun_like", "base")


def explain_poor_record(question: str, reference: str, grammar: Grammar) -> str:
    """Why the description of a record is a poor answer; empty when it is a good one."""
    if not begins_with_verb(reference, grammar):
        return "does not begin with what the thing does"
    if count_news(question, reference, grammar.language) < MIN_NEWS:
        return "says hardly more than the name"
    return "is no plain prose" if is_unclean(reference) else ""


def begins_with_verb(reference: str, grammar: Grammar) -> bool:
    """Whether a description says what a thing does: `Prints the …`, `Do not …`."""
    words = grammar.before_verb.sub("", reference, count=1).split()
    if len(words) < 2 or grammar.order_start.match(reference):
        return False
    first, second = (word.strip(",.:").lower() for word in words[:2])
    if {first, second} & grammar.after_noun or first in grammar.bad_starts | grammar.articles:
        return False  # `Control of the …`: a noun that looks like a verb
    if first in grammar.verb_words or find_verb_form(first, grammar.language) in _VERB_FORMS:
        return True
    return grammar.verb_start.match(reference) is not None


def count_news(question: str, reference: str, language: str) -> int:
    """How many words of meaning a reference has that are not in its question, in any form."""
    asked = extract_content_stems(f"{question} {_WORD_BREAK.sub(' ', question)}", language)
    starts = {stem[:_COMMON_START] for stem in asked if len(stem) >= _COMMON_START - 1}
    told = set(extract_content_stems(reference, language)) - set(asked)
    return sum(stem[:_COMMON_START] not in starts for stem in told)


def is_unclean(reference: str) -> bool:
    """Whether a reference has signs of syntax or of a wrong encoding outside of code."""
    return _UNCLEAN.search(_CODE.sub("", reference)) is not None
