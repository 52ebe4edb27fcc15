"""The drop test: few false alarms, drops found soon, silence and odd references harmless. bench/alarms.py has the full size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bench.alarms import BUDGET, Scenario, draw, false_alarms, found

from ragstone.monitor.drift.sequential_test import (
    WindowSums,
    compute_alarm_level,
    find_change_window,
    learn_reference,
    run_drift_test,
)

PLAIN, HOURLY = Scenario("plain"), Scenario("hour effect", 0.02)
DAILY = Scenario("day and night", 0.0, 0.03)


@pytest.mark.parametrize("scenario", [PLAIN, HOURLY], ids=lambda one: one.name)
def test_a_quiet_month_brings_few_false_alarms(scenario: Scenario) -> None:
    """60 months: the budget is 6 alarms, the bar of 0.15 is 9; 14 has a chance below 1 in 1,000 at the budget."""
    assert false_alarms(np.random.default_rng(11), scenario, 60) <= 14 / 60


def test_nights_that_are_always_worse_are_not_new_each_night() -> None:
    """What is usual at an hour of the day is learned: it takes away most of the alarms that nights would bring."""
    with_hours = false_alarms(np.random.default_rng(11), DAILY, 60)
    without = false_alarms(np.random.default_rng(11), DAILY, 60, hours_of_day=False)
    assert without > 0.35
    assert with_hours < 0.6 * without


@pytest.mark.parametrize("scenario", [PLAIN, HOURLY], ids=lambda one: one.name)
@pytest.mark.parametrize(("drop", "within", "least"), [(0.10, 5, 0.95), (0.05, 20, 0.90)])
def test_drops_are_found_soon(scenario: Scenario, drop: float, within: int, least: float) -> None:
    """60 drops: the bar less three standard errors of so few."""
    share, _ = found(np.random.default_rng(5), scenario, 60, drop, within)
    assert share >= least - 3 * np.sqrt(least * (1 - least) / 60)


def test_a_slow_drift_is_found_before_it_has_done_half_its_harm() -> None:
    share, delay = found(np.random.default_rng(5), HOURLY, 30, 0.10, 168, 168)
    assert share == 1
    assert delay < 84


def run(live: WindowSums, reference: Any) -> Any:
    return run_drift_test(reference, live, np.full(len(live.counts), compute_alarm_level(BUDGET)))


def test_better_quality_is_no_alarm() -> None:
    rng = np.random.default_rng(1)
    reference = learn_reference(draw(rng, 10, 168, PLAIN))
    live = draw(rng, 10, 200, PLAIN, np.full((10, 200), -0.08))
    assert not run(live, reference).alarms.any()


def test_an_alarm_ends_when_quality_is_back_and_starts_anew() -> None:
    rng = np.random.default_rng(2)
    drops = np.zeros((20, 300))
    drops[:, 50:80] = drops[:, 200:230] = 0.1
    watched = run(draw(rng, 20, 300, PLAIN, drops), learn_reference(draw(rng, 20, 168, PLAIN)))
    assert watched.firing[:, 70].all()
    assert not watched.firing[:, 110].any()
    assert watched.firing[:, 220].all()
    assert not watched.firing[:, 260].any()


def test_the_start_of_a_drop_is_estimated_to_a_few_hours() -> None:
    rng = np.random.default_rng(3)
    drops = np.zeros((40, 120))
    drops[:, 70:] = 0.1
    reference = learn_reference(draw(rng, 40, 168, PLAIN))
    live = draw(rng, 40, 120, PLAIN, drops)
    off = [abs(find_change_window(reference, live, row, 120) - 70) for row in range(40)]
    assert np.median(off) <= 1
    assert max(off) <= 12


def test_windows_without_scores_change_nothing() -> None:
    rng = np.random.default_rng(4)
    reference = learn_reference(draw(rng, 5, 168, PLAIN))
    live = draw(rng, 5, 40, PLAIN)
    gaps = np.zeros((5, 80))
    spread = []
    for column in (live.counts, live.sums, live.squares, live.cubes):
        wide = gaps.copy()
        wide[:, ::2] = column
        spread.append(wide)
    with_gaps = run(WindowSums(*spread), reference)
    assert with_gaps.evidence[:, -1] == pytest.approx(run(live, reference).evidence[:, -1])


def test_small_windows_are_joined_and_nothing_is_lost() -> None:
    rng = np.random.default_rng(4)
    small = draw(rng, 3, 50, Scenario("", scores=7))
    joined = small.join_small(20)
    held = small.counts.sum(axis=1) - joined.counts.sum(axis=1)
    assert (joined.counts[joined.counts > 0] >= 20).all()
    assert (held < 20).all()


def test_a_reference_of_equal_scores_makes_no_alarm_of_a_single_bad_one() -> None:
    ones = np.full((1, 168), 100.0)
    reference = learn_reference(WindowSums(ones, ones, ones, ones))
    sums = np.full((1, 200), 100.0)
    sums[0, 50] = 99
    counts = np.full((1, 200), 100.0)
    assert not run(WindowSums(counts, sums, sums, sums), reference).alarms.any()
    sums[0, 100:] = 90
    assert run(WindowSums(counts, sums, sums, sums), reference).alarms[0, 100:103].any()


def test_with_too_short_a_reference_nothing_is_said() -> None:
    rng = np.random.default_rng(4)
    reference = learn_reference(draw(rng, 2, 10, PLAIN))
    assert not reference.usable.any()
    assert not run(draw(rng, 2, 50, PLAIN, np.full((2, 50), 0.3)), reference).alarms.any()
