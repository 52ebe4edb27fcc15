"""A second opinion on Spanish claims: trees of their own that tell entailed, unrelated and contrary claims apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragstone.judges.offline.reading import Floats, Reading
from ragstone.judges.offline.responses import ALL_NAMES
from ragstone.judges.offline.trees import Doubles, models

KINDS = ("entailed", "unrelated", "contrary")
SHARE = 0.6
"""What the second opinion counts for; the rest is the opinion of the trees for all languages."""
_LEFT_OUT = frozenset({
    "claims", "place", "source_tokens", "source_sentences", "best_position", "best_margin", "structured",
    "list_item", "colon", "record_no", "record_null", "record_yes",
})  # fmt: skip
"""Figures of layout and of long sources: the labelled Spanish pairs are single sentences of prose."""
COLUMNS = [n for n, name in enumerate(ALL_NAMES) if name not in _LEFT_OUT]


def second_opinion(logit: Doubles, table: Floats, claims: Sequence[Reading]) -> Doubles:
    """The logits of the claims, those of Spanish ones moved towards what the Spanish trees say."""
    mine = np.array([claim.language == "es" for claim in claims])
    if not mine.any():
        return logit
    rows = table[mine].take(COLUMNS, axis=1)
    entailed, unrelated, contrary = (models()[f"spanish_{kind}"].logit(rows) for kind in KINDS)
    out = logit.copy()
    out[mine] = blend(logit[mine], entailed - np.logaddexp(unrelated, contrary))
    return out


def blend(logit: Doubles, second: Doubles) -> Doubles:
    """The two opinions as one logit."""
    return (1 - SHARE) * logit + SHARE * second
