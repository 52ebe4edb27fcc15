"""A claim beside one sentence of its sources: which of its words stand there, and which have their contrary there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ragstone.judges.offline import lexicon
from ragstone.judges.offline.phrases import Sentence, SentenceItem, parse_sentence
from ragstone.judges.offline.reading import NEGATION, STOP, WORD, Reading
from ragstone.judges.offline.tables import vectors
from ragstone.judges.offline.words import stem_id
from ragstone.text.quantities import matches

NEARBY_CREDIT = 0.7
"""What a word counts that stands in the sentence before, which a pronoun may refer to."""
RELATED_FROM, RELATED_TO = 0.5, 0.9
"""Cosines of word vectors between which two words go from unrelated to the same."""
VECTOR_NORM = 127.0 * 127.0
CANDIDATES = 3
"""Sentences that a claim is compared with."""
MIN_PREFIXED = 4
"""Letters that a word must have for its negative prefix to be told from its beginning."""


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
class SentenceComparison:
    """A claim beside one sentence."""

    claim: Sentence
    source: Sentence
    nearby: frozenset[int]
    """Words of the sentence before."""
    places: tuple[tuple[int, ...], ...]
    """For each item of the claim the items of the sentence that say the same."""
    contraries: tuple[tuple[int, ...], ...]
    """The same for items that say the contrary."""
    related: tuple[float, ...]
    """For each item of the claim how near in meaning the nearest word of the sentence is, from 0 to 1."""
    index: int
    span: tuple[int, int]

    def credit(self, at: int) -> float:
        """What an item counts that does not stand in the sentence itself."""
        nearby = NEARBY_CREDIT if self.claim.items[at].id in self.nearby else 0.0
        return max(nearby, self.related[at])

    def share(self, without: frozenset[int] = frozenset()) -> float:
        """Weighted share of the claim's other items that stand in the sentence or, for less, just before it."""
        total = shared = 0.0
        for at, item in enumerate(self.claim.items):
            if at not in without:
                total += item.weight
                shared += item.weight * (1.0 if self.places[at] else self.credit(at))
        return shared / total if total else 0.0

    def make(self, kind: str, code: str, mine: str, theirs: str, certain: bool) -> Conflict:
        return Conflict(kind, code, mine, theirs, self.index, self.span, certain)


def compare_best(
    claim: Reading, mine: Sentence, sources: Sequence[Reading]
) -> list[SentenceComparison]:
    """The claim beside the sentences of prose that hold most of it, best first."""
    wanted = claim.ids[(claim.kinds != STOP) & (claim.kinds != NEGATION)]
    ranked: list[tuple[float, int, int]] = []
    for index, source in enumerate(sources):
        if not len(source.ids) or source.structured:
            continue
        shared = np.isin(source.ids, wanted) * source.weights
        weights = np.bincount(source.sentence, shared, len(source.sentences))
        best = np.argsort(-weights, kind="stable")[:CANDIDATES].tolist()
        ranked += [(float(weights[sentence]), index, sentence) for sentence in best]
    ranked.sort(key=lambda row: -row[0])
    return [
        compare_sentence(mine, sources[index], index, sentence)
        for weight, index, sentence in ranked[:CANDIDATES]
        if weight > 0
    ]


def compare_sentence(
    mine: Sentence, source: Reading, index: int, number: int
) -> SentenceComparison:
    """The claim beside one sentence of a source."""
    start, end = source.sentences[number]
    theirs = parse_sentence(source.raw[start:end], source.language)
    nearby: frozenset[int] = frozenset()
    if number:
        a, b = source.sentences[number - 1]
        before = parse_sentence(source.raw[a:b], source.language)
        nearby = frozenset(item.id for item in before.items if item.quantity is None)
    related = _find_related(mine, theirs)
    return SentenceComparison(
        mine, theirs, nearby, *_pair_items(mine, theirs), related, index, (start, end)
    )


def _find_related(mine: Sentence, theirs: Sentence) -> tuple[float, ...]:
    """How near in meaning the nearest word of the sentence is to each item, 0 where either has no vector."""
    rows = [item.row for item in mine.items]
    others = sorted({item.row for item in theirs.items} - {-1})
    if not others:
        return (0.0,) * len(rows)
    table = vectors()[1]
    ours = table.take(rows, axis=0).astype(np.float32)
    near = np.max(ours @ table.take(others, axis=0).astype(np.float32).T, axis=1) / VECTOR_NORM
    soft = np.clip((near - RELATED_FROM) / (RELATED_TO - RELATED_FROM), 0.0, 1.0)
    return tuple(0.0 if row < 0 else value for row, value in zip(rows, soft.tolist(), strict=True))


_Places = tuple[tuple[int, ...], ...]


def _pair_items(mine: Sentence, theirs: Sentence) -> tuple[_Places, _Places]:
    known: dict[int, list[int]] = defaultdict(list)
    for at, item in enumerate(theirs.items):
        if item.quantity is None:
            known[item.id].append(at)
    said = {item.id for item in mine.items}
    same: list[tuple[int, ...]] = []
    against: list[tuple[int, ...]] = []
    for item in mine.items:
        if item.quantity is not None:
            same.append(tuple(
                at for at, other in enumerate(theirs.items)
                if other.quantity is not None and matches(item.quantity, other.quantity)
            ))  # fmt: skip
            against.append(())
            continue
        same.append(tuple(known.get(item.id, ())))
        contrary = opposite_ids().get(item.id, frozenset())
        against.append(tuple(
            at for at, other in enumerate(theirs.items)
            # what the claim says itself is not said against it: before and after
            if other.id not in said and (other.id in contrary or _is_prefixed(item, other))
        ))  # fmt: skip
    return tuple(same), tuple(against)


def _is_prefixed(one: SentenceItem, other: SentenceItem) -> bool:
    """Whether one word is the other with a negative prefix: inhabited, uninhabited."""
    if one.kind != WORD or other.kind != WORD or one.lower == other.lower:
        return False
    short, long = sorted((one.lower, other.lower), key=len)
    # the last letters may differ in number or gender
    stem = short[:-2] if len(short) > MIN_PREFIXED + 2 else short
    return len(short) >= MIN_PREFIXED and any(
        long.startswith(prefix + stem) and abs(len(long) - len(prefix) - len(short)) <= 2
        for prefix in lexicon.NEGATIVE_PREFIXES
    )


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
