"""Percentiles of latency: the right value, an interval only where enough values lie beyond, wider where less is known."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.analysis.percentiles import (
    compare_percentiles,
    find_percentiles,
    percentile_interval,
)
from ragstone.analysis.stats import Interval
from ragstone.analysis.values import ValueSketch

NO_GROUPS = (None, None)
SPREAD = np.arange(1.0, 1001.0)


def make_sketch(count: int) -> ValueSketch:
    sketch = ValueSketch()
    sketch.add(np.arange(float(count)), None)
    return sketch


def test_percentiles_of_a_thousand_values() -> None:
    found = find_percentiles(make_sketch(1000), 1000)
    assert {name: round(item.value, 2) for name, item in found.items()} == {
        "p50": 499.5, "p95": 949.05, "p99": 989.01,
    }  # fmt: skip
    for item in found.values():
        assert item.low is not None
        assert item.high is not None
        assert item.low < item.value < item.high <= 999
    few = find_percentiles(make_sketch(1000), 100)["p50"]
    assert few.high - few.low > 2 * (found["p50"].high - found["p50"].low)
    assert find_percentiles(ValueSketch(), 0) == {}


@pytest.mark.parametrize(("name", "enough"), [("p50", 10), ("p95", 100), ("p99", 500)])
def test_an_interval_takes_five_values_beyond(name: str, enough: int) -> None:
    """What counts is the effective size: a thousand values of a few users are few."""
    sketch = make_sketch(1000)
    assert find_percentiles(sketch, enough - 1)[name].low is None
    assert find_percentiles(sketch, enough + 0.001)[name].low is not None
    share = {"p50": 0.5, "p95": 0.95, "p99": 0.99}[name]
    assert percentile_interval(SPREAD[: enough - 1], share, None, 0.05) == Interval()
    assert percentile_interval(SPREAD[: enough + 1], share, None, 0.05).low is not None


def test_the_ratio_of_each_percentile_has_an_interval() -> None:
    changes = compare_percentiles(SPREAD, 2 * SPREAD, NO_GROUPS, 0.05)
    assert [change.name for change in changes] == ["p50", "p95", "p99"]
    for change in changes:
        assert change.ratio == pytest.approx(2)
        assert change.ratio_low < 2 < change.ratio_high
    assert changes[1].before == pytest.approx(950.05)
    assert changes[1].after == pytest.approx(1900.1)


def test_there_is_no_ratio_to_nothing() -> None:
    for change in compare_percentiles(np.zeros(200), np.ones(200), NO_GROUPS, 0.05):
        assert (change.before, change.after, change.ratio) == (0, 1, None)
    assert compare_percentiles(np.empty(0), SPREAD, NO_GROUPS, 0.05) == ()


def test_with_too_few_values_there_is_a_ratio_and_no_interval() -> None:
    p95 = compare_percentiles(SPREAD[:50], SPREAD[:50], NO_GROUPS, 0.05)[1]
    assert p95.ratio == 1
    assert p95.ratio_low is None
    assert p95.ratio_high is None


def find_width(groups, alpha: float) -> float:
    interval = percentile_interval(SPREAD, 0.5, groups, alpha)
    return interval.high - interval.low


def test_an_interval_is_wider_with_groups_and_with_a_higher_level() -> None:
    of_ten = np.arange(1000) // 10
    assert find_width(of_ten, 0.05) > 2 * find_width(None, 0.05)
    assert find_width(None, 0.01) > 1.2 * find_width(None, 0.05)
    changes = compare_percentiles(SPREAD, SPREAD, (of_ten, of_ten), 0.05)
    plain = compare_percentiles(SPREAD, SPREAD, NO_GROUPS, 0.05)
    assert changes[0].ratio_high > plain[0].ratio_high
    assert percentile_interval(SPREAD, 0.5, of_ten, 0.05).method == "clustered t"
    assert percentile_interval(SPREAD, 0.5, None, 0.05).method == "wilson"
