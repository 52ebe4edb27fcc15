"""Claims that drop what the source makes a condition, or take for done what it only plans or supposes."""

from __future__ import annotations

from ragstone.judges.offline.comparison import Conflict, SentenceComparison
from ragstone.judges.offline.functions import FUNCTION_WORDS
from ragstone.judges.offline.phrases import SentenceItem

CERTAIN = 0.85
"""Share of the claim that must stand in the sentence."""
CERTAIN_IN_ANY_CASE = 0.6
"""The same where the claim says that no condition matters: it must name none."""


def find_dropped_condition(comparison: SentenceComparison) -> Conflict | None:
    """A claim that says "in any case" of what the source says under a condition."""
    claim, source = comparison.claim, comparison.source
    if not claim.is_limitless or source.is_limitless or claim.is_limited:
        return None
    if not (source.is_limited or any(_is_bounded(item) for item in source.items)):
        return None
    certain = comparison.share() >= CERTAIN_IN_ANY_CASE
    return comparison.make("condition", "condition_dropped", claim.text, source.text, certain)


def find_supposition(comparison: SentenceComparison) -> Conflict | None:
    """A verb that the claim states and the source only plans, wishes or supposes."""
    claim, source = comparison.claim, comparison.source
    function = FUNCTION_WORDS[claim.language]
    if any(item.is_unreal for item in claim.items) or not function.possible.isdisjoint(claim.words):
        return None
    at = next((at for at, item in enumerate(claim.items) if item.is_verb), None)
    others = [] if at is None else [source.items[place] for place in comparison.places[at]]
    if not others or not all(other.is_unreal and other.is_verb for other in others):
        return None
    certain = comparison.share() >= CERTAIN
    return comparison.make("supposition", "only_supposed", claim.text, source.text, certain)


def _is_bounded(item: SentenceItem) -> bool:
    return item.quantity is not None and item.quantity.bound in (
        "over",
        "at_least",
        "under",
        "at_most",
    )
