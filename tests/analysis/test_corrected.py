"""Means corrected by labels: worked examples, degenerate cases, and coverage by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ragstone.analysis.corrected import CorrectedMean, LabelledUnits, correct_mean


def correct(
    predictions: Any, labelled: Any, labels: Any, chances: Any = None, **more: Any
) -> CorrectedMean:
    labelled = np.asarray(labelled)
    plain = np.full(len(labelled), len(labelled) / len(predictions))
    units = LabelledUnits(
        np.asarray(predictions, float),
        labelled,
        np.asarray(labels, float),
        plain if chances is None else np.asarray(chances, float),
        **more,
    )
    corrected = correct_mean(units)
    assert corrected is not None
    return corrected


def test_a_perfect_judge_keeps_its_mean_and_is_much_surer_than_the_labels() -> None:
    truth = np.tile([1.0, 1.0, 1.0, 0.0], 250)
    corrected = correct(truth, np.arange(0, 900, 9), truth[:900:9])
    assert corrected.mean == pytest.approx(0.75)
    assert corrected.high - corrected.low < 0.5 * (corrected.alone_high - corrected.alone_low)
    assert corrected.sample_high - corrected.sample_low < corrected.high - corrected.low


def test_a_constant_bias_is_taken_out() -> None:
    """Worked: 1,000 answers, the judge says 0.9 on average, and is 0.1 too high on each labelled one."""
    predictions = np.tile([0.6, 1.0, 1.0, 1.0], 250)
    labelled = np.arange(100)
    corrected = correct(predictions, labelled, predictions[:100] - 0.1)
    assert corrected.judge_mean == pytest.approx(0.9)
    assert corrected.mean == pytest.approx(0.8)
    assert corrected.bias == pytest.approx(0.1)
    assert corrected.weight == pytest.approx(1)


@pytest.mark.parametrize("judge", ["constant", "opposite"])
def test_a_judge_that_knows_nothing_leaves_the_labels_alone(judge: str) -> None:
    truth = np.tile([1.0, 0.0], 500)
    predictions = np.ones(1000) if judge == "constant" else 1 - truth
    corrected = correct(predictions, np.arange(60), truth[:60])
    assert corrected.weight == 0
    assert (corrected.mean, corrected.low) == (corrected.alone, corrected.alone_low)


def test_fewer_than_ten_labels_correct_nothing_and_few_come_with_a_warning() -> None:
    units = LabelledUnits(np.ones(50), np.arange(9), np.ones(9), np.full(9, 0.18))
    assert correct_mean(units) is None
    assert correct(np.ones(50), np.arange(12), np.ones(12)).warnings[0].code == "labels_few"  # type: ignore[attr-defined]


def test_labels_that_all_agree_still_leave_a_doubt() -> None:
    corrected = correct(np.ones(1000), np.arange(50), np.ones(50))
    assert corrected.mean == corrected.high == 1
    assert corrected.low == pytest.approx(0.929, abs=0.002)  # Wilson, 50 of 50


def test_labels_of_all_samples_leave_no_doubt_about_these_samples() -> None:
    truth = np.tile([1.0, 0.0, 1.0], 40)
    corrected = correct(np.full(120, 0.5), np.arange(120), truth)
    assert (corrected.sample_low, corrected.sample_high) == pytest.approx((2 / 3, 2 / 3))
    assert corrected.low < 0.6 < 0.73 < corrected.high


def test_labels_count_by_their_chance() -> None:
    """Half of the units, all right, were labelled whole; of the other half, all wrong, every tenth."""
    truth = np.repeat([1.0, 0.0], 100)
    labelled = np.concatenate([np.arange(100), np.arange(100, 200, 10)])
    chances = np.repeat([1.0, 0.1], [100, 10])
    assert correct(np.full(200, 0.5), labelled, truth[labelled], chances).mean == pytest.approx(0.5)
    assert correct(np.full(200, 0.5), labelled, truth[labelled]).mean > 0.9


def test_units_count_by_their_weight() -> None:
    truth = np.repeat([1.0, 0.0], [100, 300])
    weights = np.repeat([0.5 / 100, 0.5 / 300], [100, 300])
    labelled = np.arange(0, 400, 4)
    corrected = correct(np.full(400, 0.5), labelled, truth[labelled], weights=weights)
    assert corrected.mean == pytest.approx(0.5)


def test_units_of_one_group_are_not_independent() -> None:
    generator = np.random.default_rng(3)
    truth = np.repeat((generator.random(100) < 0.6).astype(float), 10)
    predictions = np.clip(truth + generator.normal(0, 0.3, 1000), 0, 1)
    labelled = generator.permutation(1000)[:200]
    groups = np.repeat(np.arange(100), 10)
    apart = correct(predictions, labelled, truth[labelled])
    together = correct(predictions, labelled, truth[labelled], groups=groups)
    assert together.high - together.low > 1.5 * (apart.high - apart.low)
    assert together.mean == pytest.approx(apart.mean, abs=0.02)
