"""One word of the claim in the place of another word of the source, all else being the same."""

from __future__ import annotations

from ragstone.judges.offline.comparison import Conflict, SentenceComparison
from ragstone.judges.offline.phrases import Sentence, SentenceItem
from ragstone.text.verbs import find_verb_form

MIN_SHARE = 0.9
"""Share of the rest of the claim that must stand in the sentence."""
MIN_OTHERS = 2
"""Items of the claim that must stand in the sentence."""
MAX_RELATED = 0.2
"""How near in meaning the two words may be: near ones may say the same."""
_OF_COMPANY = frozenset({"with", "without", "con", "sin"})
_OPPOSED = {"from": "to", "to": "from", "with": "without", "without": "with", "con": "sin", "sin": "con",
            "desde": "hasta", "hasta": "desde"}  # fmt: skip
"""Prepositions that say the contrary of each other."""


def find_substitution(comparison: SentenceComparison) -> Conflict | None:
    """A word that no word of the sentence is near to, where the sentence has another one after the same words."""
    claim, source = comparison.claim, comparison.source
    new = [at for at in range(len(claim.items)) if not comparison.places[at]]
    if not 0 < len(new) <= 2 or len(claim.items) - len(new) < MIN_OTHERS:
        return None
    at = new[-1]
    item = claim.items[at]
    if new[-1] - new[0] >= len(new) or item.quantity is not None or item.id in comparison.nearby:
        return None
    if any(comparison.related[n] > MAX_RELATED for n in new) or find_verb_form(
        item.lower, claim.language
    ):
        return None
    place = _find_slot(comparison, new[0])
    if place is None:
        return None
    if comparison.share(frozenset(new)) < MIN_SHARE:
        return None
    # never certain: another word may say the same in other words
    words = claim.quote(item), source.quote(source.items[place])
    return comparison.make("word", "word_differs", *words, certain=False)


def _find_slot(comparison: SentenceComparison, at: int) -> int | None:
    """The item of the sentence that stands after the same item and the same preposition, and not in the claim."""
    items, theirs = comparison.claim.items, comparison.source.items
    claim_ids = {item.id for item in items}
    if not at:
        return None
    language = comparison.source.language
    for place in (before + 1 for before in comparison.places[at - 1] if before + 1 < len(theirs)):
        other = theirs[place]
        is_new = (
            other.id not in claim_ids
            and other.quantity is None
            and not find_verb_form(other.lower, language)
        )
        if is_new and _link(comparison.claim, at) == _link(comparison.source, place):
            return place
    return None


def _link(sentence: Sentence, at: int) -> tuple[str, ...]:
    """The function words between an item and the one before, articles apart."""
    first, last = sentence.items[at - 1].place + 1, sentence.items[at].place
    return tuple(word for word in sentence.words[first:last] if word not in _ARTICLES)


_ARTICLES = frozenset({"a", "an", "the", "el", "la", "los", "las", "un", "una", "al", "del"})


def find_contrary_preposition(comparison: SentenceComparison) -> Conflict | None:
    """A word under the contrary preposition: moved to Vienna, of what moved from Vienna to Geneva."""
    claim, source = comparison.claim, comparison.source
    for at, item in enumerate(claim.items):
        opposed = _OPPOSED.get(item.preposition)
        others = [source.items[place] for place in comparison.places[at]]
        is_opposed = opposed and others and all(other.preposition == opposed for other in others)
        if is_opposed and comparison.share() >= MIN_SHARE and _is_free(comparison, item):
            mine, theirs = (
                f"{item.preposition} {claim.quote(item)}",
                f"{opposed} {source.quote(others[0])}",
            )
            return comparison.make("word", "word_differs", mine, theirs, certain=True)
    return None


def _is_free(comparison: SentenceComparison, item: SentenceItem) -> bool:
    """Whether nothing turns the claim round again, and the source has another word in its place: from A to B."""
    if comparison.claim.is_unclear or comparison.source.is_unclear:
        return False
    claim, source, opposed = (
        comparison.claim.items,
        comparison.source.items,
        _OPPOSED[item.preposition],
    )
    if any(other.preposition == opposed for other in claim) or any(
        other.is_negated and other.preposition != item.preposition for other in (*claim, *source)
    ):
        return False
    claim_ids = {other.id for other in claim}
    return opposed in _OF_COMPANY or any(
        other.preposition == item.preposition and other.id not in claim_ids for other in source
    )
