"""A figure of the claim against the figures of the source: changed, or taken from another subject."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragstone.judges.offline.comparison import NEARBY_CREDIT, Comparison, Conflict
from ragstone.judges.offline.phrases import Item
from ragstone.text.quantities import differs, matches

SENTENCE_CREDIT = 0.6
"""What a word of the same sentence counts for a figure of another clause."""
CERTAIN, POSSIBLE = 0.6, 0.4
"""Share of the claim's other words that must belong to the other figure."""
MARGIN = 0.1
"""By how much the other figure must fit better than the same one, as a share of the claim."""


def find_figure_conflict(comparisons: Sequence[Comparison]) -> Conflict | None:
    """A quantity of the claim where the source has another one for the same subject."""
    if not comparisons:
        return None
    conflicts = (
        _check_figure(at, item, comparisons)
        for at, item in enumerate(comparisons[0].claim.items)
        if item.quantity is not None
    )
    return max(filter(None, conflicts), key=lambda conflict: conflict.certain, default=None)


def _check_figure(at: int, item: Item, comparisons: Sequence[Comparison]) -> Conflict | None:
    assert item.quantity is not None
    best_same, best_other = 0.0, 0.0
    found: tuple[Comparison, Item] | None = None
    for comparison in comparisons:
        for other in comparison.source.items:
            if other.quantity is None:
                continue
            if matches(item.quantity, other.quantity):
                best_same = max(best_same, _fit(comparison, at, other))
            elif differs(item.quantity, other.quantity) and _counts_same(comparison, at, other):
                fit = _fit(comparison, at, other)
                if fit > best_other:
                    best_other, found = fit, (comparison, other)
    if found is None or best_other < POSSIBLE or best_other < best_same + MARGIN:
        return None
    comparison, other = found
    is_date = item.quantity.kind in ("date", "time")
    code = "date_differs" if is_date else "number_differs"
    return comparison.make("date" if is_date else "number", code, item, other, best_other >= CERTAIN)


def _fit(comparison: Comparison, at: int, other: Item) -> float:
    """Weighted share of the claim's other items that belong to a figure of the sentence."""
    total = shared = 0.0
    for n, item in enumerate(comparison.claim.items):
        if n == at:
            continue
        total += item.weight
        shared += item.weight * _belongs(comparison, n, item, other)
    return shared / total if total else 0.0


def _belongs(comparison: Comparison, n: int, item: Item, other: Item) -> float:
    items = comparison.source.items
    credit = 0.0
    clash = False
    for candidate in items:
        if candidate is other:
            continue
        if item.quantity is not None:
            if candidate.quantity is None:
                continue
            same = matches(item.quantity, candidate.quantity)
            if not same and candidate.clause == other.clause and differs(item.quantity, candidate.quantity):
                clash = True
        else:
            same = candidate.id == item.id
        if same:
            credit = max(credit, 1.0 if candidate.clause == other.clause else SENTENCE_CREDIT)
    if clash and credit < 1.0:
        return -1.0
    if not credit and item.quantity is None and item.id in comparison.nearby:
        return NEARBY_CREDIT * SENTENCE_CREDIT
    return credit


def _counts_same(comparison: Comparison, at: int, other: Item) -> bool:
    """Whether two plain numbers count the same thing: the words after them are the same, or one has none."""
    mine = comparison.claim.items[at]
    assert mine.quantity is not None and other.quantity is not None
    if mine.quantity.kind not in ("number", "ordinal"):
        return True
    counted = _following(comparison.claim.items, at)
    items = comparison.source.items
    theirs = _following(items, items.index(other))
    if counted is None or theirs is None:
        return counted is theirs
    return counted.id == theirs.id


def _following(items: Sequence[Item], at: int) -> Item | None:
    if at + 1 < len(items) and items[at + 1].place == items[at].place + 1:
        return items[at + 1]
    return None
