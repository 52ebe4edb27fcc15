"""Before and after: claims that put two events in the other order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ragstone.judges.offline.comparison import Conflict, SentenceComparison
from ragstone.judges.offline.functions import FUNCTION_WORDS
from ragstone.judges.offline.phrases import Sentence

CERTAIN = 0.85
"""Share of the claim that must stand in the sentence or just before it."""


class _Order(NamedTuple):
    earlier: frozenset[int]
    later: frozenset[int]


def find_order_conflict(comparison: SentenceComparison) -> Conflict | None:
    """Two events that the claim puts in the other order than the source."""
    for mine in _find_orders(comparison.claim, frozenset()):
        for theirs in _find_orders(comparison.source, comparison.nearby):
            crossed = mine.earlier & theirs.later, mine.later & theirs.earlier
            kept = len(mine.earlier & theirs.earlier) + len(mine.later & theirs.later)
            if all(crossed) and sum(map(len, crossed)) > 2 * kept:
                certain = comparison.share() >= CERTAIN
                words = comparison.claim.text, comparison.source.text
                return comparison.make("order", "order_reversed", *words, certain)
    return None


def orders_events(sentence: Sentence) -> bool:
    """Whether the sentence says what came before or after what."""
    function = FUNCTION_WORDS[sentence.language]
    return not (function.before | function.after | function.then).isdisjoint(sentence.words)


def _find_orders(sentence: Sentence, nearby: frozenset[int]) -> Iterator[_Order]:
    """The words of what came first and of what came later, for each word of time; what stands in both is left out."""
    function, words = FUNCTION_WORDS[sentence.language], sentence.words
    if not function.before.isdisjoint(words) and not function.after.isdisjoint(words):
        return  # before and after
    for at, word in enumerate(words):
        if word == "después" and words[at + 1 : at + 2] in (("de",), ("del",), ("que",)):
            main, sub = _split(sentence, at)
            yield _part(sub, main)
        elif word in function.then and (word != "later" or words[at - 1 : at] in ((), ("#",))):
            section = _find_section(sentence, at)
            before = (
                frozenset(item.id for item in sentence.items if item.section < section) or nearby
            )
            after = frozenset(item.id for item in sentence.items if item.section >= section)
            yield _part(before, after)
        elif word in function.before or word in function.after:
            main, sub = _split(sentence, at)
            yield _part(main, sub) if word in function.before else _part(sub, main)


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
        if item.place > at and (item.clause == first.clause if at == 0 else item.section == first.section)
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
    figures = earlier & later | {-1}
    return _Order(earlier - figures, later - figures)
