"""Measure the embedded judge on labelled data and on pairs that were written by somebody who had seen
no rule: python -m bench.judge [--fit] [--pairs FILE …] [--write]

Every set is judged with weights that were fitted without it. Beside the value shown stand plain
containment of the answer's words and a logistic regression on ten plain features, both of the whole
answer."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from bench.judge import acceptance, pairs, speed, tasks
from bench.judge.claims import LabelledRow, list_rows
from bench.judge.fit import Weights, fit, fit_judge, judge_answer, predict
from bench.judge.measures import accepted_and_caught, auroc, calibration_error
from bench.judge.page import write_page
from ragstone.judges.offline import VERSION, features
from ragstone.judges.offline.rules import RULES
from ragstone.judges.offline.support import judge_claims

WEIGHTS = Path("src/ragstone/judges/offline/learned/weights.json")


class Prediction(NamedTuple):
    """A row judged by weights that never saw its set."""

    row: LabelledRow
    claims: list[float]
    value: float
    """What metrics show: the mean of the claims."""
    probability: float
    regression: float


def predict_left_out(rows: Sequence[LabelledRow]) -> Iterator[Prediction]:
    """Fit without each set in turn, and judge that set."""
    for name in dict.fromkeys(row.set for row in rows):
        others = [row for row in rows if row.set != name]
        weights = fit_judge(others)
        plain = fit(
            [r.plain for r in others], [r.label for r in others], [r.set for r in others], [0] * 10
        )
        with patch.object(features, "load_weights", lambda weights=weights: weights):
            yield from [_predict(row, weights, plain) for row in rows if row.set == name]


def _predict(row: LabelledRow, weights: Mapping[str, Weights], plain: Weights) -> Prediction:
    """By the judge as it is shipped, but for its weights."""
    claims = [(claim.text, "") for claim in row.claims]
    chances = [c.probability for c in judge_claims(claims, [row.context], row.language)]
    # rounded: the last bit of a mean would order answers that are alike
    value = round(sum(chances) / len(chances), 6) if chances else 0.5
    probability = round(judge_answer(chances, weights["answer"]), 6)
    return Prediction(row, chances, value, probability, predict(row.plain, plain))


MEASURES: Mapping[str, Callable[[Prediction], float]] = {
    "value shown": lambda each: each.value,
    "probability": lambda each: each.probability,
    "containment": lambda each: each.row.containment,
    "ten features": lambda each: each.regression,
}


def measure_set(predictions: Sequence[Prediction]) -> dict[str, float]:
    """Every figure of one set."""
    labels = [each.row.label for each in predictions]
    found = {name: auroc(labels, list(map(get, predictions))) for name, get in MEASURES.items()}
    true, false = accepted_and_caught(labels, [each.probability for each in predictions])
    return found | {
        "balanced accuracy": (true + false) / 2,
        "true accepted": true,
        "false caught": false,
    }


def measure_calibration(predictions: Sequence[Prediction]) -> dict[str, float]:
    """Calibration error over claims that have a label of their own, of all sets together and of
    each."""
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for each in predictions:
        if each.row.has_claim_labels:
            for claim, chance in zip(each.row.claims, each.claims, strict=True):
                if claim.label is not None:
                    found["all"].append((claim.label, chance))
                    found[each.row.set].append((claim.label, chance))
    return {
        name: calibration_error([label for label, _ in rows], [chance for _, chance in rows])
        for name, rows in found.items()
    }


def measure_rules(rows: Sequence[LabelledRow]) -> dict[str, dict[str, int]]:
    """How often each rule speaks on labelled claims, and how often it is right."""
    found = {name: {"fires": 0, "right": 0} for name in RULES}
    for row in rows:
        for claim in row.claims:
            if claim.conflict and claim.label is not None:
                found[claim.conflict.rule]["fires"] += 1
                found[claim.conflict.rule]["right"] += claim.label == 0
    return found


def _print_table(heading: Sequence[str], rows: Mapping[str, Mapping[str, float]]) -> None:
    print(f"\n{'':26}" + "".join(f"{name:>18}" for name in heading))
    for name, values in rows.items():
        cells = (values[each] for each in heading)
        print(f"{name:26}" + "".join(f"{x:18.3f}" if x % 1 else f"{x:18.0f}" for x in cells))


def main() -> None:
    """Print everything; with --fit write the weights, with --write the page of quality."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true", help="write the weights of all sets together")
    parser.add_argument("--pairs", nargs="*", default=[], help="more files of claims with a label")
    parser.add_argument(
        "--held-out", type=Path, help="write weights that never saw a set, for each"
    )
    parser.add_argument("--write", action="store_true", help="write docs and figures of quality")
    options = parser.parse_args()
    rows = list_rows()
    if options.fit:
        WEIGHTS.write_text(json.dumps(fit_judge(rows), indent=1) + "\n", "utf-8")
    if options.held_out:
        held_out = {n: fit_judge([r for r in rows if r.set != n]) for n in {r.set for r in rows}}
        options.held_out.write_text(json.dumps(held_out), "utf-8")
    predictions = list(predict_left_out(rows))
    sets = measure_sets(predictions)
    print(f"offline {VERSION}: every set judged by weights that were fitted without it (AUROC)")
    heading = [*MEASURES, "balanced accuracy", "true accepted", "false caught"]
    _print_table(heading, sets)
    calibration = measure_calibration(predictions)
    print("\ncalibration error:", ", ".join(f"{k} {v:.3f}" for k, v in calibration.items()))
    rules = measure_rules(rows)
    print("\nrules on labelled claims:", rules)
    paired = {path.name: pairs.measure(path) for path in [pairs.BLIND, *map(Path, options.pairs)]}
    for name, found in paired.items():
        print(f"\n{name}:", json.dumps(found, indent=1))
    others: dict[str, Any] = tasks.measure_all()
    print("\nother questions:", json.dumps(others, indent=1))
    rates = speed.measure()
    print("\nspeed:", rates)
    met = [each.met for each in acceptance.check()]
    print(f"\n{sum(met)} of {len(met)} expectations met")
    if options.write:
        write_page(sets, rules, paired, others)


def measure_sets(predictions: Sequence[Prediction]) -> dict[str, dict[str, float]]:
    """Each set, their mean, and the answers from structured data apart."""
    names = dict.fromkeys(each.row.set for each in predictions)
    sets = {name: measure_set([p for p in predictions if p.row.set == name]) for name in names}
    means = {
        key: sum(s[key] for s in sets.values()) / len(sets) for key in next(iter(sets.values()))
    }
    records = measure_set([p for p in predictions if p.row.kind == "ragtruth/data2txt"])
    return {**sets, "mean": means, "ragtruth: JSON contexts": records}


if __name__ == "__main__":
    main()
