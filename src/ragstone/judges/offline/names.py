"""A name of the claim where the source has another one in the same place of the same sentence. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.judges.offline.aliases import ALIASES, TITLES
from ragstone.judges.offline.binding import fit
from ragstone.judges.offline.comparison import Conflict, SentenceComparison
from ragstone.judges.offline.phrases import SentenceItem
from ragstone.judges.offline.reading import NAME, Reading

CERTAIN, POSSIBLE = 0.85, 0.6
"""Share of the rest of the claim that must stand in the sentence."""
VARIANT_SHARE = 0.6
"""Share of the longer name that a shorter one begins with, where they may be the same."""
MAX_INITIALS = 4
"""Letters that the initials of a name have at most: EU, Union."""
MARGIN = 0.25
"""By how much another name must fit the rest of the claim better than its own."""


def find_name_conflict(
    comparison: SentenceComparison, sources: Sequence[Reading]
) -> Conflict | None:
    """A name that no source has, or that belongs to something else, where the sentence has another one."""
    claim, source = comparison.claim, comparison.source
    for at, item in enumerate(claim.items):
        if item.kind != NAME or item.lower in TITLES or len(item.lower) == 1:
            continue
        if item.lower.endswith(("ly", "mente")):
            continue
        for place in _list_rivals(comparison, item):
            if at == 0 and place == 0 and not _is_full_name(comparison):
                continue
            if _is_replaced(comparison, at, place, sources) or _is_misplaced(comparison, at, place):
                certain = comparison.share(frozenset({at})) >= CERTAIN
                words = claim.quote(item), source.quote(source.items[place])
                return comparison.make("name", "name_differs", *words, certain)
    return None


def _list_rivals(comparison: SentenceComparison, item: SentenceItem) -> list[int]:
    """Names of the sentence under the same preposition that the claim has not."""
    claim_ids = {other.id for other in comparison.claim.items}
    return [
        place for place, other in enumerate(comparison.source.items)
        if other.kind == NAME and other.id not in claim_ids and other.lower not in TITLES
        and other.preposition == item.preposition and not _is_variant(item.lower, other.lower)
    ]  # fmt: skip


def _is_full_name(comparison: SentenceComparison) -> bool:
    """Whether both sentences begin with two names: a single first word may be a verb with its capital."""
    sides = comparison.claim.items, comparison.source.items
    return all(len(items) > 1 and items[1].kind == NAME and items[1].place == 1 for items in sides)


def _is_variant(one: str, other: str) -> bool:
    """Whether two names may be forms or the initials of one: Bill, William; Wall, Wallstreet; U, United."""
    if one in ALIASES and ALIASES[one] == ALIASES.get(other):
        return True
    short, long = sorted((one, other), key=len)
    pairs = zip(short, long, strict=False)
    shared = next((n for n, (a, b) in enumerate(pairs) if a != b), len(short))
    return shared >= VARIANT_SHARE * len(long) or (shared > 0 and len(short) <= MAX_INITIALS)


def _is_replaced(
    comparison: SentenceComparison, at: int, place: int, sources: Sequence[Reading]
) -> bool:
    """Whether no source has the name, and the words around the other one are the same."""
    item = comparison.claim.items[at]
    if comparison.places[at] or any((source.ids == item.id).any() for source in sources):
        return False
    if comparison.share(frozenset({at})) < POSSIBLE:
        return False
    return _have_same_neighbours(comparison, at, place)


def _have_same_neighbours(comparison: SentenceComparison, at: int, place: int) -> bool:
    """Whether the items right before, or right after, are the same on both sides."""
    mine, theirs = comparison.claim.items, comparison.source.items

    def same(step: int) -> bool:
        ours, other = at + step, place + step
        if not (0 <= ours < len(mine) and 0 <= other < len(theirs)):
            return False
        return mine[ours].id == theirs[other].id and mine[ours].id >= 0

    return same(-1) or same(1)


def _is_misplaced(comparison: SentenceComparison, at: int, place: int) -> bool:
    """Whether the rest of the claim belongs to another name of the sentence."""
    own, items = comparison.places[at], comparison.source.items
    if (
        not own
        or not items[place].preposition
        or any(items[n].clause == items[place].clause for n in own)
    ):
        return False
    value = fit(comparison, at, place, own)
    return all(value >= fit(comparison, at, other, [place]) + MARGIN for other in own)
