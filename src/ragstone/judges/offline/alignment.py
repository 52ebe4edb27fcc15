"""How a set of claims lies on a set of sources: every claim token against every source token at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline import lexicon
from ragstone.judges.offline.reading import STOP, Floats, Ints, Reading, stem_id
from ragstone.judges.offline.tables import vectors

Bools = npt.NDArray[np.bool_]
NEAR = 8
"""How many source tokens around a match still count as its surroundings."""
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
    within: Ints
    """Index of the token inside its own text."""

    @classmethod
    def of(cls, texts: Sequence[Reading], most: int | None = None) -> Tokens:
        """The tokens of the texts in order, at most `most`."""
        before = np.cumsum([0, *(len(text.sentences) for text in texts)])
        sizes = [len(text.ids) for text in texts]
        return cls(
            ids=_end_to_end([text.ids for text in texts], np.int32)[:most],
            kinds=_end_to_end([text.kinds for text in texts], np.int8)[:most],
            weights=_end_to_end([text.weights for text in texts], np.float32)[:most],
            rows=_end_to_end([text.rows for text in texts], np.int32)[:most],
            text=np.repeat(np.arange(len(texts), dtype=np.int32), sizes)[:most],
            sentence=_end_to_end(
                [text.sentence + before[n] for n, text in enumerate(texts)], np.int32
            )[:most],
            within=_end_to_end([np.arange(size) for size in sizes], np.int32)[:most],
        )


def _end_to_end(parts: Sequence[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)


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
    local: Floats
    """For each claim token, how much of what surrounds it also surrounds its best match."""
    partner: Ints
    """The source token that `local` is about, -1 when the word stands nowhere."""
    near: Floats
    """Cosine of the nearest word of all sources; 1 when the word itself is there, 0 when unknown."""
    run: Ints
    """Length of the longest shared run of words that the claim token stands in."""


def align(claims: Sequence[Reading], sources: Sequence[Reading]) -> Alignment:
    """Lay the claims on the sources."""
    left, right = Tokens.of(claims), Tokens.of(sources, MOST_SOURCE_TOKENS)
    exact = left.ids[:, None] == right.ids[None, :]
    starts = borders(right.sentence).astype(np.int32)
    if not len(right.ids):
        return _nothing(left, right, exact)
    hit = np.logical_or.reduceat(exact, starts, axis=1)
    soft, near = _related(left, right, hit, starts)
    local, partner = _surroundings(left, exact)
    return Alignment(
        claims=left,
        sources=right,
        exact=exact,
        soft=soft,
        hit=hit,
        units=right.sentence[starts],
        unit_text=right.text[starts],
        unit_starts=starts,
        unit_ends=np.append(starts[1:], len(right.ids)).astype(np.int32),
        local=local,
        partner=partner,
        near=near,
        run=_runs(left, exact),
    )


def borders(values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Where runs of equal values begin."""
    return np.flatnonzero(np.diff(values, prepend=-1))


def _nothing(left: Tokens, right: Tokens, exact: Bools) -> Alignment:
    size = len(left.ids)
    none = np.zeros(0, np.int32)
    return Alignment(
        left,
        right,
        exact,
        np.zeros((size, 0), np.float32),
        np.zeros((size, 0), np.bool_),
        none,
        none,
        none,
        none,
        np.zeros(size, np.float32),
        np.full(size, -1, np.int32),
        np.zeros(size, np.float32),
        np.zeros(size, np.int32),
    )


RELATED_FROM, RELATED_TO = 0.62, 0.92
"""Cosines of word vectors between which two words go from unrelated to the same."""


def _related(left: Tokens, right: Tokens, hit: Bools, starts: Ints) -> tuple[Floats, Floats]:
    """Exact matches as 1, and for content words without one the nearest word of each unit."""
    soft = hit.astype(np.float32)
    nearest: Floats = np.asarray(hit.any(axis=1), np.float32)
    open_ = np.flatnonzero((left.rows >= 0) & ~hit.any(axis=1))
    if not len(open_):
        return soft, nearest
    table = vectors()[1]
    used, back = np.unique(right.rows, return_inverse=True)
    near = (table[left.rows[open_]].astype(np.float32) / 127) @ (
        table[used].astype(np.float32).T / 127
    )
    near[:, used < 0] = 0.0
    nearest[open_] = near.max(axis=1)
    near = np.clip((near - RELATED_FROM) / (RELATED_TO - RELATED_FROM), 0.0, 0.95)
    soft[open_] = np.maximum.reduceat(near[:, back], starts, axis=1)
    return soft, nearest


def _surroundings(left: Tokens, exact: Bools) -> tuple[Floats, Ints]:
    """For each content word of a claim the match whose neighbourhood agrees best with the word's own."""
    size, width = exact.shape
    partner = np.full(size, -1, np.int32)
    local = np.zeros(size, np.float32)
    content = np.flatnonzero(left.kinds != STOP)
    here = exact[content]
    summed = np.zeros((len(content), width + 1), np.int32)
    np.cumsum(here, axis=1, out=summed[:, 1:])
    row, column = np.nonzero(here)
    if not len(row):
        return local, partner
    low, high = np.maximum(column - NEAR, 0), np.minimum(column + NEAR + 1, width)
    owner, weight = left.text[content], left.weights[content]
    agree = np.full(len(row), 1e-3, np.float32)
    total = np.zeros(len(content), np.float32)
    for step in (-3, -2, -1, 1, 2, 3):
        other = np.arange(len(content)) + step
        inside = (other >= 0) & (other < len(content))
        other = np.clip(other, 0, len(content) - 1)
        share = np.where(inside & (owner[other] == owner), weight[other], 0.0).astype(np.float32)
        total += share
        beside = other[row]
        agree += share[row] * (summed[beside, high] > summed[beside, low])
    starts = borders(row)
    best = np.maximum.reduceat(agree, starts)
    found = row[starts]
    first = np.flatnonzero(agree == np.repeat(best, np.diff(starts, append=len(row))))
    chosen = first[np.searchsorted(row[first], found)]
    partner[content[found]] = column[chosen]
    local[content[found]] = np.where(total[found] > 0, best / np.maximum(total[found], 1e-6), 1.0)
    return local, partner


def _runs(left: Tokens, exact: Bools) -> Ints:
    """Longest run of consecutive shared words through each claim token."""
    size = exact.shape[0]
    lengths = [0] * size
    rows, columns = np.nonzero(exact)
    before: dict[int, int] = {}
    now: dict[int, int] = {}
    last = -1
    text = left.text.tolist()
    for token, column in zip(rows.tolist(), columns.tolist(), strict=True):
        if token != last:
            before = now if token == last + 1 and text[token] == text[last] else {}
            now, last = {}, token
        run = before.get(column - 1, 0) + 1
        now[column] = run
        if run > lengths[token]:
            lengths[token] = run
    for token in range(size - 2, -1, -1):  # a run counts for all its tokens
        if text[token] == text[token + 1] and lengths[token + 1] > lengths[token] > 0:
            lengths[token] = lengths[token + 1]
    return np.array(lengths, np.int32)


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
