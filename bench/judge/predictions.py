"""Predictions for every labelled row by models that never saw its source document."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from examples import FOLDS, Example, examples
from fit import fit, fold_of

INNER = 4
"""Folds inside each fold, for what one model gives the next."""


def predict_all(target: Path) -> None:
    """Five-fold cross-validation by source document; one JSON line a labelled row."""
    found = examples()
    fold = [fold_of(e.row["group"], FOLDS) for e in found]
    jobs = [
        ([e for e, f in zip(found, fold, strict=True) if f != k], _held(found, fold, k))
        for k in range(FOLDS)
    ]
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        parts = list(pool.map(_one_fold, jobs))
    with target.open("w", encoding="utf-8") as out:
        for part in parts:
            for row in part:
                out.write(json.dumps(row) + "\n")


def _held(found: list[Example], fold: list[int], k: int) -> list[Example]:
    return [e for e, f in zip(found, fold, strict=True) if f == k and not e.row.get("synthetic")]


def _one_fold(job: tuple[list[Example], list[Example]]) -> list[dict[str, Any]]:
    known, held = job
    model = fit(known, inner=INNER)
    rows = []
    for one in held:
        chance, table = model.claims(one)
        rows.append(
            {
                "set": one.row["set"],
                "dataset": one.row["dataset"],
                "level": one.row["level"],
                "crowded": bool(one.row.get("crowded")),
                "label": one.row["label"],
                "label3": one.row.get("label3"),
                "labels": [int(label) for label in one.labels],
                "sentence": one.sentence,
                "hurdles": one.hurdles,
                "claims": np.round(chance, 5).tolist(),
                "whole": round(model.whole.chance(chance, table), 5),
                "bar": model.bars["es" if one.row["set"] == "inferes" else "en"],
            }
        )
    return rows
