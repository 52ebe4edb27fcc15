"""Claims that say the contrary: denied, with an opposite word, or with the roles of two things exchanged.

Each of the three turns a sentence round, and two of them turn it back: what is not open is closed, and when A is
longer than B then B is shorter than A."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.judges.offline import lexicon
from ragstone.judges.offline.comparison import Comparison, Conflict
from ragstone.judges.offline.functions import FUNCTION_WORDS
from ragstone.judges.offline.phrases import Item, Sentence
from ragstone.judges.offline.reading import WORD
from ragstone.judges.offline.words import stem_id

CERTAIN, POSSIBLE = 0.75, 0.5
"""Share of the rest of the claim that must stand in the sentence."""


def find_reversal(comparison: Comparison) -> Conflict | None:
    """A claim that turns the sentence round an odd number of times."""
    opposites = [at for at, other in enumerate(comparison.opposites) if other >= 0]
    denial = _find_denial(comparison)
    swap = _find_swap(comparison)
    turns = len(opposites) + (denial is not None) + (swap is not None)
    if turns % 2 == 0:
        return None
    share = comparison.share(frozenset(opposites))
    if share < POSSIBLE:
        return None
    certain = share >= CERTAIN and len(comparison.claim.items) > 1 and turns == 1
    items, theirs = comparison.claim.items, comparison.source.items
    if swap is not None:
        one, other = swap
        mine = items[one], items[other]
        return comparison.make("roles", "names_swapped", mine[0], mine[1], certain)
    if denial is not None:
        is_mine, item = denial
        code = "claim_denies" if is_mine else "source_denies"
        return comparison.make("negation", code, item, item, certain)
    at = opposites[0]
    return comparison.make("opposite", "word_opposite", items[at], theirs[comparison.opposites[at]], certain)


def _find_denial(comparison: Comparison) -> tuple[bool, Item] | None:
    """What one side denies and the other says: whether it is the claim that denies, and the denied item.

    All that is denied must stand on the other side: who takes no guests on Fridays may take guests."""
    items, theirs = comparison.claim.items, comparison.source.items
    paired = {
        at: other if other >= 0 else comparison.opposites[at]
        for at, other in enumerate(comparison.partners)
        if other >= 0 or comparison.opposites[at] >= 0
    }
    mine_denied = [at for at, item in enumerate(items) if _is_denied(item)]
    clauses = {theirs[other].clause for other in paired.values()}
    known = set(paired.values())
    their_denied = [
        at for at, item in enumerate(theirs) if _is_denied(item) and item.clause in clauses
    ]
    # only clauses whose denied part the claim mentions at all
    touched = {theirs[at].clause for at in their_denied if at in known}
    their_denied = [at for at in their_denied if theirs[at].clause in touched]
    if bool(mine_denied) == bool(their_denied):
        return None
    if mine_denied:
        if all(at in paired for at in mine_denied):
            return True, items[mine_denied[0]]
        return None
    if all(at in known for at in their_denied):
        return False, theirs[their_denied[0]]
    return None


def _is_denied(item: Item) -> bool:
    return item.is_negated != item.is_excepted


def _find_swap(comparison: Comparison) -> tuple[int, int] | None:
    """Two items of the claim that have each other's roles in the sentence, around the same word or its opposite."""
    items, theirs = comparison.claim.items, comparison.source.items
    single = _single(items), _single(theirs)
    for at, item in enumerate(items):
        anchor = max(comparison.partners[at], comparison.opposites[at])
        if anchor < 0 or item.kind != WORD or item.id in symmetric_ids():
            continue
        mine = find_roles(comparison.claim, at)
        other = find_roles(comparison.source, anchor)
        moved: list[tuple[int, str, str]] = []
        keeps: set[str] = set()
        for n, role in mine.items():
            partner = comparison.partners[n]
            if partner not in other or n not in single[0] or partner not in single[1]:
                continue
            if role == other[partner]:
                keeps.add(role)
            else:
                moved.append((n, role, other[partner]))
        for n, role, there in moved:
            for m, role_m, there_m in moved:
                if role == there_m and there == role_m and not keeps & {role, there}:
                    return n, m
    return None


def _single(items: tuple[Item, ...]) -> set[int]:
    """Items whose word stands but once in the sentence."""
    ids = [item.id for item in items]
    return {at for at, item in enumerate(items) if item.quantity is not None or ids.count(item.id) == 1}


def find_roles(sentence: Sentence, anchor: int) -> dict[int, str]:
    """The role of each item around a verb or another word: subject, object, or the preposition that governs it."""
    items, function = sentence.items, FUNCTION_WORDS[sentence.language]
    centre = items[anchor]
    words = sentence.words
    before = words[centre.place - 1] if centre.place else ""
    if before in function.free_order:
        return {}
    left = [at for at in range(anchor) if items[at].clause == centre.clause]
    if not left and anchor:
        left = [at for at in range(anchor) if items[at].clause == items[anchor - 1].clause]
    roles = {at: items[at].preposition or "subject" for at in left}
    is_passive = any(word in function.copulas for word in words[max(centre.place - 3, 0) : centre.place])
    agent = False
    for at in range(anchor + 1, len(items)):
        item = items[at]
        if item.clause != centre.clause:
            break
        inherited = item.preposition_place < centre.place
        roles[at] = "object" if inherited else item.preposition
        if is_passive and roles[at] in function.agents:
            roles[at], agent = "subject", True
    if agent:
        for at in left:
            if roles[at] == "subject":
                roles[at] = "object"
    return roles


def symmetric_ids() -> frozenset[int]:
    return frozenset(
        stem_id(word, language) for language, words in lexicon.SYMMETRIC.items() for word in words.split()
    )
