"""How a set of claims lies on a set of sources: every claim token against every source token at once. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline import lexicon
from ragstone.judges.offline.reading import Floats, Ints, Reading, stem_id
from ragstone.judges.offline.tables import vectors

Bools = npt.NDArray[np.bool_]
_Places = npt.NDArray[np.intp]
MOST_SOURCE_TOKENS = 12_000
"""Sources beyond this are cut: memory grows with claim tokens × source tokens."""


@dataclass(slots=True)
class Tokens:
    """Tokens of several texts laid end to end."""

    ids: Ints
    kinds: npt.NDArray[np.int8]
    weights: Floats
    rows: Ints
    text: Ints
    """Which text each token stands in."""
    sentence: Ints
    """Which sentence, counted through all texts."""

    @classmethod
    def of(cls, texts: Sequence[Reading], most: int | None = None) -> Tokens:
        """The tokens of the texts in order, at most `most`."""
        if len(texts) == 1:
            return cls.of_one(texts[0], most)
        sizes = np.array([len(reading.ids) for reading in texts], np.intp)
        text = np.arange(len(texts), dtype=np.int32).repeat(sizes)
        sentences = _before([len(reading.sentences) for reading in texts])
        sentence = _end_to_end([reading.sentence for reading in texts], np.int32) + sentences.take(
            text
        )
        return cls(
            ids=_end_to_end([reading.ids for reading in texts], np.int32)[:most],
            kinds=_end_to_end([reading.kinds for reading in texts], np.int8)[:most],
            weights=_end_to_end([reading.weights for reading in texts], np.float32)[:most],
            rows=_end_to_end([reading.rows for reading in texts], np.int32)[:most],
            text=text[:most],
            sentence=sentence[:most],
        )

    @classmethod
    def of_one(cls, text: Reading, most: int | None) -> Tokens:
        """The tokens of one text, its own arrays where nothing is to be joined."""
        ids = text.ids[:most]
        return cls(
            ids=ids,
            kinds=text.kinds[:most],
            weights=text.weights[:most],
            rows=text.rows[:most],
            text=np.zeros(len(ids), np.int32),
            sentence=text.sentence[:most],
        )


def _end_to_end(parts: Sequence[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, kind)


def _before(sizes: list[int]) -> Ints:
    """How much stands before each part."""
    return np.array([0, *accumulate(sizes)][: len(sizes)], np.int32)


@dataclass(slots=True)
class Alignment:
    """Claim tokens (rows) against sources; `units` are the source sentences that hold a token."""

    claims: Tokens
    sources: Tokens
    exact: Bools
    """Claim token × source token: the same stem, number or date."""
    soft: Floats
    """Claim token × unit: 1 for the same word in it, less for a related one, 0 for none."""
    hit: Bools
    """Claim token × unit: the same word stands in it."""
    units: Ints
    """Sentence number of each unit."""
    unit_text: Ints
    """Which source each unit stands in."""
    unit_starts: Ints
    """First source token of each unit."""
    unit_ends: Ints
    found: Bools
    """For each claim token, whether the same word stands anywhere."""
    most: Floats
    """The highest `soft` of each claim token, 0 without units."""
    covers: tuple[Floats, Ints] | None = None
    """What `view.best_units` has found, which several ask for."""


def align(claims: Sequence[Reading], sources: Sequence[Reading]) -> Alignment:
    """Lay the claims on the sources."""
    return lay(Tokens.of(claims), Tokens.of(sources, MOST_SOURCE_TOKENS))


def lay(left: Tokens, right: Tokens) -> Alignment:
    """Lay claim tokens on source tokens, for a caller that lays the same claims on one source after the other."""
    exact = left.ids[:, None] == right.ids[None, :]
    starts = borders(right.sentence).astype(np.int32)
    found: Bools = exact.any(axis=1)
    hit = np.zeros((len(left.ids), len(starts)), np.bool_)
    ends = np.append(starts[1:], np.int32(len(right.ids)))[: len(starts)]
    if len(starts):
        np.logical_or.reduceat(exact, starts, axis=1, out=hit)
    soft = _relate(left, right, hit, found, starts)
    return Alignment(
        claims=left,
        sources=right,
        exact=exact,
        soft=soft,
        hit=hit,
        units=right.sentence[starts],
        unit_text=right.text[starts],
        unit_starts=starts,
        unit_ends=ends,
        found=found,
        most=np.maximum.reduce(soft, axis=1, initial=0.0),
    )


def borders(values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Where runs of equal values begin."""
    begins = np.empty(len(values), np.bool_)
    begins[:1] = True
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return begins.nonzero()[0]


RELATED_FROM, RELATED_TO = 0.55, 0.9
"""Cosines of word vectors between which two words go from unrelated to the same."""


def _relate(left: Tokens, right: Tokens, hit: Bools, found: Bools, starts: Ints) -> Floats:
    """Exact matches as 1, and for content words without one the nearest word of each unit."""
    soft = hit.astype(np.float32)
    open_ = ((left.rows >= 0) & ~found).nonzero()[0]
    if not len(open_) or not len(starts):
        return soft
    table = vectors()[1]  # whole numbers, 127 for 1
    used, back = _distinct(right.rows)
    near = (table.take(left.rows[open_], axis=0).astype(np.float32) / 127) @ (
        table.take(used, axis=0).astype(np.float32).T / 127
    )
    if used[0] < 0:  # words without a vector, all under one number
        near[:, 0] = 0.0
    near -= RELATED_FROM
    near /= RELATED_TO - RELATED_FROM
    # 1 is for the same word alone
    np.minimum(np.maximum(near, 0.0, out=near), 0.95, out=near)
    soft[open_] = np.maximum.reduceat(near.take(back, axis=1), starts, axis=1)
    return soft


def _distinct(values: Ints) -> tuple[Ints, _Places]:
    """The values in order, each once, and which of them each one is: np.unique without what it does beside."""
    order = values.argsort(kind="stable")
    ordered = values[order]
    starts = borders(ordered)
    begins = np.zeros(len(values), np.intp)
    begins[starts[1:]] = 1
    back = np.empty(len(values), np.intp)
    back[order] = begins.cumsum()
    return ordered[starts], back


@lru_cache(maxsize=1)
def opposites() -> dict[int, frozenset[int]]:
    """Id of a word → ids of the words that say the contrary."""
    found: dict[int, set[int]] = {}
    for language in ("en", "es"):
        for one, other in lexicon.ANTONYMS:
            a, b = stem_id(one, language), stem_id(other, language)
            if a != b:
                found.setdefault(a, set()).add(b)
                found.setdefault(b, set()).add(a)
    return {key: frozenset(values) for key, values in found.items()}
