"""How likely a claim is supported: four shares of its words and a logistic model, and the chance of
a whole answer."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from ragstone.judges.offline.alignment import Alignment
from ragstone.judges.offline.reading import NAME

FEATURES = {"cover": 1, "unknown_end": -1, "unknown_names": -1, "unknown_numbers": -1}
"""Each feature, and whether more of it speaks for support (1) or against it (-1)."""
PRIOR = 0.65
"""Share of the claims of real answers that are supported: about that of all labelled claims
together (0.7). The weights are learned with both labels weighing alike; this is put on top, so that
means over many answers come out right."""
MAX_COUNT = 3
MAX_DEVIATIONS = 3.0


def measure(alignment: Alignment) -> tuple[float, ...]:
    """The features of a claim with at least one content word, in the order of FEATURES.

    The root of the cover, since the first words that are found say most. The end of a sentence says
    what is new of what its beginning names: made by machine, of what was made by hand."""
    unknown = [not units for units in alignment.places]
    names = sum(
        word.kind == NAME and is_unknown
        for word, is_unknown in zip(alignment.words, unknown, strict=True)
    )
    return (
        math.sqrt(alignment.cover()),
        float(unknown[-1]),
        names / len(alignment.words),
        float(min(alignment.unmatched, MAX_COUNT)),
    )


def predict_claim(
    features: Sequence[float], weights: Mapping[str, list[float]] | None = None
) -> float:
    """The chance that a claim with these features is supported."""
    model = weights or load_weights()["claim"]
    logit = model["bias"][0] + math.log(PRIOR / (1 - PRIOR))
    for value, mean, scale, weight in zip(
        features, model["mean"], model["scale"], model["weights"], strict=True
    ):
        logit += weight * max(-MAX_DEVIATIONS, min(MAX_DEVIATIONS, (value - mean) / scale))
    return _to_probability(logit)


def predict_answer(
    chances: Sequence[float], weights: Mapping[str, list[float]] | None = None
) -> float:
    """The chance that all claims of an answer are supported, from the geometric mean of theirs."""
    if not chances:
        return 1.0
    model = weights or load_weights()["answer"]
    mean = sum(math.log(max(chance, 0.01)) for chance in chances) / len(chances)
    return _to_probability(model["bias"][0] + model["weights"][0] * mean)


def _to_probability(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


@lru_cache(maxsize=1)
def load_weights() -> Mapping[str, Mapping[str, list[float]]]:
    """The shipped weights of `claim` and `answer`, written by `python -m bench.judge --fit`."""
    weights: Mapping[str, Mapping[str, list[float]]] = json.loads(
        (Path(__file__).parent / "learned" / "weights.json").read_text("utf-8")
    )
    return weights
