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


_BESIDE = np.array([TOKEN_NAMES.index(name) for name in ("found", "found_best", "local", "near")])
_PREVIOUS = slice(TOKEN_NAMES.index("previous_found"), TOKEN_NAMES.index("previous_near") + 1, 2)
_NEXT = slice(TOKEN_NAMES.index("next_found"), TOKEN_NAMES.index("next_near") + 1, 2)
"""The columns of the same four figures of the word before and of the word after, which take turns."""


def _gaps(
    laid: Alignment, kept: npt.NDArray[np.intp], owner: Ints, best: Ints, out: _Columns
) -> None:
    """For a word that is not there: what the source has in its place, and how alike that is."""
    left, right = laid.claims, laid.sources
    partner, owners = laid.partner[kept].tolist(), owner.tolist()
    before, after = _tied(partner, owners)
    kinds, rows = right.kinds.tolist(), right.rows.tolist()
    words, mine = left.ids[kept].tolist(), left.rows[kept].tolist()
    contrary = opposites()
    lost, found, pairs = [], [], []
    # so few words and so short gaps are looked at one by one sooner than all at once
    for token in (out["found_best"] == 0).nonzero()[0].tolist():
        low, high = _gap(before[token], after[token], len(kinds))
        if high < 0:
            continue
        here = kinds[low:high]
        lost.append(token)
        found.append((len(here) - here.count(STOP), NUMBER in here, NAME in here))
        if mine[token] >= 0:
            pairs += [(token, mine[token], theirs) for theirs in rows[low:high] if theirs >= 0]
        if words[token] in contrary:
            unit = int(laid.unit_starts[best[owners[token]]])
            against = contrary[words[token]]
            if not against.isdisjoint(right.ids[max(low - 4, 0) : high + 4].tolist()):
                out["opposite"][token] = 2
            elif not against.isdisjoint(right.ids[unit : unit + 60].tolist()):
                out["opposite"][token] = 1
    if lost:
        for name, values in zip(
            ("gap", "gap_number", "gap_name"), zip(*found, strict=True), strict=True
        ):
            out[name][lost] = values
        _alike(pairs, out["gap_near"])


def _gap(before: int, after: int, size: int) -> tuple[int, int]:
    """From where to where the source goes on between two matched places, -1 for none; -1, -1 without either."""
    if before < 0:
        return (max(after - 3, 0), after) if after >= 0 else (-1, -1)
    if before < after <= before + 8:
        return before + 1, after
    return before + 1, min(before + 4, size)


def _alike(pairs: list[tuple[int, int, int]], out: Floats) -> None:
    """Cosine of each word with the nearest word of its gap, from words, their vectors' rows and those of the gap."""
    if not pairs:
        return
    words, mine, theirs = np.array(pairs).T
    table = vectors()[1]
    # of so small whole numbers even float32 sums up exactly, in whatever order
    cosine = np.einsum(
        "gd,gd->g",
        table.take(theirs, axis=0).astype(np.float32),
        table.take(mine, axis=0).astype(np.float32),
        optimize=False,
    )
    np.maximum.at(out, words, cosine / np.float32(16129))


def _tied(partner: list[int], owner: list[int]) -> tuple[list[int], list[int]]:
    """The source places of the nearest matched content words before and after at most four away, -1 for none."""
    before, after = [-1] * len(partner), [-1] * len(partner)
    last = -1
    for at, place in enumerate(partner):
        if 0 <= last >= at - 4 and owner[last] == owner[at]:
            before[at] = partner[last]
        if place >= 0:
            # the words since the match before, and this one, have it as their next
            for other in range(max(last, at - 4, 0), at):
                if owner[other] == owner[at]:
                    after[other] = place
            last = at
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
