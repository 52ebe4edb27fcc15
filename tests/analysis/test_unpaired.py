"""Two independent sets of values: how often equal ones are called different, and that interval and p agree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ragstone.analysis.unpaired import compare_sets

Draw = Callable[[np.random.Generator, int], np.ndarray]


def count_verdicts(draw: Draw, sizes: tuple[int, int], studies: int, factor: float = 1.0) -> int:
    dice, found = np.random.default_rng(5), 0
    for _ in range(studies):
        before, after = draw(dice, sizes[0]), factor * draw(dice, sizes[1])
        interval = compare_sets(before, after, positive=True).interval
        assert interval.low is not None
        assert interval.high is not None
        found += not interval.low <= 0 <= interval.high
    return found


@pytest.mark.parametrize(
    ("draw", "sizes"),
    [
        (lambda dice, n: dice.lognormal(0, 1.5, n), (20, 200)),
        (lambda dice, n: dice.lognormal(0, 1.5, n), (300, 30)),
        (lambda dice, n: dice.pareto(2.2, n) + 1, (20, 200)),
        (lambda dice, n: (dice.random(n) < 0.5) * dice.lognormal(0, 1, n), (20, 200)),
    ],
)
def test_equal_skewed_sets_of_uneven_sizes_are_seldom_called_different(
    draw: Draw, sizes: tuple[int, int]
) -> None:
    assert count_verdicts(draw, sizes, 400) <= 0.07 * 400  # 5 %, and two standard errors


def test_half_the_latency_is_found_in_either_direction() -> None:
    def draw(dice: np.random.Generator, n: int) -> np.ndarray:
        return dice.lognormal(0, 0.6, n)

    assert count_verdicts(draw, (20, 200), 50, 0.5) > 45
    assert count_verdicts(draw, (20, 200), 50, 2.0) > 40


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("positive", [False, True])
def test_the_interval_leaves_out_0_where_p_says_so(grouped: bool, positive: bool) -> None:
    dice = np.random.default_rng(1)
    for _ in range(40):
        before, after = dice.lognormal(0, 1, 24), dice.lognormal(0.5, 1, 80)
        groups = (np.arange(24) // 3, np.arange(80) // 4) if grouped else (None, None)
        found = compare_sets(before, after, groups, positive=positive)
        assert found.p is not None
        for alpha in (0.2, 0.05, 0.01, 1e-6):
            interval = found.interval_at(alpha)
            assert interval.low is not None
            assert interval.high is not None
            assert (interval.low > 0 or interval.high < 0) == (found.p <= alpha)
            assert np.isfinite([interval.low, interval.high]).all()


def test_tiny_and_lumpy_sets_have_finite_intervals() -> None:
    for before, after in (
        ([1.0, 2.0], [3.0, 3.0, 4.0]),
        ([0.0, 0.0, 5.0], [0.0, 0.0, 0.0, 1.0]),
        ([1.0, 1.0, 1.0, 2.0], [1.0, 1.0, 9.0]),
    ):
        found = compare_sets(np.array(before), np.array(after), positive=True)
        low, high = found.interval.low, found.interval.high
        assert low is not None
        assert high is not None
        assert np.isfinite([low, high]).all()
        assert low <= 0 <= high
