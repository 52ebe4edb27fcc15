"""Logistic regressions on standardised features, fitted so that both labels of every set weigh
alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from bench.judge.claims import LabelledClaim, LabelledRow
from ragstone.judges.offline.features import FEATURES, MAX_DEVIATIONS, predict_answer, predict_claim
from ragstone.judges.offline.support import CONTRADICTED

Doubles = npt.NDArray[np.float64]
Weights = dict[str, list[float]]


def fit_judge(rows: Sequence[LabelledRow]) -> dict[str, Weights]:
    """The weights of the judge: those of a claim, and those of a whole answer."""
    claims = [
        (row.set, c.features, c.label) for row in rows for c in row.claims if c.label is not None
    ]
    claim = fit(
        [c[1] for c in claims],
        [c[2] for c in claims],
        [c[0] for c in claims],
        list(FEATURES.values()),
    )
    judged = [row for row in rows if row.claims]
    means = [[mean_log(judge_row(row, claim))] for row in judged]
    answer = fit(means, [row.label for row in judged], [row.set for row in judged], [1])
    # on the plain scale: one weight of one figure needs no mean and no deviation
    slope = answer["weights"][0] / answer["scale"][0]
    bias = answer["bias"][0] - slope * answer["mean"][0]
    return {"claim": claim, "answer": {"weights": [round(slope, 4)], "bias": [round(bias, 4)]}}


def judge_row(row: LabelledRow, weights: Weights) -> list[float]:
    """The probability of each claim."""
    return [judge_claim(claim, weights) for claim in row.claims]


def judge_claim(claim: LabelledClaim, weights: Weights) -> float:
    """As the judge does it: a conflict bounds what the model says."""
    chance = predict_claim(claim.features, weights)
    return min(chance, CONTRADICTED) if claim.conflict else chance


def judge_answer(chances: Sequence[float], weights: Weights) -> float:
    """The chance that all claims are supported."""
    return predict_answer(chances, weights)


def mean_log(chances: Sequence[float]) -> float:
    """The logarithm of the geometric mean."""
    return sum(math.log(max(chance, 0.01)) for chance in chances) / len(chances)


def fit(
    features: Sequence[Sequence[float]],
    labels: Sequence[Any],
    sets: Sequence[str],
    signs: Sequence[int],
) -> Weights:
    """Weights with the sign that each feature has by its meaning (0 for any)."""
    table, wanted = np.array(features, np.float64), np.array(labels, np.float64)
    of_set = np.array(sets)
    weight = np.zeros(len(wanted))
    for name in set(sets):
        for label in (0, 1):
            mask = (of_set == name) & (wanted == label)
            weight[mask] = 1 / max(mask.sum(), 1)
    weight /= weight.mean()
    mean = np.average(table, axis=0, weights=weight)
    scale = np.sqrt(np.average((table - mean) ** 2, axis=0, weights=weight)) + 1e-6
    scaled = np.clip((table - mean) / scale, -MAX_DEVIATIONS, MAX_DEVIATIONS)

    def lose(found: Doubles) -> tuple[float, Doubles]:
        logits = scaled @ found[:-1] + found[-1]
        error = weight * (1 / (1 + np.exp(-logits)) - wanted)
        loss = float((weight * (np.logaddexp(0, logits) - wanted * logits)).mean())
        ridge = np.append(found[:-1], 0.0) / len(wanted)
        slope = np.append(scaled.T @ error, error.sum()) / len(wanted) + ridge
        return loss + float(ridge @ found) / 2, slope

    bounds = [{1: (0, None), -1: (None, 0), 0: (None, None)}[sign] for sign in signs]
    start = np.zeros(table.shape[1] + 1)
    found = minimize(lose, start, jac=True, method="L-BFGS-B", bounds=[*bounds, (None, None)]).x
    rounded = [[round(float(x), 4) for x in values] for values in (mean, scale, found[:-1])]
    return {
        "mean": rounded[0],
        "scale": rounded[1],
        "weights": rounded[2],
        "bias": [round(float(found[-1]), 4)],
    }


def predict(features: Sequence[float], weights: Weights) -> float:
    """The chance by any fitted weights, without the judge's prior."""
    spread = (np.array(features) - weights["mean"]) / np.array(weights["scale"])
    logit = float(np.clip(spread, -3, 3) @ np.array(weights["weights"])) + weights["bias"][0]
    return 1 / (1 + math.exp(-logit))
