"""Where things stand in the small pictures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragstone.analysis import Summary
from ragstone.report.charts import HEIGHT, WIDTH, picture
from ragstone.report.words import words

SAY = words("en")


def test_mean_and_interval_lie_on_the_scale_of_the_bars(summary: Summary) -> None:
    one = summary["recall@5"]
    drawn = picture(one, [0.25, 7.0], SAY)
    assert drawn is not None
    assert drawn.mean == pytest.approx(one.mean * WIDTH, abs=0.01)  # type: ignore[operator]
    assert drawn.low == pytest.approx(one.low * WIDTH, abs=0.01)  # type: ignore[operator]
    assert drawn.gates == (WIDTH / 4,)
    assert (drawn.start, drawn.end) == ("0", "1")


def test_bars_are_as_tall_as_their_share_and_stay_inside(summary: Summary) -> None:
    one = summary["token_f1"]
    drawn = picture(one, [], SAY)
    assert drawn is not None
    assert max(bar.height for bar in drawn.bars) == HEIGHT
    assert len(drawn.bars) == sum(count > 0 for count in one.histogram)
    for bar in drawn.bars:
        assert 0 <= bar.x <= bar.x + bar.width <= WIDTH
        assert bar.y + bar.height == pytest.approx(HEIGHT)


def test_a_yes_or_no_metric_has_a_bar_at_each_end(summary: Summary) -> None:
    drawn = picture(summary["abstention_accuracy"], [], SAY)
    assert drawn is not None
    left, right = drawn.bars
    assert (left.title, right.title) == ("0: 10 samples", "1: 20 samples")
    assert left.x == 0
    assert right.x + right.width == WIDTH
    assert left.height == pytest.approx(HEIGHT / 2)


def test_a_metric_without_bounds_is_drawn_from_least_to_largest(summary: Summary) -> None:
    drawn = picture(summary["latency"], [], SAY)
    assert drawn is not None
    assert (drawn.start, drawn.end) == ("0.4", "3.4")


def test_nothing_scored_is_no_picture(summary: Summary) -> None:
    one = replace(summary["recall@5"], mean=None, low=None, high=None, histogram=(), edges=())
    assert picture(one, [], SAY) is None


def test_a_single_value_without_bounds_is_in_the_middle(summary: Summary) -> None:
    one = replace(
        summary["latency"], mean=2.0, low=None, high=None, minimum=2.0, maximum=2.0, histogram=(3,), edges=(2.0, 2.0),
    )  # fmt: skip
    drawn = picture(one, [], SAY)
    assert drawn is not None
    assert drawn.mean == WIDTH / 2
    assert drawn.low is None
