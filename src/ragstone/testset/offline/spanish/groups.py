"""Spanish verb groups, and where the clause around one ends."""

from __future__ import annotations

import re

from ragstone.testset.offline.facts import Source
from ragstone.testset.offline.spanish.verbs import (
    CLITICS,
    MODALS,
    finite,
    gerund,
    infinitive,
    participle,
)
from ragstone.testset.offline.spanish.words import BEFORE_NOUN, DET, PREP, RELATIVE, SIGNS, adverb
from ragstone.testset.vocabulary import NUMBER_WORDS, word_set


def group_at(source: Source, n: int) -> tuple[int, int, bool] | None:
    """A verb group starting here: (finite verb, where the rest starts, negated)."""
    tokens = source.tokens
    start, negated = n, False
    while n < len(tokens) and (
        tokens[n].lower == "no"
        or (
            tokens[n].lower in CLITICS
            and n + 1 < len(tokens)
            and (
                _may_be_verb(source, n + 1)
                or (tokens[n].lower == "se" and _looks_verb(source, n + 1))
            )
        )
    ):
        negated = negated or tokens[n].lower == "no"
        n += 1
    if n >= len(tokens) or not (_may_be_verb(source, n) or (n > start and _looks_verb(source, n))):
        return None
    if n == start and not _is_verb(source, n):
        return None
    if (
        n == start
        and n + 1 < len(tokens)
        and _may_be_verb(source, n + 1)
        and not participle(tokens[n + 1].lower)
        and not tokens[n].lower.endswith(("ó", "aron", "ieron"))
    ):
        return None  # of two in a row the first is a noun: `la segunda planta tiene`
    at = n
    n += 1
    while n < len(tokens):
        low = tokens[n].lower
        before = tokens[n - 1].lower
        if (
            (
                adverb(tokens[n])
                and n + 1 < len(tokens)
                and (participle(tokens[n + 1].lower) or infinitive(tokens[n + 1].lower))
            )
            or (
                (participle(low) and before in _BEFORE_PARTICIPLE | {"sido"})
                or (low in ("sido", "estado") and before in _HAVE)
            )
            or (
                infinitive(low)
                and (
                    before in MODALS
                    or (
                        before in ("que", "a")
                        and tokens[n - 2].lower
                        in (
                            "tiene",
                            "tienen",
                            "tenía",
                            "tenían",
                            "va",
                            "van",
                            "hay",
                            "comenzó",
                            "comenzaron",
                            "empezó",
                            "empezaron",
                            "vuelve",
                            "llegó",
                        )
                    )
                )
            )
            or (gerund(low) and before in ("está", "están", "estaba", "estaban", "sigue", "siguen"))
            or (
                low in ("que", "a")
                and n + 1 < len(tokens)
                and infinitive(tokens[n + 1].lower)
                and before
                in (
                    "tiene",
                    "tienen",
                    "tenía",
                    "tenían",
                    "va",
                    "van",
                    "comenzó",
                    "comenzaron",
                    "empezó",
                    "empezaron",
                )
            )
        ):
            n += 1
        else:
            break
    return at, n, negated


_HAVE = word_set("ha han había habían habrá hubo haber")

_BEFORE_PARTICIPLE = _HAVE | word_set(
    "fue fueron es son era eran será serán está están estaba estaban estuvo quedó quedaron ser"
)


def _may_be_verb(source: Source, n: int) -> bool:
    token = source.tokens[n]
    return token.word and (not token.capital or n == 0) and finite(token.lower)


_VERB_LIKE = re.compile(r"[^\W\d_]{2,}(?:an?|en?|ó|aron|ieron|aban?|ían?|arán?|erán?|irán?)$")


def _looks_verb(source: Source, n: int) -> bool:
    """Whether a word behind `se` or `no` has a verb's ending: nothing but a verb can stand there."""
    token = source.tokens[n]
    return (
        token.word
        and not token.capital
        and token.lower not in DET | PREP | RELATIVE
        and _VERB_LIKE.match(token.lower) is not None
    )


def _is_verb(source: Source, n: int) -> bool:
    """Whether a word that can be a verb is one here: no article or preposition before it."""
    tokens = source.tokens
    if n == 0:
        return True
    before = tokens[n - 1]
    if before.lower == "más" and n > 1 and tokens[n - 2].lower == "o":
        return True
    if before.lower in ("y", "e") and _goes_on(source, n):
        return True
    if (
        before.lower in DET | PREP
        or before.lower in ("muy", "más", "tan", "y", "e", "o")
        or before.lower in BEFORE_NOUN
        or before.lower in NUMBER_WORDS["es"]
    ):
        return (
            tokens[n].lower in ("es", "son", "fue", "fueron", "tiene", "tienen", "puede", "pueden")
            and before.lower not in PREP
        )
    return before.word or before.text[0].isdigit() or before.text in '"”»%,'


def _goes_on(source: Source, n: int) -> bool:
    """Whether a word behind `y` is a further verb: its ending is no noun's, or an object follows at once."""
    tokens = source.tokens
    low = tokens[n].lower
    if low.endswith(("ó", "aron", "ieron", "aban", "arán", "erán", "irán")):
        return True
    after = tokens[n + 1] if n + 1 < len(tokens) else tokens[n]
    return after.lower in _OBJECT_STARTS


_OBJECT_STARTS = word_set("el la los las un una unos unas su sus")


def end_of(source: Source, start: int, *, relatives: bool = False) -> int:
    """Where a clause ends: at a sign, at a further clause, or where the verb is coordinated."""
    tokens = source.tokens
    for n in range(start, len(tokens)):
        token = tokens[n]
        if token.text in SIGNS or (token.text in ".!”" and n >= len(tokens) - 2):
            return n
        if token.text == "," and not _list_goes_on(source, n):
            return n
        if token.lower in ("y", "e", "o", "pero") and n > start and _clause_follows(source, n + 1):
            return n
        if token.lower in ("mientras", "aunque", "pero", "sino") and n > start:
            return n
        if not relatives and token.lower in ("porque", "pues") and n > start:
            return n
    return len(tokens)


def _list_goes_on(source: Source, comma: int) -> bool:
    tokens = source.tokens
    for n in range(comma + 1, min(comma + 9, len(tokens))):
        token = tokens[n]
        if (
            token.text in ".;:—"
            or token.lower in RELATIVE
            or (
                n == comma + 1
                and (gerund(token.lower) or participle(token.lower) or token.lower in PREP)
            )
        ):
            return False
        if _may_be_verb(source, n) and _is_verb(source, n):
            return False
        if token.lower in ("y", "e", "o", "u"):
            return n > comma + 1 and not _clause_follows(source, n + 1)
    return False


def _clause_follows(source: Source, start: int) -> bool:
    tokens = source.tokens
    for n in range(start, min(start + 9, len(tokens))):
        token = tokens[n]
        if token.text in ",.;:" or token.lower in RELATIVE or token.lower in ("y", "e", "o"):
            return False
        if token.lower in PREP and n > start + 2:
            return False
        if group_at(source, n) is not None and (n == start or _is_verb(source, n)):
            return True
    return False
