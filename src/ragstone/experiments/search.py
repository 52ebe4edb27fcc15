"""The decisions of a search for better settings: objective, split of the questions, rounds, and which configurations survive."""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from ragstone.analysis.columns import RunColumns
from ragstone.analysis.paired import compare_pairs
from ragstone.analysis.significance import ALPHA, adjust_p_values
from ragstone.errors import RagstoneError
from ragstone.types import Sample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROUND_SHARES = (1 / 8, 1 / 4, 1.0)
"""Share of the tuning questions that a configuration has answered after each round."""
SURVIVOR_SHARE = 1 / 2
"""Largest share of the configurations of a round that takes part in the next."""
MIN_QUESTIONS = 8
"""Smallest number of questions of a round, and of each side of the split."""
DEFAULT_TRIALS = 64
"""Configurations of a larger grid that are tried unless the user names a number."""


@dataclass(frozen=True, slots=True)
class Objective:
    """What is wanted: a weighted mean of metrics, and what it is traded against."""

    weights: Mapping[str, float]
    against: tuple[str, ...] = ()
    """Measures that should be low (cost, latency, tokens); with them, there is a front instead of one best."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that has to be scored for its sake; costs are measured anyway."""
        return tuple(self.weights)


@dataclass(frozen=True, slots=True)
class TrialState:
    """One configuration after a round."""

    quality: NDArray[np.float64]
    """The objective's value for each question, NaN where there is none."""
    costs: tuple[float, ...] = ()
    """Means of what it is traded against."""


def parse_objective(text: str, against: Sequence[str] = ()) -> Objective:
    """The objective that a text describes: `token_f1`, or `0.7*recall@5 + 0.3*token_f1`."""
    weights: dict[str, float] = {}
    for part in text.split("+"):
        number, times, name = part.rpartition("*")
        try:
            weight = float(number) if times else 1.0
        except ValueError:
            weight = math.nan
        name = name.strip()
        if not name or not 0 < weight < math.inf or name in weights:
            raise RagstoneError(
                f"{part.strip()!r} is no part of an objective; write each metric once, with a "
                "weight above 0: 0.7*recall@5 + 0.3*token_f1"
            )
        weights[name] = weight
    return Objective(weights, tuple(against))


def find_highest(objective: Objective) -> float | None:
    """A value that the objective of no question can be above; None when there is none."""
    limits = find_range(objective)
    return None if limits is None else limits[1]


def find_range(objective: Objective) -> tuple[float, float] | None:
    """The values that the objective of a question lies between; None when a metric has no bounds."""
    from ragstone.metrics import resolve

    lows, highs = [], []
    for name in objective.weights:
        metric = resolve(name)
        if metric.bounds is None or not all(map(math.isfinite, metric.bounds)):
            return None
        low, high = metric.bounds
        # as in `compute_quality`, a metric where lower is better counts with its sign turned
        lows.append(low if metric.higher_is_better else -high)
        highs.append(high if metric.higher_is_better else -low)
    return float(min(lows)), float(max(highs))


def draw_candidates(
    vary: Mapping[str, Sequence[Any]], trials: int | None, seed: int
) -> list[dict[str, Any]]:
    """Every combination of the values, or as many as there may be trials, drawn by the seed."""
    for name, values in vary.items():
        if not values or len(set(map(repr, values))) < len(values):
            raise RagstoneError(f"{name} needs values to try, each once; write {name}=1,2,3")
    if not vary:
        raise RagstoneError("nothing is varied; name a setting and its values: top_k=3,5,10")
    size = math.prod(len(values) for values in vary.values())
    count = min(size, DEFAULT_TRIALS if trials is None else trials)
    if count == size:
        return [dict(zip(vary, values, strict=True)) for values in product(*vary.values())]
    numbers = sorted(random.Random(seed).sample(range(size), count))
    return [_combination_at(vary, number) for number in numbers]


def split_samples(
    samples: Sequence[Sample], held_out: float, seed: int
) -> tuple[list[Sample], list[Sample]]:
    """Questions to tune on, shuffled, and questions to report on; those of a group stay on one side."""
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        # prefixed, so that a group and a sample of the same name stay apart
        key = f"in {sample.group}" if sample.group is not None else f"alone {sample.id}"
        groups.setdefault(key, []).append(sample)
    wanted = round(held_out * len(samples))
    held: list[Sample] = []
    tuning: list[Sample] = []
    # by hash instead of a shuffle: a sample added to the data does not move the others to the other
    # side
    for key in sorted(groups, key=lambda key: _draw_key(seed, key)):
        (held if len(held) < wanted else tuning).extend(groups[key])
    if min(len(held), len(tuning)) < MIN_QUESTIONS:
        needed = math.ceil(MIN_QUESTIONS / min(held_out, 1 - held_out))
        raise RagstoneError(
            f"{len(samples)} questions leave {len(tuning)} to tune on and "
            f"{len(held)} to report on; {MIN_QUESTIONS} of each are needed: give about {needed} questions"
        )
    return _interleave_groups(tuning, seed), held


def _interleave_groups(samples: Sequence[Sample], seed: int) -> list[Sample]:
    """Shuffled so that every beginning has as many groups as it can: questions of a group tell much the same."""
    seen: Counter[str] = Counter()
    places = {}
    for sample in sorted(samples, key=lambda sample: _draw_key(seed, f"question {sample.id}")):
        key = sample.group if sample.group is not None else f"alone {sample.id}"
        places[sample.id] = (seen[key], _draw_key(seed, f"question {sample.id}"))
        seen[key] += 1
    return sorted(samples, key=lambda sample: places[sample.id])


def plan_rounds(questions: int) -> list[int]:
    """How many questions a configuration has answered after each round; the last has them all."""
    sizes = {
        min(questions, max(MIN_QUESTIONS, math.ceil(share * questions))) for share in ROUND_SHARES
    }
    return sorted(sizes | {questions})


def compute_quality(
    table: RunColumns, ids: Sequence[str], objective: Objective
) -> NDArray[np.float64]:
    """For each question the weighted mean of the metrics that apply to it, turned so that higher is better.

    A question that the system failed on counts as the worst; one that could not be judged does not count."""
    import numpy as np

    total, weight = np.zeros(len(ids)), np.zeros(len(ids))
    places = [table.places[name] for name in ids]
    for name, share in objective.weights.items():
        about = table.describe_metric(name)
        sign = 1.0 if about.get("higher_is_better", True) else -1.0
        bounds = about.get("bounds")
        worst = math.nan if bounds is None else float(bounds[0 if sign > 0 else 1])
        values = table.values[name][places].copy()
        applies = np.ones(len(ids), bool)
        for at, place in enumerate(places):
            # `judge_error: refusal` → `judge_error`
            outcome = table.missing_outcomes[name].get(place, "").partition(":")[0]
            if outcome == "system_error":
                values[at] = worst
            # a judge's failure stays NaN: the question is unknown, neither bad nor without meaning
            elif outcome in ("not_applicable", "missing_field"):
                values[at], applies[at] = 0.0, False
        total += np.where(applies, sign * share * values, 0.0)
        weight += share * applies
    quality: NDArray[np.float64] = np.where(
        weight > 0, total / np.where(weight > 0, weight, 1), np.nan
    )
    return quality


def rank_standings(standings: Sequence[TrialState]) -> list[int]:
    """Indices of the configurations, the best first: by front when there are costs, then by quality.

    Qualities are means over the questions that all of them have a value for; who has less than half of them is last."""
    import numpy as np

    table = np.array([standing.quality for standing in standings])
    scored = (~np.isnan(table)).sum(axis=1)
    enough = scored * 2 >= max(1, int(scored.max()))
    common = ~np.isnan(table[enough]).any(axis=0) if enough.any() else np.zeros(0, bool)
    means = [
        float("-inf")
        if not enough[at]
        else float(row[common].mean() if common.any() else np.nanmean(row))
        for at, row in enumerate(table)
    ]
    points = [(-mean, *standing.costs) for mean, standing in zip(means, standings, strict=True)]
    layers = (
        front_layers(points) if any(standing.costs for standing in standings) else [0] * len(points)
    )
    return sorted(range(len(points)), key=lambda at: (not enough[at], layers[at], points[at], at))


def front_layers(points: Sequence[tuple[float, ...]]) -> list[int]:
    """0 for points that no other beats in every coordinate (lower is better), 1 for those that only these beat, …"""
    layers = [-1] * len(points)
    remaining, layer = set(range(len(points))), 0
    while remaining:
        front = {
            at
            for at in remaining
            if not any(_dominates(points[by], points[at]) for by in remaining)
        }
        for at in front:
            layers[at] = layer
        remaining -= front
        layer += 1
    return layers


def find_hopeless(leader: TrialState, others: Sequence[TrialState], groups: NDArray[np.int64] | None) -> list[bool]:  # fmt: skip
    """For each configuration whether it is worse than the leader by more than chance (Holm over them all), and cheaper in none of the costs."""
    import numpy as np

    ps, below = [], []
    for candidate in others:
        both = ~np.isnan(leader.quality) & ~np.isnan(candidate.quality)
        paired = compare_pairs(
            leader.quality[both], candidate.quality[both], None if groups is None else groups[both]
        )
        high = paired.interval.high
        ps.append(1.0 if paired.p is None else paired.p)
        cheaper = any(a < b for a, b in zip(candidate.costs, leader.costs, strict=True))
        below.append((paired.difference or 0.0) < 0 and (high is None or high < 0) and not cheaper)  # fmt: skip
    return [p <= ALPHA and lower for p, lower in zip(adjust_p_values(ps), below, strict=True)]


def choose_survivors(
    standings: Sequence[TrialState], groups: NDArray[np.int64] | None
) -> list[int]:
    """Indices of those that go on to the next round, the best first."""
    order = rank_standings(standings)
    first, rest = order[0], order[1:]
    lost = find_hopeless(standings[first], [standings[at] for at in rest], groups)
    hopeful = [first, *(at for at, out in zip(rest, lost, strict=True) if not out)]
    return hopeful[: max(1, math.ceil(SURVIVOR_SHARE * len(standings)))]


def _dominates(point: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return point != other and all(a <= b for a, b in zip(point, other, strict=True))


def _draw_key(seed: int, key: str) -> str:
    """A place in an order that the seed chooses and that other questions do not change."""
    return hashlib.sha256(f"{seed} {key}".encode("utf-8", "surrogatepass")).hexdigest()


def _combination_at(vary: Mapping[str, Sequence[Any]], number: int) -> dict[str, Any]:
    """The combination of that number, without listing the others."""
    combination = {}
    # the last factor turns fastest, as in itertools.product, so that numbers mean the same in both
    for name, values in reversed(list(vary.items())):
        number, at = divmod(number, len(values))
        combination[name] = values[at]
    return {name: combination[name] for name in vary}
