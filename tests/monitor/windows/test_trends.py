"""Trends through bucket means: the slope and interval of weighted regression, and none where there is nothing to see."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.monitor.rollups import RollupCell
from ragstone.monitor.statements import DAY_MICROS
from ragstone.monitor.windows.trends import Trend, fit_trend


def compute(buckets, days=None) -> Trend | None:
    """The trend of buckets, each a mean and the weights of its values, a day apart."""
    points = {}
    for day, (mean, weights) in zip(days or range(len(buckets)), buckets, strict=True):
        points[int(day * DAY_MICROS)] = RollupCell(
            n=len(weights),
            weights=sum(weights),
            weights_squared=sum(weight**2 for weight in weights),
            total=mean * sum(weights),
        )
    return fit_trend(points)


def make_buckets(means, weights=(1.0, 1.0)):
    return [(mean, weights) for mean in means]


def test_the_interval_is_that_of_a_regression() -> None:
    means = [0.5, 0.45, 0.55, 0.6, 0.52, 0.7]
    trend = compute(make_buckets(means))
    (slope, _), covariance = np.polyfit(range(6), means, 1, cov=True)
    margin = 2.7764451 * covariance[0, 0] ** 0.5  # t with 4 degrees of freedom
    assert trend.slope == pytest.approx(slope)
    assert (trend.low, trend.high) == pytest.approx((slope - margin, slope + margin))
    assert trend.points == 6


@pytest.mark.parametrize(
    ("means", "is_moving"),
    [([0.1, 0.2, 0.31, 0.4, 0.5], True), ([0.5, 0.4, 0.31, 0.2, 0.1], True), ([0.1, 0.5, 0.2, 0.4, 0.2], False)],
)  # fmt: skip
def test_a_mean_moves_when_the_interval_excludes_no_change(means, is_moving: bool) -> None:
    trend = compute(make_buckets(means))
    assert trend.is_moving is is_moving


def test_a_trend_takes_four_buckets_with_values() -> None:
    assert compute(make_buckets([0.1, 0.2, 0.3])) is None
    assert compute(make_buckets([0.1, 0.2, 0.3, 0.4])).slope == pytest.approx(0.1)
    empty = (0.0, ())
    assert compute([*make_buckets([0.1, 0.2, 0.3]), empty]) is None


def test_a_bucket_counts_by_the_effective_number_of_its_values() -> None:
    """One value that weighs as much as a hundred others is hardly more than one value."""
    steady = make_buckets([0.5, 0.5, 0.5, 0.5], (1.0,) * 3)
    equal = compute([*steady, (0.9, (1.0,) * 3)])
    uneven = compute([*steady, (0.9, (10.0, 0.1, 0.1))])
    single = compute([*steady, (0.9, (1.0,))])
    assert single.slope == pytest.approx(uneven.slope, rel=0.1)
    assert uneven.slope < 0.8 * equal.slope


def test_small_weights_do_not_make_a_bucket_smaller() -> None:
    """Weights are relative within a bucket: halving all of them changes nothing."""
    means = [0.1, 0.3, 0.2, 0.6]
    assert compute(make_buckets(means, (0.5, 0.5))) == compute(make_buckets(means, (1.0, 1.0)))


def test_time_is_in_days() -> None:
    trend = compute(make_buckets([0.1, 0.2, 0.3, 0.4]), days=[0, 0.5, 1, 1.5])
    assert trend.slope == pytest.approx(0.2)
