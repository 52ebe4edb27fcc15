"""What the tagger sees of each claim token: found or not, where, and what stands there instead."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline.alignment import Alignment, opposites
from ragstone.judges.offline.reading import NAME, NEGATION, NUMBER, STOP, Floats, Ints
from ragstone.judges.offline.tables import vectors

TOKEN_NAMES: tuple[str, ...] = (
    "kind_stop", "kind_word", "kind_name", "kind_number", "kind_negation",
    "rarity", "found", "found_best", "found_pair", "near", "near_best", "near_raw", "local", "run", "times",
    "previous_found", "next_found", "previous_best", "next_best", "previous_local", "next_local",
    "previous_missing_near", "next_missing_near",
    "gap", "gap_near", "gap_number", "gap_name", "opposite", "denied_differs",
    "place", "claim_cover", "claim_best", "claim_missing", "claim_length", "cluster", "structured", "spanish",
    "record_no", "record_null", "record_yes", "seen_before",
)  # fmt: skip


def token_features(
    laid: Alignment,
    bounds: list[int],
    best: Ints,
    polarity: npt.NDArray[np.int8],
    structured: bool,
    spanish: bool,
) -> Floats:
    """One row of TOKEN_NAMES for each claim token."""
    left = laid.claims
    size = len(left.ids)
    table = np.zeros((size, len(TOKEN_NAMES)), np.float32)
    out = dict(zip(TOKEN_NAMES, table.T, strict=True))
    if not size:
        return table
    for kind, name in enumerate(TOKEN_NAMES[:5]):
        out[name][:] = left.kinds == kind
    out["rarity"][:] = left.weights
    out["structured"][:] = structured
    out["spanish"][:] = spanish
    owner = left.text
    out["place"][:] = left.within / np.maximum(np.diff(bounds)[owner], 1)
    out["claim_length"][:] = np.diff(bounds)[owner]
    if laid.hit.shape[1]:
        _found(laid, owner, best, out)
        _neighbours(left.kinds, owner, out)
        _gaps(laid, owner, best, out)
        _denied(laid, out)
        _records(laid, polarity, out)
    content = left.kinds != STOP
    missing = content & (out["found"] == 0)
    weights = left.weights * content
    total = np.bincount(owner, weights, len(bounds) - 1)
    out["claim_cover"][:] = (
        np.bincount(owner, weights * out["found"], len(bounds) - 1) / np.maximum(total, 1e-6)
    )[owner]
    out["claim_best"][:] = (
        np.bincount(owner, weights * out["found_best"], len(bounds) - 1) / np.maximum(total, 1e-6)
    )[owner]
    out["claim_missing"][:] = np.bincount(owner, missing, len(bounds) - 1)[owner]
    out["cluster"][:] = _windowed(missing.astype(np.float32), owner, 4)
    return table


def _windowed(values: Floats, owner: Ints, reach: int) -> Floats:
    """Sum over the tokens of the same claim at most `reach` away, the token itself left out."""
    out = np.zeros_like(values)
    for step in range(1, reach + 1):
        if len(values) > step:
            same = owner[step:] == owner[:-step]
            out[step:] += values[:-step] * same
            out[:-step] += values[step:] * same
    return out


def _found(laid: Alignment, owner: Ints, best: Ints, out: dict[str, Floats]) -> None:
    rows = np.arange(len(owner))
    chosen = np.maximum(best[owner], 0)
    out["found"][:] = laid.hit.any(axis=1)
    out["found_best"][:] = laid.hit[rows, chosen]
    after = np.minimum(chosen + 1, laid.hit.shape[1] - 1)
    before = np.maximum(chosen - 1, 0)
    out["found_pair"][:] = laid.hit[rows, chosen] | laid.hit[rows, after] | laid.hit[rows, before]
    out["near"][:] = laid.soft.max(axis=1)
    out["near_best"][:] = laid.soft[rows, chosen]
    out["near_raw"][:] = laid.near
    out["local"][:] = laid.local
    out["run"][:] = np.minimum(laid.run, 12)
    out["times"][:] = np.log1p(laid.exact.sum(axis=1))


def _neighbours(kinds: npt.NDArray[np.int8], owner: Ints, out: dict[str, Floats]) -> None:
    """The same of the content words before and after."""
    content = np.flatnonzero(kinds != STOP)
    if not len(content):
        return
    at = np.searchsorted(content, np.arange(len(kinds)))
    for name, other in (
        ("previous", content[np.clip(at - 1, 0, len(content) - 1)]),
        ("next", content[np.clip(at + (kinds != STOP), 0, len(content) - 1)]),
    ):
        same = owner[other] == owner
        if name == "previous":
            same &= at > 0
        else:
            same &= at + (kinds != STOP) < len(content)
        for column, default in (("found", 0.5), ("found_best", 0.5), ("local", 0.5), ("near", 0.5)):
            key = {"found_best": f"{name}_best", "near": f"{name}_missing_near"}.get(
                column, f"{name}_{column}"
            )
            out[key][:] = np.where(same, out[column][other], default)


def _gaps(laid: Alignment, owner: Ints, best: Ints, out: dict[str, Floats]) -> None:
    """For a word that is not there: what the source has in its place, and how alike that is."""
    left, right = laid.claims, laid.sources
    table = vectors()[1]
    contrary = opposites()
    lost = np.flatnonzero((left.kinds != STOP) & (out["found_best"] == 0))
    for token in lost.tolist():
        before = _tied(laid, owner, token, -1)
        after = _tied(laid, owner, token, 1)
        if before < 0 and after < 0:
            continue
        if before >= 0 and after > before and after - before <= 8:
            low, high = before + 1, after
        elif before >= 0:
            low, high = before + 1, min(before + 4, len(right.ids))
        else:
            low, high = max(after - 3, 0), after
        kinds = right.kinds[low:high]
        out["gap"][token] = (kinds != STOP).sum()
        out["gap_number"][token] = (kinds == NUMBER).any()
        out["gap_name"][token] = (kinds == NAME).any()
        rows = right.rows[low:high]
        rows = rows[rows >= 0]
        if left.rows[token] >= 0 and len(rows):
            mine = table[left.rows[token]].astype(np.float32)
            out["gap_near"][token] = float((table[rows].astype(np.float32) @ mine).max()) / 16129
        against = contrary.get(int(left.ids[token]))
        if against:
            unit = laid.unit_starts[best[owner[token]]]
            window = right.ids[max(low - 4, 0) : high + 4].tolist()
            out["opposite"][token] = (
                2
                if against & set(window)
                else int(bool(against & set(right.ids[unit : unit + 60].tolist())))
            )


def _tied(laid: Alignment, owner: Ints, token: int, step: int) -> int:
    """The source place of the nearest matched content word on one side, -1 for none."""
    at = token + step
    for _ in range(4):
        if not 0 <= at < len(owner) or owner[at] != owner[token]:
            return -1
        if laid.partner[at] >= 0 and laid.claims.kinds[at] != STOP:
            return int(laid.partner[at])
        at += step
    return -1


def _denied(laid: Alignment, out: dict[str, Floats]) -> None:
    """Whether one side denies what stands near the word and the other does not."""
    left, right = laid.claims, laid.sources
    mine = _windowed((left.kinds == NEGATION).astype(np.float32), left.text, 4) > 0
    theirs = _windowed((right.kinds == NEGATION).astype(np.float32), right.sentence, 4) > 0
    tied = laid.partner >= 0
    out["denied_differs"][tied] = mine[tied] != theirs[laid.partner[tied]]


def _records(laid: Alignment, polarity: npt.NDArray[np.int8], out: dict[str, Floats]) -> None:
    """Whether the word names a field of a record, and what the record says of it."""
    if not polarity.any():
        return
    for name, wanted in (("record_yes", 1), ("record_no", -1), ("record_null", -2)):
        units = np.flatnonzero(polarity == wanted)
        if len(units):
            out[name][:] = laid.hit[:, units].any(axis=1) & (laid.claims.kinds != STOP)
