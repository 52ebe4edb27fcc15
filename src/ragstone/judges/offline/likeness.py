"""How much of one short answer another text has: names in other spellings, dates, numbers and ranges. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import math
import re
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from ragstone.judges.offline.aliases import ALIASES
from ragstone.judges.offline.alignment import align, opposites
from ragstone.judges.offline.reading import NEGATION, unaccented
from ragstone.judges.offline.short import Short, Word, is_inside
from ragstone.text.quantities import Quantity, matches

SPELT = 0.8
"""Share of letters in order that two spellings of one word have in common."""
ROOT = 0.6
"""Share of the longer word that two words of one root begin with."""
LONG_ENOUGH = 5
"""Letters from which likeness of spelling is no chance."""
FORENAME = 0.8
"""How sure an initial stands for a name that begins with it."""
LONGEST_INITIALS = 6
"""Letters of an abbreviation made of initials."""


def held(part: Short, whole: Short) -> float:
    """Weighted share of the part's words that the whole has; 0 where the two disagree."""
    if not part.words or not whole.words:
        return 0.0
    if _letters(part) == _letters(whole):
        return 1.0
    if part.says_yes is not None and whole.says_yes is not None:
        return float(part.says_yes == whole.says_yes)
    if disagrees(part, whole):
        return 0.0
    found = _matches(part, whole)
    total = sum(word.weight for word in part.words)
    return sum(f * word.weight for f, word in zip(found, part.words, strict=True)) / total


def _letters(text: Short) -> str:
    return _GAPS.sub("", unaccented(text.reading.raw.lower()))


_GAPS = re.compile(r"(?<!\d)[\W_]+|[\W_]+(?!\d)")
"""What stands between words, but not inside a number."""


def disagrees(one: Short, other: Short) -> bool:
    """Whether each has a number that the other has not, or one has the other's contrary or denial."""
    if _find_open(one, other) and _find_open(other, one):
        return True
    if (_denied(one) ^ _denied(other)) & one.ids & other.ids:
        return True
    here, there = set(one.reading.ids.tolist()), set(other.reading.ids.tolist())
    return any(not (there - here).isdisjoint(opposites().get(word, ())) for word in here - there)


def _find_open(part: Short, whole: Short) -> bool:
    """Whether the part has a number or date that nothing in the whole agrees with; either may say less."""
    for quantity in part.quantities:
        if not any(matches(quantity, q) or matches(q, quantity) for q in whole.quantities):
            return True
    return any(
        word.is_number and word.id not in whole.ids and not is_inside(word.at, part.quantities)
        for word in part.words
    )


def _denied(text: Short) -> set[int]:
    """Words that stand right after a negation wherever they stand."""
    kinds = text.reading.kinds.tolist()
    if NEGATION not in kinds:
        return set()
    after = {word.at: NEGATION in kinds[max(word.token - 2, 0) : word.token] for word in text.words}
    asserted = {word.id for word in text.words if not after[word.at]}
    return {word.id for word in text.words} - asserted


def _matches(part: Short, whole: Short) -> list[float]:
    """For each word of the part how surely the whole has it."""
    settled = [mine for mine in part.quantities if any(_meets(mine, q) for q in whole.quantities)]
    related = _related(part, whole)
    found = []
    for n, word in enumerate(part.words):
        if word.id in whole.ids or is_inside(word.at, settled):
            found.append(1.0)
        elif word.is_number:
            found.append(0.0)
        elif 2 <= len(word.text) <= LONGEST_INITIALS and word.text in _initials(whole):
            found.append(1.0)
        else:
            others = (_same(word, other) for other in whole.words if not other.is_number)
            found.append(max(related[n], max(others, default=0.0)))
    _joined(part, whole, found)
    _spelled_out(part, whole, found)
    return found


def _meets(mine: Quantity, theirs: Quantity) -> bool:
    """Whether they say all of mine, or one is a span that the other lies in: 10–12 years, the 16th century."""
    if matches(mine, theirs):
        return True
    return (_is_span(mine) or _is_span(theirs)) and matches(theirs, mine)


def _is_span(quantity: Quantity) -> bool:
    years = quantity.date.years if quantity.date else None
    return quantity.is_range or (years is not None and years[0] < years[1])


def _same(one: Word, other: Word) -> float:
    """How surely two words are one in another spelling or form, or one the initial of the other."""
    a, b = one.text, other.text
    if a == b or ALIASES.get(a, a) == ALIASES.get(b, b):
        return 1.0
    brief, long = (a, b) if len(a) < len(b) else (b, a)
    if len(brief) == 1:
        return FORENAME if long[0] == brief and (one.capital or other.capital) else 0.0
    if len(brief) < LONG_ENOUGH or len(brief) / len(long) < ROOT:
        return 0.0
    if long.startswith(brief[: max(LONG_ENOUGH, math.ceil(ROOT * len(long)))]):
        return 1.0
    # words that differ in their first letter and in their ending are not worth the time of a comparison
    if a[0] != b[0] and a[-2:] != b[-2:]:
        return 0.0
    return _spelt(a, b)


@lru_cache(maxsize=65536)
def _spelt(one: str, other: str) -> float:
    alike = SequenceMatcher(None, one, other, autojunk=False).ratio()
    return alike if alike >= SPELT else 0.0


def _related(part: Short, whole: Short) -> list[float]:
    """For each word of the part how near in meaning a word of the whole is; names are near without being the same."""
    most = align([part.reading], [whole.reading]).most.tolist()
    return [0.0 if word.capital else most[word.token] for word in part.words]


def _initials(text: Short) -> frozenset[str]:
    """Every run of first letters of several words: NBA of National Basketball Association."""
    every = [unaccented(text.reading.raw[a].lower()) for a, _ in text.reading.places]
    counted = [word.text[:1] for word in text.words]  # without function words
    return frozenset(
        "".join(run[a:b])
        for run in (every, counted)
        for a in range(len(run))
        for b in range(a + 2, min(len(run), a + LONGEST_INITIALS) + 1)
    )


def _joined(part: Short, whole: Short, found: list[float]) -> None:
    """Words that the whole writes as one, or one that it writes as two: Abid Ali, Abidali."""
    texts = [word.text for word in part.words]
    theirs = [word.text for word in whole.words]
    for n, (one, other) in enumerate(pairwise(texts)):
        if one + other in theirs:
            found[n] = found[n + 1] = 1.0
    pairs = {one + other for one, other in pairwise(theirs)}
    for n, text in enumerate(texts):
        if text in pairs:
            found[n] = 1.0


def _spelled_out(part: Short, whole: Short, found: list[float]) -> None:
    """Several words of which the whole has the initials alone."""
    heads = "".join(word.text[:1] or " " for word in part.words)
    for other in whole.words:
        size = len(other.text)
        at = heads.find(other.text) if 2 <= size <= LONGEST_INITIALS and other.capital else -1
        if at >= 0:
            found[at : at + size] = [1.0] * size
