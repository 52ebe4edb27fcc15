"""A claim beside one sentence of its sources: which of its words stand there, and which have their contrary there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ragstone.judges.offline import lexicon
from ragstone.judges.offline.phrases import Item, Sentence, parse_sentence
from ragstone.judges.offline.reading import NEGATION, STOP, Reading
from ragstone.judges.offline.words import stem_id
from ragstone.text.quantities import matches

NEARBY_CREDIT = 0.7
"""What a word counts that stands in the sentence before, which a pronoun may refer to."""
CANDIDATES = 3
"""Sentences that a claim is compared with."""
MIN_SHARED = 0.3
"""Share of a claim's words that a sentence must hold to be compared with it."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """One contradiction between a claim and a sentence of its sources."""

    kind: str
    code: str
    """Name of the reason in the catalogue of messages."""
    mine: str
    """Deciding words of the claim."""
    theirs: str
    source: int
    place: tuple[int, int]
    """Where the sentence starts and ends in its source."""
    certain: bool
    """Whether it alone forbids support."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim beside one sentence."""

    claim: Sentence
    source: Sentence
    nearby: frozenset[int]
    """Words of the sentence before."""
    partners: tuple[int, ...]
    """For each item of the claim the item of the sentence that says the same, -1 for none."""
    opposites: tuple[int, ...]
    """The same for an item that says the contrary."""
    index: int
    place: tuple[int, int]

    def share(self, without: frozenset[int] = frozenset()) -> float:
        """Weighted share of the claim's other items that stand in the sentence or, for less, just before it."""
        total = shared = 0.0
        for at, item in enumerate(self.claim.items):
            if at not in without:
                total += item.weight
                if self.partners[at] >= 0:
                    shared += item.weight
                elif item.id in self.nearby:
                    shared += NEARBY_CREDIT * item.weight
        return shared / total if total else 0.0

    def make(self, kind: str, code: str, mine: Item, theirs: Item, certain: bool) -> Conflict:
        return Conflict(
            kind, code, self.claim.text[mine.start : mine.end], self.source.text[theirs.start : theirs.end],
            self.index, self.place, certain,
        )  # fmt: skip


def compare_best(claim: Reading, mine: Sentence, sources: Sequence[Reading]) -> list[Comparison]:
    """The claim beside the sentences that hold most of it, best first."""
    wanted = claim.ids[(claim.kinds != STOP) & (claim.kinds != NEGATION)]
    ranked: list[tuple[float, int, int]] = []
    for index, source in enumerate(sources):
        if not len(source.ids):
            continue
        shared = np.isin(source.ids, wanted) * source.weights
        # a word counts once a sentence, or long sentences that repeat it would win
        per_sentence = np.bincount(source.sentence, shared, len(source.sentences))
        for sentence in np.argsort(-per_sentence, kind="stable")[:CANDIDATES].tolist():
            ranked.append((float(per_sentence[sentence]), index, sentence))
    ranked.sort(key=lambda row: -row[0])
    return [
        _compare(mine, sources[index], index, sentence)
        for weight, index, sentence in ranked[:CANDIDATES]
        if weight > 0
    ]


def _compare(mine: Sentence, source: Reading, index: int, number: int) -> Comparison:
    start, end = source.sentences[number]
    theirs = parse_sentence(source.raw[start:end], source.language)
    nearby: frozenset[int] = frozenset()
    if number:
        a, b = source.sentences[number - 1]
        nearby = frozenset(item.id for item in parse_sentence(source.raw[a:b], source.language).items)
    partners, opposites = _pair_items(mine, theirs)
    return Comparison(mine, theirs, nearby, partners, opposites, index, (start, end))


def _pair_items(mine: Sentence, theirs: Sentence) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The partner and the opposite of each item of the claim, each in the clause that holds most of the claim."""
    places: dict[int, list[int]] = defaultdict(list)
    for at, item in enumerate(theirs.items):
        if item.quantity is None:
            places[item.id].append(at)
    contrary = opposite_ids()
    same, against = [], []
    for item in mine.items:
        if item.quantity is not None:
            same.append([
                at for at, other in enumerate(theirs.items)
                if other.quantity is not None and matches(item.quantity, other.quantity)
            ])  # fmt: skip
            against.append([])
        else:
            same.append(places.get(item.id, []))
            against.append([at for other in contrary.get(item.id, ()) for at in places.get(other, ())])
    support: dict[int, float] = defaultdict(float)
    for item, found in zip(mine.items, same, strict=True):
        for clause in {theirs.items[at].clause for at in found}:
            support[clause] += item.weight

    def choose(found: list[int]) -> int:
        return max(found, key=lambda at: support[theirs.items[at].clause], default=-1)

    partners = [choose(found) for found in same]
    opposites = [choose(found) for found in against]
    for at, (partner, opposite) in enumerate(zip(partners, opposites, strict=True)):
        if partner >= 0 and opposite >= 0:
            own = mine.items[at].weight
            here, there = theirs.items[partner].clause, theirs.items[opposite].clause
            if here == there or support[here] - own >= support[there]:
                opposites[at] = -1
            else:
                partners[at] = -1
    return tuple(partners), tuple(opposites)


@lru_cache(maxsize=1)
def opposite_ids() -> dict[int, frozenset[int]]:
    """Id of a word → ids of the words that say the contrary."""
    found: dict[int, set[int]] = defaultdict(set)
    for language in ("en", "es"):
        for one, other in lexicon.ANTONYMS:
            a, b = stem_id(one, language), stem_id(other, language)
            if a != b:
                found[a].add(b)
                found[b].add(a)
    return {key: frozenset(values) for key, values in found.items()}
