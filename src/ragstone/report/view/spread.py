"""How the samples that fit a filter are spread: a histogram whose bars filter, and means by the values of a trait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragstone.analysis.columns import RESOURCES
from ragstone.analysis.stats import Interval, Moments, mean_interval
from ragstone.report.drawing.shapes import Box, Caption, Drawing, Shape, Stroke
from ragstone.report.view.index import RunIndex, ValueRange
from ragstone.report.view.sample_state import SampleState

if TYPE_CHECKING:
    from ragstone.report.view.index import Column, Mask

BINS = 20
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


def draw_histogram(
    index: RunIndex, mask: Mask, metric: Mapping[str, Any], state: SampleState, wide: float
) -> Drawing | None:
    """How the values of a metric are spread: all samples in the back, those that fit in front; a bar is a link to its samples."""
    import numpy as np

    say, name = state.frame.say, str(metric["name"])
    values = index.load_values(name)
    if values is None:
        return None
    edges = _choose_edges(values, metric)
    if edges is None:
        return None
    everything = _count_bins(values, edges)
    fitting = _count_bins(values[mask], edges)
    tallest = max(int(everything.max()), 1)
    bins = len(edges) - 1
    step, base = wide / bins, HEIGHT - 22.0
    shapes: list[Shape] = []
    for number in range(bins):
        low, high = float(edges[number]), float(edges[number + 1])
        count, all_count = int(fitting[number]), int(everything[number])
        is_last = number == bins - 1
        title = say("bar", low=say.axis_number(low), high=say.axis_number(high),
                    count=say.count("sample", count))  # fmt: skip
        href = state.set_range(ValueRange(name, low, high, not is_last))
        x, width = number * step + 1.5, step - 3
        if all_count:
            tall = max(all_count / tallest * (base - 6), 1.5)
            shapes.append(Box(x, base - tall, width, tall, "band"))
        if count:
            tall = max(count / tallest * (base - 6), 1.5)
            shapes.append(Box(x, base - tall, width, tall, "bar", title, href))
    shapes.append(Stroke(((0, base), (wide, base)), "axis"))
    shapes.append(Caption(0, base + 16, say.axis_number(float(edges[0])), "soft"))
    shapes.append(Caption(wide, base + 16, say.axis_number(float(edges[-1])), "soft", "end"))
    scored = int(np.count_nonzero(~np.isnan(values[mask])))
    label = say("view.spread_of", metric=name, n=say.count("sample", scored))
    return Drawing(wide, HEIGHT, tuple(shapes), label)


def _choose_edges(values: Column, metric: Mapping[str, Any]) -> Any:
    import numpy as np

    bounds = metric["bounds"]
    if bounds is None:
        known = values[~np.isnan(values)]
        if not len(known):
            return None
        bounds = (float(known.min()), float(known.max()))
    low, high = float(bounds[0]), float(bounds[1])
    if not high > low:
        low, high = low - 0.5, high + 0.5
    bins = 2 if metric["binary"] else BINS
    # as they are written into links, so that a bar and the filter it leads to count the same samples
    return np.array([float(f"{low + (high - low) * at / bins:.12g}") for at in range(bins + 1)])


def _count_bins(values: Column, edges: Any) -> Any:
    import numpy as np

    known = values[~np.isnan(values)]
    bins = len(edges) - 1
    numbers = np.searchsorted(edges, known, side="right") - 1
    numbers[known == edges[-1]] = bins - 1
    inside = (numbers >= 0) & (numbers < bins)
    return np.bincount(numbers[inside], minlength=bins)


def compute_slices(
    index: RunIndex,
    mask: Mask,
    trait: str,
    metric: Mapping[str, Any],
    state: SampleState,
    *,
    is_grouped: bool,
) -> list[SampleSlice]:
    """The mean of a metric by the values of a trait, among the samples that fit; the most frequent value first.

    Samples that are `is_grouped` are not independent: the interval of plain samples would be too narrow, and is left out."""
    import numpy as np

    codes, words = index.read_codes(trait)
    values = index.load_values(str(metric["name"]))
    if values is None or not words:
        return []
    fitting, numbers = np.asarray(values[mask]), np.asarray(codes[mask]).astype(np.int64)
    size = len(words) + 1
    counts = np.bincount(numbers, minlength=size)
    known = ~np.isnan(fitting)
    fitting, numbers = fitting[known], numbers[known]
    scored = np.bincount(numbers, minlength=size)
    means = np.bincount(numbers, fitting, size) / np.maximum(scored, 1)
    apart = fitting - means[numbers]
    squares = np.bincount(numbers, apart * apart, size)
    cubes = np.bincount(numbers, apart * apart * apart, size)
    ends = (float(fitting.min()), float(fitting.max())) if len(fitting) else (0.0, 0.0)
    chosen = dict(state.query.traits).get(trait)
    slices = []
    for number in np.argsort(-counts, kind="stable")[: MAX_SLICES + 1].tolist():
        if not number or not counts[number]:
            continue
        n = int(scored[number])
        moments = Moments(
            n, float(means[number]), float(squares[number]), float(cubes[number]), *ends
        )
        slices.append(
            SampleSlice(
                words[number - 1], int(counts[number]), n, moments.mean if n else None,
                Interval() if is_grouped else _find_interval(moments, metric), state.add_trait(trait, words[number - 1]),
                chosen == words[number - 1],
            )
        )  # fmt: skip
    return slices[:MAX_SLICES]


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
