"""Where an English clause ends: at a sign, at a further clause, or where a list does not go on."""

from __future__ import annotations

from ragstone.testset.offline.english.verbs import AUXILIARIES, forms
from ragstone.testset.offline.english.words import DET, PREP, RELATIVE, SIGNS, adverb
from ragstone.testset.offline.facts import Source
from ragstone.testset.spans import Token, is_number, plural
from ragstone.testset.vocabulary import MONTHS_AND_DAYS


def end_of(source: Source, start: int, *, relatives: bool = False) -> int:
    """Where a clause ends: at a sign, at a further clause, or where the verb is coordinated."""
    tokens = source.tokens
    for n in range(start, len(tokens)):
        token = tokens[n]
        if token.text in SIGNS or (
            token.text in '.!”"-' and token.text != '"' and n >= len(tokens) - 2
        ):
            return n
        if token.text == "," and not _list_goes_on(source, n):
            return n
        if token.lower in ("and", "or", "but") and n > start and _clause_follows(source, n + 1):
            return n
        if token.lower in ("while", "whereas", "although", "though", "but") and n > start:
            return n
        if not relatives and (token.lower == "because" or (token.lower == "so" and n > start)):
            return n
    return len(tokens)


def _list_goes_on(source: Source, comma: int) -> bool:
    """Whether a comma only divides the members of a list that ends in `and` or `or`, or parts a number of a date."""
    tokens = source.tokens
    if (
        comma + 1 < len(tokens)
        and tokens[comma - 1].lower in MONTHS_AND_DAYS
        and tokens[comma + 1].text.isdigit()
    ):
        return True
    for n in range(comma + 1, min(comma + 9, len(tokens))):
        token = tokens[n]
        if (
            token.text in ".;:—"
            or token.lower in RELATIVE
            or token.lower in AUXILIARIES
            or token.lower in PREP - {"of"}
        ):
            return False
        if n == comma + 1 and (
            token.lower.endswith("ing")
            or (token.lower in ("a", "an") and _is_definite(tokens[comma - 1]))
        ):
            return False
        if n == comma + 1 and "participle" in forms(token.lower):
            return False
        if token.lower in ("and", "or"):
            listed = n > comma + 1 or any(
                one.text == "," for one in tokens[max(0, comma - 8) : comma]
            )
            return listed and not _clause_follows(source, n + 1)
    return False


def _is_definite(token: Token) -> bool:
    return token.capital


def _clause_follows(source: Source, start: int) -> bool:
    tokens = source.tokens
    for n in range(start, min(start + 10, len(tokens))):
        token = tokens[n]
        if token.text in ",.;:" or token.lower in RELATIVE or token.lower in ("and", "or"):
            return False
        if token.lower in AUXILIARIES:
            return True
        kinds = forms(token.lower) if token.word and not token.capital else {}
        if n == start and kinds and token.lower not in DET and not plural(token.lower, "en"):
            return True
        if (
            n == start
            and "third" in kinds
            and n + 1 < len(tokens)
            and (tokens[n + 1].lower in DET | PREP or is_number(tokens[n + 1], "en"))
        ):
            return True
        if n == start + 1 and adverb(tokens[start]) and kinds:
            return True
        if (
            n > start
            and ("past" in kinds or ("third" in kinds and not plural(tokens[n - 1].lower, "en")))
            and (
                tokens[n - 1].lower not in DET | PREP
                and n + 1 < len(tokens)
                and tokens[n + 1].lower != "by"
            )
        ):
            return True
    return False
