"""Fit the two models of the embedded judge: logistic, each weight with the sign that its figure has by definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from examples import Example
from scipy.optimize import minimize

from ragstone.judges.offline.features import FEATURES
from ragstone.judges.offline.model import (
    CONTAINMENT_WEIGHT,
    MAX_DEVIATIONS,
    LogisticModel,
    summarize_answer,
)

Array = np.ndarray[Any, Any]
RIDGE = 20.0
"""Weight of the penalty on large weights; chosen once, the figures hardly depend on it (5 … 200)."""
ROUNDS = 3
"""Times that the false claim of an unmarked row is guessed anew: the one that the model trusts least."""


def fit_models(examples: Sequence[Example]) -> dict[str, LogisticModel]:
    """Fit the claim model, then the answer model on what it gives."""
    claim = fit_claims(examples)
    rows = np.array([summarize(claim, example) for example in examples])
    labels = np.array([example.label for example in examples])
    offset = CONTAINMENT_WEIGHT * np.array([example.known_share for example in examples])
    return {
        "claim": claim,
        "answer": _fit_logistic(rows, labels, _weigh(examples), [1], offset),
    }


def summarize(claim: LogisticModel, example: Example) -> Array:
    """The figures of a whole row for the answer model."""
    return summarize_answer(claim.predict(example.table))


def fit_claims(examples: Sequence[Example]) -> LogisticModel:
    """Every claim of a supported row is supported; of another, the marked ones are not, or else the weakest one."""
    model: LogisticModel | None = None
    row_weights = _weigh(examples)
    for _ in range(ROUNDS):
        rows, labels, weights = [], [], []
        for example, weight in zip(examples, row_weights, strict=True):
            known = np.array(example.labels)
            if (known < 0).all():
                score = example.table[:, 0] if model is None else model.predict(example.table)
                known[int(np.argmin(score))] = 0
            # what a rule decides the model is never asked
            used = (known >= 0) & ~np.array(example.refuted)
            rows.append(example.table[used])
            labels.append(known[used])
            weights.append(np.full(int(used.sum()), weight / max(int(used.sum()), 1)))
        label = np.concatenate(labels)
        model = _fit_logistic(
            np.concatenate(rows),
            label,
            _balance(np.concatenate(weights), label),
            [sign for _, sign in FEATURES],
        )
    assert model is not None
    return model


def _weigh(examples: Sequence[Example]) -> Array:
    """Every set counts alike, and in it both labels: no set's share of false rows leaks into the judgement."""
    count = Counter((example.name, example.label) for example in examples)
    weights = np.array([1 / count[example.name, example.label] for example in examples])
    return np.asarray(weights * len(weights) / weights.sum())


def _balance(weights: Array, labels: Array) -> Array:
    """Both labels of the claims alike: marked rows have many supported claims beside the false one."""
    out = weights.copy()
    for label in (0, 1):
        out[labels == label] *= len(labels) / 2 / out[labels == label].sum()
    return out


def _fit_logistic(
    rows: Array, labels: Array, weights: Array, signs: Sequence[int], offset: Array | float = 0.0
) -> LogisticModel:
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    spread = np.clip((rows - mean) / scale, -MAX_DEVIATIONS, MAX_DEVIATIONS)
    design = np.column_stack([spread, np.ones(len(rows))])

    def loss(beta: Array) -> tuple[float, Array]:
        logit = design @ beta + offset
        error = weights * (1 / (1 + np.exp(-logit)) - labels)
        penalty = RIDGE * np.r_[beta[:-1], 0.0]
        value = (weights * (np.logaddexp(0, logit) - labels * logit)).sum()
        return float(value + (penalty * beta).sum() / 2), design.T @ error + penalty

    limits = {1: (0, None), -1: (None, 0), 0: (None, None)}
    bounds = [*(limits[sign] for sign in signs), (None, None)]
    beta = minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds).x
    return LogisticModel(mean, scale, beta[:-1], float(beta[-1]))
