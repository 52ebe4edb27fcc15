"""Area under the curve, balanced accuracy and calibration error, without a library."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata


def auroc(labels: Sequence[int], scores: Sequence[float]) -> float:
    """How often a positive row has the higher score; ties half."""
    wanted, ranks = np.array(labels, bool), rankdata(scores)
    positive = int(wanted.sum())
    negative = len(wanted) - positive
    return float((ranks[wanted].sum() - positive * (positive + 1) / 2) / (positive * negative))


def accepted_and_caught(labels: Sequence[int], scores: Sequence[float]) -> tuple[float, float]:
    """Share of the true that reach 0.5, and of the false that do not."""
    wanted, found = np.array(labels, bool), np.array(scores) >= 0.5
    return float(found[wanted].mean()), float((~found[~wanted]).mean())


def calibration_error(labels: Sequence[int], chances: Sequence[float], bins: int = 10) -> float:
    """Expected calibration error: the distance between chance and truth in tenths, weighed by their
    rows."""
    wanted, found = np.array(labels, float), np.array(chances)
    index = np.minimum((found * bins).astype(int), bins - 1)
    gaps = [
        (index == n).sum() * abs(found[index == n].mean() - wanted[index == n].mean())
        for n in range(bins)
        if (index == n).any()
    ]
    return float(sum(gaps) / len(found))
