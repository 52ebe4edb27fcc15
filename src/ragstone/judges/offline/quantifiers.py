"""All, most, some, few, none, only: claims that say of more, or of fewer, what the source says. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re

from ragstone.judges.offline.comparison import Conflict, SentenceComparison
from ragstone.judges.offline.phrases import Sentence, SentenceItem

CERTAIN = 0.85
"""Share of the claim that must stand in the sentence."""
_CONTRARY = frozenset({
    ("all", "most"), ("all", "some"), ("all", "few"), ("all", "none"), ("none", "all"), ("none", "most"),
    ("none", "some"), ("none", "few"), ("most", "few"), ("most", "none"), ("some", "none"), ("few", "all"),
    ("few", "most"), ("few", "none"), ("count", "none"), ("none", "count"),
})  # fmt: skip
"""What the claim says and what the source says of the same things, where the source does not support the claim."""


def find_quantifier_conflict(comparison: SentenceComparison) -> Conflict | None:
    """A claim of all where the source speaks of some, of none where it speaks of all, and so on."""
    claim, source = comparison.claim, comparison.source
    for at, item in enumerate(claim.items):
        theirs = [source.items[place] for place in comparison.places[at]]
        if any(other.is_excepted for other in theirs) and _follows_inclusion(claim, item):
            return _make_conflict(comparison, item, theirs[0])
        if not item.quantifier or (item.is_negated and item.quantifier != "none"):
            continue  # not in any of the twelve
        counted = [other for other in theirs if _is_said_there(comparison, at, other)]
        for other in (*counted, *_list_counted_doers(comparison, at)):
            if (item.quantifier, other.quantifier) in _CONTRARY:
                return _make_conflict(comparison, item, other)
        if item.quantifier == "all":
            limit = _find_limit(comparison, theirs)
            if limit is not None:
                return _make_conflict(comparison, item, limit)
    return None


def _list_counted_doers(comparison: SentenceComparison, at: int) -> list[SentenceItem]:
    """What the claim says of the things, where the sentence says it of so many without naming them: a few were lost."""
    source = comparison.source
    said = {place for n, places in enumerate(comparison.places) if n != at for place in places}
    return [
        item for item in (source.items[place] for place in sorted(said))
        if item.quantifier and (item.is_verb or _follows_pronoun(source, item))
    ]  # fmt: skip


def _follows_pronoun(sentence: Sentence, item: SentenceItem) -> bool:
    """Whether the words before an item count a pronoun: half of them have a balcony."""
    before = sentence.words[max(item.place - 4, 0) : item.place]
    return not {"them", "these", "those", "ellos", "ellas"}.isdisjoint(before)


def _follows_inclusion(sentence: Sentence, item: SentenceItem) -> bool:
    """Whether the sentence counts the item in: including the director, ni siquiera Teo."""
    before = sentence.text[max(item.start - MAX_INCLUSION_CHARS, 0) : item.start]
    return _INCLUSION.search(before) is not None


MAX_INCLUSION_CHARS = 30
_INCLUSION = re.compile(
    r"\b(?:even|also|inclu\w+|siquiera|también|tampoco)\b[^.,;]*$", re.IGNORECASE
)


def _is_said_there(comparison: SentenceComparison, at: int, other: SentenceItem) -> bool:
    """Whether the rest of the claim stands in the same section, and not: few own a car, but all have a bicycle.

    What is in another section of the claim too (all mushrooms that grow here) is as far away in the source."""
    weights = {True: 0.0, False: 0.0}
    own = comparison.claim.items[at].section
    for n, item in enumerate(comparison.claim.items):
        sections = {comparison.source.items[place].section for place in comparison.places[n]}
        if n != at and sections:
            here = not sections.isdisjoint((other.section, other.section + item.section - own))
            weights[here] += item.weight
    return weights[True] > weights[False]


def _find_limit(comparison: SentenceComparison, theirs: list[SentenceItem]) -> SentenceItem | None:
    """What the source limits to some or takes out, where the claim says "all" and nothing of it: orders over 50 euros."""
    claim_ids = {item.id for item in comparison.claim.items}
    has_bound = any(is_bounded(item) for item in comparison.claim.items)
    for item in comparison.source.items:
        is_exception = item.is_excepted and any(other.quantifier == "all" for other in theirs)
        is_only = item.quantifier == "only" and any(other.clause == item.clause for other in theirs)
        is_bound = is_bounded(item) and any(other.clause == item.clause for other in theirs)
        if item.id not in claim_ids and (is_exception or is_only or (is_bound and not has_bound)):
            return item
    return None


def is_bounded(item: SentenceItem) -> bool:
    """Whether an item speaks of what is beyond a bound: over 50 euros."""
    return item.quantity is not None and item.quantity.bound not in ("", "about")


def _make_conflict(
    comparison: SentenceComparison, mine: SentenceItem, theirs: SentenceItem
) -> Conflict:
    # the word that counts something in says nothing by itself
    items = enumerate(comparison.claim.items)
    inclusions = frozenset(at for at, item in items if _INCLUSION.match(item.lower))
    certain = comparison.share(inclusions) >= CERTAIN
    words = _quote(comparison.claim, mine), _quote(comparison.source, theirs)
    return comparison.make("quantifier", "quantifier_differs", *words, certain)


def _quote(sentence: Sentence, item: SentenceItem) -> str:
    """The item with the two words before it, which say how many."""
    start = item.start
    for _ in range(2):
        start = sentence.text.rfind(" ", 0, max(start - 1, 0)) + 1
    return sentence.text[start : item.end]
