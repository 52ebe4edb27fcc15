"""From claims to a response: how likely all of it is supported, and how high that sets the bar for each claim."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragstone.judges.offline.features import NAMES
from ragstone.judges.offline.reading import Floats
from ragstone.judges.offline.trees import Doubles, chance, models

TAGGED = ("tag_max", "tag_two", "tag_four", "tag_mean", "tag_sum")
"""What the tagger adds to the features of a claim."""
ALL_NAMES = (*NAMES, *TAGGED)

STYLE = frozenset({
    "tokens", "capitals", "colon", "question", "meta", "generic", "hedge", "list_item", "source_tokens",
    "source_sentences", "quoted", "first_person", "absolutes", "structured", "claims", "place", "best_position",
    "best_tokens",
})  # fmt: skip
"""Figures that tell who wrote a response and how long its sources are rather than whether they support it."""
_FIGURES = [n for n, name in enumerate(ALL_NAMES) if name not in STYLE]
_OF_RESPONSE = [ALL_NAMES.index(name) for name in ("structured", "tokens", "tag_max", "tag_sum")]
_LEVELS = np.array([0.2, 0.35, 0.5, 0.65])
FURTHEST = 3.0
"""Standard deviations beyond which a figure counts no more."""

BAR, BAR_DOUBTFUL = 0.05, 0.55
"""What a claim must reach in a response that seems supported as a whole, and in one that does not."""
BAR_WEAKEST = 0.9
"""What the weakest claim of a response below it must reach."""


def response_features(probability: Doubles, table: Floats) -> Floats:
    """What a whole response looks like: its weakest claims, and mean, highest and lowest of every claim's figures."""
    p = np.minimum(np.maximum(probability, 1e-4), 1 - 1e-4)
    logits = np.log(p / (1 - p))
    logits.sort()
    count = len(logits)
    low = [*logits[:3].tolist(), 4.0, 4.0][:3]
    mean = np.add.reduce(logits) / count
    structured, tokens, tag_max, tag_sum = table.take(_OF_RESPONSE, axis=1).T
    is_record = float(structured[0])
    below = np.add.reduce(p[:, None] < _LEVELS).tolist()
    figures = table.take(_FIGURES, axis=1)
    whole = [
        *low,
        float(mean),
        float(np.add.reduce(np.log(p))),
        float(np.log(count)),
        is_record,
        float(np.log1p(np.add.reduce(tokens))),
        float(np.maximum.reduce(tag_max)),
        float(np.log1p(np.add.reduce(tag_sum))),
        is_record * low[0],
        is_record * float(mean),
        *below,
        *(few / count for few in below[1:]),
        *(float(logits[at]) for at in (count // 10, count // 4, count // 2)),
    ]
    out = np.empty(len(whole) + 3 * len(_FIGURES), np.float32)
    out[: len(whole)] = whole
    each = out[len(whole) :].reshape(3, len(_FIGURES))
    np.divide(np.add.reduce(figures), np.float32(count), out=each[0])
    np.maximum.reduce(figures, out=each[1])
    np.minimum.reduce(figures, out=each[2])
    return out


def response_chance(probability: Doubles, table: Floats) -> float:
    """How likely every claim of the response is supported: the mean of a linear model and of trees."""
    numbers = models()["numbers"]
    row = response_features(probability, table)
    far = standardised(row, numbers["response_mean"], numbers["response_scale"])
    linear = chance(far @ numbers["response_weights"] + numbers["response_bias"])
    trees = chance(models()["response"].logit(row[None]))
    return float((linear + trees[0]) / 2)


def standardised(rows: Floats, mean: Doubles, scale: Doubles) -> Doubles:
    """Figures in standard deviations from their mean, none too far."""
    out: Doubles = np.minimum(np.maximum((rows - mean) / scale, -FURTHEST), FURTHEST)
    return out


def response_bar(language: str) -> float:
    """A response less likely than this holds a claim that is not supported; chosen in training, by language."""
    return float(models()["numbers"][f"response_bar_{'es' if language == 'es' else 'en'}"])


def passed(
    probability: Doubles, whole: float, hurdles: Sequence[float], response_bar: float
) -> list[bool]:
    """Which claims pass: the response as a whole sets how high they must reach, each at least its hurdle.

    The weakest claim of a doubtful response must reach most; one that fails its hurdle is that claim already."""
    chances = probability.tolist()
    bars = [BAR if whole >= response_bar else BAR_DOUBTFUL] * len(chances)
    if whole < response_bar:
        held = [p if p >= low else -1.0 for p, low in zip(chances, hurdles, strict=True)]
        bars[held.index(min(held))] = BAR_WEAKEST
    return [p >= max(bar, low) for p, bar, low in zip(chances, bars, hurdles, strict=True)]
