"""Which words of a sentence belong to which of several rivals: two prices, two dates, two opposites, two names. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.judges.offline.comparison import SentenceComparison
from ragstone.judges.offline.phrases import SentenceItem
from ragstone.text.quantities import differs, matches
from ragstone.text.verbs import find_verb_form

SENTENCE_CREDIT = 0.6
"""What a word counts that is nearer to a rival."""
COMMA_DISTANCE, BREAK_DISTANCE = 4.0, 4.0
"""How many words apart a comma puts two words, and how many more a stronger break."""
MIN_OWN = 0.4
"""Share of the words of one of several figures that the claim must have to speak of it."""
OTHER_CLAUSE = 0.4
"""What a word of another clause of the claim counts."""


def fit(comparison: SentenceComparison, at: int, place: int, rivals: Sequence[int]) -> float:
    """Weighted share of the claim's items other than `at` that belong to one item of the sentence, not to its rivals.

    A later one inherits what stands before it where the claim has its distinctive words: opens at 10 and closes at 5.
    `at` is the index of an item of the claim, `place` and `rivals` of items of the sentence."""
    owned = _find_owned(comparison, place, rivals)
    inherits = _has_distinctive_words(comparison, at, place, owned, rivals)
    here = comparison.claim.items[at].clause
    verbs = _list_spare_verbs(comparison)
    total = fitting = 0.0
    for n, item in enumerate(comparison.claim.items):
        if n == at or n in verbs:
            continue
        weight = item.weight * (1.0 if item.clause == here else OTHER_CLAUSE)
        places = [p for p in comparison.places[n] if p != place]
        if any(p in owned or (p < place and inherits) for p in places):
            credit = 1.0
        elif places:
            credit = SENTENCE_CREDIT
        elif item.quantity is not None:
            credit = _find_clash(comparison, item, place, owned)
        else:
            credit = comparison.credit(n)
        total += weight
        fitting += weight * credit
    return fitting / total if total else 0.0


def _list_spare_verbs(comparison: SentenceComparison) -> frozenset[int]:
    """The verbs of the claim where the sentence has none at all, as a price list."""
    language = comparison.source.language
    if any(find_verb_form(word, language) == "finite" for word in comparison.source.words):
        return frozenset()
    return frozenset(
        n for n, item in enumerate(comparison.claim.items)
        if not comparison.places[n] and find_verb_form(item.lower, language) in ("finite", "noun_like")
    )  # fmt: skip


def _find_owned(
    comparison: SentenceComparison, place: int, rivals: Sequence[int]
) -> frozenset[int]:
    """The items nearer to one than to its rivals."""
    items = comparison.source.items
    return frozenset(
        n
        for n, item in enumerate(items)
        if n != place
        and n not in rivals
        and all(_distance(item, items[place]) <= _distance(item, items[rival]) for rival in rivals)
    )


def _has_distinctive_words(
    comparison: SentenceComparison,
    at: int,
    place: int,
    owned: frozenset[int],
    rivals: Sequence[int],
) -> bool:
    """Whether the claim has what sets one apart from its rivals: its figures, and its words since the rival before."""
    items = comparison.source.items
    figures = [items[n] for n in owned if items[n].quantity is not None]
    # a claim that has none of its figures says less, not something else: open on Saturdays, of Saturdays 9 to 14
    has_figures = any(
        n != at and item.quantity is not None for n, item in enumerate(comparison.claim.items)
    )
    if has_figures and not all(is_said(comparison, figure, at) for figure in figures):
        return False
    before = max((rival for rival in rivals if rival < place), default=-1)
    if before < 0:
        return True
    distinctive = _list_distinctive(items, place, owned, before)
    weight = sum(item.weight for item in distinctive)
    return (
        sum(item.weight for item in distinctive if is_said(comparison, item, at))
        >= MIN_OWN * weight
    )


def _list_distinctive(
    items: Sequence[SentenceItem], place: int, owned: frozenset[int], before: int
) -> list[SentenceItem]:
    """The words of an item since the rival before, or in its clause, that the sentence has once."""
    ids = [item.id for item in items]
    return [
        items[n] for n in owned
        if (before < n < place or items[n].clause == items[place].clause)
        and items[n].quantity is None and ids.count(items[n].id) == 1
    ]  # fmt: skip


def _distance(item: SentenceItem, other: SentenceItem) -> float:
    return (
        abs(item.place - other.place)
        + COMMA_DISTANCE * abs(item.clause - other.clause)
        + BREAK_DISTANCE * abs(item.section - other.section)
    )


def _find_clash(
    comparison: SentenceComparison, item: SentenceItem, place: int, owned: frozenset[int]
) -> float:
    """Minus one where a figure has its own date or number against another one of the claim: 40 in 2019."""
    assert item.quantity is not None
    figures = [comparison.source.items[n].quantity for n in owned if n != place]
    clashes = any(figure is not None and differs(item.quantity, figure) for figure in figures)
    return -1.0 if clashes else 0.0


def is_about_claim(comparison: SentenceComparison, place: int, least: float) -> bool:
    """Whether the claim has enough of the words before an item in its clause, or after it where there are none."""
    items = comparison.source.items
    beside = [
        item for n, item in enumerate(items)
        if n < place and item.clause == items[place].clause and item.quantity is None
    ] or [
        item for n, item in enumerate(items)
        if n > place and item.clause == items[place].clause and item.quantity is None
    ]  # fmt: skip
    claimed = {item.id for item in comparison.claim.items}
    weight = sum(item.weight for item in beside)
    return sum(item.weight for item in beside if item.id in claimed) >= least * weight


def is_said(comparison: SentenceComparison, item: SentenceItem, without: int) -> bool:
    """Whether the claim says what an item of the sentence says, in another of its own items."""
    return any(
        other.id == item.id
        if item.quantity is None or other.quantity is None
        else matches(other.quantity, item.quantity)
        for n, other in enumerate(comparison.claim.items)
        if n != without and (item.quantity is None) == (other.quantity is None)
    )
