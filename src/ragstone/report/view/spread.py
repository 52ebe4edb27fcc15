"""How the samples that fit a filter are spread: a histogram whose bars filter, and means by the values of a trait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragstone.analysis.columns import RESOURCES
from ragstone.analysis.stats import Interval, Moments, mean_interval
from ragstone.analysis.summary import MetricSummary
from ragstone.report.drawing.shapes import Box, Caption, Drawing, Shape, Stroke
from ragstone.report.view.run_samples import RunSamples, SampleQuery, ValueRange
from ragstone.report.view.sample_state import SampleState

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HEIGHT = 120.0
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


def draw_histograms(
    samples: RunSamples,
    query: SampleQuery,
    metric: MetricSummary,
    state: SampleState,
    widths: Sequence[float],
) -> list[Drawing]:
    """How the values of a metric are spread, once for each width: all samples in the back, those that fit in front."""
    import numpy as np

    if not metric.histogram:
        return []
    # as they are written into links, so that a bar and the filter it leads to count the same samples
    edges = np.array([float(f"{edge:.12g}") for edge in metric.edges])
    everything = fitting = np.array(metric.histogram)
    if not samples.is_everything(query):
        fitting = _count_bins(np.array(samples.load_values(metric.metric, query)), edges)
    return [_draw_histogram(everything, fitting, edges, metric.metric, state, w) for w in widths]


def _draw_histogram(
    everything: NDArray[np.int64],
    fitting: NDArray[np.int64],
    edges: NDArray[np.float64],
    name: str,
    state: SampleState,
    wide: float,
) -> Drawing:
    t = state.frame.t
    tallest = max(int(everything.max()), 1)
    bins = len(edges) - 1
    step, base = wide / bins, HEIGHT - 22.0
    shapes: list[Shape] = []
    for number in range(bins):
        low, high = float(edges[number]), float(edges[number + 1])
        count, all_count = int(fitting[number]), int(everything[number])
        is_last = number == bins - 1
        title = t("bar", low=t.axis_number(low), high=t.axis_number(high),
                    count=t.count("sample", count))  # fmt: skip
        href = state.set_range(ValueRange(name, low, high, not is_last))
        x, width = number * step + 1.5, step - 3
        if all_count:
            tall = max(all_count / tallest * (base - 6), 1.5)
            shapes.append(Box(x, base - tall, width, tall, "band"))
        if count:
            tall = max(count / tallest * (base - 6), 1.5)
            shapes.append(Box(x, base - tall, width, tall, "bar", title, href))
    shapes.append(Stroke(((0, base), (wide, base)), "axis"))
    shapes.append(Caption(0, base + 16, t.axis_number(float(edges[0])), "soft"))
    shapes.append(Caption(wide, base + 16, t.axis_number(float(edges[-1])), "soft", "end"))
    label = t("view.spread_of", metric=name, n=t.count("sample", int(fitting.sum())))
    return Drawing(wide, HEIGHT, tuple(shapes), label)


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
            value, count, moments.n, moments.mean if moments.n else None,
            Interval() if is_grouped else _find_interval(moments, metric),
            state.add_trait(trait, value), chosen == value,
        )
        for value, count, moments in sorted(found, key=lambda part: -part[1])[:MAX_SLICES]
    ]  # fmt: skip


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
