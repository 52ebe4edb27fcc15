"""What contradicts a claim: another figure, a denial, an opposite, swapped roles, another quantifier, another name.

A conflict that is certain overrules every other judge, so each rule asks that the rest of the claim stands in the
same sentence of the source. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.judges.offline.comparatives import find_reversed_comparison, has_comparison
from ragstone.judges.offline.comparison import (
    Conflict,
    SentenceComparison,
    compare_best,
    rank_sentences,
)
from ragstone.judges.offline.conditions import (
    find_dropped_condition,
    find_supposition,
    find_waived_requirement,
)
from ragstone.judges.offline.copies import find_edit
from ragstone.judges.offline.figures import find_figure_conflict
from ragstone.judges.offline.names import find_name_conflict
from ragstone.judges.offline.phrases import parse_sentence
from ragstone.judges.offline.polarity import agrees, find_reversal, is_remote
from ragstone.judges.offline.quantifiers import find_quantifier_conflict
from ragstone.judges.offline.reading import Reading
from ragstone.judges.offline.sequence import find_order_conflict
from ragstone.judges.offline.slots import find_other_name
from ragstone.judges.offline.substitutions import find_contrary_preposition, find_exchange
from ragstone.locale.messages import compose

__all__ = ["Conflict", "explain_conflict", "find_conflict"]


def find_conflict(claim: Reading, sources: Sequence[Reading]) -> Conflict | None:
    """The surest contradiction between a claim and its sources; None where there is none."""
    if any(claim.raw.strip() in source.raw for source in sources):
        return None
    ranked = rank_sentences(claim, sources)
    if not ranked:
        return None
    edit = find_edit(claim, sources, *ranked[0])
    mine = parse_sentence(claim.raw, claim.language)
    # an iterator: a sentence is read when it is taken
    comparisons = compare_best(mine, ranked, sources)
    best = next(comparisons, None)
    if best is None:
        return edit
    conflicts = _check_rules(claim, best, sources)
    has_figures = any(item.quantity is not None for item in mine.items)
    # the other sentences are read only where a rule asks for them: reading is what costs
    if has_figures or any(conflict.kind == "negation" for conflict in conflicts):
        others = list(comparisons)
        if any(agrees(other) for other in others):
            conflicts = [conflict for conflict in conflicts if conflict.kind != "negation"]
        figure = find_figure_conflict([best, *others], sources)
        conflicts += [figure] if figure else []
    conflicts += [edit] if edit else []
    # of equally sure ones the first, so that the order of the rules decides what the reason says
    return max(conflicts, key=lambda conflict: conflict.certain, default=None)


def _check_rules(
    claim: Reading, best: SentenceComparison, sources: Sequence[Reading]
) -> list[Conflict]:
    """What the rules that need one sentence alone see."""
    conflicts = (
        find_reversed_comparison(best),
        find_quantifier_conflict(best),
        find_order_conflict(best),
        find_dropped_condition(best),
        find_waived_requirement(best),
        find_supposition(best),
        find_contrary_preposition(best),
        find_exchange(best),
        find_name_conflict(best, sources),
        _find_slot_conflict(claim, sources),
        None if has_comparison(best.claim) or is_remote(best) else find_reversal(best),
    )
    return [conflict for conflict in conflicts if conflict is not None]


def _find_slot_conflict(claim: Reading, sources: Sequence[Reading]) -> Conflict | None:
    """What a sentence says of another name, as a conflict: it leaves no room for the name of the claim."""
    other = find_other_name(claim, sources)
    if other is None:
        return None
    place = sources[other.source].sentences[other.sentence]
    words = other.mine, other.theirs
    return Conflict("name", "name_differs", *words, other.source, place, certain=True)


def explain_conflict(conflict: Conflict, language: str) -> str:
    """The conflict in words."""
    return compose(conflict.code, language, mine=conflict.mine, theirs=conflict.theirs)
