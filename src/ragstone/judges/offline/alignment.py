"""How a set of claims lies on a set of sources: every claim token against every source token at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline import lexicon
from ragstone.judges.offline.reading import STOP, Floats, Ints, Reading, stem_id
from ragstone.judges.offline.tables import vectors

Bools = npt.NDArray[np.bool_]
_Places = npt.NDArray[np.intp]
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
        if len(texts) == 1:
            return cls.of_one(texts[0], most)
        sizes = np.array([len(text.ids) for text in texts], np.intp)
        text = np.arange(len(texts), dtype=np.int32).repeat(sizes)
        tokens = _before(sizes.tolist())
        sentences = _before([len(text.sentences) for text in texts])
        within = np.arange(len(text), dtype=np.int32) - tokens.take(text)
        sentence = _end_to_end([text.sentence for text in texts], np.int32) + sentences.take(text)
        return cls(
            ids=_end_to_end([text.ids for text in texts], np.int32)[:most],
            kinds=_end_to_end([text.kinds for text in texts], np.int8)[:most],
            weights=_end_to_end([text.weights for text in texts], np.float32)[:most],
            rows=_end_to_end([text.rows for text in texts], np.int32)[:most],
            text=text[:most],
            sentence=sentence[:most],
            within=within[:most],
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
            within=np.arange(len(ids), dtype=np.int32),
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
    local: Floats
    """For each claim token, how much of what surrounds it also surrounds its best match."""
    partner: Ints
    """The source token that `local` is about, -1 when the word stands nowhere."""
    near: Floats
    """Cosine of the nearest word of all sources; 1 when the word itself is there, 0 when unknown."""
    run: Ints
    """Length of the longest shared run of words that the claim token stands in."""
    tail: Ints
    """The same of the runs that end in the token."""
    matches: tuple[_Places, _Places]
    """Claim token and source token of every match, in order."""
    times: npt.NDArray[np.intp]
    """How often the word of each claim token stands in the sources."""
    found: Bools
    """For each claim token, whether the same word stands anywhere."""
    most: Floats
    """The highest `soft` of each claim token, 0 without units."""
    covers: tuple[Floats, Ints] | None = None
    """What `view.best_units` has found, which several ask for."""


def align(claims: Sequence[Reading], sources: Sequence[Reading], around: bool = True) -> Alignment:
    """Lay the claims on the sources; who only counts words may do without what stands around them."""
    return lay(Tokens.of(claims), Tokens.of(sources, MOST_SOURCE_TOKENS), around)


def lay(left: Tokens, right: Tokens, around: bool = True) -> Alignment:
    """The same of tokens, for who lays the same claims on one source after the other."""
    exact = left.ids[:, None] == right.ids[None, :]
    starts = borders(right.sentence).astype(np.int32)
    if not len(right.ids):
        return _nothing(left, right, exact)
    ends = _ends(starts, len(right.ids))
    rows, columns = _pairs(exact)
    times = np.bincount(rows, minlength=len(left.ids))
    found: Bools = times > 0
    hit = np.zeros((len(left.ids), len(starts)), np.bool_)
    hit[rows, np.arange(len(starts)).repeat(ends - starts)[columns]] = True
    soft, near = _related(left, right, hit, found, starts)
    if not around:
        rows, columns = rows[:0], columns[:0]
    local, partner = _surroundings(left, exact, rows, columns)
    tail, run = _runs(left, rows, columns)
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
        local=local,
        partner=partner,
        near=near,
        run=run,
        tail=tail,
        matches=(rows, columns),
        times=times,
        found=found,
        most=np.maximum.reduce(soft, axis=1),
    )


def borders(values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Where runs of equal values begin."""
    begins = np.empty(len(values), np.bool_)
    begins[:1] = True
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return begins.nonzero()[0]


def _ends(starts: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """Where the runs that begin there end."""
    out = np.empty_like(starts)
    out[:-1], out[-1] = starts[1:], size
    return out


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
        np.zeros(size, np.int32),
        (np.zeros(0, np.intp), np.zeros(0, np.intp)),
        np.zeros(size, np.intp),
        np.zeros(size, np.bool_),
        np.zeros(size, np.float32),
    )


RELATED_FROM, RELATED_TO = 0.62, 0.92
"""Cosines of word vectors between which two words go from unrelated to the same."""


def _related(
    left: Tokens, right: Tokens, hit: Bools, found: Bools, starts: Ints
) -> tuple[Floats, Floats]:
    """Exact matches as 1, and for content words without one the nearest word of each unit."""
    soft = hit.astype(np.float32)
    nearest: Floats = found.astype(np.float32)
    open_ = ((left.rows >= 0) & ~found).nonzero()[0]
    if not len(open_):
        return soft, nearest
    table = vectors()[1]
    used, back = _distinct(right.rows)
    near = (table.take(left.rows[open_], axis=0).astype(np.float32) / 127) @ (
        table.take(used, axis=0).astype(np.float32).T / 127
    )
    if used[0] < 0:  # words without a vector, all under one number
        near[:, 0] = 0.0
    nearest[open_] = np.maximum.reduce(near, axis=1)
    near -= RELATED_FROM
    near /= RELATED_TO - RELATED_FROM
    np.minimum(np.maximum(near, 0.0, out=near), 0.95, out=near)
    soft[open_] = np.maximum.reduceat(near.take(back, axis=1), starts, axis=1)
    return soft, nearest


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


_STEPS = np.array([[-3], [-2], [-1], [1], [2], [3]])
"""Which content words of the claim count as the surroundings of one."""


def _pairs(exact: Bools) -> tuple[_Places, _Places]:
    """Claim token and source token of every match, in order."""
    flat = exact.ravel().nonzero()[0]
    rows = flat // exact.shape[1]
    return rows, flat - rows * exact.shape[1]


def _surroundings(
    left: Tokens, exact: Bools, rows: _Places, columns: _Places
) -> tuple[Floats, Ints]:
    """For each content word of a claim the match whose neighbourhood agrees best with the word's own."""
    size, width = exact.shape
    partner = np.full(size, -1, np.int32)
    local = np.zeros(size, np.float32)
    told = left.kinds != STOP
    kept = told[rows]
    column = columns[kept]
    if not len(column):
        return local, partner
    row = (told.cumsum() - 1)[rows[kept]]
    content = told.nonzero()[0]
    owner, weight = left.text[content], left.weights[content]
    other = np.arange(len(content)) + _STEPS
    inside = (other >= 0) & (other < len(content))
    np.minimum(np.maximum(other, 0, out=other), len(content) - 1, out=other)
    share = np.where(inside & (owner[other] == owner), weight[other], np.float32(0.0))
    total: Floats = np.add.reduce(share, axis=0)
    at = other.take(row, axis=1) * width + column
    agree = share.take(row, axis=1) * _widened(exact[content]).ravel().take(at)
    agree[0] += np.float32(1e-3)
    agree = np.add.reduce(agree, axis=0)
    starts = borders(row)
    best = np.maximum.reduceat(agree, starts)
    found = row[starts]
    sizes = _ends(starts, len(row)) - starts
    first = (agree == best.repeat(sizes)).nonzero()[0]
    chosen = first[np.searchsorted(first, starts)]
    partner[content[found]] = column[chosen]
    local[content[found]] = np.where(total[found] > 0, best / np.maximum(total[found], 1e-6), 1.0)
    return local, partner


def _widened(found: Bools) -> Bools:
    """Where at most NEAR places away in the row one is found."""
    height, width = found.shape
    wide = np.zeros((height, width + 2 * NEAR), np.bool_)
    wide[:, NEAR:-NEAR] = found
    out = wide
    for step in (
        1,
        2,
        4,
        8,
    ):  # of 1 + 1, 2 + 2, … places; NEAR on both sides and the middle are 16 + 1
        out = out[:, :-step] | out[:, step:]
    return out[:, :width] | wide[:, 2 * NEAR :]


def _runs(left: Tokens, rows: _Places, columns: _Places) -> tuple[Ints, Ints]:
    """Longest run of consecutive shared words that ends in each claim token, and through each."""
    lengths = np.zeros(len(left.ids), np.int32)
    if not len(rows):
        return lengths, lengths
    # along a diagonal the words before are one less on both sides
    diagonal = columns - rows
    order = diagonal.argsort(kind="stable")
    starts = borders(rows)
    matched = rows[starts]
    rows, diagonal = rows[order], diagonal[order]
    text = left.text[rows]
    follows = np.zeros(len(rows), np.bool_)
    follows[1:] = (
        (diagonal[1:] == diagonal[:-1]) & (rows[1:] == rows[:-1] + 1) & (text[1:] == text[:-1])
    )
    at = np.arange(len(rows))
    run = at - np.maximum.accumulate(np.where(follows, 0, at)) + 1
    ended = np.empty(len(run), run.dtype)
    ended[order] = run
    lengths[matched] = np.maximum.reduceat(ended, starts)
    found: list[int] = lengths.tolist()
    texts = left.text.tolist()
    for last in (lengths > 1).nonzero()[0].tolist()[::-1]:  # a run counts for all its tokens
        token = last - 1
        while token >= 0 and 0 < found[token] < found[last] and texts[token] == texts[last]:
            found[token] = found[last]
            token -= 1
    return lengths, np.array(found, np.int32)


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
