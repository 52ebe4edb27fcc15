"""How many questions `plan` asks for, and whether so many show the difference."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.analysis.paired import compare_pairs
from ragstone.analysis.power import (
    compute_paired_sd,
    count_unmoved_questions,
    detectable_difference,
    find_needed_questions,
    plan_sample_size,
    round_up_questions,
)
from ragstone.analysis.spread import measure_spread
from ragstone.analysis.stats import Z
from ragstone.errors import RagstoneError, UnknownMetric

STUDIES = [pytest.param(500, id="few"), pytest.param(3000, id="many", marks=pytest.mark.slow)]


@pytest.mark.parametrize("studies", STUDIES)
@pytest.mark.parametrize("effect", [pytest.param(0.03, marks=pytest.mark.slow), 0.1])
def test_as_many_questions_as_planned_show_a_graded_difference(effect: float, studies: int) -> None:
    need = plan_sample_size(effect, 0.25)
    dice = np.random.default_rng(8)
    seen = 0
    for _ in range(studies):
        before = np.zeros(need.questions)
        difference = compare_pairs(before, dice.normal(effect, 0.25, need.questions))
        assert difference.p is not None
        seen += difference.p <= 0.05
    assert in_band(seen / studies, studies)


@pytest.mark.parametrize("studies", STUDIES)
@pytest.mark.parametrize(("effect", "disagree"), [(0.05, 0.2), (0.1, 0.3), (0.2, 0.4)])
def test_as_many_questions_as_planned_show_a_binary_difference(
    effect: float, disagree: float, studies: int
) -> None:
    need = plan_sample_size(effect, (disagree - effect**2) ** 0.5, binary=True)
    dice = np.random.default_rng(9)
    gain, loss = (disagree + effect) / 2, (disagree - effect) / 2
    seen = 0
    for _ in range(studies):
        fate = dice.random(need.questions)
        before = ((fate >= gain) & (fate < gain + loss + 0.3)).astype(float)
        after = np.where(fate < gain, 1.0, np.where(fate < gain + loss, 0.0, before))
        difference = compare_pairs(before, after, bounds=(0, 1), binary=True)
        assert difference.p is not None
        seen += difference.p <= 0.05
    assert in_band(seen / studies, studies)


@pytest.mark.parametrize("studies", STUDIES)
def test_groups_are_planned_for(studies: int) -> None:
    size, likeness, effect = 5, 0.5, 0.1
    need = plan_sample_size(effect, 0.3, design=1 + (size - 1) * likeness)
    count = -(-need.questions // size)
    groups = np.repeat(np.arange(count), size)
    dice = np.random.default_rng(10)
    seen = 0
    for _ in range(studies):
        shared = np.repeat(dice.normal(0, likeness**0.5, count), size)
        after = effect + 0.3 * (shared + dice.normal(0, (1 - likeness) ** 0.5, count * size))
        difference = compare_pairs(np.zeros(count * size), after, groups)
        assert difference.p is not None
        seen += difference.p <= 0.05
    assert in_band(seen / studies, studies)


def in_band(rate: float, studies: int) -> bool:
    """Power between 0.75 and 0.85; a small simulation may stray a little further."""
    slack = max(0.0, 2.5 * (0.8 * 0.2 / studies) ** 0.5 - 0.03)
    return 0.75 - slack <= rate <= 0.85 + slack


def test_half_the_difference_needs_four_times_the_questions() -> None:
    assert plan_sample_size(0.01, 0.3).questions / plan_sample_size(
        0.02, 0.3
    ).questions == pytest.approx(4, rel=0.01)


def test_more_comparisons_need_more_questions() -> None:
    assert (
        plan_sample_size(0.03, 0.3, comparisons=12).questions
        > 1.5 * plan_sample_size(0.03, 0.3).questions
    )


def test_what_could_have_been_seen_shrinks_with_the_interval() -> None:
    assert detectable_difference(0.042, 0.05) == pytest.approx(0.06, abs=0.0005)
    assert detectable_difference(0.021, 0.05) == pytest.approx(0.03, abs=0.0005)


def test_equal_correlation_leaves_the_deviation_as_it_is() -> None:
    assert compute_paired_sd(0.4, 0.5) == pytest.approx(0.4)
    assert compute_paired_sd(0.4, 1.0) == 0


@pytest.mark.parametrize(
    ("count", "said"), [(7, 7), (41, 41), (404, 410), (1801, 1900), (20_000, 20_000)]
)
def test_numbers_of_questions_are_said_roundly_and_upwards(count: int, said: int) -> None:
    assert round_up_questions(count) == said


def test_one_run_gives_its_own_deviation_and_two_that_of_their_difference(build) -> None:
    dice = np.random.default_rng(1)
    ease = dice.random(400)
    one = build("one", {"score": ease})
    two = build("two", {"score": np.clip(ease + dice.normal(0, 0.05, 400), 0, 1)})
    assert measure_spread([one], "score").sd == pytest.approx(ease.std(ddof=1))
    assert measure_spread([one, two], "score").sd == pytest.approx(0.05, rel=0.15)


def test_groups_of_like_samples_cost_questions(build) -> None:
    dice = np.random.default_rng(2)
    values = np.repeat(dice.random(100), 4)
    run = build("one", {"score": values}, groups=[f"g{n // 4}" for n in range(400)])
    assert measure_spread([run], "score").design == pytest.approx(4, rel=0.1)


def test_a_metric_that_the_run_lacks_or_that_never_varies_is_refused(build) -> None:
    run = build("flat", {"score": [0.5] * 20})
    with pytest.raises(UnknownMetric, match="no metric 'scor'; did you mean 'score'"):
        measure_spread([run], "scor")
    with pytest.raises(RagstoneError, match="does not vary in 'flat'"):
        measure_spread([run], "score")


def test_a_difference_that_never_shows_needs_fewer_questions_than_one_that_varies() -> None:
    values = np.linspace(0, 1, 26)
    still = compare_pairs(values, values.copy(), bounds=(0.0, 1.0))
    # 189 samples without a change leave room for 0.02 at most; said roundly
    assert find_needed_questions(still, 0.02) == 190
    moving = compare_pairs(values, values[::-1].copy(), bounds=(0.0, 1.0))
    assert find_needed_questions(moving, 0.02) > 1000


def test_questions_of_few_groups_count_as_few_where_none_moved() -> None:
    alone = count_unmoved_questions(18, Z**2 / (18 + Z**2), 0.02, 0.05)
    grouped = count_unmoved_questions(18, Z**2 / (8 + Z**2), 0.02, 0.05)
    assert (alone, grouped) == (
        190,
        430,
    )  # 189 independent ones, of which 18 questions of 8 groups are 8
