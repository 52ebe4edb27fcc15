"""What stands before an English subject: a date, a place, a condition."""

from __future__ import annotations

import re

from ragstone.testset.offline.english.groups import verb_of
from ragstone.testset.offline.english.verbs import AUXILIARIES, forms
from ragstone.testset.offline.english.words import (
    DET,
    PREP,
    RELATIVE,
    SUBORDINATE,
    small,
)
from ragstone.testset.offline.facts import Source
from ragstone.testset.spans import typed
from ragstone.testset.vocabulary import MONTHS_AND_DAYS, UNCLEAR

OPENERS = re.compile(
    r"(?:however|moreover|furthermore|therefore|thus|also|in addition|additionally|nevertheless|for example|for instance|"
    r"in particular|as a result|instead|similarly|likewise|finally|meanwhile|consequently|overall|indeed|in fact|by contrast|"
    r"subsequently|then|still|hence|of course|today|historically|sometimes|often|usually|generally|typically|normally|"
    r"traditionally|originally|initially|eventually|ultimately|recently|currently|at first|at times|in practice|since then|on the other hand|in turn|and|but),?\s+",
    re.IGNORECASE,
)


def lead_of(source: Source, first: int) -> tuple[str, tuple[int, int] | None, int]:
    """A phrase before the subject, set off by a comma or a bare date: `In 1187,`."""
    tokens = source.tokens
    if tokens[first].lower not in PREP and tokens[first].lower not in SUBORDINATE:
        return "", None, first
    if (
        tokens[first].lower in ("over", "about", "around", "under")
        and tokens[first + 1].text[0].isdigit()
    ):
        return "", None, first
    if tokens[first].lower == "at" and tokens[first + 1].lower in ("most", "least"):
        return "", None, first
    spans = typed(source.text, tokens, "en")
    date = next((s for s in spans if s.sort == "date" and s.first <= first + 2), None)
    if (
        date is not None
        and date.first <= first + 1
        and tokens[first].lower in PREP
        and date.last < len(tokens)
    ):
        after = tokens[date.last].text
        if after != "," and after.lower() not in PREP | {"and", "to"} and date.last - first <= 6:
            return small(source, first, date.last), (first, date.last), date.last
    comma = next(
        (n for n in range(first, min(first + 16, len(tokens))) if tokens[n].text == ","), None
    )
    short = _short_lead(source, first) if tokens[first].lower in PREP else 0
    if short and (comma is None or short < comma):
        return small(source, first, short), None, short
    if comma is None:
        return ("", None, first) if tokens[first].lower not in PREP else ("?", None, len(tokens))
    dated = tokens[comma - 1].lower in MONTHS_AND_DAYS or (
        tokens[comma - 1].text.isdigit() and tokens[comma - 2].lower in MONTHS_AND_DAYS
    )
    if dated and comma + 1 < len(tokens) and tokens[comma + 1].text.isdigit():
        comma = next(
            (n for n in range(comma + 1, min(first + 14, len(tokens))) if tokens[n].text == ","),
            comma,
        )
    inner = tokens[first:comma]
    verbal = inner[0].lower in PREP and any(one.lower in AUXILIARIES for one in inner)
    if any(one.lower in UNCLEAR["en"] for one in inner) or len(inner) > 12 or verbal:
        return "?", None, comma + 1
    dated = date is not None and date.last == comma and date.first <= first + 1
    return small(source, first, comma), ((first, comma) if dated else None), comma + 1


def _short_lead(source: Source, first: int) -> int:
    """`In Hinduism the spiritual teacher is …`: where the subject starts behind a short phrase without a comma."""
    tokens = source.tokens
    for n in range(first + 2, min(first + 7, len(tokens) - 3)):
        if tokens[n].text == "," or tokens[n].lower in RELATIVE or tokens[n].lower in AUXILIARIES:
            return 0
        before = tokens[n - 1]
        starts = tokens[n].lower in ("the", "a", "an") and before.word
        if starts and before.lower not in PREP | DET | {"of", "and", "or", "to"}:
            clear = not any(one.lower in UNCLEAR["en"] for one in tokens[first:n])
            return n if clear and not forms(before.lower) and verb_of(source, n) else 0
    return 0
