"""Members of a list within one sentence, each with its own figure: adults 12 €, students 6 €; Friday 8:00–18:00, Saturday closed. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragstone.judges.offline.comparison import SentenceComparison
from ragstone.judges.offline.phrases import SentenceItem
from ragstone.text.quantities import Quantity, differs, matches

NO_MEMBER = -1
"""Stands for the member of words that belong to all: what stands before a colon."""


def find_member(
    comparison: SentenceComparison, at: int, places: Sequence[int]
) -> tuple[bool, int | None]:
    """Whether the claim speaks of the member of its own figure, and else the figure of the member that it speaks of.

    That is the member of whose own words it has the largest share. `at` is the figure's item in the claim, `places` are
    the comparable figures of the source sentence; nothing is known unless the claim's is among them, and another."""
    claimed = comparison.claim.items[at].quantity
    assert claimed is not None
    items = comparison.source.items
    figures = _list_figures(items, places, claimed.kind)
    own = [place for place, figure in figures if matches(claimed, figure)]
    others = [place for place, figure in figures if differs(claimed, figure)]
    if not own or not others:
        return False, None
    members = _assign_members(items, [place for place, _ in figures])
    if _is_one_member(own, figures, members) or _shares_words(comparison, claimed, own, members):
        return False, None
    named = _find_named(comparison, at, members)
    if not named.isdisjoint(members[place] for place in own):
        return True, None
    if _count_figures(comparison, claimed.kind) != 1 or not _is_record(items, members):
        return False, None
    return False, _find_rival(others, members, named)


def _is_one_member(
    own: Sequence[int], figures: Sequence[tuple[int, Quantity]], members: Mapping[int, int]
) -> bool:
    """Whether all figures are of the member of the claim's own: at 9:15 and 11:45."""
    return {members[place] for place in own} == {members[place] for place, _ in figures}


def _shares_words(
    comparison: SentenceComparison,
    claimed: Quantity,
    own: Sequence[int],
    members: Mapping[int, int],
) -> bool:
    """Whether a claim has but a date whose member has only figures: open on weekdays from 7, on Saturdays from 9."""
    items, mine = comparison.source.items, {members[place] for place in own}
    is_only_figure = sum(item.quantity is not None for item in comparison.claim.items) == 1
    has_words = any(items[n].quantity is None and member in mine for n, member in members.items())
    return claimed.kind == "date" and is_only_figure and not has_words


def _find_rival(
    others: Sequence[int], members: Mapping[int, int], named: frozenset[int]
) -> int | None:
    return next((place for place in others if members[place] in named), None)


def _find_named(
    comparison: SentenceComparison, at: int, members: Mapping[int, int]
) -> frozenset[int]:
    """The members of whose own words the claim has the largest share; several when they are level."""
    shares = _measure_shares(comparison, at, members)
    largest = max(shares.values(), default=0.0)
    return frozenset(member for member, share in shares.items() if share == largest > 0)


def _list_figures(
    items: Sequence[SentenceItem], places: Sequence[int], kind: str
) -> list[tuple[int, Quantity]]:
    """The figures of one kind at these places, in the order of the sentence; none of bare numbers, of which what
    they count says more than what stands beside them."""
    if kind in ("number", "ordinal"):
        return []
    figures = ((place, items[place].quantity) for place in sorted(places))
    return [(place, figure) for place, figure in figures if figure and figure.kind == kind]


def _assign_members(items: Sequence[SentenceItem], places: Sequence[int]) -> dict[int, int]:
    """Item → member, which is known by the first of its figures.

    A figure with nothing between it and the one before is of the same member: 8:00–18:00, at 9:15 and 11:45. A word belongs to
    the nearest figure of its clause, a clause without a figure to the only member of its section."""
    members: dict[int, int] = {}
    for place in places:
        members[place] = members.get(place - 1, place)
    owners = dict(members)
    for n, item in enumerate(items):
        if n in members:
            continue
        here = [p for p in owners if items[p].clause == item.clause]
        section = [p for p in owners if items[p].section == item.section]
        if here:
            nearest = min(here, key=lambda p: (abs(items[p].place - item.place), p < n))
            members[n] = owners[nearest]
        elif len({owners[p] for p in section}) == 1:
            members[n] = owners[section[0]]
        else:
            members[n] = NO_MEMBER
    return members


def _is_record(items: Sequence[SentenceItem], members: Mapping[int, int]) -> bool:
    """Whether no member but the first has a verb, as in a price list; in prose a word may belong to any figure."""
    first = min(member for member in members.values() if member != NO_MEMBER)
    return not any(
        items[n].is_verb and member not in (NO_MEMBER, first) for n, member in members.items()
    )


def _count_figures(comparison: SentenceComparison, kind: str) -> int:
    figures = (item.quantity for item in comparison.claim.items)
    return sum(figure is not None and figure.kind == kind for figure in figures)


def _measure_shares(
    comparison: SentenceComparison, at: int, members: Mapping[int, int]
) -> dict[int, float]:
    """Member → share of its own words and figures, which no other one has, that the claim says of its figure."""
    items = comparison.source.items
    own: dict[int, dict[int, float]] = {}
    said: dict[int, set[int]] = {}
    for n, item in enumerate(items):
        member = members[n]
        # a verb is said once for all members: Basic includes 5 GB, Plus 50 GB
        if n == member or member == NO_MEMBER or item.is_verb:
            continue
        if any(members[m] != member and _is_same(item, other) for m, other in enumerate(items)):
            continue
        # all figures have the id -1: who names one end of a range names the range
        own.setdefault(member, {})[item.id] = item.weight
        if _says(comparison, item, at):
            said.setdefault(member, set()).add(item.id)
    return {
        member: sum(weights[id] for id in said.get(member, ())) / sum(weights.values())
        for member, weights in own.items()
    }


def _says(comparison: SentenceComparison, item: SentenceItem, at: int) -> bool:
    """Whether the claim says an item of its figure: in the same section, if it has other figures in others."""
    mine = comparison.claim.items[at]
    assert mine.quantity is not None
    is_list = any(
        other.section != mine.section
        and other.quantity is not None
        and other.quantity.kind == mine.quantity.kind
        for other in comparison.claim.items
    )
    return any(
        _is_same(other, item) and (not is_list or other.section == mine.section)
        for n, other in enumerate(comparison.claim.items)
        if n != at
    )


def _is_same(item: SentenceItem, other: SentenceItem) -> bool:
    if item.quantity is None or other.quantity is None:
        return item.quantity is other.quantity and item.id == other.id
    return matches(item.quantity, other.quantity)
