"""Claims that say the contrary: denied, with an opposite word, or with the roles of two things exchanged.

Each of the three turns a sentence round, and two of them turn it back: what is not open is closed, and when A is
longer than B then B is shorter than A. `at` is the index of an item of the claim, `place` of an item of the sentence. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from typing import NamedTuple

from ragstone.judges.offline.binding import fit
from ragstone.judges.offline.comparison import Conflict, SentenceComparison
from ragstone.judges.offline.functions import FUNCTION_WORDS
from ragstone.judges.offline.phrases import Sentence, SentenceItem
from ragstone.judges.offline.roles import find_swap

CERTAIN, POSSIBLE = 0.75, 0.5
"""Share of the rest of the claim that must stand in the sentence."""
CERTAIN_DENIAL = 0.9
"""The same where one side denies: a word more on either side may be what is denied."""
PARTIAL = frozenset({"most", "some", "few", "only"})
"""Quantifiers of a part."""
EMPHATIC = frozenset({"anywhere", "ever", "whatsoever", "alguno", "alguna", "absoluto"})
"""Words that only strengthen a denial."""
NEIGHBOURS = 2
"""How many items away from an opposite a word must stand that both sides have."""


def find_reversal(comparison: SentenceComparison) -> Conflict | None:
    """A claim that turns the sentence round an odd number of times."""
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
    share = comparison.share(frozenset(opposites) | _list_permissions(comparison, denial))
    if share < POSSIBLE:
        return None
    # where both deny something, and not the same, what is denied is not sure
    both_deny = comparison.claim.denies and comparison.source.denies
    is_clear = not (both_deny or denial.is_of_phrase) if denial else not _denies_more(comparison)
    bar = CERTAIN_DENIAL if denial else CERTAIN
    certain = share >= bar and len(comparison.claim.items) > 1 and turns == 1 and is_clear
    if swap is not None:
        mine, theirs = (comparison.claim.quote(comparison.claim.items[at]) for at in swap)
        return comparison.make("roles", "names_swapped", mine, theirs, certain)
    return _make_conflict(comparison, denial, opposites, certain)


def is_remote(comparison: SentenceComparison) -> bool:
    """Whether the sentence has no contrary and too little of the claim to turn it round."""
    return not any(comparison.contraries) and comparison.share() < POSSIBLE


def _make_conflict(
    comparison: SentenceComparison,
    denial: _Denial | None,
    opposites: dict[int, int],
    certain: bool,
) -> Conflict:
    claim, source = comparison.claim, comparison.source
    if denial is not None:
        text = _quote_from(claim if denial.is_mine else source, denial.items[0])
        code = "claim_denies" if denial.is_mine else "source_denies"
        return comparison.make("negation", code, text, text, certain)
    at, place = next(iter(opposites.items()))
    mine, theirs = claim.quote(claim.items[at]), source.quote(source.items[place])
    return comparison.make("opposite", "word_opposite", mine, theirs, certain)


def _find_opposites(comparison: SentenceComparison) -> dict[int, int]:
    """Items of the claim whose contrary stands where the rest of the claim does."""
    source = comparison.source
    if _differ_in_quantifiers(comparison) or comparison.claim.is_unclear or source.is_unclear:
        return {}
    if any(source.items[place].is_excepted for places in comparison.places for place in places):
        return {}
    found = {at: _find_opposite(comparison, at) for at in range(len(comparison.contraries))}
    return {at: place for at, place in found.items() if place is not None}


def _find_opposite(comparison: SentenceComparison, at: int) -> int | None:
    """The contrary of an item, in a place that the rest of the claim fits better than the item's own."""
    places, same = comparison.contraries[at], comparison.places[at]
    if not places or any(_have_same_neighbour(comparison, at, place, 1) for place in same):
        return None
    opposite = None
    for place in places:
        if not _have_same_neighbour(comparison, at, place, NEIGHBOURS):
            continue
        rivals = (*same, *(other for other in places if other != place))
        value = fit(comparison, at, place, rivals)
        if all(
            value > fit(comparison, at, other, [p for p in (place, *same) if p != other])
            for other in same
        ):
            opposite = place
    return opposite


def _have_same_neighbour(comparison: SentenceComparison, at: int, place: int, reach: int) -> bool:
    """Whether an item so near by in the clause is the same on both sides."""
    ours, theirs = comparison.claim.items, comparison.source.items
    near = {item.id for item in ours[max(at - reach, 0) : at + reach + 1]} - {-1, ours[at].id}
    others = theirs[max(place - reach, 0) : place + reach + 1]
    return any(item.id in near and item.section == theirs[place].section for item in others)


def _differ_in_quantifiers(comparison: SentenceComparison) -> bool:
    """Whether one side speaks of a part and the other does not: most islands are uninhabited, three are not."""
    items = comparison.source.items
    theirs = {items[place].quantifier for places in comparison.places for place in places}
    theirs |= {"only"} & {item.quantifier for item in items}
    mine = {item.quantifier for item in comparison.claim.items}
    return not (mine ^ theirs).isdisjoint(PARTIAL)


class _Denial(NamedTuple):
    is_mine: bool
    """Whether it is the claim that denies."""
    items: tuple[SentenceItem, ...]

    @property
    def is_of_phrase(self) -> bool:
        """Whether a preposition denies it: incorporated without Wayne is incorporated."""
        return all(item.preposition in ("without", "sin") for item in self.items)


def _find_denial(comparison: SentenceComparison, opposites: dict[int, int]) -> _Denial | None:
    """What one side denies and the other says.

    All that is denied must stand on the other side: who takes no guests on Fridays may take guests."""
    claim, source = comparison.claim, comparison.source
    mine = [at for at, item in enumerate(claim.items) if _is_denied(item)]
    is_denied = bool(mine) or any(map(_is_denied, source.items))
    if not is_denied or _is_unclear(comparison):
        return None
    known = _list_known(comparison, opposites, with_like=not mine)
    theirs = [place for place in known if _is_denied(source.items[place])]
    if bool(mine) == bool(theirs):
        return None
    if not mine:
        return _find_their_denial(comparison, known, theirs)
    if _denies_all(comparison, mine):
        return None
    if all(comparison.places[at] or at in opposites for at in mine):
        return _Denial(True, tuple(claim.items[at] for at in mine))
    return None


def _list_known(
    comparison: SentenceComparison, opposites: dict[int, int], with_like: bool
) -> set[int]:
    """The places of the claim's words in the sentence, and of the denied ones that it has in other words."""
    claim, source = comparison.claim.items, comparison.source.items
    known = {*map(comparison.best_place, range(len(claim))), *opposites.values()} - {-1}
    denied = [place for place, item in enumerate(source) if with_like and _is_denied(item)]
    return known | {place for place in denied if comparison.has_like(source[place])}


def _is_unclear(comparison: SentenceComparison) -> bool:
    sides = comparison.claim, comparison.source
    return any(side.is_unclear for side in sides) or _differ_in_quantifiers(comparison)


def _denies_all(comparison: SentenceComparison, deciding: list[int]) -> bool:
    """Whether the sentence denies every one of these items too."""
    items = comparison.source.items
    return all(any(_is_denied(items[place]) for place in comparison.places[at]) for at in deciding)


def _list_permissions(comparison: SentenceComparison, denial: _Denial | None) -> frozenset[int]:
    """Words of the claim that permit what the source denies: cheques are welcome, of what does not accept them."""
    if denial is None or denial.is_mine:
        return frozenset()
    permissions = FUNCTION_WORDS[comparison.claim.language].permissions
    items = enumerate(comparison.claim.items)
    return frozenset(at for at, item in items if item.lower in permissions)


def _find_their_denial(
    comparison: SentenceComparison, known: set[int], theirs: list[int]
) -> _Denial | None:
    source = comparison.source
    clauses = {source.items[place].clause for place in theirs}
    denied = [item for item in source.items if _is_denied(item) and item.clause in clauses]
    modal = _list_modal(comparison.claim)
    # neither A nor B: each is denied by itself
    needed = {
        item.id: item for item in denied
        if not _follows_choice(source, item) and item.lower not in modal | EMPHATIC
    }  # fmt: skip
    missing = needed.keys() - {source.items[place].id for place in known}
    if not all(comparison.has_like(needed[identity]) for identity in missing):
        return None
    if _is_of_other(source, known, clauses):
        return None
    return _Denial(False, tuple(denied))


def _list_modal(claim: Sentence) -> frozenset[str]:
    """Words of permission or of duty that say nothing new where the claim permits or demands something itself."""
    function, words = FUNCTION_WORDS[claim.language], set(claim.words)
    permits = not function.permissions.isdisjoint(words)
    demands = not function.requirements.isdisjoint(words) or _DEMAND.search(claim.text) is not None
    return (function.permissions if permits else frozenset()) | (
        function.requirements if demands else frozenset()
    )


_DEMAND = re.compile(
    r"\b(?:(?:have|has|had) to|hay que|han? de|(?:tiene|tienen) que|hacen? falta)\b",
    re.IGNORECASE,
)


def _is_of_other(source: Sentence, known: set[int], clauses: set[int]) -> bool:
    """Whether the claim speaks of the subject of another clause: children do not pay, and adults pay."""
    subject = {
        place for place, item in enumerate(source.items)
        if item.clause in clauses and not _is_denied(item) and not item.is_verb
    }  # fmt: skip
    elsewhere = any(source.items[place].clause not in clauses for place in known)
    return bool(subject) and subject.isdisjoint(known) and elsewhere


def _follows_choice(sentence: Sentence, item: SentenceItem) -> bool:
    """Whether the item is one of several of which all are denied."""
    function = FUNCTION_WORDS[sentence.language]
    before = [word for word in sentence.words[: item.place] if word not in function.determiners]
    return before[-1:] != [] and before[-1] in function.choices


def agrees(comparison: SentenceComparison) -> bool:
    """Whether a sentence has every word that the claim denies denied as well, or says what the claim says."""
    claim, items = comparison.claim.items, comparison.source.items
    deciding = [at for at, item in enumerate(claim) if _is_denied(item)]
    if not deciding:
        return comparison.share() >= CERTAIN_DENIAL and not any(_is_denied(item) for item in items)
    return _denies_all(comparison, deciding)


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
