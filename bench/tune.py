"""`tune`'s race beside plain ways, at the same number of answers: how often each finds the best of the whole grid.

    python -m bench.tune [--splits 20]

The scores are real: every configuration of each grid of the built-in pipeline answers every question of the built-in
corpus once. Then each way is simulated on random halves of the questions. A way is right when the full mean of its
choice is the best there is. The plain ways get as many answers as the race took:

    subset   all configurations answer the same random questions; the best mean wins
    halving  all answer a few, the better half twice as many, and so on; the best mean wins
    optuna   its TPE sampler proposes, its successive-halving pruner ends what looks bad
"""

from __future__ import annotations

import argparse
import itertools
import math
import warnings
from typing import Any

import numpy as np

from bench.pipeline import BASELINE, measured
from ragstone.experiments.race import Race

GRIDS: dict[str, dict[str, list[Any]]] = {
    "12": {"top_k": [1, 3, 8], "retriever": ["bm25", "hybrid"], "chunk_size": [40, 120]},
    "36": {
        "top_k": [1, 3, 8], "retriever": ["bm25", "dense", "hybrid"],
        "chunk_size": [40, 120], "titles": [False, True],
    },
}  # fmt: skip
OBJECTIVES = {
    "recall": {"recall": 1.0},
    "mrr": {"mrr": 1.0},
    "token_f1": {"token_f1": 1.0},
    "recall and token_f1": {"recall": 0.7, "token_f1": 0.3},
    "abstention": {"abstention_accuracy": 1.0},
}
WAYS = ("race", "subset", "halving", "optuna")


def run_race(settings: list[dict[str, Any]], values: np.ndarray) -> tuple[int, int]:
    """The race's choice, and how many answers it took."""
    race = Race(settings, values.shape[1], best_value=1.0)
    while (step := race.choose_next()) is not None:
        which, places = step
        race.add_scores(which, places, values[which, places])
    assert race.leader is not None
    return race.leader, int(race.asked.sum())


def run_subset(values: np.ndarray, answers: int, dice: np.random.Generator) -> int:
    """The best mean on as many questions as each configuration may answer."""
    chosen = dice.permutation(values.shape[1])[: max(1, answers // len(values))]
    return int(np.nanmean(values[:, chosen], axis=1).argmax())


def run_halving(values: np.ndarray, answers: int, dice: np.random.Generator) -> int:
    """Rounds that cost the same: half the configurations, twice the questions."""
    order = dice.permutation(values.shape[1])
    alive = np.arange(len(values))
    rounds = max(1, math.ceil(math.log2(len(values))))
    answered = 0
    for _ in range(rounds):
        answered = min(answered + max(1, answers // rounds // len(alive)), values.shape[1])
        means = np.nanmean(values[alive][:, order[:answered]], axis=1)
        alive = alive[np.argsort(-means, kind="stable")][: max(1, len(alive) // 2)]
    return int(alive[0])


def run_optuna(
    grid: dict[str, list[Any]], settings: list[dict[str, Any]], values: np.ndarray, answers: int, seed: int
) -> int:  # fmt: skip
    """Optuna's default sampler with its pruner, until the answers are spent; the best mean of those asked most wins."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    order = np.random.default_rng(seed).permutation(values.shape[1])
    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=seed),
        pruner=optuna.pruners.SuccessiveHalvingPruner(min_resource=8),
    )
    asked: dict[int, int] = {}
    while sum(asked.values()) < answers and len(asked) < len(settings) * 20:
        trial = study.ask()
        chosen = {name: trial.suggest_categorical(name, some) for name, some in grid.items()}
        which = settings.index(chosen)
        before = sum(asked.values())
        for n in range(8, values.shape[1] + 8, 8):
            n = min(n, values.shape[1])
            asked[which] = max(asked.get(which, 0), n)
            mean = float(np.nanmean(values[which, order[:n]]))
            trial.report(mean, n)
            if trial.should_prune() or n == values.shape[1] or sum(asked.values()) >= answers:
                study.tell(trial, mean)
                break
        if sum(asked.values()) == before and len(study.trials) > 500:
            break
    most = max(asked.values())
    return max(
        (which for which, n in asked.items() if n == most),
        key=lambda which: np.nanmean(values[which, order[:most]]),
    )


def main() -> None:
    """Score every configuration once, simulate each way on random halves, and print how often it is right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("--splits", type=int, default=20)
    splits = parser.parse_args().splits
    print(f"{'objective':20} grid  answers  " + "  ".join(f"{way:>8}" for way in WAYS))
    total = dict.fromkeys(WAYS, 0)
    loss = dict.fromkeys(WAYS, 0.0)
    for name, grid in GRIDS.items():
        settings = [
            dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())
        ]
        scores = [measured({**BASELINE, **setting}) for setting in settings]
        for objective, weights in OBJECTIVES.items():
            ids = sorted(set.union(*(set(scores[0][metric]) for metric in weights)))
            table = np.array([[_weigh(one, id, weights) for id in ids] for one in scores])
            right, taken = dict.fromkeys(WAYS, 0), 0.0
            for split in range(splits):
                dice = np.random.default_rng(split)
                values = table[:, dice.permutation(len(ids))[: len(ids) // 2]]
                means = np.nanmean(values, axis=1)
                leader, answers = run_race(settings, values)
                taken += answers / values.size / splits
                choices = {
                    "race": leader,
                    "subset": run_subset(values, answers, dice),
                    "halving": run_halving(values, answers, dice),
                    "optuna": run_optuna(grid, settings, values, answers, split),
                }
                for way, choice in choices.items():
                    right[way] += bool(means[choice] >= means.max() - 1e-9)
                    loss[way] += float(means.max() - means[choice])
            shown = "  ".join(f"{right[way]:>5}/{splits}" for way in WAYS)
            print(f"{objective:20} {name:>4}  {taken:7.0%}  {shown}", flush=True)
            for way in WAYS:
                total[way] += right[way]
    count = splits * len(GRIDS) * len(OBJECTIVES)
    print(
        "\nright: " + ", ".join(f"{way} {total[way]} of {count}" for way in WAYS)
        + "\nmean loss: " + ", ".join(f"{way} {loss[way] / count:.4f}" for way in WAYS)
    )  # fmt: skip


def _weigh(scores: dict[str, dict[str, float]], id: str, weights: dict[str, float]) -> float:
    known = {metric: weight for metric, weight in weights.items() if id in scores[metric]}
    if not known:
        return math.nan
    total = sum(weight * scores[metric][id] for metric, weight in known.items())
    return total / sum(known.values())


if __name__ == "__main__":
    main()
