"""Probabilities fitted to a few labels of one's own data, beside the probabilities as they are.

python -m bench.calibration [--rows 300] [--labels 30 100] [--splits 20]

For each set of labelled data (the folder of bench/judge, not part of the project) the embedded judge scores some rows
once. Again and again half of the groups is drawn: the labels of a few of its rows fit the judge, and the other half measures
the expected calibration error and the log-loss of the probabilities as they are, of each method, and of what `judge fit`
would keep (the better one on folds, or none). The last column is the coverage of the corrected mean of all rows, with the
fitted probabilities and the same labels: it promises 95 %."""

from __future__ import annotations

import argparse
import random
from statistics import fmean

import numpy as np

from bench.judge.rows import JUDGE_SETS, data_folder, load
from ragstone import evaluate
from ragstone.analysis.corrected import LabelledUnits, correct_mean
from ragstone.judges.calibration import (
    Calibration,
    LabelledClaim,
    fit_calibration,
    measure_calibration_error,
)
from ragstone.labels.units import list_units

Pairs = list[tuple[float, float]]


def judge_rows(name: str, count: int) -> list[LabelledClaim]:
    """What the embedded judge says of some rows of a set, the least likely claim of each, and the labels."""
    rows = random.Random(7).sample(load("judge", name), count)
    samples = [
        {"id": str(n), "question": row.get("question") or "", "answer": row["claim"], "contexts": [row["context"]]}
        for n, row in enumerate(rows)
    ]  # fmt: skip
    language = "es" if name == "inferes" else "en"
    run = evaluate(samples, ["faithfulness"], judge="offline", store=":memory:", language=language)
    claims = []
    for unit in list_units(run.stored, "support"):
        row = rows[int(unit.sample)]
        chance = unit.prediction if unit.weakest is None else unit.weakest
        claims.append(LabelledClaim(chance, chance >= 0.5, float(row["label"]), row["group"]))
    return claims


def draw_split(claims: list[LabelledClaim], labels: int, rng: random.Random) -> tuple[list[LabelledClaim], list[LabelledClaim]]:  # fmt: skip
    """Labels of one half of the groups, and the other half."""
    groups = sorted({claim.group for claim in claims})
    rng.shuffle(groups)
    half = set(groups[: len(groups) // 2])
    inside = [claim for claim in claims if claim.group in half]
    return rng.sample(inside, min(labels, len(inside))), [c for c in claims if c.group not in half]


def apply_fit(fitted: Calibration | None, claims: list[LabelledClaim]) -> Pairs:
    """Probability, fitted or as it is, and label of each claim."""
    return [
        (c.probability or 0.0 if fitted is None else fitted.apply(c.probability, c.supported) or 0.0, c.label)
        for c in claims
    ]  # fmt: skip


def is_covered(
    claims: list[LabelledClaim], labelled: list[LabelledClaim], fitted: Calibration | None
) -> bool:
    """Whether the interval of the corrected mean holds the mean of all labels."""
    chosen = {id(claim) for claim in labelled}
    at = [n for n, claim in enumerate(claims) if id(claim) in chosen]
    numbers: dict[str, int] = {}
    estimate = correct_mean(
        LabelledUnits(
            np.array([p for p, _ in apply_fit(fitted, claims)]),
            labelled=np.array(at, np.int64),
            labels=np.array([claims[n].label for n in at]),
            sampling_probabilities=np.full(len(at), len(at) / len(claims)),
            weights=np.full(len(claims), 1 / len(claims)),
            groups=np.array([numbers.setdefault(c.group, len(numbers)) for c in claims], np.int64),
        )
    )
    truth = fmean(claim.label for claim in claims)
    return estimate is not None and estimate.low <= truth <= estimate.high


def measure(claims: list[LabelledClaim], labels: int, splits: int) -> dict[str, float]:
    """Means over the splits."""
    rng, found = random.Random(11), []
    for _ in range(splits):
        labelled, rest = draw_split(claims, labels, rng)
        if len(labelled) < labels:
            return {}
        fitted = fit_calibration(labelled)
        drawn = rng.sample(claims, labels)
        raw, now = apply_fit(None, rest), apply_fit(fitted, rest)
        found.append(
            {
                "kept": float(fitted is not None),
                "ece": measure_calibration_error(raw),
                "ece_fitted": measure_calibration_error(now),
                "gap": abs(fmean(p for p, _ in raw) - fmean(y for _, y in raw)),
                "gap_fitted": abs(fmean(p for p, _ in now) - fmean(y for _, y in now)),
                "covered": float(is_covered(claims, drawn, None)),
                "covered_fitted": float(is_covered(claims, drawn, fit_calibration(drawn))),
            }
        )
    return {name: fmean(row[name] for row in found) for name in found[0]}


def main() -> None:
    """Print a line for each set and number of labels."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--labels", type=int, nargs="+", default=[30, 100])
    parser.add_argument("--splits", type=int, default=20)
    options = parser.parse_args()
    if not (data_folder() / "judge").is_dir():
        print(f"no labelled data in {data_folder() / 'judge'}; nothing to measure")
        return
    print("set                  labels kept | error: as it is, fitted | mean off by: as it is, fitted | covered: as it is, fitted")  # fmt: skip
    for name in JUDGE_SETS:
        claims = judge_rows(name, options.rows)
        for labels in options.labels:
            row = measure(claims, labels, options.splits)
            if row:
                figures = "  ".join(f"{figure:.3f}" for figure in row.values())
                print(f"{name:20} {labels:4} {figures}", flush=True)


if __name__ == "__main__":
    main()
