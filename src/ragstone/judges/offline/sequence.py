"""Before and after: claims that put two events in the other order. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ragstone.judges.offline.comparison import Conflict, SentenceComparison
from ragstone.judges.offline.functions import FUNCTION_WORDS
from ragstone.judges.offline.phrases import Sentence

CERTAIN = 0.85
"""Share of the claim that must stand in the sentence or just before it."""


class _Order(NamedTuple):
    """Ids of the words of what came first, and of what came after it."""

    earlier: frozenset[int]
    later: frozenset[int]


def find_order_conflict(comparison: SentenceComparison) -> Conflict | None:
    """Two events that the claim puts in the other order than the source."""
    for mine in _find_orders(comparison.claim, frozenset()):
        for theirs in _find_orders(comparison.source, comparison.nearby):
            crossed = mine.earlier & theirs.later, mine.later & theirs.earlier
            kept = len(mine.earlier & theirs.earlier) + len(mine.later & theirs.later)
            if all(crossed) and sum(map(len, crossed)) > kept:
                certain = (
                    sum(map(len, crossed)) >= 2 * kept and _share_nearby(comparison) >= CERTAIN
                )
                words = comparison.claim.text, comparison.source.text
                return comparison.make("order", "order_reversed", *words, certain)
    return None


def _share_nearby(comparison: SentenceComparison) -> float:
    """Weighted share of the claim that stands in the sentence or in the one before."""
    items = comparison.claim.items
    known = sum(
        item.weight for at, item in enumerate(items) if comparison.places[at] or item.id in comparison.nearby
    )  # fmt: skip
    return known / sum(item.weight for item in items)


def orders_events(sentence: Sentence) -> bool:
    """Whether the sentence says what came before or after what."""
    function = FUNCTION_WORDS[sentence.language]
    return not (function.before | function.after | function.then).isdisjoint(sentence.words)


def _find_orders(sentence: Sentence, nearby: frozenset[int]) -> Iterator[_Order]:
    """The words of what came first and of what came later, for each word of time; what stands in both is left out."""
    function, words = FUNCTION_WORDS[sentence.language], sentence.words
    markers = function.before | function.after | function.then
    if sum(word in markers for word in words) > 1:
        return  # before and after; then, and then
    for at, word in enumerate(words):
        if word == "después" and words[at + 1 : at + 2] in (("de",), ("del",), ("que",)):
            main, sub = _split(sentence, at)
            yield _part(sub, main)
        elif word in function.then and (word != "later" or words[at - 1 : at] in ((), ("#",))):
            before, after = _split_sections(sentence, at)
            yield _part(before or nearby, after)
        elif word in function.before or word in function.after:
            main, sub = _split(sentence, at)
            yield _part(main, sub) if word in function.before else _part(sub, main)


def _split_sections(sentence: Sentence, at: int) -> tuple[frozenset[int], frozenset[int]]:
    """The words before and after the section that follows "then" begins."""
    section, items = _find_section(sentence, at), sentence.items
    before = frozenset(item.id for item in items if item.section < section)
    return before, frozenset(item.id for item in items if item.section >= section)


def _find_section(sentence: Sentence, at: int) -> int:
    following = [item.section for item in sentence.items if item.place > at]
    return following[0] if following else sentence.items[-1].section


def _split(sentence: Sentence, at: int) -> tuple[frozenset[int], frozenset[int]]:
    """The words of the main clause and of what follows "before" or "after"."""
    items = sentence.items
    first = next((item for item in items if item.place > at), None)
    if first is None:
        return frozenset(), frozenset()
    sub = frozenset(
        item.id for item in items
        if item.place > at and item.clause == first.clause
    )  # fmt: skip
    main = frozenset(
        item.id for item in items
        if (item.place < at and item.section == _find_before(sentence, at)) or (at == 0 and item.clause != first.clause)
    )  # fmt: skip
    return main, sub


def _find_before(sentence: Sentence, at: int) -> int:
    preceding = [item.section for item in sentence.items if item.place < at]
    return preceding[-1] if preceding else 0


def _part(earlier: frozenset[int], later: frozenset[int]) -> _Order:
    """The order of two events, without the words of both and without quantities, which all have the id -1."""
    unclear = earlier & later | {-1}
    return _Order(earlier - unclear, later - unclear)
