"""How a model's probability and the embedded judge's are combined: as added log-odds. All weights stand here. Versioned by ROUTE_VERSION in judges/hybrid."""

from __future__ import annotations

import math

MODEL_WEIGHT = 1.0
EMBEDDED_WEIGHT = 1.0
LEAST_CHANCE = 0.002
"""No opinion counts for more than this chance of being wrong."""


def combine(model: float, embedded: float | None) -> float:
    """Return the chance that a claim is supported, from what both think; without the embedded one the model's."""
    if embedded is None:
        return model
    odds = MODEL_WEIGHT * to_log_odds(model) + EMBEDDED_WEIGHT * to_log_odds(embedded)
    return 1 / (1 + math.exp(-odds))


def to_log_odds(chance: float) -> float:
    """Return the log-odds of a chance, none of them extreme."""
    bounded = min(max(chance, LEAST_CHANCE), 1 - LEAST_CHANCE)
    return math.log(bounded / (1 - bounded))
