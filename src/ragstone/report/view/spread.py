"""How the samples that fit a filter are spread: a histogram whose bars filter, and means by the values of a trait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragstone.analysis.columns import RESOURCES
from ragstone.analysis.stats import Interval, Moments, mean_interval
from ragstone.analysis.summary import MetricSummary
from ragstone.report.drawing.shapes import Box, Drawing, Shape, Stroke
from ragstone.report.view.run_samples import RunSamples, SampleQuery, ValueRange
from ragstone.report.view.sample_state import SampleState

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTH, HEIGHT = 180.0, 34.0
QUICK_ROWS = 20_000
"""Samples of a run up to which those that fit are counted for every metric."""
MAX_SLICES = 12
"""Values of a trait that are shown, the most frequent ones."""


@dataclass(frozen=True, slots=True)
class SampleSlice:
    """The samples with one value of a trait."""

    value: str
    count: int
    scored: int
    mean: float | None
    interval: Interval
    href: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Histogram:
    """How the values of a metric are spread, and the ends between which a stretch can be chosen."""

    metric: str
    drawing: Drawing
    low: float
    high: float


def draw_histograms(
    samples: RunSamples, query: SampleQuery, metrics: Sequence[MetricSummary], state: SampleState
) -> list[Histogram]:
    """The spread of each metric: all samples in the back, those that fit in front; the bars of all have one scale.

    Of a large run those that fit are counted for the metric of the page alone."""
    import numpy as np

    is_everything = samples.is_everything(query)
    drawn = []
    for metric in metrics:
        if not metric.histogram:
            continue
        # as they are written into links, so that a bar and the filter it leads to count the same samples
        edges = np.array([float(f"{edge:.12g}") for edge in metric.edges])
        everything = fitting = np.array(metric.histogram)
        if not is_everything:
            fitting = np.zeros_like(everything)
            if samples.rows <= QUICK_ROWS or metric.metric == state.metric:
                values = np.array(samples.load_values(metric.metric, query))
                fitting = _count_bins(values, edges)
        drawn.append((metric.metric, everything, fitting, edges))
    tallest = max((int(everything.max()) for _, everything, _, _ in drawn), default=1)
    return [
        Histogram(
            name,
            _draw_histogram(name, everything, fitting, edges, max(tallest, 1), state),
            float(edges[0]),
            float(edges[-1]),
        )
        for name, everything, fitting, edges in drawn
    ]


def _draw_histogram(
    name: str,
    everything: NDArray[np.int64],
    fitting: NDArray[np.int64],
    edges: NDArray[np.float64],
    tallest: int,
    state: SampleState,
) -> Drawing:
    t = state.frame.t
    bins = len(edges) - 1
    step = WIDTH / bins
    shapes: list[Shape] = []
    for number in range(bins):
        low, high = float(edges[number]), float(edges[number + 1])
        count, all_count = int(fitting[number]), int(everything[number])
        is_last = number == bins - 1
        title = t(
            "bar", low=t.axis_number(low), high=t.axis_number(high), count=t.count("sample", count)
        )
        href = state.set_range(ValueRange(name, low, high, not is_last))
        x, width = number * step + 0.75, step - 1.5
        # by the root: a bar of few samples beside one of many can still be seen and clicked
        if all_count:
            tall = max((all_count / tallest) ** 0.5 * (HEIGHT - 2), 1.5)
            shapes.append(Box(x, HEIGHT - tall, width, tall, "band"))
        if count:
            tall = max((count / tallest) ** 0.5 * (HEIGHT - 2), 1.5)
            shapes.append(Box(x, HEIGHT - tall, width, tall, "bar", title, href))
    shapes.append(Stroke(((0, HEIGHT), (WIDTH, HEIGHT)), "axis"))
    label = t("view.spread_of", metric=name, n=t.count("sample", int(fitting.sum())))
    return Drawing(WIDTH, HEIGHT, tuple(shapes), label)


def _count_bins(values: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    import numpy as np

    bins = len(edges) - 1
    numbers = np.searchsorted(edges, values, side="right") - 1
    numbers[values == edges[-1]] = bins - 1
    inside = (numbers >= 0) & (numbers < bins)
    return np.bincount(numbers[inside], minlength=bins)


def compute_slices(
    samples: RunSamples,
    query: SampleQuery,
    trait: str,
    metric: Mapping[str, Any],
    state: SampleState,
    *,
    is_grouped: bool,
) -> list[SampleSlice]:
    """The mean of a metric by the values of a trait, among the samples that fit; the most frequent value first.

    Samples that are `is_grouped` are not independent: the interval of plain samples would be too narrow, and is left out."""
    chosen = dict(state.query.traits).get(trait)
    found = samples.summarise_by(trait, str(metric["name"]), query)
    return [
        SampleSlice(
            value,
            count,
            moments.n,
            moments.mean if moments.n else None,
            Interval() if is_grouped else _find_interval(moments, metric),
            state.add_trait(trait, value),
            chosen == value,
        )
        for value, count, moments in sorted(found, key=lambda part: -part[1])[:MAX_SLICES]
    ]


def _find_interval(moments: Moments, metric: Mapping[str, Any]) -> Interval:
    if moments.n < 2:
        return Interval()
    bounds = metric["bounds"]
    return mean_interval(
        moments,
        bounds=None if bounds is None else (float(bounds[0]), float(bounds[1])),
        binary=bool(metric["binary"]),
        positive=str(metric["family"]) in RESOURCES,
    )
