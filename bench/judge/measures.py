"""Measures of agreement with people, without a library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def auroc(label: Sequence[int] | Any, score: Sequence[float] | Any) -> float:
    """Chance that a positive row scores above a negative one, ties half."""
    y, s = np.asarray(label), np.asarray(score, float)
    order = np.argsort(s, kind="stable")
    ranks = np.empty(len(s))
    start = np.unique(s[order], return_index=True)[1]
    ends = np.r_[start[1:], len(s)]
    for a, b in zip(start, ends, strict=True):
        ranks[order[a:b]] = (a + b + 1) / 2
    positive, negative = int((y == 1).sum()), int((y == 0).sum())
    if not positive or not negative:
        return float("nan")
    return float((ranks[y == 1].sum() - positive * (positive + 1) / 2) / (positive * negative))


def balanced_accuracy(label: Any, said: Any) -> float:
    """Mean of the two recalls."""
    y, s = np.asarray(label), np.asarray(said)
    return float(((s[y == 1] == 1).mean() + (s[y == 0] == 0).mean()) / 2)


def f1(label: Any, said: Any) -> float:
    """Harmonic mean of precision and recall of label 1."""
    y, s = np.asarray(label), np.asarray(said)
    both = int(((y == 1) & (s == 1)).sum())
    return 2 * both / max(int((y == 1).sum() + (s == 1).sum()), 1)


def calibration_error(label: Any, chance: Any, bins: int = 10) -> float:
    """Mean distance between what was said and what came true, over equal bins of chance."""
    y, p = np.asarray(label, float), np.asarray(chance, float)
    at = np.minimum((p * bins).astype(int), bins - 1)
    total = 0.0
    for one in range(bins):
        inside = at == one
        if inside.any():
            total += inside.mean() * abs(float(y[inside].mean()) - float(p[inside].mean()))
    return float(total)
