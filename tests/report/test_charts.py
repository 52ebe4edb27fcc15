"""Where things stand in the picture of a metric's distribution."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragstone.analysis import Summary
from ragstone.report.drawing.distribution import HISTOGRAM_HEIGHT, WIDTH, draw_distribution
from ragstone.report.drawing.shapes import Box, Stroke
from ragstone.report.translator import load_translator

SAY = load_translator("en")


def boxes(drawing, role):
    return [shape for shape in drawing.shapes if isinstance(shape, Box) and shape.role == role]


def test_mean_and_interval_lie_on_the_scale_of_the_bars(summary: Summary) -> None:
    metric = summary["recall@5"]
    drawing, ends = draw_distribution(metric, [0.25, 7.0], SAY)
    (mean,), (interval,) = boxes(drawing, "mean"), boxes(drawing, "interval")
    assert mean.x + 1.5 == pytest.approx(metric.mean * WIDTH, abs=0.01)
    assert interval.x == pytest.approx(metric.low * WIDTH, abs=0.01)
    assert interval.x + interval.width == pytest.approx(metric.high * WIDTH, abs=0.02)
    gates = [s for s in drawing.shapes if isinstance(s, Stroke) and s.role == "target"]
    assert [gate.points[0][0] for gate in gates] == [WIDTH / 4]
    assert ends == ("0", "1")


def test_bars_are_as_tall_as_their_share_and_stay_inside(summary: Summary) -> None:
    metric = summary["token_f1"]
    bars = boxes(draw_distribution(metric, [], SAY)[0], "bar")
    assert max(bar.height for bar in bars) == HISTOGRAM_HEIGHT
    assert len(bars) == sum(count > 0 for count in metric.histogram)
    for bar in bars:
        assert 0 <= bar.x <= bar.x + bar.width <= WIDTH
        assert bar.y + bar.height == pytest.approx(HISTOGRAM_HEIGHT)


def test_a_yes_or_no_metric_has_a_bar_at_each_end(summary: Summary) -> None:
    left, right = boxes(draw_distribution(summary["abstention_accuracy"], [], SAY)[0], "bar")
    assert (left.title, right.title) == ("0: 10 samples", "1: 20 samples")
    assert left.x == 0
    assert right.x + right.width == WIDTH
    assert left.height == pytest.approx(HISTOGRAM_HEIGHT / 2)


def test_a_metric_without_bounds_is_drawn_from_least_to_largest(summary: Summary) -> None:
    assert draw_distribution(summary["latency"], [], SAY)[1] == ("0.4", "3.4")


def test_nothing_scored_is_no_picture(summary: Summary) -> None:
    metric = replace(summary["recall@5"], mean=None, low=None, high=None, histogram=(), edges=())
    assert draw_distribution(metric, [], SAY) is None


def test_a_single_value_without_bounds_is_in_the_middle(summary: Summary) -> None:
    metric = replace(
        summary["latency"], mean=2.0, low=None, high=None, minimum=2.0, maximum=2.0, histogram=(3,), edges=(2.0, 2.0),
    )  # fmt: skip
    drawing, _ = draw_distribution(metric, [], SAY)
    assert boxes(drawing, "mean")[0].x + 1.5 == WIDTH / 2
    assert boxes(drawing, "interval") == []
