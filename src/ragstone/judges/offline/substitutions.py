"""One word of the claim in the place of another word of the source, all else being the same. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from ragstone.judges.offline.comparatives import has_comparison
from ragstone.judges.offline.comparison import Conflict, SentenceComparison
from ragstone.judges.offline.functions import FUNCTION_WORDS
from ragstone.judges.offline.phrases import Sentence
from ragstone.judges.offline.roles import symmetric_ids

MIN_SHARE = 0.9
"""Share of the rest of the claim that must stand in the sentence."""
MIN_OTHERS = 2
"""Items of the claim that must stand in the sentence."""
_OPPOSED = {"from": "to", "to": "from", "desde": "hasta", "hasta": "desde"}
"""Prepositions that say the contrary of each other."""


def find_exchange(comparison: SentenceComparison) -> Conflict | None:
    """Two words in each other's place, all else being the same: a white flag with a green cross, of a green and white one."""
    claim, source = comparison.claim, comparison.source
    places = [own[0] for own in comparison.places if len(own) == 1]
    if len(places) < len(claim.items) or len(places) <= MIN_OTHERS or has_comparison(claim):
        return None
    moved = _find_moved_pair(source, places)
    if moved is None:
        return None
    first, second = moved
    between = {item.id for item in claim.items[first : second + 1]}
    link, joins = _link(claim, second), FUNCTION_WORDS[claim.language].list_joins
    is_one_phrase = second == first + 1 and not link  # contaminated food
    if is_one_phrase or not joins.isdisjoint(link) or between & symmetric_ids():
        return None
    mine, theirs = [_link(claim, at) for at in moved], [_link(source, places[at]) for at in moved]
    if not _are_exchanged(mine, theirs):
        return None
    words = claim.quote(claim.items[first]), claim.quote(claim.items[second])
    return comparison.make("roles", "names_swapped", *words, certain=True)


def _are_exchanged(mine: list[tuple[str, ...]], theirs: list[tuple[str, ...]]) -> bool:
    """Whether two words have each other's prepositions; under the same one they stand in any order: in Madrid in 1907."""
    return mine == theirs[::-1] and (mine[0] != mine[1] or not mine[0])


def _find_moved_pair(source: Sentence, places: list[int]) -> tuple[int, int] | None:
    """The only two items that stand in another order in the sentence; not of two records, where each has its own words."""
    moved = [at for at, kept in enumerate(sorted(places)) if places[at] != kept]
    if len(moved) != 2 or len({source.items[places[at]].section for at in moved}) != 1:
        return None
    return moved[0], moved[1]


def find_contrary_preposition(comparison: SentenceComparison) -> Conflict | None:
    """A word under the contrary preposition: moved to Vienna, of what moved from Vienna to Geneva."""
    claim, source = comparison.claim, comparison.source
    claim_ids = {item.id for item in claim.items}
    for at, item in enumerate(claim.items):
        opposed = _OPPOSED.get(item.preposition, "")
        others = [source.items[place] for place in comparison.places[at]]
        is_opposed = opposed and others and all(other.preposition == opposed for other in others)
        # the source has another word in its place
        rival = next((r for r in source.items if r.preposition == item.preposition), None)
        if is_opposed and rival and rival.id not in claim_ids and comparison.share() >= MIN_SHARE:
            words = claim.quote(item), source.quote(rival)
            return comparison.make("word", "word_differs", *words, certain=True)
    return None


def _link(sentence: Sentence, at: int) -> tuple[str, ...]:
    """The function words between an item and the one before, articles apart."""
    first, last = sentence.items[at - 1].place + 1 if at else 0, sentence.items[at].place
    words = (
        word for word in sentence.words[first:last] if word not in _ARTICLES[sentence.language]
    )
    return tuple(_WITHOUT_ARTICLE.get(word, word) for word in words)


_ARTICLES = {"en": ("a", "an", "the"), "es": ("el", "la", "los", "las", "un", "una")}
_WITHOUT_ARTICLE = {"al": "a", "del": "de"}
