"""The probe of embeddings: a pair of texts that have nothing to do with each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from typing import Any

from ragstone.errors import JudgeFailed

PROBE_TEXTS = (
    "The kettle on the stove is whistling.",
    "Parliament voted against the fishing treaty.",
)
"""Embedded along with every request to a model: an embedding that cannot tell them apart tells nothing apart."""
PROBE_VERSION = 1
"""Part of the cache key: vectors of another version were not probed, or not in this way."""
MAX_PROBE_COSINE = 0.98


def remove_probe(vectors: Sequence[Any]) -> list[Any]:
    """Return the vectors without those of the probe, the last two; raises JudgeFailed when these are alike."""
    *others, first, second = vectors
    lengths = math.hypot(*first) * math.hypot(*second)
    cosine = sum(map(mul, first, second)) / lengths if lengths else 1.0
    if not math.isfinite(cosine):  # numbers whose squares are beyond floats
        raise JudgeFailed("unparseable", "vector_null")
    if cosine >= MAX_PROBE_COSINE:
        raise JudgeFailed("compromised", "embeddings_alike", cosine=round(cosine, 3))
    return others
