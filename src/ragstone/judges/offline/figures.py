"""A figure of the claim against the figures of the source: changed, or taken from another subject. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragstone.judges.offline.binding import fit, is_about_claim, is_said
from ragstone.judges.offline.comparison import Conflict, SentenceComparison, compare_sentence
from ragstone.judges.offline.members import find_member
from ragstone.judges.offline.phrases import Sentence, SentenceItem
from ragstone.judges.offline.reading import Reading
from ragstone.judges.offline.sequence import orders_events
from ragstone.text.quantities import Quantity, differs, find_quantities, is_comparable, matches

CERTAIN, POSSIBLE = 0.7, 0.3
"""Share of the claim's other words that must belong to the other figure."""
CERTAIN_BOUND = 0.5
"""The same where it is the number of the claim with a contrary bound."""
MARGIN = 0.1
"""By how much the other figure must fit better than the same one."""
ABOUT = 0.5
"""Share of the words beside the other figure that the claim must have."""
CONVERSION_WORDS = 2
"""Words between a figure and the same in another unit: 30 kilometres (20 miles)."""


def find_figure_conflict(
    comparisons: Sequence[SentenceComparison], sources: Sequence[Reading]
) -> Conflict | None:
    """A quantity of the claim where the source has another one for the same subject."""
    if not comparisons:
        return None
    conflicts = []
    for at, item in enumerate(comparisons[0].claim.items):
        if item.quantity is None or item.quantity.indefinite:
            continue
        conflict = _check_figure(at, item.quantity, comparisons)
        if conflict is not None and conflict.certain:
            # sentences that share few words with the claim may still have its figure
            others = list(_compare_matching(item.quantity, comparisons, sources))
            conflict = (
                _check_figure(at, item.quantity, [*comparisons, *others]) if others else conflict
            )
        conflicts.append(conflict)
    return max(filter(None, conflicts), key=lambda conflict: conflict.certain, default=None)


def _check_figure(
    at: int, quantity: Quantity, comparisons: Sequence[SentenceComparison]
) -> Conflict | None:
    best_same = best_other = 0.0
    nearest: tuple[SentenceComparison, int] | None = None
    for comparison in comparisons:
        alike = _list_comparable(quantity, comparison)
        is_named, rival = find_member(comparison, at, alike)
        if is_named:
            return None
        if rival is not None and best_same < CERTAIN:
            return _make_conflict(comparison, rival, at, 1.0)
        for place in alike:
            other = comparison.source.items[place].quantity
            assert other is not None  # `alike` has quantities alone
            rivals = [rival for rival in alike if rival != place]
            if not differs(quantity, other):
                # April and April 1949 are not the same, yet neither is against the other
                best_same = max(best_same, fit(comparison, at, place, rivals))
            elif _is_against(comparison, at, place, rivals):
                value = fit(comparison, at, place, rivals)
                if value > best_other:
                    best_other, nearest = value, (comparison, place)
    if nearest is None or best_other < POSSIBLE or best_other < best_same + MARGIN:
        return None
    return _make_conflict(*nearest, at, best_other)


def _list_comparable(quantity: Quantity, comparison: SentenceComparison) -> list[int]:
    """The places of the figures of a sentence that a figure can be compared with."""
    return [
        place for place, other in enumerate(comparison.source.items)
        if other.quantity is not None and is_comparable(quantity, other.quantity)
    ]  # fmt: skip


def _is_against(comparison: SentenceComparison, at: int, place: int, rivals: Sequence[int]) -> bool:
    """Whether another figure counts the same, and the claim does not have it as well."""
    quantity, other = comparison.claim.items[at].quantity, comparison.source.items[place]
    assert quantity is not None
    assert other.quantity is not None
    if other.quantity.indefinite:
        return False
    if is_said(comparison, other, at) and not _counts_other(comparison, at, place):
        return False
    if _is_conversion(comparison, quantity, place, rivals):
        return False
    return _counts_same(comparison, at, place)


def _make_conflict(comparison: SentenceComparison, place: int, at: int, value: float) -> Conflict:
    mine = comparison.claim.items[at].quantity
    assert mine is not None
    kind = "date" if mine.kind in ("date", "time") else "number"
    words = _quote(comparison.claim, at), _quote(comparison.source, place)
    if words[0].lower() == words[1].lower():  # what they are for, or their bounds, differ
        words = _quote_widely(comparison.claim, at), _quote_widely(comparison.source, place)
    certain = _is_certain(comparison, place, at, value)
    return comparison.make(kind, f"{kind}_differs", *words, certain)


def _is_certain(comparison: SentenceComparison, place: int, at: int, value: float) -> bool:
    """Whether a figure of the sentence that fits the rest of the claim so well must be the one of the claim."""
    theirs = comparison.source.items[place]
    mine, other = comparison.claim.items[at].quantity, theirs.quantity
    assert mine is not None
    assert other is not None
    is_same = _is_same_number(mine, other)
    if value < (CERTAIN_BOUND if is_same else CERTAIN) or orders_events(comparison.claim):
        return False
    here = (item for item in comparison.source.items if item.clause == theirs.clause)
    denies = any(item.is_negated for item in (*comparison.claim.items, *here))
    if denies and not (mine.bound and other.bound):
        return False
    # of two figures of one sentence both belong to its subject
    return is_same or bool(comparison.places[at]) or is_about_claim(comparison, place, ABOUT)


def _is_same_number(mine: Quantity, theirs: Quantity) -> bool:
    """Whether only the bounds differ: at least 5, at most 5."""
    return matches(replace(mine, bound=""), replace(theirs, bound=""))


def _quote(sentence: Sentence, at: int) -> str:
    """A figure with what it counts."""
    item, counted = sentence.items[at], _find_counted(sentence, at)
    counts = item.quantity is not None and item.quantity.has_counted_noun and counted is not None
    return sentence.text[item.start : counted.end if counts and counted else item.end]


def _quote_widely(sentence: Sentence, at: int) -> str:
    """A figure with the two words before and after it."""
    item = sentence.items[at]
    before, after = sentence.text[: item.start].split(), sentence.text[item.end :].split()
    return " ".join([*before[-2:], sentence.quote(item), *after[:2]]).strip(" ,.;:")


def _compare_matching(
    quantity: Quantity, comparisons: Sequence[SentenceComparison], sources: Sequence[Reading]
) -> Iterator[SentenceComparison]:
    """The claim beside the other sentences that have its figure."""
    known = {(comparison.index, comparison.span) for comparison in comparisons}
    for index, source in enumerate(sources):
        places = [
            other.start
            for other in find_quantities(source.raw, source.language)
            if matches(quantity, other)
        ]
        for number, (start, end) in enumerate(source.sentences if places else ()):
            if (index, (start, end)) not in known and any(start <= p < end for p in places):
                yield compare_sentence(comparisons[0].claim, source, index, number)


def _is_conversion(
    comparison: SentenceComparison, quantity: Quantity, place: int, rivals: Sequence[int]
) -> bool:
    """Whether the claim's own figure stands right beside the other one."""
    items = comparison.source.items
    return any(
        matches(quantity, other)
        for rival in rivals
        if abs(items[rival].place - items[place].place) <= CONVERSION_WORDS
        and (other := items[rival].quantity) is not None
        and other.kind == "measure"
    )


def _counts_same(comparison: SentenceComparison, at: int, place: int) -> bool:
    """Whether two plain numbers count the same thing: the words after them are the same, or one has none."""
    quantity, other = comparison.claim.items[at].quantity, comparison.source.items[place].quantity
    assert quantity is not None
    assert other is not None
    if quantity.kind != other.kind:  # six minutes, and the second fifteen
        measures = [item.quantity for item in comparison.source.items if item.quantity is not None]
        return any(measure.unit == quantity.unit for measure in measures)
    if quantity.kind not in ("number", "ordinal"):
        return True
    mine, theirs = _find_counted(comparison.claim, at), _find_counted(comparison.source, place)
    if theirs is None:  # Goa counts 1.5 million
        known = {item.id for item in comparison.source.items}
        return mine is None or (
            other is not None and not other.has_counted_noun and mine.id in known
        )
    return mine is not None and mine.id == theirs.id


def _counts_other(comparison: SentenceComparison, at: int, place: int) -> bool:
    """Whether both figures count the same thing, so that the claim has the other's value only of something else."""
    mine, theirs = _find_counted(comparison.claim, at), _find_counted(comparison.source, place)
    if mine is None or theirs is None or mine.id != theirs.id:
        return False
    # three squadrons of these, two squadrons of those
    return [item.id for item in comparison.claim.items].count(mine.id) == 1


def _find_counted(sentence: Sentence, at: int) -> SentenceItem | None:
    """The word after a number, or after "of" behind it."""
    items = sentence.items
    if at + 1 == len(items):
        return None
    between = sentence.words[items[at].place + 1 : items[at + 1].place]
    is_near = between in ((), ("of",), ("de",)) and items[at].clause == items[at + 1].clause
    return items[at + 1] if is_near else None
