"""Comparisons: A is longer than B is the same as B is shorter than A, and the contrary of B is longer than A. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from ragstone.judges.offline.comparison import Conflict, SentenceComparison
from ragstone.judges.offline.phrases import AS_MUCH, LESS, MORE, Sentence, SentenceItem

CERTAIN = 0.7
"""Share of the rest of the claim that must stand in the sentence."""


def has_comparison(sentence: Sentence) -> bool:
    """Whether the sentence compares two things."""
    return any(item.is_compared for item in sentence.items)


def find_reversed_comparison(comparison: SentenceComparison) -> Conflict | None:
    """A comparison of the same two things by the same measure with the contrary result."""
    claim, source = comparison.claim, comparison.source
    if not has_comparison(claim) or not has_comparison(source):
        return None
    for at, item in enumerate(claim.items):
        direction = _find_direction(item)
        signs = dict.fromkeys(comparison.places[at], 1)
        signs |= dict.fromkeys(comparison.contraries[at], -1)
        results = {
            place: direction * _find_direction(source.items[place]) * sign * _find_order(comparison, place)
            for place, sign in signs.items()
        }  # fmt: skip
        reversed_places = [place for place, result in results.items() if result < 0]
        if reversed_places and not any(result > 0 for result in results.values()):
            certain = comparison.share(frozenset({at})) >= CERTAIN
            words = _quote(claim, item), _quote(source, source.items[reversed_places[0]])
            return comparison.make("comparison", "comparison_reversed", *words, certain)
    return None


def _find_direction(item: SentenceItem) -> int:
    """1 for more, -1 for less or not as much, 0 for what is no comparison."""
    if item.degree in (MORE, LESS):
        return -item.degree if item.is_negated else item.degree
    return -1 if item.degree == AS_MUCH and item.is_negated else 0


def _find_order(comparison: SentenceComparison, place: int) -> int:
    """1 where both sides compare the same with the same, -1 where they are exchanged, 0 where it is not clear."""
    clause = comparison.source.items[place].clause
    kept = crossed = 0.0
    for at, item in enumerate(comparison.claim.items):
        compared = [
            comparison.source.items[p].is_compared
            for p in comparison.places[at]
            if comparison.source.items[p].clause == clause
        ]
        if item.degree or not compared or len(set(compared)) > 1:
            continue
        if item.is_compared != compared[0]:
            crossed += item.weight
        elif item.is_compared:
            kept += item.weight
    if kept == crossed:
        return 0
    return 1 if kept > crossed else -1


def _quote(sentence: Sentence, item: SentenceItem) -> str:
    """The comparative with the word before it and what it is compared with."""
    ends = [
        other.end for other in sentence.items if other.is_compared and other.clause == item.clause
    ]
    start = sentence.text.rfind(" ", 0, max(item.start - 1, 0)) + 1
    return sentence.text[start : max([item.end, *ends])]
