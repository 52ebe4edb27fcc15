"""Ablation: the grid, the effects found in it, and the blame."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.analysis.effects import compute_effects
from ragstone.analysis.pareto import find_front
from ragstone.errors import RagstoneError
from ragstone.experiments.ablate import build_grid
from ragstone.experiments.blame import build_contexts, collect_texts, split_loss
from ragstone.types import Sample, Score, chunks

VARY = {"k": [3, 5, 7], "rerank": [False, True]}


def test_one_factor_at_a_time_starts_from_the_current_settings() -> None:
    assert build_grid(VARY) == [
        {"k": 3, "rerank": False},
        {"k": 5, "rerank": False},
        {"k": 7, "rerank": False},
        {"k": 3, "rerank": True},
    ]


def test_a_full_grid_has_every_combination_once() -> None:
    grid = build_grid(VARY, full=True)
    assert len(grid) == 6
    assert len({tuple(one.values()) for one in grid}) == 6


@pytest.mark.parametrize(
    ("vary", "why"), [({"k": []}, "no values"), ({"k": [1, 1]}, "a value twice")]
)
def test_a_grid_without_a_choice_is_refused(vary, why) -> None:
    with pytest.raises(RagstoneError, match=why):
        build_grid(vary)


def runs_of(build, settings, gain, dice, count=200, groups=None):
    ease = dice.random(count) * 0.5
    made = []
    for number, one in enumerate(settings):
        values = np.clip(ease + gain(one) + dice.normal(0, 0.05, count), 0, 1)
        made.append((one, build(f"r{number}", {"score": values}, groups=groups)))
    return made


@pytest.mark.parametrize("full", [False, True])
def test_the_factor_that_matters_is_told_from_the_one_that_does_not(build, full: bool) -> None:
    made = runs_of(
        build,
        build_grid(VARY, full=full),
        lambda one: 0.1 * one["rerank"],
        np.random.default_rng(1),
    )
    effects = compute_effects(made, "score")
    assert (effects.full, effects.runs, effects.samples) == (full, len(made), 200)
    k, rerank = effects.factors
    assert [level.verdict for level in k.levels] == ["", "unclear", "unclear"]
    base, on = rerank.levels
    assert (base.base, on.best, on.verdict) == (True, True, "better")
    assert on.difference == pytest.approx(0.1, abs=0.02)
    assert on.difference_low < 0.1 < on.difference_high
    assert base.low < base.mean < base.high


def test_a_setting_that_moves_no_score_is_identical(build) -> None:
    made = [({"k": k}, build(f"r{k}", {"score": [0.2, 0.4, 0.9] * 9})) for k in (3, 5)]
    (factor,) = compute_effects(made, "score").factors
    assert [level.verdict for level in factor.levels] == ["", "identical"]


def test_a_full_grid_averages_over_the_other_factors(build) -> None:
    made = runs_of(build, build_grid(VARY, full=True), lambda one: 0, np.random.default_rng(2))
    assert [level.runs for level in compute_effects(made, "score").factors[0].levels] == [2, 2, 2]


def test_lower_is_better_turns_best_and_verdict(build) -> None:
    lower = {"score": {"higher_is_better": False}}
    dice = np.random.default_rng(3)
    ease = dice.random(100) * 0.5
    made = [
        ({"k": 1}, build("a", {"score": ease}, metrics=lower)),
        ({"k": 2}, build("b", {"score": ease + 0.2}, metrics=lower)),
    ]
    one, two = compute_effects(made, "score").factors[0].levels
    assert (one.best, two.verdict) == (True, "worse")


def test_samples_that_a_run_failed_on_do_not_count(build) -> None:
    failed = Score(outcome="judge_error", kind="refusal", reason="")
    made = [
        ({"k": 1}, build("a", {"score": [0.1, 0.2, 0.3]})),
        ({"k": 2}, build("b", {"score": [0.1, failed, 0.3]})),
    ]
    assert compute_effects(made, "score").samples == 2


def test_grids_that_cannot_be_compared_are_refused(build) -> None:
    one = ({"k": 1}, build("a", {"score": [0.1]}))
    with pytest.raises(RagstoneError, match="at least two runs"):
        compute_effects([one], "score")
    with pytest.raises(RagstoneError, match="not every run of the grid was scored with 'other'"):
        compute_effects([one, ({"k": 2}, build("b", {"score": [0.1]}))], "other")


def test_the_parts_of_the_blame_add_up_to_the_loss() -> None:
    dice = np.random.default_rng(4)
    values = {name: dice.random(60) for name in ("retrieved", "shuffled", "mixed", "gold", "none")}
    losses = split_loss("score", values)
    assert sum(part.loss for part in losses.parts) == pytest.approx(losses.loss)
    assert losses.prior == pytest.approx(values["none"].mean())


@pytest.mark.parametrize(
    ("values", "guilty"),
    [
        ({"retrieved": 0.0, "shuffled": 0.9, "mixed": 0.9, "gold": 0.9}, "retrieval"),
        ({"retrieved": 0.2, "shuffled": 0.2, "mixed": 0.9, "gold": 0.9}, "ordering"),
        ({"retrieved": 0.2, "shuffled": 0.2, "mixed": 0.2, "gold": 0.9}, "noise"),
        ({"retrieved": 0.2, "shuffled": 0.2, "mixed": 0.2, "gold": 0.2}, "generation"),
    ],
)
def test_the_stage_that_was_broken_gets_the_blame(values: dict[str, float], guilty: str) -> None:
    losses = split_loss(
        "score", {name: [value] * 20 for name, value in {**values, "none": 0.0}.items()}
    )
    assert max(losses.parts, key=lambda part: part.loss).name == guilty


def test_blame_counts_down_for_a_metric_that_is_better_when_lower() -> None:
    values = {"retrieved": 0.8, "shuffled": 0.1, "mixed": 0.1, "gold": 0.1, "none": 0.9}
    losses = split_loss("rate", {name: [v] * 5 for name, v in values.items()}, best=0.0, worst=1.0)
    assert losses.loss == pytest.approx(0.8)
    assert losses.parts[0].loss == pytest.approx(0.7)


def test_contexts_are_gold_then_noise_and_the_same_every_time() -> None:
    sample = Sample("q", question="?", relevant={"a": 1, "z": 0},
                    contexts=chunks({"id": "x", "text": "noise"}, {"id": "a", "text": "gold"}))  # fmt: skip
    other = Sample("p", contexts=chunks({"id": "y", "text": "other"}, {"id": "w", "text": "more"}))
    known = collect_texts([sample, other])
    contexts = build_contexts(sample, known, distractors=3)
    assert contexts is not None
    assert contexts["gold"].ids == ["a"]
    assert contexts["mixed"].ids[:2] == ["a", "x"]
    assert sorted(contexts["shuffled"].ids) == sorted(contexts["mixed"].ids) == ["a", "w", "x", "y"]
    assert contexts["none"] == ()
    assert build_contexts(sample, known, distractors=3) == contexts


def test_a_relevant_document_whose_text_is_unknown_cannot_be_given() -> None:
    assert build_contexts(Sample("q", relevant={"a": 1}), {}) is None


def test_blame_needs_every_condition() -> None:
    with pytest.raises(RagstoneError, match="no scores under shuffled, mixed, none"):
        split_loss("score", {"retrieved": [0.1], "gold": [0.2]})


def test_the_front_holds_what_nothing_beats() -> None:
    points = [(1.0, 0.5), (2.0, 0.9), (3.0, 0.8), (1.0, 0.5), (0.5, 0.1)]
    assert find_front(points) == [True, True, False, True, True]
    assert find_front([(1.0, 0.2), (2.0, 0.1), (2.0, 0.3)], higher_is_better=False) == [
        True,
        True,
        False,
    ]
