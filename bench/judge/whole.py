"""Fit what puts the claims of a response together, and choose the bar that a whole response must reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import lightgbm as lgb
import numpy as np
from examples import Example
from measures import balanced_accuracy, f1
from scipy.optimize import minimize

from ragstone.judges.offline.responses import passed, response_features, standardised

RAG = 20.0
"""Weight of the answers of RAG systems, other sets having 1."""
RIDGE = 500.0
"""Strength of the penalty on the linear model's weights."""
ROUNDS = 400
SETTINGS: dict[str, Any] = {
    "objective": "binary",
    "verbose": -1,
    "num_threads": 1,
    "seed": 7,
    "deterministic": True,
    "force_row_wise": True,
    "learning_rate": 0.025,
    "num_leaves": 7,
    "max_depth": 5,
    "min_data_in_leaf": 30,
    "feature_fraction": 0.3,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
}


@dataclass
class Whole:
    """The model of responses: the mean of a linear one and of trees."""

    mean: np.ndarray[Any, Any]
    scale: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any]
    bias: float
    trees: lgb.Booster

    def chance(self, probability: np.ndarray[Any, Any], table: np.ndarray[Any, Any]) -> float:
        """How likely the whole response is supported."""
        row = response_features(probability, table)
        margin = standardised(row, self.mean, self.scale) @ self.weights + self.bias
        return float((1 / (1 + np.exp(-margin)) + self.trees.predict(row[None])[0]) / 2)


def fit_whole(
    examples: list[Example],
    probabilities: list[np.ndarray[Any, Any]],
    tables: list[np.ndarray[Any, Any]],
) -> Whole:
    """From claims to responses, a labelled claim being a response of one; each set counts alike, RAG answers twentyfold."""
    kept = [n for n, e in enumerate(examples) if not e.row.get("synthetic")]
    rows = np.array([response_features(probabilities[n], tables[n]) for n in kept])
    label = np.array([examples[n].row["label"] for n in kept], np.float64)
    weight = _weights(np.array([examples[n].row["set"] for n in kept]), label)
    mean = rows.mean(axis=0, dtype=np.float64)
    scale = rows.std(axis=0, dtype=np.float64) + 1e-6
    weights, bias = _linear(standardised(rows, mean, scale), label, weight)
    trees = lgb.train(SETTINGS, lgb.Dataset(rows, label, weight=weight), ROUNDS)
    return Whole(mean, scale, weights, bias, trees)


def _weights(names: np.ndarray[Any, Any], label: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    weight = np.zeros(len(label))
    for name in sorted(set(names.tolist())):
        mine = names == name
        if name == "ragtruth_test":
            weight[mine] = RAG / mine.sum()  # its own share of false responses is the one to expect
        else:
            for value in (0, 1):
                weight[mine & (label == value)] = 0.5 / (mine & (label == value)).sum()
    found: np.ndarray[Any, Any] = weight * len(label) / weight.sum()
    return found


def _linear(
    rows: np.ndarray[Any, Any], label: np.ndarray[Any, Any], weight: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], float]:
    """Logistic regression with a penalty."""

    def loss(theta: np.ndarray[Any, Any]) -> tuple[float, np.ndarray[Any, Any]]:
        margin = rows @ theta[:-1] + theta[-1]
        chance = 1 / (1 + np.exp(-margin))
        penalty = RIDGE * (theta[:-1] ** 2).sum()
        value = float((weight * (np.logaddexp(0, margin) - label * margin)).sum() + penalty)
        gap = weight * (chance - label)
        slope = np.r_[rows.T @ gap + 2 * RIDGE * theta[:-1], gap.sum()]
        return value, slope

    theta = minimize(loss, np.zeros(rows.shape[1] + 1), jac=True, method="L-BFGS-B").x
    return np.round(theta[:-1], 6), float(np.round(theta[-1], 6))


Answers = list[tuple[int, float]]
"""Numbers of examples and how likely each is supported as a whole."""


def choose_bars(
    examples: list[Example],
    probabilities: list[np.ndarray[Any, Any]],
    tables: list[np.ndarray[Any, Any]],
    fold: np.ndarray[Any, Any],
    inner: int,
) -> dict[str, float]:
    """For each language the bar with the best F1 + balanced accuracy on the responses that were fitted, each predicted
    out of fold: RAG answers in English, pairs of InferES in Spanish."""
    found: dict[str, Answers] = {"ragtruth_test": [], "inferes": []}
    for number in range(inner):
        kept = np.flatnonzero(fold != number)
        model = fit_whole(
            [examples[n] for n in kept], [probabilities[n] for n in kept], [tables[n] for n in kept]
        )
        for n in np.flatnonzero(fold == number).tolist():
            row = examples[n].row
            if row["set"] in found and not row.get("synthetic"):
                found[row["set"]].append((n, model.chance(probabilities[n], tables[n])))
    return {
        "en": _best_bar(examples, probabilities, found["ragtruth_test"]),
        "es": _best_bar(examples, probabilities, found["inferes"]),
    }


def _best_bar(
    examples: list[Example],
    probabilities: list[np.ndarray[Any, Any]],
    answers: Answers,
) -> float:
    wrong = [1 - examples[n].row["label"] for n, _ in answers]
    bars = np.arange(0.2, 0.75, 0.01)
    values = []
    for bar in bars:
        said = [
            flagged(probabilities[n], chance, examples[n].hurdles, float(bar))
            for n, chance in answers
        ]
        values.append(f1(wrong, said) + balanced_accuracy(wrong, said))
    smooth = np.convolve(np.pad(values, 4, "edge"), np.ones(9) / 9, "valid")  # one peak may be luck
    return round(float(bars[int(np.argmax(smooth))]), 2)


def flagged(
    probability: np.ndarray[Any, Any], whole: float, hurdles: list[float], bar: float
) -> bool:
    """Whether the judge finds a claim that is not supported."""
    return not all(passed(probability, whole, hurdles, bar))
