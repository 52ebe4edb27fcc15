"""The drop test: few false alarms, faults found soon, silence and odd references harmless. bench/alarms.py has the full size."""

from __future__ import annotations

import numpy as np
import pytest
from bench.alarms import (
    BUDGET,
    HISTORY,
    count_false_alarms,
    count_whole_incidents,
    draw_windows,
    find_faults,
)
from bench.traffic_shapes import ATTACKS, PLAIN, SHAPES, Shape, vary_days, vary_hours

from ragstone.monitor.drift.ranks import RankScale
from ragstone.monitor.drift.reference_period import ReferencePeriod, WindowSums, learn_reference
from ragstone.monitor.drift.sequential_test import (
    DriftTrace,
    allow_for_freedom,
    compute_limit,
    find_onset,
    find_recurring_dips,
    normalise,
    run_drift_test,
)

BY_NAME = {shape.name: shape for shape in (*SHAPES, *ATTACKS)}
HOURLY = Shape("hour effect", vary_hours(0.02), scores=50)
DIFFICULT = (
    "weekends −0.05",
    "AR(1) 0.5 hours, sd 0.03",
    "99 % ones",
    "Pareto α 1.5",
    "Mondays 8 to 10 lower by 0.15",
    "AR(1) 0.8 hours, sd 0.03",
    "AR(1) 0.95 hours, sd 0.03",
)


@pytest.mark.parametrize("name", DIFFICULT)
def test_quiet_months_of_any_shape_bring_few_false_alarms(name: str) -> None:
    """20 months: the bar of 0.15 is 3; more than 8 has a chance below 1 in 100 at it. The plain rule raises dozens."""
    alarms, plain = count_false_alarms(np.random.default_rng(11), BY_NAME[name], 20)
    assert alarms <= 8 / 20
    assert plain > 2 * alarms


def test_what_is_usual_on_a_day_of_the_week_is_learned_and_nothing_where_days_are_alike() -> None:
    rng = np.random.default_rng(11)
    lower, _ = draw_windows(rng, BY_NAME["weekends −0.05"], 10, 1)
    weekly = learn_reference(lower.select(0, HISTORY), first_hour=0).weekly
    assert (weekly[:, :5].mean() - weekly[:, 5:].mean()) == pytest.approx(0.05, abs=0.01)
    # without the profile, hours look alike for days on end: the same noise would hide a fault
    unprofiled = learn_reference(lower.select(0, HISTORY))
    assert (unprofiled.carry_share + unprofiled.day_share).min() > 0
    alike, _ = draw_windows(rng, PLAIN, 10, 1)
    assert (learn_reference(alike.select(0, HISTORY), first_hour=0).weekly == 0).mean() > 0.7


@pytest.mark.parametrize("period", [24, 168])
def test_a_dip_is_expected_after_two_of_them_a_day_or_a_week_apart(period: int) -> None:
    below = np.random.default_rng(3).normal(0, 0.01, (1, 4 * period))
    times = [30 % period + n * period for n in range(4)]
    below[0, times] += 0.15
    depth, error = find_recurring_dips(below, np.full(below.shape, 1 / 0.01**2), period)
    assert np.flatnonzero(depth[0]).tolist() == times[2:]
    assert depth[0, times[2:]] == pytest.approx(0.15, abs=0.02)
    assert error[0, times[2]] == pytest.approx(0.01**2 / 2)


def test_a_fault_that_lasts_is_never_expected() -> None:
    below = np.random.default_rng(3).normal(0, 0.01, (1, 600))
    below[0, 200:] += 0.15
    for period in (24, 168):
        depth, _ = find_recurring_dips(below, np.full(below.shape, 1 / 0.01**2), period)
        assert not depth.any()


def test_long_memory_is_learned_from_few_independent_stretches() -> None:
    shape = BY_NAME["AR(1) 0.95 hours, sd 0.03"]
    windows, _ = draw_windows(np.random.default_rng(4), shape, 10, 1)
    carried = learn_reference(windows.select(0, HISTORY), first_hour=0)
    assert np.median(carried.count_freedom(np.float64(48))) < 30
    alike, _ = draw_windows(np.random.default_rng(4), PLAIN, 10, 1)
    steady = learn_reference(alike.select(0, HISTORY), first_hour=0)
    assert np.median(steady.count_freedom(np.float64(48))) > 300


def test_days_that_differ_by_chance_are_noticed_and_cost_few_false_alarms() -> None:
    shape = Shape("days", vary_days(0.02))
    windows, _ = draw_windows(np.random.default_rng(12), shape, 20, 1)
    share = learn_reference(windows.select(0, HISTORY), first_hour=0).day_share
    assert (share > 0).mean() > 0.7
    assert count_false_alarms(np.random.default_rng(12), shape, 20)[0] <= 8 / 20


def test_a_deviation_whose_variance_is_from_few_days_is_less_surprising() -> None:
    z = np.array([-2.0, 0.0, 4.0])
    assert allow_for_freedom(z, 1e9) == pytest.approx(z, abs=1e-3)
    # 4 standard deviations with 10 degrees of freedom have the chance of 3.02 normal ones
    assert allow_for_freedom(z, 10.0) == pytest.approx([-1.79, 0, 3.02], abs=0.02)


@pytest.mark.parametrize(
    ("name", "within", "least"),
    [("plain", 5, 0.95), ("weekends −0.05", 5, 0.85), ("lognormal σ 1", 12, 0.9)],
)
def test_faults_are_found_soon_and_dated(name: str, within: int, least: float) -> None:
    """30 faults: the bar less three standard errors of so few."""
    found = find_faults(np.random.default_rng(5), BY_NAME[name], 30)
    assert found[f"in {within}"] >= least - 3 * np.sqrt(least * (1 - least) / 30)
    assert found["onset ±6"] >= 0.8


def test_thin_traffic_is_told_how_long_it_will_take() -> None:
    found = find_faults(np.random.default_rng(5), BY_NAME["8 scores an hour"], 60)
    assert found["onset ±6"] >= 0.65  # the bar is 0.8, less three standard errors of so few
    assert found["median delay"] == pytest.approx(found["predicted"], rel=0.25)


def test_a_fault_of_five_days_is_one_incident_and_over_after_it() -> None:
    whole, over = count_whole_incidents(np.random.default_rng(5), HOURLY, 40)
    assert whole >= 0.9
    assert over >= 0.9


def draw(seed: int, hours: int, fault: float = 0.0, start: int = 0) -> WindowSums:
    faults = np.where(np.arange(hours) >= start, fault, 0.0) * np.ones((4, 1))
    return draw_windows(np.random.default_rng(seed), PLAIN, 4, hours, faults)[0]


def run(live: WindowSums, reference: ReferencePeriod) -> DriftTrace:
    after = np.ones(live.counts.shape, bool)
    return run_drift_test(reference, live, after, np.full(len(live.counts), BUDGET))


def split(windows: WindowSums) -> tuple[ReferencePeriod, WindowSums]:
    return learn_reference(windows.select(0, HISTORY)), windows.select(
        HISTORY, windows.counts.shape[1]
    )


def test_better_quality_is_no_alarm() -> None:
    reference, live = split(draw(1, 100, -0.08))
    assert not run(live, reference).alarms.any()


def test_windows_without_scores_change_nothing() -> None:
    reference, live = split(draw(4, 30, 0.1, 20))
    gap = WindowSums(*(np.pad(column, ((0, 0), (0, 40))) for column in _columns(live)))
    assert (run(gap, reference).firing[:, :30] == run(live, reference).firing).all()
    assert run(gap, reference).firing[:, -1].all()


def _columns(windows: WindowSums) -> tuple[np.ndarray, ...]:
    return windows.counts, windows.sums, windows.squares, windows.cubes


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
    windows = draw(4, 50, 0.3)
    reference = learn_reference(windows.select(0, 10))
    assert not reference.usable.any()
    assert not run(windows.select(HISTORY, HISTORY + 50), reference).alarms.any()


def test_the_session_factor_widens_what_is_usual() -> None:
    windows = draw(4, 1).select(0, HISTORY)
    alone, together = learn_reference(windows), learn_reference(windows, session_factor=3.0)
    ratio = together.compute_spread(windows.counts) / alone.compute_spread(windows.counts)
    assert ratio.mean() == pytest.approx(np.sqrt(3), rel=0.1)


def test_a_limit_is_passed_by_chance_as_often_as_the_budget_says() -> None:
    rng = np.random.default_rng(2)
    z = rng.normal(size=(400, 1440))
    sums = np.cumsum(np.pad(z, ((0, 0), (1, 0))), axis=1)
    moving = (sums[:, 5:] - sums[:, :-5]) / np.sqrt(5)
    above = moving > compute_limit(5, 0.5)
    begun = above[:, 1:] & ~above[:, :-1]
    # crossings of one excursion come in a row of few: those within a day count once
    count = sum(1 + int((np.diff(np.flatnonzero(row)) > 24).sum()) for row in begun if row.any())
    assert count / 800 == pytest.approx(0.5, rel=0.25)


def test_a_skewed_mean_is_less_surprising_than_a_normal_one() -> None:
    z = np.array([-2.0, 1.0, 4.0])
    assert normalise(z, np.zeros(3)) == pytest.approx(z, abs=0.01)
    skewed = normalise(z, np.full(3, 0.8))
    assert skewed[0] == -2.0
    assert 2.8 < skewed[2] < 3.4


def test_an_onset_has_an_interval_that_narrows_with_the_size_of_the_drop() -> None:
    below = np.concatenate([np.zeros(30), np.full(10, 1.0)])
    sharp, vague = (
        find_onset(below, np.full(40, weight), usual_depth=1.0) for weight in (20.0, 1.0)
    )
    assert sharp.window == 30
    assert sharp.high - sharp.low < vague.high - vague.low
    assert vague.low <= 30 <= vague.high


def test_ranks_bound_a_long_tail() -> None:
    scale = RankScale.learn([{1.0: 1.0, 2.0: 2.0, 3.0: 1.0}])
    ranks = scale.rank(np.array([1.0, 2.0, 3.0, 9999.0]), 1.0)
    assert ranks == pytest.approx([0.125, 0.5, 0.875, 0.875])
    assert scale.rank(np.array([3.0]), -1.0) == pytest.approx([0.125])
