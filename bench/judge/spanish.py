"""Fit the second opinion on Spanish claims: entailed, unrelated or contrary, from InferES alone."""

from __future__ import annotations

from typing import Any

import lightgbm as lgb
import numpy as np
from examples import Example

from ragstone.judges.offline.responses import ALL_NAMES
from ragstone.judges.offline.spanish import COLUMNS

LABELS = {"ent": 0, "neutral": 1, "cnt": 2}
"""InferES names to the order of `ragstone.judges.offline.spanish.KINDS`."""
SYNTHETIC = 0.25
"""Weight of made-up claims: without them a digit changed or words in disorder pass for entailed."""
ROUNDS = 250
SETTINGS: dict[str, Any] = {
    "objective": "multiclass",
    "num_class": 3,
    "verbose": -1,
    "num_threads": 1,
    "seed": 7,
    "deterministic": True,
    "force_row_wise": True,
    "learning_rate": 0.03,
    "num_leaves": 15,
    "max_depth": 7,
    "min_data_in_leaf": 20,
    "feature_fraction": 0.3,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
}


def is_spanish(example: Example) -> bool:
    """Whether the judge would read the claim as Spanish."""
    return bool(example.row["set"] == "inferes")


def fit_spanish(
    examples: list[Example], tables: list[np.ndarray[Any, Any]], labels: list[np.ndarray[Any, Any]]
) -> lgb.Booster:
    """Trees for the three classes; entailed claims weigh as much as the other two together, falsified sentences are
    contrary ones."""
    rows, classes, weights = [], [], []
    for example, table, known in zip(examples, tables, labels, strict=True):
        if not is_spanish(example):
            continue
        made = bool(example.row.get("synthetic"))
        kind = _made_kind(example) if made else LABELS[example.row["label3"]]
        used = known == (kind == 0)
        weight = SYNTHETIC if made else 2.0 if kind == 0 else 1.0
        rows.append(table[used][:, COLUMNS])
        classes += [kind] * int(used.sum())
        weights += [weight] * int(used.sum())
    data = lgb.Dataset(
        np.vstack(rows), classes, weight=weights, feature_name=[ALL_NAMES[n] for n in COLUMNS]
    )
    return lgb.train(SETTINGS, data, ROUNDS)


def _made_kind(example: Example) -> int:
    return LABELS["ent" if example.row["label"] == 1 else "cnt"]


def entailment(booster: lgb.Booster, table: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The logit of `entailed` for each claim."""
    margin = booster.predict(table[:, COLUMNS], raw_score=True)
    found: np.ndarray[Any, Any] = margin[:, 0] - np.logaddexp(margin[:, 1], margin[:, 2])
    return found
