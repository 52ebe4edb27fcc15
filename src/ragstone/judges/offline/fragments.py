"""Short answers without a verb: two such texts agree when one holds the words of the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragstone.judges.offline.alignment import align
from ragstone.judges.offline.reading import NUMBER, STOP, Reading
from ragstone.judges.offline.statements import has_verb

SHORTEST = 4
"""Tokens up to which even a text with a full stop is no sentence."""
LONGEST = 8
"""Tokens of a text that can be a mere answer: a name, a date, a place."""


def is_fragment(text: Reading) -> bool:
    """Whether the text only names something: few words, no verb, not put as a sentence."""
    most = SHORTEST if text.raw.rstrip().endswith((".", "!")) else LONGEST
    return 0 < len(text.ids) <= most and not has_verb(text.raw)


def agreement(claims: Sequence[Reading], sources: Sequence[Reading]) -> list[float] | None:
    """How far each claim agrees with its sources, 0..1, where a fragment is among the two; else None.

    A wanted answer of two words says yes to every claim that holds them, which whole sentences never do, so a
    single fragment is read as an answer: in the source by what of it the claim has, in the claim the other way."""
    if len(sources) == 1 and is_fragment(sources[0]):
        wanted = sources[0]
        return [
            max(_held(wanted, claim), _held(claim, wanted) if is_fragment(claim) else 0.0)
            for claim in claims
        ]
    if len(claims) == 1 and is_fragment(claims[0]):
        return [max((_held(claims[0], source) for source in sources), default=0.0)]
    return None


def _held(part: Reading, whole: Reading) -> float:
    """Weighted share of the part's words that the whole has; 0 when all its numbers differ."""
    laid = align([part], [whole])
    if not len(laid.units) or not len(laid.claims.ids):
        return 0.0
    kinds = laid.claims.kinds
    weight = np.where(kinds == STOP, 0.0, laid.claims.weights)
    if not weight.sum():
        weight = np.ones(len(kinds))
    found = laid.soft.max(axis=1)
    numbers = kinds == NUMBER
    if numbers.any() and not found[numbers].any() and (whole.kinds == NUMBER).any():
        return 0.0
    return float((found * weight).sum() / weight.sum())
