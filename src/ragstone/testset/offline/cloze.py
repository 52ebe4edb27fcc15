"""Sentences with a gap: what a document is asked where no question fits its sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragstone.testset.offline.facts import Fact, ended, even
from ragstone.testset.offline.phrases import ABOUT, CLOZE, GAP
from ragstone.testset.offline.spanish.verbs import finite
from ragstone.testset.spans import Token, names, tokens_of, typed
from ragstone.testset.vocabulary import DETERMINERS, PREPOSITIONS, UNCLEAR, word_set

_LONGEST = 36
"""Words of a sentence with a gap; a longer one ends at a comma before."""


def pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence in pieces that can be read in one breath, cut at commas; short ones are left out."""
    words = [
        (start + one.start(), start + one.end()) for one in re.finditer(r"\S+", text[start:end])
    ]
    first = 0
    while len(words) - first > _LONGEST:
        cut = next(
            (n for n in range(first + _LONGEST, first + 7, -1) if text[words[n][1] - 1] == ","),
            None,
        )
        if cut is None:
            break
        yield words[first][0], words[cut][1] - 1
        first = cut + 1
    if len(words) - first >= 7:
        yield words[first][0], end


def _rare_word(tokens: Sequence[Token], language: str) -> list[tuple[int, int]]:
    """The longest words behind an article beyond the first third of a sentence: what it tells is mostly there."""
    nouns = [
        n for n in range(max(1, len(tokens) // 3), len(tokens))
        if len(tokens[n].text) >= 6 and tokens[n].text.isalpha() and tokens[n].text.islower()
        and tokens[n - 1].lower in DETERMINERS[language] | PREPOSITIONS[language] | {"of"}
    ]  # fmt: skip
    return [(n, n + 1) for n in sorted(nouns, key=lambda n: (-len(tokens[n].text), n))[:3]]


def _counted(tokens: Sequence[Token], at: int, language: str) -> bool:
    """Whether a number counts what follows: `Bus 4 stops` does not count stops."""
    before = tokens[at - 1].lower if at else ""
    return before in PREPOSITIONS[language] or before in _COUNTING


_COUNTING = word_set(
    "of than has have had least most about only de menos más tiene tienen unos unas hasta"
)


def gapped(sentence: str, start: int, language: str, whose: str) -> Iterator[Fact]:
    """The sentence with its number, date or name taken out, what tells most first."""
    tokens = tokens_of(sentence)
    if tokens and language == "es" and (finite(tokens[0].lower) or tokens[0].lower in ("se", "no")):
        return  # the subject is left out
    if (
        not 6 <= len(tokens) <= 60
        or tokens[0].lower in UNCLEAR[language]
        or sentence.count('"') % 2
        or "#" in sentence
    ):
        return
    places = [
        (span.first, span.last)
        for span in typed(sentence, tokens, language)
        if span.sort in ("money", "date", "percent") or (span.sort == "quantity" and _counted(tokens, span.first, language))
    ]  # fmt: skip
    found = names(tokens, language, frozenset())
    places += [(a, b) for a, b in found if b - a >= 2 and a > 0]
    places += [(a, b) for a, b in found if b - a == 1 and a > 0 and tokens[a - 1].text not in '“".']
    places += _rare_word(tokens, language)
    for a, b in places:
        answer = sentence[tokens[a].start : tokens[b - 1].end]
        gapped = sentence[: tokens[a].start] + GAP + sentence[tokens[b - 1].end :]
        gapped = gapped if gapped[:1].isupper() or not gapped[:1].isalpha() else f"… {gapped}"
        cut = sentence[tokens[b - 1].end : tokens[b - 1].end + 2]
        short = len(answer) < 3 and not answer[0].isdigit()
        if short or cut[:1] == "-" or (cut[:1] in ".'’" and cut[1:].isalnum()):
            continue  # `C`, or half of `U.S.` or `oxygen-16`
        if sentence.count(answer) == 1:
            frame = (
                ABOUT[language].format(whose, "{}")
                if whose and whose not in sentence
                else CLOZE[language]
            )
            yield Fact(
                even(frame.format(gapped)),
                ended(answer),
                "cloze",
                sentence=sentence,
                start=start,
                deep=True,
            )
