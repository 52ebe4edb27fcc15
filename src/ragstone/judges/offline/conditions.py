"""Claims that drop what the source makes a condition, or take for done what it only plans or supposes. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from ragstone.judges.offline.comparison import Conflict, SentenceComparison
from ragstone.judges.offline.functions import FUNCTION_WORDS
from ragstone.judges.offline.quantifiers import is_bounded
from ragstone.text.verbs import find_verb_form

CERTAIN = 0.85
"""Share of the claim that must stand in the sentence."""
CERTAIN_IN_ANY_CASE = 0.6
"""The same where the claim says that no condition matters: it must name none."""


def find_dropped_condition(comparison: SentenceComparison) -> Conflict | None:
    """A claim that says "in any case" of what the source says under a condition."""
    claim, source = comparison.claim, comparison.source
    if not claim.is_limitless or source.is_limitless or claim.is_limited:
        return None
    if not (source.is_limited or any(is_bounded(item) for item in source.items)):
        return None
    certain = comparison.share() >= CERTAIN_IN_ANY_CASE
    return comparison.make("condition", "condition_dropped", claim.text, source.text, certain)


def find_waived_requirement(comparison: SentenceComparison) -> Conflict | None:
    """A claim that something goes without what the source requires: without a prescription, of only with one."""
    claim, source = comparison.claim, comparison.source
    function = FUNCTION_WORDS[claim.language]
    if not function.negations.isdisjoint(claim.words):
        return None
    required = source.is_limited or not function.requirements.isdisjoint(source.words)
    waived = [
        at for at, item in enumerate(claim.items) if item.preposition in function.phrase_negations
    ]
    is_named = any(
        not source.items[place].is_negated for at in waived for place in comparison.places[at]
    )
    if not required or not is_named or source.denies:
        return None
    certain = comparison.share() >= CERTAIN
    return comparison.make("condition", "condition_dropped", claim.text, source.text, certain)


def find_supposition(comparison: SentenceComparison) -> Conflict | None:
    """A verb that the claim states and the source only plans, wishes or supposes."""
    claim, source = comparison.claim, comparison.source
    function = FUNCTION_WORDS[claim.language]
    if any(item.is_unreal for item in claim.items) or not function.possible.isdisjoint(claim.words):
        return None
    unreal = {n for n, item in enumerate(source.items) if item.is_unreal and item.is_verb}
    is_unreal = any(
        places and unreal.issuperset(places) and find_verb_form(item.lower, claim.language)
        for item, places in zip(claim.items, comparison.places, strict=True)
    )
    if not is_unreal or comparison.share() < CERTAIN:
        return None
    return comparison.make("supposition", "only_supposed", claim.text, source.text, certain=True)
