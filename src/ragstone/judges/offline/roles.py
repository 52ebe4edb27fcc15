"""Who does what to whom: the roles of things around a word, and two things that have exchanged theirs. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations

from ragstone.judges.offline import lexicon
from ragstone.judges.offline.comparison import SentenceComparison, are_like
from ragstone.judges.offline.functions import FUNCTION_WORDS
from ragstone.judges.offline.phrases import Sentence, SentenceItem
from ragstone.judges.offline.reading import NAME, WORD
from ragstone.judges.offline.words import stem_id


def find_swap(comparison: SentenceComparison, opposites: dict[int, int]) -> tuple[int, int] | None:
    """Two items of the claim that have each other's roles in the sentence, around the same word or its opposite."""
    items, theirs = comparison.claim.items, comparison.source.items
    partners = _find_partners(comparison)
    for at, item in enumerate(items):
        anchor = opposites.get(at, partners.get(at, -1))
        if anchor < 0 and item.is_verb:
            anchor = _find_like_verb(comparison, at)
        if anchor < 0 or item.kind != WORD or item.id in symmetric_ids():
            continue
        if item.preposition or theirs[anchor].preposition:  # a noun of another phrase
            continue
        mine, other = find_roles(comparison.claim, at), find_roles(comparison.source, anchor)
        pairs = [
            (n, _merge(role, at in opposites), _merge(other[partners[n]], at in opposites))
            for n, role in mine.items()
            if partners.get(n) in other
        ]
        swap = _find_exchange(comparison, at, anchor, pairs, partners)
        if swap is not None:
            return swap
    return None


def _find_like_verb(comparison: SentenceComparison, at: int) -> int:
    """The only verb of the sentence that says much the same as one of the claim, -1 for none: bought, acquired.

    Only where one side names the doer with "by": what reaches many is received by them, in other roles."""
    agents = FUNCTION_WORDS[comparison.claim.language].agents
    sides = comparison.claim, comparison.source
    is_turned = len({agents.isdisjoint(side.words) for side in sides}) == 2
    if comparison.contraries[at] or comparison.places[at] or not is_turned:
        return -1
    verb = comparison.claim.items[at]
    like = [
        place for place, item in enumerate(comparison.source.items)
        if item.is_verb and are_like(verb, item)
    ]  # fmt: skip
    return like[0] if len(like) == 1 else -1


def _find_exchange(
    comparison: SentenceComparison,
    at: int,
    anchor: int,
    pairs: list[tuple[int, str, str]],
    partners: dict[int, int],
) -> tuple[int, int] | None:
    """Two items on either side of a word that have each other's roles there."""
    for (n, role, there), (m, other_role, other_there) in permutations(pairs, 2):
        if (
            role != there and role == other_there and there == other_role
            and (n < at) != (m < at)
            and (partners[n] < anchor) != (partners[m] < anchor)
            and not _is_kept(comparison.claim.items, pairs, (n, m))
            and all(_is_nominal(comparison.claim, each, at) for each in (n, m))
        ):  # fmt: skip
            return n, m
    return None


def _is_kept(
    items: Sequence[SentenceItem], pairs: list[tuple[int, str, str]], moved: tuple[int, int]
) -> bool:
    """Whether another thing of the same sort stays the subject: then the two are not exchanged."""
    are_names = all(items[at].kind == NAME for at in moved)
    return any(
        role == there == "subject" and items[at].quantity is None
        for at, role, there in pairs
        if not are_names or items[at].kind == NAME
    )


def _is_nominal(sentence: Sentence, at: int, anchor: int) -> bool:
    """Whether an item is a name, a bare first word before the verb, or has an article or a preposition before it."""
    item, function = sentence.items[at], FUNCTION_WORDS[sentence.language]
    if item.kind == NAME or item.quantity is not None:
        return True
    before = sentence.words[item.place - 1] if item.place else ""
    if not before:
        return at + 1 == anchor
    return before in function.determiners or before in function.prepositions


def _find_partners(comparison: SentenceComparison) -> dict[int, int]:
    """Items of the claim that stand once on either side, with their places."""
    ids = [item.id for item in comparison.claim.items]
    return {
        at: places[0]
        for at, places in enumerate(comparison.places)
        if len(places) == 1 and (ids[at] < 0 or ids.count(ids[at]) == 1)
    }


def _merge(role: str, is_opposite: bool) -> str:
    """Around opposites, what is no subject is one role: lost to, won against."""
    return "object" if is_opposite and role != "subject" else role


def find_roles(sentence: Sentence, anchor: int) -> dict[int, str]:
    """The role of each item around a verb or another word: subject, object, or the preposition that governs it."""
    items, function = sentence.items, FUNCTION_WORDS[sentence.language]
    centre, words = items[anchor], sentence.words
    if centre.place and words[centre.place - 1] in function.free_order:
        return {}
    is_passive = _is_participle(centre.lower) and not function.copulas.isdisjoint(
        words[max(centre.place - 3, 0) : centre.place]
    )
    roles = {
        at: items[at].preposition or ("object" if is_passive else "subject")
        for at in _list_left(items, anchor)
    }
    roles |= _find_right_roles(sentence, anchor, is_passive)
    return {at: role for at, role in roles.items() if not _is_adverb(items[at])}


def _list_left(items: Sequence[SentenceItem], anchor: int) -> list[int]:
    """The items before a word in its clause, or else in the clause before."""
    left = [at for at in range(anchor) if items[at].clause == items[anchor].clause]
    if left or not anchor:
        return left
    return [at for at in range(anchor) if items[at].clause == items[anchor - 1].clause]


def _find_right_roles(sentence: Sentence, anchor: int, is_passive: bool) -> dict[int, str]:
    items, centre = sentence.items, sentence.items[anchor]
    agents = FUNCTION_WORDS[sentence.language].agents
    roles: dict[int, str] = {}
    first: int | None = None
    for at in range(anchor + 1, len(items)):
        item = items[at]
        if item.clause != centre.clause:
            continue
        place = max(item.preposition_place, centre.place)
        first = place if first is None else first
        is_direct = place == centre.place or (item.preposition == "a" and place == first)
        role = "object" if is_direct else item.preposition
        roles[at] = "subject" if is_passive and role in agents else role
    return roles


def _is_adverb(item: SentenceItem) -> bool:
    return item.kind == WORD and item.lower.endswith(("ly", "mente"))


def _is_participle(lower: str) -> bool:
    return lower in lexicon.PARTICIPLES or lower.endswith(
        ("ed", "en", "ado", "ada", "ados", "adas", "ido", "ida", "idos", "idas")
    )


@lru_cache(maxsize=1)
def symmetric_ids() -> frozenset[int]:
    """Words around which two things may change places."""
    return frozenset(
        stem_id(word, language)
        for language, words in lexicon.SYMMETRIC.items()
        for word in words.split()
    )
