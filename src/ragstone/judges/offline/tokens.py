"""What the tagger sees of each content word of a claim: found or not, where, and what stands there instead."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline.alignment import Alignment, Bools, opposites
from ragstone.judges.offline.reading import NAME, NEGATION, NUMBER, STOP, WORD, Floats, Ints
from ragstone.judges.offline.tables import vectors

TOKEN_NAMES: tuple[str, ...] = (
    "kind_word", "kind_name", "kind_number", "kind_negation",
    "rarity", "found", "found_best", "found_pair", "near", "near_best", "near_raw", "local", "run", "times",
    "previous_found", "next_found", "previous_best", "next_best", "previous_local", "next_local",
    "previous_near", "next_near", "gap", "gap_near", "gap_number", "gap_name", "opposite", "denied_differs",
    "place", "claim_cover", "claim_best", "claim_missing", "claim_length", "cluster", "structured",
    "record_no", "record_null", "record_yes",
)  # fmt: skip
MEANINGS = 48
"""How many figures of its word vector the tagger sees of a word: which kind of word is often made up."""
TAGGER_NAMES = (*TOKEN_NAMES, *(f"meaning_{n}" for n in range(MEANINGS)))

_Columns = dict[str, Floats]


def token_features(
    laid: Alignment,
    bounds: list[int],
    best: Ints,
    polarity: npt.NDArray[np.int8],
    structured: bool,
) -> Floats:
    """One row of TAGGER_NAMES for each claim token that is no stop word."""
    left = laid.claims
    kept = (left.kinds != STOP).nonzero()[0]
    table = np.zeros((len(kept), len(TAGGER_NAMES)), np.float32)
    out = dict(zip(TOKEN_NAMES, table.T, strict=False))
    if not len(kept):
        return table
    rows = left.rows[kept]
    # the last directions of the vectors vary most
    table[:, len(TOKEN_NAMES) :] = vectors()[1].take(rows, axis=0)[:, -MEANINGS:]
    table[rows < 0, len(TOKEN_NAMES) :] = 0.0
    owner, count = left.text[kept], len(bounds) - 1
    table[:, :4] = left.kinds[kept][:, None] == _KINDS
    out["rarity"][:] = left.weights[kept]
    out["structured"][:] = structured
    size = np.array([max(b - a, 1) for a, b in pairwise(bounds)])[owner]
    out["place"][:] = left.within[kept] / size
    out["claim_length"][:] = size
    if laid.hit.shape[1]:
        _found(laid, kept, best[owner], out)
        _neighbours(owner, table)
        _gaps(laid, kept, owner, best, out)
        _denied(laid, kept, out)
        _records(laid, kept, polarity, out)
    weights = left.weights[kept]
    total = np.maximum(np.bincount(owner, weights, count), 1e-6)
    missing = out["found"] == 0
    out["claim_cover"][:] = (np.bincount(owner, weights * out["found"], count) / total)[owner]
    out["claim_best"][:] = (np.bincount(owner, weights * out["found_best"], count) / total)[owner]
    out["claim_missing"][:] = np.bincount(owner, missing, count)[owner]
    out["cluster"][:] = _around(missing, owner, 3)
    return table


_KINDS = np.array([WORD, NAME, NUMBER, NEGATION], np.int8)


def _around(marked: Bools, owner: Ints, reach: int) -> npt.NDArray[np.intp]:
    """How many marked words of the same claim stand at most `reach` away, the word itself left out."""
    before = np.zeros(len(marked) + 1, np.intp)
    marked.cumsum(out=before[1:])
    at = np.arange(len(marked))
    low = np.maximum(at - reach, owner.searchsorted(owner))
    high = np.minimum(at + (reach + 1), owner.searchsorted(owner, "right"))
    return before[high] - before[low] - marked


def _found(laid: Alignment, kept: npt.NDArray[np.intp], chosen: Ints, out: _Columns) -> None:
    inside = laid.hit[kept, chosen]
    before = np.maximum(chosen - 1, 0)
    after = np.minimum(chosen + 1, laid.hit.shape[1] - 1)
    out["found"][:] = laid.found[kept]
    out["found_best"][:] = inside
    out["found_pair"][:] = inside | laid.hit[kept, after] | laid.hit[kept, before]
    out["near"][:] = laid.most[kept]
    out["near_best"][:] = laid.soft[kept, chosen]
    out["near_raw"][:] = laid.near[kept]
    out["local"][:] = laid.local[kept]
    out["run"][:] = np.minimum(laid.run[kept], 12)
    out["times"][:] = np.log1p(laid.times[kept])


def _neighbours(owner: Ints, table: Floats) -> None:
    """The same of the content words before and after; half when there is none."""
    same = (owner[1:] == owner[:-1])[:, None]
    values = table.take(_BESIDE, axis=1)
    before, after = table[:, _PREVIOUS], table[:, _NEXT]
    before[0] = after[-1] = 0.5
    before[1:] = np.where(same, values[:-1], np.float32(0.5))
    after[:-1] = np.where(same, values[1:], np.float32(0.5))


_BESIDE = [TOKEN_NAMES.index(name) for name in ("found", "found_best", "local", "near")]
_PREVIOUS = slice(TOKEN_NAMES.index("previous_found"), TOKEN_NAMES.index("previous_near") + 1, 2)
_NEXT = slice(TOKEN_NAMES.index("next_found"), TOKEN_NAMES.index("next_near") + 1, 2)
"""The columns of the same four figures of the word before and of the word after, which take turns."""


def _gaps(
    laid: Alignment, kept: npt.NDArray[np.intp], owner: Ints, best: Ints, out: _Columns
) -> None:
    """For a word that is not there: what the source has in its place, and how alike that is."""
    left, right = laid.claims, laid.sources
    lost = (out["found_best"] == 0).nonzero()[0]
    partner = laid.partner[kept]
    before, after = (places[lost] for places in _tied(partner, owner))
    between = (before >= 0) & (after > before) & (after - before <= 8)
    low = np.where(before >= 0, before + 1, np.maximum(after - 3, 0))
    high = np.where(
        between, after, np.where(before >= 0, np.minimum(before + 4, len(right.ids)), after)
    )
    known = (before >= 0) | (after >= 0)
    lost, low, high = lost[known], low[known], high[known]
    if not len(lost):
        return
    summed = np.zeros((3, len(right.ids) + 1), np.int32)
    for sums, mask in zip(
        summed,
        (right.kinds != STOP, right.kinds == NUMBER, right.kinds == NAME),
        strict=True,
    ):
        mask.cumsum(out=sums[1:])
    gap, number, name = summed[:, high] - summed[:, low]
    out["gap"][lost], out["gap_number"][lost], out["gap_name"][lost] = gap, number > 0, name > 0
    out["gap_near"][lost] = _alike(left.rows[kept][lost], right.rows, low, high)
    contrary = opposites()
    words = left.ids[kept[lost]].tolist()
    if contrary.keys().isdisjoint(words):
        return
    for n, against in [(n, contrary[word]) for n, word in enumerate(words) if word in contrary]:
        token = int(lost[n])
        unit = int(laid.unit_starts[best[owner[token]]])
        if against & set(right.ids[max(low[n] - 4, 0) : high[n] + 4].tolist()):
            out["opposite"][token] = 2
        elif against & set(right.ids[unit : unit + 60].tolist()):
            out["opposite"][token] = 1


def _alike(mine: Ints, rows: Ints, low: Ints, high: Ints) -> Floats:
    """Cosine with the nearest word of each gap, 0 when either is unknown."""
    table = vectors()[1]
    at = low[:, None] + np.arange(8)
    inside = (at < high[:, None]) & (mine >= 0)[:, None]
    theirs = rows[np.minimum(at, len(rows) - 1)]
    inside &= theirs >= 0
    gaps = inside.nonzero()[0]
    cosine = np.zeros(inside.shape, np.float32)
    # of so small whole numbers even float32 sums up exactly, in whatever order
    cosine[inside] = np.einsum(
        "gd,gd->g",
        table.take(theirs[inside], axis=0).astype(np.float32),
        table.take(mine[gaps], axis=0).astype(np.float32),
        optimize=False,
    )
    out: Floats = np.maximum.reduce(cosine, axis=1) / np.float32(16129)
    return out


def _tied(partner: Ints, owner: Ints) -> tuple[Ints, Ints]:
    """The source places of the nearest matched content words before and after at most four away, -1 for none."""
    at = np.arange(len(partner))
    matched = partner >= 0
    before, after = np.full((2, len(partner)), -1, np.int32)
    last = np.maximum.accumulate(np.where(matched, at, -5))[:-1]
    next_ = np.minimum.accumulate(np.where(matched, at, len(at) + 4)[::-1])[-2::-1]
    for out, away, tied, here in (
        (before[1:], at[1:] - last, last, owner[1:]),
        (after[:-1], next_ - at[:-1], next_, owner[:-1]),
    ):
        near = (away <= 4) & (owner.take(tied, mode="clip") == here)
        np.copyto(out, partner.take(tied, mode="clip"), where=near)
    return before, after


def _denied(laid: Alignment, kept: npt.NDArray[np.intp], out: _Columns) -> None:
    """Whether one side denies what stands near the word and the other does not."""
    left, right = laid.claims, laid.sources
    mine = _beside(left.kinds == NEGATION, left.text)[kept]
    theirs = _beside(right.kinds == NEGATION, right.sentence)
    partner = laid.partner[kept]
    out["denied_differs"][:] = (partner >= 0) & (mine != theirs[np.maximum(partner, 0)])


def _beside(negation: Bools, text: Ints) -> Bools:
    """Tokens with a negation at most four away in the same text."""
    out = np.zeros(len(negation), np.bool_)
    for at in negation.nonzero()[0].tolist():
        low = max(at - 4, 0)
        out[low:at] |= text[low:at] == text[at]
        out[at + 1 : at + 5] |= text[at + 1 : at + 5] == text[at]
    return out


def _records(
    laid: Alignment, kept: npt.NDArray[np.intp], polarity: npt.NDArray[np.int8], out: _Columns
) -> None:
    """Whether the word names a field of a record, and what the record says of it."""
    if not polarity.any():
        return
    for name, wanted in (("record_yes", 1), ("record_no", -1), ("record_null", -2)):
        units = np.flatnonzero(polarity == wanted)
        if len(units):
            out[name][:] = laid.hit[kept][:, units].any(axis=1)
