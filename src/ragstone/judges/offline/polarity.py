"""Claims that say the contrary: denied, with an opposite word, or with the roles of two things exchanged.

Each of the three turns a sentence round, and two of them turn it back: what is not open is closed, and when A is
longer than B then B is shorter than A."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragstone.judges.offline.binding import fit
from ragstone.judges.offline.comparison import Conflict, SentenceComparison
from ragstone.judges.offline.phrases import Sentence, SentenceItem
from ragstone.judges.offline.roles import find_swap

CERTAIN, POSSIBLE = 0.75, 0.5
"""Share of the rest of the claim that must stand in the sentence."""
CERTAIN_DENIAL = 0.9
"""The same where one side denies: a word more on either side may be what is denied."""
PARTIAL = frozenset({"most", "some", "few", "only"})
"""Quantifiers of a part."""
NEIGHBOURS = 2
"""How many items away from an opposite a word must stand that both sides have."""


def find_reversal(
    comparison: SentenceComparison, others: Sequence[SentenceComparison]
) -> Conflict | None:
    """A claim that turns the sentence round an odd number of times; the other sentences may say the same as it."""
    pairs = _find_opposites(comparison)
    # what is not open is closed: such a pair settles its own denial
    opposites = {
        at: place
        for at, place in pairs.items()
        if _is_denied(comparison.claim.items[at]) == _is_denied(comparison.source.items[place])
    }
    denial = _find_denial(comparison, pairs) if len(pairs) == len(opposites) else None
    swap = find_swap(comparison, opposites)
    turns = len(opposites) + (denial is not None) + (swap is not None)
    if turns % 2 == 0:
        return None
    share = comparison.share(frozenset(opposites))
    if share < POSSIBLE:
        return None
    if denial is not None and any(_agrees(other, denial) for other in others):
        return None
    is_clear = denial is not None or not _denies_more(comparison)
    bar = CERTAIN_DENIAL if denial else CERTAIN
    certain = share >= bar and len(comparison.claim.items) > 1 and turns == 1 and is_clear
    claim, source = comparison.claim, comparison.source
    if swap is not None:
        mine, theirs = (claim.quote(claim.items[at]) for at in swap)
        return comparison.make("roles", "names_swapped", mine, theirs, certain)
    if denial is not None:
        text = _quote_from(claim if denial.is_mine else source, denial.items[0])
        code = "claim_denies" if denial.is_mine else "source_denies"
        return comparison.make("negation", code, text, text, certain)
    at, place = next(iter(opposites.items()))
    mine, theirs = claim.quote(claim.items[at]), source.quote(source.items[place])
    return comparison.make("opposite", "word_opposite", mine, theirs, certain)


def _find_opposites(comparison: SentenceComparison) -> dict[int, int]:
    """Items of the claim whose contrary stands where the rest of the claim does."""
    opposites: dict[int, int] = {}
    if _differ_in_quantifiers(comparison):
        return opposites
    for at, places in enumerate(comparison.contraries):
        same = comparison.places[at]
        for place in places:
            if not _have_same_neighbour(comparison, at, place):
                continue
            rivals = (*same, *(other for other in places if other != place))
            value = fit(comparison, at, place, rivals)
            if all(
                value > fit(comparison, at, other, [p for p in (place, *same) if p != other])
                for other in same
            ):
                opposites[at] = place
    return opposites


def _have_same_neighbour(comparison: SentenceComparison, at: int, place: int) -> bool:
    """Whether an item near by is the same on both sides."""
    ours, theirs = comparison.claim.items, comparison.source.items
    near = {item.id for item in ours[max(at - NEIGHBOURS, 0) : at + NEIGHBOURS + 1]} - {
        -1,
        ours[at].id,
    }
    return any(
        item.id in near for item in theirs[max(place - NEIGHBOURS, 0) : place + NEIGHBOURS + 1]
    )


def _differ_in_quantifiers(comparison: SentenceComparison) -> bool:
    """Whether one side speaks of a part and the other does not: most islands are uninhabited, three are not."""
    theirs = {
        comparison.source.items[place].quantifier
        for places in comparison.places
        for place in places
    }
    mine = {item.quantifier for item in comparison.claim.items}
    return not (mine ^ theirs).isdisjoint(PARTIAL)


class _Denial(NamedTuple):
    is_mine: bool
    """Whether it is the claim that denies."""
    items: tuple[SentenceItem, ...]


def _find_denial(comparison: SentenceComparison, opposites: dict[int, int]) -> _Denial | None:
    """What one side denies and the other says.

    All that is denied must stand on the other side: who takes no guests on Fridays may take guests."""
    claim, source = comparison.claim, comparison.source
    if claim.is_unclear or source.is_unclear or _differ_in_quantifiers(comparison):
        return None
    mine = [at for at, item in enumerate(claim.items) if _is_denied(item)]
    known = {place for places in comparison.places for place in places} | set(opposites.values())
    theirs = [place for place in known if _is_denied(source.items[place])]
    if bool(mine) == bool(theirs):
        return None
    if mine:
        if all(comparison.places[at] or at in opposites for at in mine):
            return _Denial(True, tuple(claim.items[at] for at in mine))
        return None
    clauses = {source.items[place].clause for place in theirs}
    denied = [
        place for place, item in enumerate(source.items) if _is_denied(item) and item.clause in clauses
    ]  # fmt: skip
    if not known.issuperset(denied):
        return None
    return _Denial(False, tuple(source.items[place] for place in denied))


def _agrees(comparison: SentenceComparison, denial: _Denial) -> bool:
    """Whether another sentence denies, or says, all the deciding words as the claim does."""
    deciding = {item.id for item in denial.items}
    return all(
        any(
            _is_denied(comparison.source.items[place]) == _is_denied(item)
            for place in comparison.places[at]
        )
        for at, item in enumerate(comparison.claim.items)
        if item.id in deciding
    )


def _is_denied(item: SentenceItem) -> bool:
    return item.is_negated != item.is_excepted


def _denies_more(comparison: SentenceComparison) -> bool:
    """Whether one side denies something and the other nothing, in the clauses that share words."""
    items = comparison.source.items
    clauses = {items[place].clause for places in comparison.places for place in places}
    theirs = any(item.is_negated for item in items if item.clause in clauses)
    return theirs != any(item.is_negated for item in comparison.claim.items)


def _quote_from(sentence: Sentence, item: SentenceItem) -> str:
    """The negation with what it denies."""
    end = max(other.end for other in sentence.items if other.clause == item.clause)
    start = sentence.text.rfind(" ", 0, max(item.start - 1, 0)) + 1
    return sentence.text[start:end]
