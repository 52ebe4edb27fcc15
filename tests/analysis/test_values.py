"""Streaming figures equal those of numpy on the whole data, in constant memory."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from ragstone.analysis import values as streaming
from ragstone.analysis.values import MAX_DISTINCT_VALUES, MAX_GROUPS, GroupNumbers, ValueSketch


def fed(numbers: np.ndarray, step: int = 512, names: list[str | None] | None = None) -> ValueSketch:
    values, groups = ValueSketch(), GroupNumbers()
    for start in range(0, len(numbers), step):
        part = slice(start, start + step)
        values.add(numbers[part], groups.number_groups(names[part]) if names else None)
    return values


@pytest.mark.parametrize("n", [1, 2, 511, 8192, 40_001])
def test_moments_equal_those_of_the_whole(n: int) -> None:
    numbers = np.random.default_rng(n).normal(1e6, 1, n)
    moments = fed(numbers).moments()
    assert moments is not None
    assert moments.n == n
    assert moments.mean == pytest.approx(numbers.mean(), rel=1e-14)
    assert (moments.minimum, moments.maximum) == (numbers.min(), numbers.max())
    if n > 1:
        assert moments.sd == pytest.approx(numbers.std(ddof=1), rel=1e-9)
    else:
        assert moments.sd is None


def test_a_mean_never_leaves_its_values() -> None:
    moments = fed(np.full(3, 0.1)).moments()
    assert moments is not None
    assert (moments.mean, moments.sd) == (0.1, 0.0)


@pytest.mark.parametrize("n", [1, 2, 5, 16_000])
def test_the_median_is_exact_while_values_fit(n: int) -> None:
    numbers = np.random.default_rng(n).random(n)
    assert fed(numbers).median() == pytest.approx(np.median(numbers), rel=1e-15)


@pytest.mark.parametrize("scale", [1.0, -1e9, 1e-9])
def test_beyond_that_it_is_off_by_less_than_a_thousandth(scale: float) -> None:
    numbers = np.random.default_rng(7).lognormal(0, 2, 120_000) * scale
    values = fed(numbers)
    table, counts = values.table()
    assert values.bits is not None
    assert len(table) <= MAX_DISTINCT_VALUES
    assert counts.sum() == len(numbers)
    assert values.median() == pytest.approx(np.median(numbers), rel=1e-3)


def test_few_distinct_values_stay_exact_at_any_size() -> None:
    numbers = np.random.default_rng(8).integers(0, 7, 100_000) / 7
    values = fed(numbers)
    assert values.bits is None
    assert dict(zip(*(part.tolist() for part in values.table()), strict=True)) == {
        value: int((numbers == value).sum()) for value in np.unique(numbers).tolist()
    }


def test_numbers_too_large_to_square_have_no_mean_but_a_median() -> None:
    values = fed(np.array([1e308, -1e308, 1e308]))
    assert values.moments() is None
    assert values.huge
    assert values.median() == 1e308


def test_rounding_the_largest_numbers_stays_finite() -> None:
    numbers = -sys.float_info.max * np.linspace(0.5, 1, 50_000)
    values = fed(np.concatenate([numbers, [sys.float_info.max]]))
    table, _ = values.table()
    assert values.bits is not None
    assert np.isfinite(table).all()


def test_clusters_are_the_sums_by_group() -> None:
    numbers = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    groups, values = GroupNumbers(), ValueSketch()
    values.add(numbers, groups.number_groups(["a", "b", "a", None, None]))
    clusters = values.clusters(groups)
    assert clusters is not None
    assert clusters.sizes.tolist() == [2.0, 1.0]
    assert clusters.sums.tolist() == [5.0, 2.0]
    assert clusters.alone == 2
    assert clusters.alone_squares == pytest.approx(((numbers[3:] - numbers.mean()) ** 2).sum())
    assert clusters.count == 4


def test_samples_before_the_first_group_stand_alone() -> None:
    groups, values = GroupNumbers(), ValueSketch()
    values.add(np.array([1.0, 3.0]), groups.number_groups([None, None]))
    values.add(np.array([5.0, 7.0]), groups.number_groups(["a", "a"]))
    clusters = values.clusters(groups)
    assert clusters is not None
    assert (clusters.count, clusters.alone, clusters.alone_squares) == (3, 2, pytest.approx(10.0))


def test_groups_of_one_are_no_clusters() -> None:
    groups, values = GroupNumbers(), ValueSketch()
    values.add(np.arange(4.0), groups.number_groups(["a", "b", "c", None]))
    assert values.clusters(groups) is None


def test_more_groups_than_places_share_them() -> None:
    n = 3 * MAX_GROUPS
    numbers = np.random.default_rng(1).random(n)
    pairs = [f"g{i // 2}" for i in range(n)]
    groups, values = GroupNumbers(), ValueSketch()
    values.add(numbers, groups.number_groups(pairs))
    clusters = values.clusters(groups)
    assert clusters is not None
    assert clusters.count == MAX_GROUPS
    assert clusters.sizes.sum() == n
    assert clusters.sums.sum() == pytest.approx(numbers.sum())
    again = GroupNumbers()
    assert again.number_groups(pairs).tolist() == groups.number_groups(pairs).tolist()  # type: ignore[union-attr]


def test_many_groups_of_one_are_still_no_clusters() -> None:
    n = 2 * MAX_GROUPS
    groups, values = GroupNumbers(), ValueSketch()
    values.add(np.arange(float(n)), groups.number_groups([str(i) for i in range(n)]))
    assert groups.shared
    assert values.clusters(groups) is None


def test_the_size_of_a_block_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.random.default_rng(11).random(5000)
    names = [f"g{i % 50}" for i in range(5000)]
    whole = fed(numbers, names=names)
    before = whole.moments()
    monkeypatch.setattr(streaming, "BLOCK_VALUES", 64)
    small = fed(numbers, step=10, names=names)
    after = small.moments()
    assert before is not None
    assert after is not None
    assert after.mean == pytest.approx(before.mean, rel=1e-15)
    assert after.squares == pytest.approx(before.squares, rel=1e-12)
    assert small.median() == whole.median()
