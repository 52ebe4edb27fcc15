"""Intervals are right: against scipy, in their limits, and by how often they hold the truth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from ragstone.analysis.stats import (
    Clusters,
    Interval,
    Moments,
    compute_skewed_interval,
    equal_values_interval,
    mean_interval,
    score_interval,
    t_quantile,
    wilson_interval,
    wilson_rates,
)

UNIT = (0.0, 1.0)


def moments(values: np.ndarray) -> Moments:
    mean = float(values.mean())
    off = values - mean
    return Moments(
        len(values),
        mean,
        float((off**2).sum()),
        float((off**3).sum()),
        float(values.min()),
        float(values.max()),
    )


def clusters(values: np.ndarray, groups: np.ndarray) -> Clusters:
    sizes = np.bincount(groups).astype(float)
    return Clusters(sizes, np.bincount(groups, values))


@pytest.mark.parametrize("freedom", [0.5, 1, 2, 3.7, 10, 29, 99.5, 300, 300.5, 2000, 1e6])
@pytest.mark.parametrize("p", [0.025, 0.3, 0.5, 0.6, 0.975, 0.9999])
def test_t_quantile_equals_scipy(p: float, freedom: float) -> None:
    assert t_quantile(p, freedom) == pytest.approx(scipy_stats.t.ppf(p, freedom), rel=1e-10)


@pytest.mark.parametrize(("p", "freedom"), [(0, 5), (1, 5), (0.9, 0), (math.nan, 3)])
def test_t_quantile_refuses_what_has_none(p: float, freedom: float) -> None:
    with pytest.raises(ValueError, match="no t quantile"):
        t_quantile(p, freedom)


@pytest.mark.parametrize(("count", "total"), [(0, 1), (0, 20), (7, 20), (20, 20), (190, 200)])
def test_wilson_equals_scipy(count: int, total: int) -> None:
    theirs = scipy_stats.binomtest(count, total).proportion_ci(method="wilson")
    assert wilson_interval(count, total) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_wilson_at_the_ends_touches_the_bounds_exactly() -> None:
    assert wilson_interval(0, 7)[0] == 0.0
    assert wilson_interval(7, 7)[1] == 1.0


def test_without_skew_the_unbounded_interval_is_students() -> None:
    values = np.array([-3.0, -1.0, 0.0, 1.0, 3.0])
    theirs = scipy_stats.t.interval(0.95, 4, values.mean(), scipy_stats.sem(values))
    assert compute_skewed_interval(moments(values)) == pytest.approx(theirs, rel=1e-9)


def test_far_from_the_bounds_the_score_form_is_students() -> None:
    theirs = scipy_stats.t.interval(0.95, 399, 0.5, 0.001)
    assert score_interval(0.5, 0.001**2, 399, UNIT) == pytest.approx(theirs, abs=1e-7)


def test_the_score_form_follows_the_scale_of_the_metric() -> None:
    low, high = score_interval(0.8, 0.01**2, 50, UNIT)
    wide = score_interval(1 + 4 * 0.8, 0.04**2, 50, (1.0, 5.0))
    assert wide == pytest.approx((1 + 4 * low, 1 + 4 * high))


def test_skewed_t_reaches_further_into_the_long_tail() -> None:
    values = np.random.default_rng(3).exponential(size=60)
    found = moments(values)
    low, high = compute_skewed_interval(found)
    assert high - found.mean > found.mean - low


def test_binary_metrics_get_wilson() -> None:
    values = np.array([1.0] * 19 + [0.0])
    interval = mean_interval(moments(values), bounds=UNIT, binary=True)
    assert interval.method == "wilson"
    assert (interval.low, interval.high) == pytest.approx(wilson_interval(19, 20))


def test_one_value_has_no_interval_and_says_so() -> None:
    interval = mean_interval(moments(np.array([0.4])), bounds=UNIT)
    assert interval == Interval(warnings=("1 value: an interval needs at least 2",))


def test_all_ones_leave_room_for_what_was_not_seen() -> None:
    interval = mean_interval(moments(np.ones(20)), bounds=UNIT)
    assert (interval.low, interval.high) == pytest.approx(wilson_interval(20, 20))
    assert interval.low is not None
    assert interval.low < 0.9


def test_equal_values_inside_the_bounds_leave_room_on_both_sides() -> None:
    low, high = equal_values_interval(0.5, 10, UNIT)
    assert low < 0.5 < high
    assert low == pytest.approx(1 - high)


def test_equal_values_without_bounds_have_no_interval() -> None:
    interval = mean_interval(moments(np.full(10, 3.0)))
    assert (interval.low, interval.high, interval.method) == (None, None, "")
    assert "all values are equal" in interval.warnings[0]


def test_a_mean_that_rounds_to_its_bound_is_treated_as_equal_values() -> None:
    interval = mean_interval(Moments(10**6, 1.0, 1e-24, 0.0, 1 - 1e-12, 1.0), bounds=UNIT)
    assert interval.low == pytest.approx(1.0, abs=1e-5)
    assert interval.high == 1.0


def test_values_outside_the_declared_bounds_are_told() -> None:
    interval = mean_interval(moments(np.array([0.5, 1.5, 1.2])), bounds=UNIT)
    assert "leave the declared bounds" in interval.warnings[0]
    assert interval.high is not None
    assert interval.high > 1


def test_groups_of_one_change_nothing() -> None:
    values = np.random.default_rng(1).beta(4, 2, 80)
    alone = Clusters(np.empty(0), np.empty(0), 80, moments(values).squares)
    for grouping in (clusters(values, np.arange(80)), alone):
        grouped = mean_interval(moments(values), bounds=UNIT, clusters=grouping)
        plain = mean_interval(moments(values), bounds=UNIT)
        assert (grouped.low, grouped.high) == pytest.approx((plain.low, plain.high), abs=1e-12)


def test_copies_within_groups_do_not_narrow_the_interval() -> None:
    values = np.random.default_rng(2).beta(4, 2, 60)
    copied, groups = np.repeat(values, 5), np.repeat(np.arange(60), 5)
    grouped = mean_interval(moments(copied), bounds=UNIT, clusters=clusters(copied, groups))
    plain = mean_interval(moments(values), bounds=UNIT)
    assert grouped.method == "clustered t"
    assert (grouped.low, grouped.high) == pytest.approx((plain.low, plain.high), abs=1e-12)


def test_unequal_groups_leave_fewer_degrees_of_freedom() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(size=120)
    even = clusters(values, np.repeat(np.arange(40), 3))
    uneven = clusters(values, np.concatenate([np.zeros(81, int), 1 + np.arange(39)]))
    widths = []
    for grouping in (even, uneven):
        interval = mean_interval(moments(values), clusters=grouping)
        assert interval.low is not None
        assert interval.high is not None
        widths.append(interval.high - interval.low)
    assert widths[1] > 2 * widths[0]


def test_few_clusters_are_warned_about() -> None:
    values = np.random.default_rng(5).beta(4, 2, 60)
    few = mean_interval(
        moments(values), bounds=UNIT, clusters=clusters(values, np.repeat(np.arange(12), 5))
    )
    assert few.warnings == ("12 clusters: under 30 the interval may be too narrow",)
    many = mean_interval(
        moments(values), bounds=UNIT, clusters=clusters(values, np.repeat(np.arange(30), 2))
    )
    assert many.warnings == ()


def test_one_cluster_has_no_interval() -> None:
    values = np.array([0.2, 0.4, 0.6])
    interval = mean_interval(
        moments(values), bounds=UNIT, clusters=clusters(values, np.zeros(3, int))
    )
    assert interval == Interval(warnings=("1 cluster: an interval needs at least 2",))


def test_rates_are_taken_among_their_kin() -> None:
    counts = {"kept": 3, "lost": 1, "other": 0}
    rates = wilson_rates(counts, [("kept", "lost")])
    assert rates["kept"] == (0.75, *wilson_interval(3, 4))
    assert rates["other"] == (0.0, *wilson_interval(0, 4))
    assert wilson_rates({"a": 0, "b": 0})["a"] is None


@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1), min_size=2, max_size=40),
    st.integers(1, 6),
    st.booleans(),
)
def test_an_interval_is_finite_within_bounds_and_holds_the_mean(
    numbers: list[float], size: int, grouped: bool
) -> None:
    values = np.array(numbers)
    grouping = clusters(values, np.arange(len(values)) // size) if grouped else None
    interval = mean_interval(moments(values), bounds=UNIT, clusters=grouping)
    if interval.low is None or interval.high is None:
        assert interval.warnings
        return
    assert 0 <= interval.low <= values.mean() + 1e-12
    assert values.mean() - 1e-12 <= interval.high <= 1


Draw = Callable[[np.random.Generator, int], np.ndarray]


def piled_up(ones: float, zeros: float) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        kind = rng.random(n)
        return np.where(kind < ones, 1.0, np.where(kind > 1 - zeros, 0.0, rng.beta(4, 2, n)))

    return draw


# name: (draw, true mean, bounds, binary)
SHAPES: dict[str, tuple[Draw, float, tuple[float, float] | None, bool]] = {
    "Bernoulli 0.5": (lambda rng, n: (rng.random(n) < 0.5) * 1.0, 0.5, UNIT, True),
    "Bernoulli 0.95": (lambda rng, n: (rng.random(n) < 0.95) * 1.0, 0.95, UNIT, True),
    "0/1 not declared": (lambda rng, n: (rng.random(n) < 0.9) * 1.0, 0.9, UNIT, False),
    "Beta(8, 2)": (lambda rng, n: rng.beta(8, 2, n), 0.8, UNIT, False),
    "Beta(0.3, 3)": (lambda rng, n: rng.beta(0.3, 3, n), 0.3 / 3.3, UNIT, False),
    "55 % ones, 8 % zeros": (piled_up(0.55, 0.08), 0.55 + 0.37 * 2 / 3, UNIT, False),
    "90 % ones": (piled_up(0.90, 0.0), 0.90 + 0.10 * 2 / 3, UNIT, False),
    "thirds": (lambda rng, n: rng.binomial(3, 0.9, n) / 3, 0.9, UNIT, False),
    "normal": (lambda rng, n: rng.normal(3, 2, n), 3.0, None, False),
    "exponential": (lambda rng, n: rng.exponential(1, n), 1.0, None, False),
    "log-normal": (lambda rng, n: rng.lognormal(0, 0.5, n), math.exp(0.125), None, False),
}


def coverage(shape: str, n: int, times: int) -> float:
    draw, truth, bounds, binary = SHAPES[shape]
    rng = np.random.default_rng(20_240_101)
    held = 0
    for _ in range(times):
        interval = mean_interval(moments(draw(rng, n)), bounds=bounds, binary=binary)
        assert interval.low is not None
        assert interval.high is not None
        held += interval.low <= truth <= interval.high
    return held / times


def grouped_coverage(kind: str, count: int, size: int, times: int) -> float:
    """How often the clustered interval holds the truth, with an intraclass correlation of 0.3."""
    rng = np.random.default_rng(20_240_102)
    groups = np.repeat(np.arange(count), size)
    held = 0
    for _ in range(times):
        if kind.startswith("Bernoulli"):
            truth = float(kind.split()[1])
            spread = 1 / 0.3 - 1
            values = 1.0 * (
                rng.random(count * size)
                < rng.beta(truth * spread, (1 - truth) * spread, count)[groups]
            )
        else:
            shared = math.sqrt(0.3) * rng.normal(size=count)[groups]
            latent = shared + math.sqrt(0.7) * rng.normal(size=count * size)
            # A normal copula keeps the marginal: a third each at 0, 0.5 and 1.
            values = np.searchsorted([-0.4307273, 0.4307273], latent) / 2
            truth = 0.5
        interval = mean_interval(moments(values), bounds=UNIT, clusters=clusters(values, groups))
        assert interval.low is not None
        assert interval.high is not None
        held += interval.low <= truth <= interval.high
    return held / times


@pytest.mark.parametrize("shape", SHAPES)
def test_95_percent_means_95_percent_at_200(shape: str) -> None:
    assert 0.93 <= coverage(shape, 200, 2500) <= 0.97


@pytest.mark.parametrize("kind", ["Bernoulli 0.5", "Bernoulli 0.9", "levels"])
def test_95_percent_means_95_percent_with_50_groups(kind: str) -> None:
    assert 0.93 <= grouped_coverage(kind, 50, 6, 1500) <= 0.97


def test_ignoring_groups_would_be_wrong() -> None:
    rng = np.random.default_rng(9)
    groups = np.repeat(np.arange(50), 6)
    held = 0
    for _ in range(500):
        values = 1.0 * (rng.random(300) < rng.beta(0.5 * 7 / 3, 0.5 * 7 / 3, 50)[groups])
        interval = mean_interval(moments(values), bounds=UNIT, binary=True)
        assert interval.low is not None
        assert interval.high is not None
        held += interval.low <= 0.5 <= interval.high
    assert held / 500 < 0.85


@pytest.mark.parametrize("n", [200, 500, 1000])
def test_the_mean_coverage_of_wilson_over_all_shares_is_95_percent(n: int) -> None:
    ends = [wilson_interval(count, n) for count in range(n + 1)]
    shares = np.linspace(0.05, 0.95, 181)
    held = [
        scipy_stats.binom.pmf(
            [k for k, (low, high) in enumerate(ends) if low <= p <= high], n, p
        ).sum()
        for p in shares
    ]
    assert np.mean(held) == pytest.approx(0.95, abs=0.004)
    assert min(held) > 0.925


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("n", [200, 500, 2000])
@pytest.mark.parametrize("shape", SHAPES)
def test_95_percent_means_95_percent_exactly(shape: str, n: int) -> None:
    assert 0.93 <= coverage(shape, n, 20_000) <= 0.97


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("count", "size"), [(50, 4), (50, 6), (100, 6), (300, 3)])
@pytest.mark.parametrize("kind", ["Bernoulli 0.5", "Bernoulli 0.9", "Bernoulli 0.95", "levels"])
def test_95_percent_means_95_percent_with_groups_exactly(kind: str, count: int, size: int) -> None:
    assert 0.93 <= grouped_coverage(kind, count, size, 10_000) <= 0.97


def test_seconds_have_no_interval_below_zero() -> None:
    values = np.array([0.1, 0.1, 0.2, 9.0])
    plain = mean_interval(moments(values))
    positive = mean_interval(moments(values), positive=True)
    assert plain.low is not None
    assert positive.low is not None
    assert plain.low < 0 < positive.low < moments(values).mean
    assert positive.high == plain.high


@pytest.mark.parametrize("binary", [True, False])
def test_a_higher_level_takes_a_wider_interval(binary: bool) -> None:
    values = (np.random.default_rng(3).random(60) < 0.7).astype(float)
    wide = mean_interval(moments(values), bounds=UNIT, binary=binary, level=0.99)
    usual = mean_interval(moments(values), bounds=UNIT, binary=binary)
    assert wide.low < usual.low < usual.high < wide.high
