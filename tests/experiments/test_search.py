"""The search without the running: objectives, splits, growing subsets, who is dropped."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from ragstone.analysis.columns import RunColumns
from ragstone.errors import RagstoneError
from ragstone.experiments.search import (
    TrialState,
    choose_survivors,
    compute_quality,
    draw_candidates,
    find_hopeless,
    front_layers,
    parse_objective,
    plan_rounds,
    rank_standings,
    split_samples,
)
from ragstone.types import Sample


def standing(*values: float, costs: tuple[float, ...] = ()) -> TrialState:
    return TrialState(np.array(values, float), costs)


def test_an_objective_is_a_metric_or_a_weighted_sum() -> None:
    assert parse_objective("token_f1").weights == {"token_f1": 1.0}
    assert parse_objective("0.7*recall@5 + 0.3*token_f1").weights == {
        "recall@5": 0.7,
        "token_f1": 0.3,
    }


@pytest.mark.parametrize("text", ["", "x*recall", "0*recall", "recall+recall", "nan*recall"])
def test_a_wrong_objective_is_explained(text: str) -> None:
    with pytest.raises(RagstoneError, match="is no part of an objective"):
        parse_objective(text)


def test_a_small_grid_is_tried_whole_and_of_a_large_one_the_seed_draws() -> None:
    vary = {"a": [1, 2, 3], "b": [True, False]}
    everything = draw_candidates(vary, None, 0)
    assert len(everything) == 6
    drawn = draw_candidates(vary, 3, 1)
    assert len(drawn) == 3
    assert all(one in everything for one in drawn)
    assert drawn == draw_candidates(vary, 3, 1)
    assert any(drawn != draw_candidates(vary, 3, seed) for seed in range(2, 9))
    with pytest.raises(RagstoneError, match="each once"):
        draw_candidates({"a": [1, 1]}, None, 0)


def test_a_split_keeps_groups_together_and_follows_the_seed() -> None:
    samples = [Sample(id=f"q{n}", question="?", group=f"g{n // 3}") for n in range(90)]
    tuning, kept = split_samples(samples, 0.3, 5)
    assert sorted(one.id for one in (*tuning, *kept)) == sorted(sample.id for sample in samples)
    assert not {one.group for one in tuning} & {one.group for one in kept}
    assert 27 <= len(kept) <= 29
    assert split_samples(samples, 0.3, 5) == (tuning, kept)
    assert split_samples(samples, 0.3, 6) != (tuning, kept)


def test_too_few_questions_to_split_are_refused() -> None:
    with pytest.raises(RagstoneError, match="8 of each are needed"):
        split_samples([Sample(id=str(n), question="?") for n in range(12)], 0.3, 0)


def test_rounds_grow_to_all_questions() -> None:
    assert plan_rounds(160) == [20, 40, 160]
    assert plan_rounds(20) == [8, 20]
    assert plan_rounds(8) == [8]


def test_fronts_are_peeled_one_after_another() -> None:
    points = [(-0.9, 5.0), (-0.5, 1.0), (-0.4, 2.0), (-0.3, 3.0), (-0.9, 5.0)]
    assert front_layers(points) == [0, 0, 1, 2, 0]


def test_ranking_compares_on_the_questions_that_all_have_a_value_for() -> None:
    easy_only = standing(1, 1, math.nan, math.nan)
    better = standing(1, 1, 0, 0)
    worse = standing(1, 0, 1, 1)
    assert rank_standings([worse, easy_only, better])[-1] == 0


def test_who_has_few_values_does_not_win_by_them() -> None:
    lucky = standing(1, *[math.nan] * 9)
    assert rank_standings([lucky, standing(*[0.5] * 10)]) == [1, 0]


def test_a_cheaper_configuration_is_not_dropped_for_lower_quality() -> None:
    best = standing(*[1.0] * 30, costs=(5.0,))
    cheap = standing(*[0.0, 0.1] * 15, costs=(1.0,))
    dear = standing(*[0.0, 0.1] * 15, costs=(6.0,))
    assert find_hopeless(best, [cheap, dear], None) == [False, True]


def test_only_what_is_worse_by_more_than_chance_is_hopeless() -> None:
    rng = np.random.default_rng(0)
    leader = TrialState(rng.random(60))
    noise = TrialState(leader.quality + rng.normal(0, 0.2, 60))
    clear = TrialState(leader.quality - 0.3 + rng.normal(0, 0.2, 60))
    assert find_hopeless(leader, [noise, clear], None) == [False, True]


def test_of_equals_half_go_on_and_of_hopeless_ones_none() -> None:
    equal = [standing(*[0.5, 0.6] * 10) for _ in range(6)]
    assert choose_survivors(equal, None) == [0, 1, 2]
    leader = standing(*[0.9, 1.0] * 10)
    assert choose_survivors([*equal, leader], None) == [6]


def test_a_failed_system_is_worst_an_unjudged_question_unknown_and_another_metric_counts_alone() -> (
    None
):
    outcomes = {1: "system_error", 2: "judge_error: refusal", 3: "not_applicable"}
    metrics = [
        {"name": "up", "bounds": [-1, 1]},
        {"name": "down", "bounds": [0, 2], "higher_is_better": False},
        {"name": "open"},
    ]
    values = np.array([0.5, math.nan, math.nan, math.nan])
    names = [str(metric["name"]) for metric in metrics]
    table = RunColumns(
        SimpleNamespace(metrics=metrics), tuple("abcd"), np.arange(4), (None,) * 4,  # type: ignore[arg-type]
        dict.fromkeys(names, values), dict.fromkeys(names, outcomes),
    )  # fmt: skip
    for objective, wanted in (
        ("up", [0.5, -1, math.nan, math.nan]),
        ("down", [-0.5, -2, math.nan, math.nan]),
        ("open", [0.5, math.nan, math.nan, math.nan]),
    ):
        quality = compute_quality(table, "abcd", parse_objective(objective))
        assert quality.tolist() == pytest.approx(wanted, nan_ok=True)


def test_at_most_half_of_a_round_goes_on() -> None:
    equal = [standing(*[0.5] * 40) for _ in range(8)]
    assert len(choose_survivors(equal, None)) == 4


def test_without_a_common_question_each_has_its_own_mean() -> None:
    nan = math.nan
    assert rank_standings([standing(0.2, nan), standing(nan, 0.9)]) == [1, 0]


def test_a_large_grid_is_drawn_from() -> None:
    assert len(draw_candidates({"a": list(range(10)), "b": list(range(10))}, None, 0)) == 64
