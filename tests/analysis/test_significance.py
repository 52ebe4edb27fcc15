"""Tests of differences: equal to scipy, right by enumeration, honest by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from ragstone.analysis.paired import compare_pairs
from ragstone.analysis.significance import adjust_p_values, mcnemar, sign_flip

STUDIES = [pytest.param(300, id="few"), pytest.param(4000, id="many", marks=pytest.mark.slow)]
"""Simulated studies: a few in the usual run, many in `make test-all`."""


def allowed(rate: float, studies: int) -> float:
    """How far a simulated rate may stray by chance alone: three standard errors."""
    return 3 * (rate * (1 - rate) / studies) ** 0.5


@given(st.integers(0, 3000), st.integers(0, 3000))
def test_mcnemar_equals_scipys_binomial_test(better: int, worse: int) -> None:
    wanted = scipy_stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert mcnemar(better, worse) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("n", [2, 5, 9, 13])
def test_few_sign_flips_equal_scipys_exact_permutation_test(n: int) -> None:
    values = np.random.default_rng(n).integers(-3, 5, n) / 3
    theirs = scipy_stats.permutation_test(
        (values,),
        lambda x, axis: x.mean(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    )
    assert sign_flip(values) == pytest.approx(theirs.pvalue, abs=1e-12)


@pytest.mark.parametrize("n", [15, 60, 500, 5000])
def test_many_sign_flips_come_close_to_the_t_test_of_normal_differences(n: int) -> None:
    values = np.random.default_rng(n).normal(1.5 / n**0.5, 1, n)
    theirs = scipy_stats.ttest_1samp(values, 0).pvalue
    assert sign_flip(values) == pytest.approx(theirs, rel=0.15, abs=0.01)


def test_sign_flips_are_the_same_every_time() -> None:
    values = np.random.default_rng(1).normal(0.1, 1, 300)
    assert sign_flip(values) == sign_flip(values.copy())


def test_differences_that_are_all_zero_show_nothing() -> None:
    assert sign_flip(np.zeros(50)) == 1.0


def test_a_few_outliers_are_not_taken_for_many_samples() -> None:
    """Five large differences among 5,000 tiny ones: five coins, so p is near 2 / 32, not the 0.025 of a normal sum."""
    values = np.concatenate([np.full(5, 1000.0), np.full(5000, -1e-5)])
    assert sign_flip(values) == pytest.approx(2 / 32, abs=0.01)


def test_strong_evidence_is_not_stopped_by_the_number_of_flips() -> None:
    assert sign_flip(np.full(400, 0.1)) < 1e-60


def test_holm_and_benjamini_hochberg_by_hand() -> None:
    ps = [0.01, 0.04, 0.03, 0.005]
    assert adjust_p_values(ps, "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert adjust_p_values(ps, "bh") == pytest.approx(list(scipy_stats.false_discovery_control(ps)))
    assert adjust_p_values(ps, "none") == ps
    assert adjust_p_values([], "holm") == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_corrections_keep_the_order_and_never_make_p_smaller(ps: list[float]) -> None:
    holm, bh = adjust_p_values(ps, "holm"), adjust_p_values(ps, "bh")
    for before, strict, mild in zip(ps, holm, bh, strict=True):
        assert before <= mild + 1e-12
        assert mild <= strict + 1e-12 or strict == 1.0
    assert [holm[i] for i in np.argsort(ps, kind="stable")] == sorted(holm)
    assert bh == pytest.approx(list(scipy_stats.false_discovery_control(ps)))


@pytest.mark.parametrize("studies", STUDIES)
@pytest.mark.parametrize("kind", ["binary", "lumpy", "clustered"])
def test_equal_systems_are_called_different_in_at_most_one_of_twenty(
    kind: str, studies: int
) -> None:
    dice = np.random.default_rng(11)
    alarms = 0
    for _ in range(studies):
        before, after, groups = equal_systems(kind, dice)
        difference = compare_pairs(before, after, groups, bounds=(0, 1), binary=kind == "binary")
        assert difference.p is not None
        alarms += difference.p <= 0.05
    assert alarms / studies <= 0.05 + allowed(0.05, studies)


def equal_systems(
    kind: str, dice: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    ease = dice.random(120)
    if kind == "binary":
        return *((dice.random(120) < ease).astype(float) for _ in range(2)), None  # type: ignore[return-value]
    if kind == "lumpy":
        return *(
            dice.choice([0, 1 / 3, 0.5, 1], 120, p=[0.1, 0.1, 0.1, 0.7]) for _ in range(2)
        ), None  # type: ignore[return-value]
    groups = np.repeat(np.arange(40), 3)
    sides = [
        np.clip(0.5 + np.repeat(dice.normal(0, 0.2, 40), 3) + dice.normal(0, 0.1, 120), 0, 1)
        for _ in range(2)
    ]
    return sides[0], sides[1], groups


@pytest.mark.parametrize("studies", [pytest.param(250, id="few"), pytest.param(6000, id="many", marks=pytest.mark.slow)])  # fmt: skip
@pytest.mark.parametrize(
    ("groups", "size", "likeness"), [(50, 4, 0.3), (60, 8, 0.7), (200, 1, 0.0)]
)
def test_the_interval_of_a_difference_holds_the_truth(
    groups: int, size: int, likeness: float, studies: int
) -> None:
    dice = np.random.default_rng(5)
    places = np.repeat(np.arange(groups), size) if size > 1 else None
    held = 0
    for _ in range(studies):
        shared = np.repeat(dice.normal(0, likeness**0.5, groups), size)
        own = dice.normal(0, (1 - likeness) ** 0.5, groups * size)
        before = np.full(groups * size, 0.4)
        after = 0.45 + 0.1 * (shared + own)
        found = compare_pairs(before, after, places, bounds=(0, 1)).interval
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.05 <= found.high
    slack = allowed(0.95, studies) - 0.01
    assert 0.93 - max(slack, 0) <= held / studies <= 0.97 + max(slack, 0)
