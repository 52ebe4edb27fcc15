"""From the figures of claims to probabilities: two logistic models with a handful of weights each. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline.tables import learned_file

Doubles = npt.NDArray[np.float64]
MAX_DEVIATIONS = 3.0
"""Standard deviations from the mean beyond which a figure counts no more."""
CONTAINMENT_WEIGHT = 2.0
"""What an answer gains in log-odds when the sources have all of its words instead of none.

Fixed, not learnt: on every labelled set that was left out, adding plain containment ranks answers better than any
weight learnt from the other sets, and any value from 1 to 4 does equally well (bench/judge/NOTES.md)."""


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """Weights of standardised figures."""

    mean: Doubles
    scale: Doubles
    weights: Doubles
    bias: float

    def logits(self, rows: npt.NDArray[Any]) -> Doubles:
        """Compute the log-odds of each row."""
        spread = np.clip((rows - self.mean) / self.scale, -MAX_DEVIATIONS, MAX_DEVIATIONS)
        logits: Doubles = spread @ self.weights + self.bias
        return logits

    def predict(self, rows: npt.NDArray[Any]) -> Doubles:
        """Compute the probability of each row."""
        chances: Doubles = 1.0 / (1.0 + np.exp(-self.logits(rows)))
        return chances

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> LogisticModel:
        """Read the model from its stored form."""
        mean, scale, weights = (
            np.array(table[name], np.float64) for name in ("mean", "scale", "weights")
        )
        return cls(mean, scale, weights, float(table["bias"]))


@lru_cache(maxsize=1)
def load_models() -> Mapping[str, LogisticModel]:
    """Return the shipped models: `claim` and `answer`."""
    table = json.loads(learned_file("weights.json").read_text("utf-8"))
    return {name: LogisticModel.from_json(table[name]) for name in ("claim", "answer")}


def predict_answer(model: LogisticModel, probability: Doubles, known_share: float) -> float:
    """How likely all claims of an answer are supported; `known_share` is plain containment of its words."""
    logit = model.logits(summarize_answer(probability)[None])[0]
    return float(1.0 / (1.0 + np.exp(-(logit + CONTAINMENT_WEIGHT * known_share))))


def summarize_answer(probability: Doubles) -> Doubles:
    """The figure of a whole answer: its weakest claim.

    Not the number of claims: what it tells in one set is wrong in the next (bench/judge/NOTES.md)."""
    weakest = np.clip(probability.min(), 1e-4, 1 - 1e-4)
    return np.array([np.log(weakest / (1 - weakest))], np.float64)
