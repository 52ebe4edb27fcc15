"""Closed word classes of English, and small looks at single words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragstone.testset.offline.english.verbs import forms
from ragstone.testset.offline.facts import Source
from ragstone.testset.spans import Token, plural
from ragstone.testset.vocabulary import (
    DETERMINERS,
    GIVEN_NAMES,
    NUMBER_WORDS,
    PREPOSITIONS,
    UNCLEAR,
    word_set,
)

PREP, DET = PREPOSITIONS["en"], DETERMINERS["en"]

PRONOUNS = frozenset({"it", "they", "he", "she"})

RELATIVE = word_set(
    "which who whom whose that where when while because although though if unless whereas "
    "since so until"
)

SUBORDINATE = word_set(
    "if when while once unless although though because since as whereas whenever"
)

_ADVERBS = word_set(
    "also often only seldom just still now then later always never sometimes long since not ever "
    "already again perhaps together alone first once soon thus therefore both even instead "
    "too well far almost rather thereafter sometimes afterwards hence perhaps maybe"
)

_NO_ADVERBS = word_set(
    "jelly family assembly supply reply monopoly anomaly belly rally lily butterfly daily weekly "
    "monthly yearly elderly friendly"
)
AROUND = word_set(
    "just only about around approximately approximate nearly almost roughly some up to at "
    "most least more than over fewer less exactly under as many"
)

_WITH = {"at": ("most", "least"), "to": (), "up": ("to",), "as": ("many",), "many": ("as",)}
"""Words that go with a number only beside another one: `up to 12`, not `to 12`; `at least 12`, not `at 12`."""


def amount_start(tokens: Sequence[Token], number: int, lowest: int) -> int:
    """Where the words that belong to a number start: `up to`, `more than`, `about`."""
    first = number
    while first > lowest and tokens[first - 1].lower in AROUND:
        low = tokens[first - 1].lower
        if low == "to":
            if first - 2 < lowest or tokens[first - 2].lower != "up":
                break
        elif low in _WITH and tokens[first].lower not in _WITH[low]:
            break
        first -= 1
    return first


SIGNS = frozenset(";:—–―")


def adverb(token: Token) -> bool:
    """Whether a word only colours a verb."""
    return token.lower in _ADVERBS or (
        token.lower.endswith("ly")
        and len(token.lower) > 4
        and not token.capital
        and token.lower not in _NO_ADVERBS
    )


def head(source: Source, first: int, close: int) -> str:
    """The noun that a subject is about: the last word before its first preposition."""
    end = next(
        (n for n in range(first + 1, close) if source.tokens[n].lower in PREP | {"of"} | RELATIVE),
        close,
    )
    return source.tokens[end - 1].lower


_PEOPLES = word_set(
    "islamic catholic celtic germanic slavic baltic atlantic pacific arabic greek dutch welsh"
)
_NOUNISH = re.compile(
    r"(?:[a-z]{4,}(?:tion|ment|ness|ing|ists?|ers|ity|ism|ence|ance|ies)|[a-z]+(?:ency|ancy|logy|graphy|osis|try|age|hip))$"
)


def small(source: Source, first: int, last: int) -> str:
    """The words with the capital of a sentence's start taken away, where it is no name."""
    text = source.say(first, last)
    token = source.tokens[first]
    article = token.text in ("The", "A", "An") and first + 1 < last
    if article and (first == 0 or not source.tokens[first + 1].capital):
        return text[:1].lower() + text[1:]
    if first > 0 and not (first == 1 and source.tokens[0].text in '"“'):
        return text
    owner = token.text.removesuffix("'s").removesuffix("’s")
    if (
        owner in source.names
        or owner != token.text
        or (len(token.text) > 1 and token.text.isupper())
        or not token.word
    ):
        return text
    low = token.lower
    common = (
        low
        in ("much", "more", "little", "half", "early", "late", "one", "none", "neither", "either")
        or low.split("-")[0] in NUMBER_WORDS["en"]
        or low in DET | PREP | SUBORDINATE | NUMBER_WORDS["en"] | UNCLEAR["en"] | _ADVERBS | AROUND
        or low in source.common
    )
    following = source.tokens[first + 1] if first + 1 < len(source.tokens) else token
    if common and low in DET | PREP:
        return text[:1].lower() + text[1:]
    if following.word and following.capital:
        return text
    proper = low.endswith(("ese", "ish", "an", "ch", "’s", "'s")) or low in _PEOPLES
    described = (
        last - first > 1
        and following.word
        and following.lower not in ("of", "and", "or")
        and not proper
    )
    if described or (low.endswith("ing") and len(low) > 5):
        return text[:1].lower() + text[1:]
    if (
        common
        or (len(low) > 4 and low not in GIVEN_NAMES and _NOUNISH.search(low))
        or plural(low, "en")
        or forms(low)
    ):
        return text[:1].lower() + text[1:]
    return text
