"""A cascade of the embedded judge and a strong one: questions asked against balanced accuracy by what people say.

    python -m bench.cascade             about a minute once `bench.crossfit` has fitted (five minutes)
    python -m bench.cascade --write     also ship the bounds of the embedded judge

The embedded judge's chances are cross-fitted by document. The second judge is scripted: right in 95 % of the claims. Bounds
are chosen on one half of the documents and measured on the other, both ways round; every draw of the second judge's
errors is repeated 20 times. Two truths of people: their verdict on each claim (spans of RAGTruth), and on each answer
(supported if all its claims are). Beside each figure the baseline: as many questions asked at random.

Bar: half of the questions saved at 3 points of balanced accuracy lost, or fewer.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.crossfit import Predictions, load_predictions
from ragstone.judges.scale import BUNDLED_FILE
from ragstone.labels.estimates import MeasuredItem
from ragstone.labels.measure import find_unsure

Array = np.ndarray[Any, Any]
SETS = {"ragtruth_test": ("RAGTruth", "en"), "inferes": ("InferES (Spanish)", "es")}
ACCURACY = 0.95
MAX_LOSS = 0.03
MIN_SAVED = 0.5
REPEATS = 20
GRID = np.round(np.arange(0.0, 1.001, 0.02), 2)
ASKED_STEPS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
Bounds = tuple[float, float]


@dataclass(frozen=True)
class World:
    """Claims with people's labels, the first judge's chances and verdicts, and the second judge's verdicts."""

    row: Array
    label: Array
    answer_label: Array
    chance: Array
    first: Array
    certain: Array
    second: Array

    def decide(self, asked: Array) -> Array:
        return np.where(asked, self.second, self.first)

    def find_unsure(self, bounds: Bounds) -> Array:
        return (self.chance > bounds[0]) & (self.chance < bounds[1]) & ~self.certain

    def score_claims(self, verdicts: Array) -> float:
        return _balance(self.label, verdicts)

    def score_answers(self, verdicts: Array) -> float:
        whole = np.ones(len(self.answer_label))
        np.minimum.at(whole, self.row, verdicts)
        return _balance(self.answer_label, whole)


Score = Callable[[World, Array], float]
TRUTHS: dict[str, Score] = {"claims": World.score_claims, "answers": World.score_answers}


def build_world(predictions: Predictions, rows: Array, rng: np.random.Generator) -> World:
    """The claims of some rows, and a draw of the second judge's errors."""
    claims = rows[predictions.claim_row]
    numbers = np.cumsum(rows) - 1
    label = predictions.claim_label[claims]
    return World(
        row=numbers[predictions.claim_row[claims]],
        label=label,
        answer_label=predictions.label[rows],
        chance=predictions.claim_chance[claims],
        first=predictions.claim_supported[claims].astype(int),
        certain=predictions.claim_certain[claims],
        second=np.where(rng.random(len(label)) < ACCURACY, label, 1 - label),
    )


def split_halves(predictions: Predictions) -> tuple[Array, Array]:
    """Rows of two halves of the documents; rows with a claim that people did not decide are in neither."""
    open_rows = np.zeros(len(predictions.label), bool)
    open_rows[predictions.claim_row[predictions.claim_label < 0]] = True
    side = np.array([zlib.crc32(str(g).encode()) // 7 % 2 for g in predictions.group]) == 1
    return side & ~open_rows, ~side & ~open_rows


def choose_bounds(world: World, score: Score, share: float) -> Bounds:
    """The bounds with the best balanced accuracy that leave no more than this share of the claims to the second judge."""
    best = (-1.0, (0.5, 0.5))
    for low in GRID[GRID <= 0.5]:
        for high in GRID[GRID >= 0.5]:
            unsure = world.find_unsure((low, high))
            if unsure.mean() <= share + 1e-9:
                best = max(best, (score(world, world.decide(unsure)), (float(low), float(high))))
    return best[1]


def measure_point(
    predictions: Predictions, score: Score, share: float
) -> tuple[float, float, float]:
    """Share asked, points lost against asking the second always, and those lost by asking as many at random."""
    halves = split_halves(predictions)
    figures = []
    for own, other in (halves, halves[::-1]):
        bounds = choose_bounds(
            build_world(predictions, own, np.random.default_rng(0)), score, share
        )
        for repeat in range(REPEATS):
            rng = np.random.default_rng(repeat)
            world = build_world(predictions, other, rng)
            unsure = world.find_unsure(bounds)
            random = rng.random(len(unsure)) < unsure.mean()
            full = score(world, world.second)
            lost = [full - score(world, world.decide(asked)) for asked in (unsure, random)]
            figures.append((float(unsure.mean()), *lost))
    asked, lost, lost_at_random = np.mean(figures, axis=0)
    return float(asked), float(lost), float(lost_at_random)


def find_shipped_bounds(predictions: Predictions) -> tuple[Bounds, float]:
    """The bounds that `judge measure` would find on these claims."""
    known = predictions.claim_label >= 0
    label, chance = predictions.claim_label[known], predictions.claim_chance[known]
    verdicts = predictions.claim_supported[known]
    found = find_unsure(
        [
            MeasuredItem("", "", float(y), float(p), float(v), has_probability=True)
            for y, p, v in zip(label, chance, verdicts, strict=True)
        ]
    )
    assert found is not None
    return found


def write_bounds(bounds: dict[str, Bounds]) -> None:
    """Put the bounds into the scales that come with the package."""
    scales = json.loads(BUNDLED_FILE.read_text("utf-8"))
    for scale in scales:
        if scale["metric"] == "faithfulness" and scale["language"] in bounds:
            scale["unsure"] = list(bounds[scale["language"]])
    lines = ",\n".join(map(json.dumps, scales))
    BUNDLED_FILE.write_text(f"[\n{lines}\n]\n", "utf-8")


def _balance(label: Array, verdicts: Array) -> float:
    yes, no = verdicts[label == 1], verdicts[label == 0]
    return float(yes.mean() + 1 - no.mean()) / 2


def main() -> None:
    """Print the curve of each set and truth, what is saved at 3 points, and the bounds to ship."""
    everything, missed, bounds = load_predictions(), [], {}
    for name, (title, language) in SETS.items():
        predictions = everything.select(name)
        for truth, score in TRUTHS.items():
            whole = build_world(
                predictions, np.logical_or(*split_halves(predictions)), np.random.default_rng(0)
            )
            alone = [score(whole, verdicts) for verdicts in (whole.first, whole.second)]
            print(
                f"{title}, {truth}: first alone {alone[0]:.3f}, second alone {alone[1]:.3f} balanced accuracy"
            )
            saved = 0.0
            for share in ASKED_STEPS:
                asked, lost, at_random = measure_point(predictions, score, share)
                saved = max(saved, 1 - asked if lost <= MAX_LOSS else 0.0)
                print(
                    f"  asked {asked:5.1%}  lost {100 * lost:+5.1f} points  (at random {100 * at_random:+5.1f})",
                    flush=True,
                )
            print(f"  saved at {100 * MAX_LOSS:g} points: {saved:.0%}")
            if saved < MIN_SAVED:
                missed.append((title, truth, round(saved, 2)))
        bounds[language], inside = find_shipped_bounds(predictions)
        print(
            f"  bounds that leave 5 % of each side wrong: {bounds[language]}, {inside:.0%} inside"
        )
    if "--write" in sys.argv:
        write_bounds(bounds)
    if missed:
        raise SystemExit(f"less than half of the questions saved at 3 points: {missed}")


if __name__ == "__main__":
    main()
