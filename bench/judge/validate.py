"""How far to trust the embedded judge: python bench/judge/validate.py

Leave one set out (the headline: data that no weight has seen), then five-fold cross-validation by source document
(other documents of the same sets), beside plain containment on the same rows."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from examples import OURS, Example, load_examples
from fit import fit_models
from measures import auroc, balanced_accuracy, calibration_error, f1

from ragstone.judges.offline.features import NAMES
from ragstone.judges.offline.model import predict_answer
from ragstone.judges.offline.verdicts import REFUTED, SUPPORT_BAR

FOLDS = 5
_NUMBERS = NAMES.index("unknown_numbers")


class Prediction(NamedTuple):
    """What the judge says of one row."""

    value: float
    """The share of supported claims, as users see it."""
    probability: float


class ClaimPredictions(NamedTuple):
    """What the judge says of the claims of one row."""

    chances: np.ndarray[Any, Any]
    supported: np.ndarray[Any, Any]


def predict(examples: Sequence[Example], held: Callable[[Example], Any]) -> list[Prediction]:
    """Predict each row by models that saw no row with the same key; our own pairs are always in training."""
    return [row for row, _ in predict_claims(examples, held)]


def predict_claims(
    examples: Sequence[Example], held: Callable[[Example], Any]
) -> list[tuple[Prediction, ClaimPredictions]]:
    """Predict each row and its claims, as `predict` does."""
    keys = [held(example) for example in examples]
    out: dict[int, tuple[Prediction, ClaimPredictions]] = {}
    for key in dict.fromkeys(keys):
        models = fit_models([e for e, k in zip(examples, keys, strict=True) if k != key])
        for n, (example, own) in enumerate(zip(examples, keys, strict=True)):
            if own == key:
                out[n] = _predict_row(models, example)
    return [out[n] for n in range(len(examples))]


def _predict_row(models: dict[str, Any], example: Example) -> tuple[Prediction, ClaimPredictions]:
    chance = models["claim"].predict(example.table)
    refuted = np.array(example.refuted)
    supported = (chance >= SUPPORT_BAR) & ~refuted & (example.table[:, _NUMBERS] == 0)
    whole = predict_answer(models["answer"], chance, example.known_share)
    prediction = Prediction(float(supported.mean()), min(whole, REFUTED if refuted.any() else 1.0))
    return prediction, ClaimPredictions(chance, supported)


def fold_of(example: Example) -> int:
    """The fold of a source document: all its rows share it."""
    return zlib.crc32(example.group.encode()) % FOLDS


def format_table(title: str, examples: Sequence[Example], predictions: Sequence[Prediction]) -> str:
    """One line a set: AUROC of containment, value and probability; verdict on the whole answer; calibration."""
    lines = [
        f"### {title}\n",
        "| set | rows | containment | value | probability | balanced accuracy | F1 | calibration error |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    table = []
    for name in dict.fromkeys(example.name for example in examples if example.name != OURS):
        mine = [n for n, example in enumerate(examples) if example.name == name]
        label = [examples[n].label for n in mine]
        wrong = [1 - each for each in label]
        probability = [predictions[n].probability for n in mine]
        flagged = [int(p < SUPPORT_BAR) for p in probability]
        figures = (
            auroc(label, [examples[n].containment for n in mine]),
            auroc(label, [predictions[n].value for n in mine]),
            auroc(label, probability),
            balanced_accuracy(wrong, flagged),
            f1(wrong, flagged),
            calibration_error(label, probability),
        )
        table.append(figures)
        lines.append(f"| {name} | {len(mine)} | " + " | ".join(f"{x:.3f}" for x in figures) + " |")
    means = " | ".join(f"**{x:.3f}**" for x in np.mean(table, axis=0))
    return "\n".join([*lines, f"| **mean of the seven** | | {means} |"])


def main() -> None:
    """Print both tables."""
    examples = load_examples()
    print(format_table("Leave one set out", examples, predict(examples, lambda e: e.name)))
    print(format_table("Other documents of the same sets", examples, predict(examples, fold_of)))


if __name__ == "__main__":
    main()
