"""Claims laid on sources, claim by claim: which tokens are whose, and which source sentence covers a claim best. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline.alignment import Alignment, Bools
from ragstone.judges.offline.reading import NEGATION, Floats, Ints, Reading


@dataclass(slots=True)
class View:
    """An alignment with what every part of the features needs."""

    laid: Alignment
    owner: Ints
    """Which claim each token belongs to."""
    belongs: npt.NDArray[np.float64]
    """Token × claim: 1 where the token belongs to the claim."""
    weighted: Floats
    """Claim × token: how much the token counts for the claim."""
    total: Floats
    """What the tokens of each claim count together."""

    def totals(self, *values: npt.NDArray[np.generic]) -> Floats:
        """Sums over the tokens of each claim, one row for each of the values; so few float32 sum up exactly."""
        found = np.array(values, np.float64) @ self.belongs
        return found.astype(np.float32)


def view_of(laid: Alignment, count: int) -> View:
    """The view of so many claims."""
    members = members_of(laid, count)
    weighted, total = _weighed(laid, members)
    laid.covers = _covers(laid, weighted, total)
    return View(laid, laid.claims.text, members.T.astype(np.float64), weighted, total)


def bounds_of(laid: Alignment, count: int) -> list[int]:
    """Where the tokens of each claim start and end."""
    found: list[int] = laid.claims.text.searchsorted(np.arange(count + 1)).tolist()
    return found


def best_units(laid: Alignment, bounds: list[int]) -> tuple[Floats, Ints]:
    """Weighted share of each claim that each unit covers, and the unit that covers it best, -1 without units."""
    if laid.covers is None:
        laid.covers = _covers(laid, *_weighed(laid, members_of(laid, len(bounds) - 1)))
    return laid.covers


def _weighed(laid: Alignment, members: Bools) -> tuple[Floats, Floats]:
    """How much each token counts for each claim, and all tokens of a claim together."""
    weighted = members * weights_of(laid)
    return weighted, np.maximum(np.add.reduce(weighted, axis=1), 1e-6)


def _covers(laid: Alignment, weighted: Floats, total: Floats) -> tuple[Floats, Ints]:
    cover: Floats = weighted @ laid.soft / total[:, None]
    if cover.shape[1] == 0:
        return cover, np.full(len(cover), -1, np.int32)
    return cover, cover.argmax(axis=1).astype(np.int32)


def members_of(laid: Alignment, count: int) -> Bools:
    """Claim × token: whether the token belongs to the claim."""
    found: Bools = np.arange(count, dtype=np.int32)[:, None] == laid.claims.text
    return found


def weights_of(laid: Alignment) -> Floats:
    """How much each claim token counts; a negation less than a rare word."""
    return np.where(laid.claims.kinds == NEGATION, np.float32(0.3), laid.claims.weights)


def find_unit_span(sources: Sequence[Reading], laid: Alignment, unit: int) -> tuple[int, int, int]:
    """The source that a unit stands in, and where it starts and ends there."""
    source = int(laid.unit_text[unit])
    before = sum(len(other.sentences) for other in sources[:source])
    return source, *sources[source].sentences[int(laid.units[unit]) - before]


def unit_text(sources: Sequence[Reading], laid: Alignment, unit: int) -> str:
    """A source sentence as it is written."""
    source, start, end = find_unit_span(sources, laid, unit)
    return sources[source].raw[start:end]
