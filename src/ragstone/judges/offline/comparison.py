"""A claim beside one sentence of its sources: which of its words stand there, and which have their contrary there.

Here and in the rules that use it, `at` is the index of an item of the claim, `place` that of an item of the sentence. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ragstone.judges.offline import lexicon
from ragstone.judges.offline.alignment import opposites
from ragstone.judges.offline.phrases import Sentence, SentenceItem, parse_sentence
from ragstone.judges.offline.reading import NEGATION, STOP, Reading
from ragstone.judges.offline.tables import vector_row, vectors
from ragstone.judges.offline.words import count_ids, stem_id
from ragstone.text.quantities import Quantity, matches

NEARBY_CREDIT = 0.7
"""What a word counts that stands in the sentence before, which a pronoun may refer to."""
RANK_CREDIT = 0.3
"""What the words of the sentence before count in the choice of sentences."""
RELATED_FROM, RELATED_TO = 0.5, 0.9
"""Cosines of word vectors between which two words go from unrelated to the same."""
ROOT_LETTERS, ROOT_CREDIT = 5, 0.7
"""First letters that words of one root share, and what such a word counts: devolver, devolución."""
VECTOR_NORM = 127.0 * 127.0
"""Word vectors are stored as whole numbers, 127 for 1."""
MIN_LIKE = 0.6
"""Cosine from which two words are taken for one, where that alone decides nothing."""
CANDIDATES = 2
"""Sentences that a claim is compared with."""
MAX_SENTENCE_CHARS = 600
"""Longer ones are lists and tables without full stops, where nothing tells what belongs to what."""
MIN_SHARED = 0.2
"""Share of a claim's words that a sentence must hold to be compared with it."""
MIN_PREFIXED = 4
"""Letters that a word must have for its negative prefix not to be a mere beginning."""


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
    """For each item of the claim without a place how near in meaning the nearest word of the sentence is, from 0 to 1."""
    clauses: dict[int, float]
    """Clauses of the sentence, with the weight of the claim's items that stand there."""
    index: int
    """Which source the sentence stands in."""
    span: tuple[int, int]
    """Where the sentence starts and ends in it."""

    def credit(self, at: int) -> float:
        """What an item counts that does not stand in the sentence itself."""
        nearby = NEARBY_CREDIT if self.claim.items[at].id in self.nearby else 0.0
        return max(nearby, self.related[at])

    def has_like(self, item: SentenceItem) -> bool:
        """Whether a word of the claim that the sentence has not says much the same as this one of the sentence."""
        others = (other for at, other in enumerate(self.claim.items) if not self.places[at])
        return any(are_like(item, other) for other in others)

    def share(self, without: frozenset[int] = frozenset()) -> float:
        """Weighted share of the claim's other items that stand in the sentence or, for less, just before it."""
        total = shared = 0.0
        for at, item in enumerate(self.claim.items):
            if at not in without:
                total += item.weight
                shared += item.weight * (1.0 if self.places[at] else self.credit(at))
        return shared / total if total else 0.0

    def best_place(self, at: int) -> int:
        """Where an item stands in the clause that holds most of the claim, -1 for nowhere."""
        items = self.source.items
        return max(self.places[at], key=lambda place: self.clauses[items[place].clause], default=-1)

    def make(self, kind: str, code: str, mine: str, theirs: str, certain: bool) -> Conflict:
        return Conflict(kind, code, mine, theirs, self.index, self.span, certain)


def are_like(one: SentenceItem, other: SentenceItem) -> bool:
    """Whether two words are near in meaning or of one root."""
    root = one.lower[:ROOT_LETTERS]
    if len(root) == ROOT_LETTERS and other.lower.startswith(root):
        return one.quantity is None
    if one.row < 0 or other.row < 0:
        return False
    table = vectors()[1]
    cosine = table[one.row].astype(np.float32) @ table[other.row].astype(np.float32)
    return bool(cosine >= MIN_LIKE * VECTOR_NORM)


def rank_sentences(claim: Reading, sources: Sequence[Reading]) -> list[tuple[int, int]]:
    """The sentences of prose that hold most of a claim, best first: source and number of each."""
    content = (claim.kinds != STOP) & (claim.kinds != NEGATION)
    least = MIN_SHARED * float(claim.weights[content].sum())
    is_wanted = np.zeros(count_ids(), np.bool_)
    is_wanted[claim.ids[content]] = True
    ranked: list[tuple[float, int, int]] = []
    for index, source in enumerate(sources):
        if not len(source.ids) or source.structured:
            continue
        shared = is_wanted[source.ids] * source.weights
        weights = np.bincount(source.sentence, shared, len(source.sentences))
        before = np.concatenate(([0.0], weights[:-1]))  # what a pronoun refers to
        weights = np.where(weights > 0, weights + RANK_CREDIT * before, 0.0)
        best = np.argsort(-weights, kind="stable")[:CANDIDATES].tolist()
        ranked += [(float(weights[sentence]), index, sentence) for sentence in best]
    ranked.sort(key=lambda row: -row[0])
    return [(index, sentence) for weight, index, sentence in ranked[:CANDIDATES] if weight >= least]


def compare_best(
    mine: Sentence, ranked: Sequence[tuple[int, int]], sources: Sequence[Reading]
) -> Iterator[SentenceComparison]:
    """The claim beside the sentences that hold most of it."""
    for index, sentence in ranked:
        start, end = sources[index].sentences[sentence]
        if end - start <= MAX_SENTENCE_CHARS:
            yield compare_sentence(mine, sources[index], index, sentence)


def compare_sentence(
    mine: Sentence, source: Reading, index: int, number: int
) -> SentenceComparison:
    """The claim beside one sentence of a source."""
    start, end = source.sentences[number]
    theirs = parse_sentence(source.raw[start:end], source.language)
    # the tokens of the sentence before
    first, last = source.sentence.searchsorted((number - 1, number)).tolist()
    nearby = frozenset(source.ids[first:last].tolist())
    places, contraries = _pair_items(mine, theirs)
    related = _find_related(mine, theirs, places)
    clauses: dict[int, float] = defaultdict(float)
    for item, here in zip(mine.items, places, strict=True):
        for clause in {theirs.items[place].clause for place in here}:
            clauses[clause] += item.weight
    return SentenceComparison(
        mine, theirs, nearby, places, contraries, related, clauses, index, (start, end)
    )


def _list_roots(sentence: Sentence) -> set[str]:
    return {item.lower[:ROOT_LETTERS] for item in sentence.items if len(item.lower) > ROOT_LETTERS}


def _find_related(mine: Sentence, theirs: Sentence, places: _Places) -> tuple[float, ...]:
    """How near in meaning the nearest word of the sentence is to each item that does not stand there."""
    open_items = [
        at for at, item in enumerate(mine.items) if not places[at] and item.quantity is None
    ]
    related = [0.0] * len(mine.items)
    if not open_items:
        return tuple(related)
    begins = _list_roots(theirs)
    for at in open_items:
        related[at] = ROOT_CREDIT * (mine.items[at].lower[:ROOT_LETTERS] in begins)
    known = [at for at in open_items if mine.items[at].row >= 0]
    others = [item.row for item in theirs.items if item.row >= 0]
    if known and others:
        table = vectors()[1]
        ours = table.take([mine.items[at].row for at in known], axis=0).astype(np.float32)
        near = (ours @ table.take(others, axis=0).astype(np.float32).T).max(axis=1) / VECTOR_NORM
        soft = ((near - RELATED_FROM) / (RELATED_TO - RELATED_FROM)).tolist()
        for at, value in zip(known, soft, strict=True):
            related[at] = max(related[at], min(value, 1.0))
    return tuple(related)


_Places = tuple[tuple[int, ...], ...]


def _pair_items(mine: Sentence, theirs: Sentence) -> tuple[_Places, _Places]:
    known, bare = _index_items(theirs)
    claim_ids = {item.id for item in mine.items}
    same: list[tuple[int, ...]] = []
    against: list[tuple[int, ...]] = []
    for item in mine.items:
        if item.quantity is not None:
            same.append(_match_figures(item.quantity, theirs))
            against.append(())
            continue
        same.append(known.get(item.id, ()))
        contrary = _list_contraries(item.id, item.lower, mine.language)
        places = bare.get(item.id, ())
        for other in contrary:
            places += known.get(other, ())
        # a word that the claim has too is no contrary: before and after
        against.append(tuple([at for at in places if theirs.items[at].id not in claim_ids]))
    return tuple(same), tuple(against)


_Index = dict[int, tuple[int, ...]]


@lru_cache(maxsize=512)
def _index_items(sentence: Sentence) -> tuple[_Index, _Index]:
    """Where each word of a sentence stands, by its id and by the id of what its negative prefix denies."""
    known: _Index = {}
    bare: _Index = {}
    for at, item in enumerate(sentence.items):
        if item.quantity is None:
            known[item.id] = (*known.get(item.id, ()), at)
            if (stripped := strip_negative_prefix(item.lower, sentence.language)) >= 0:
                bare[stripped] = (*bare.get(stripped, ()), at)
    return known, bare


@lru_cache(maxsize=8192)
def _list_contraries(identity: int, lower: str, language: str) -> tuple[int, ...]:
    """The ids of the words that say the contrary of a word."""
    stripped = strip_negative_prefix(lower, language)
    return (*opposites().get(identity, ()), *([stripped] if stripped >= 0 else []))


def _match_figures(quantity: Quantity, theirs: Sentence) -> tuple[int, ...]:
    return tuple(
        at for at, other in enumerate(theirs.items)
        if other.quantity is not None and matches(quantity, other.quantity)
    )  # fmt: skip


@lru_cache(maxsize=4096)
def strip_negative_prefix(lower: str, language: str) -> int:
    """The id of a word without its negative prefix, -1 where it has none: inhabited for uninhabited."""
    for prefix in lexicon.NEGATIVE_PREFIXES:
        base = lower.removeprefix(prefix)
        if base != lower and len(base) >= MIN_PREFIXED and vector_row(base) >= 0:
            return stem_id(base, language)
    return -1
