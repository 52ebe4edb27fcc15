"""How good a judge is on items that people labelled: agreement, ranking, bias, calibration, and what it is fit for.

Labels that carry their sampling probability count by it, so that items chosen because the judge is unsure do not make it look worse
than it is on the whole run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from ragstone.analysis.cascade import WeighedVerdict, find_bounds
from ragstone.analysis.paired import compare_pairs
from ragstone.analysis.significance import adjust_p_values
from ragstone.analysis.stats import wilson_interval
from ragstone.judges.cascade_settings import DEFAULT_AGREE
from ragstone.judges.scale import MIN_FIT_ACCURACY, MIN_RANK_AUROC, JudgeScale
from ragstone.labels.agreement import measure_kappa
from ragstone.labels.estimates import (
    NO_ESTIMATE,
    MeasuredItem,
    ShareEstimate,
    count_effective,
    measure_accuracy,
    measure_auroc,
    measure_bias,
    weigh,
    weigh_side,
)
from ragstone.labels.label import Target
from ragstone.types import NO_USAGE, Sample, Usage

JudgeVerdict = Literal["fit", "rank_only", "unfit", "more_labels"]
"""Fit to gate on; fit to rank samples or systems; neither; the labels cannot tell."""

CALIBRATION_BINS = 10
MIN_SLICE_ITEMS = 10
"""Items that a slice needs for figures of its own."""
MIN_SIDE_ITEMS = 5
"""Items of each side (people say yes, people say no) without which nothing is concluded."""


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Items whose chances are close together: what the judge expects and what people say."""

    expected: float
    observed: float
    low: float
    high: float
    items: int


@dataclass(frozen=True, slots=True)
class SliceMeasure:
    """The judge on the items with one value of a field."""

    field: str
    value: str
    items: int
    accuracy: ShareEstimate
    bias: float


@dataclass(frozen=True, slots=True)
class JudgeMeasure:
    """One judge on the labelled items."""

    judge: str
    items: int
    failed: int
    """Labelled items without a usable judgement."""
    yes: float
    """Share of the items of which people say yes."""
    accuracy: ShareEstimate
    """Balanced: the mean of the shares that are right among those where people say yes, and no."""
    kappa: ShareEstimate
    auroc: ShareEstimate
    bias: ShareEstimate
    """How much higher the judge's mean is than that of people."""
    brier: float | None
    """Mean squared distance of chances and labels, for a judge with probabilities."""
    calibration: tuple[CalibrationBin, ...]
    slices: tuple[SliceMeasure, ...]
    verdict: JudgeVerdict
    more: int | None
    """About how many more labels would settle it, with `more_labels`."""
    unsure: tuple[float, float] | None = None
    """The narrowest chances that a second judge should decide for 95 % of the verdicts on each side to be right, in a cascade."""
    unsure_share: float | None = None
    """Share of the items between them."""
    usage: Usage = NO_USAGE
    seconds: float | None = None
    wrong: tuple[MeasuredItem, ...] = ()
    """What it gets wrong, the surest first."""


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Two judges on the same items."""

    first: str
    second: str
    items: int
    difference: float
    """Share of right verdicts of the second less that of the first."""
    low: float | None
    high: float | None
    p: float | None
    """Corrected for all pairs."""


@dataclass(frozen=True, slots=True)
class JudgeMeasurement:
    """Judges on the same labelled items."""

    name: str
    target: Target
    labels: int
    drawn: bool
    """Whether the labels say with which probability they were drawn, so that the figures hold for all of the samples."""
    judges: tuple[JudgeMeasure, ...]
    pairs: tuple[JudgePair, ...]
    samples: Mapping[str, Sample]
    scales: tuple[JudgeScale, ...] = ()


def measure_judge(
    judge: str,
    items: Sequence[MeasuredItem],
    *,
    failed: int = 0,
    usage: Usage = NO_USAGE,
    seconds: float | None = None,
) -> JudgeMeasure:
    """Measure a judge on the items that it judged; `failed` counts those that it could not."""
    accuracy, auroc = measure_accuracy(items), measure_auroc(items)
    verdict, more = decide_fitness(accuracy, auroc, items)
    wrong = [item for item in items if not item.is_right]
    has_probabilities = bool(items) and all(item.has_probability for item in items)
    unsure, unsure_share = (find_unsure(items) if has_probabilities else None) or (None, None)
    return JudgeMeasure(
        judge=judge,
        items=len(items),
        failed=failed,
        yes=weigh(items, lambda item: float(item.is_yes)) if items else 0.0,
        accuracy=accuracy,
        kappa=_measure_kappa(items),
        auroc=auroc,
        bias=measure_bias(items),
        brier=weigh(items, lambda item: (item.prediction - item.label) ** 2)
        if has_probabilities
        else None,
        calibration=_calibrate(items) if has_probabilities else (),
        slices=tuple(_measure_slices(items)),
        verdict=verdict,
        more=more,
        unsure=unsure,
        unsure_share=unsure_share,
        usage=usage,
        seconds=seconds,
        wrong=tuple(sorted(wrong, key=lambda item: -abs(item.prediction - item.label))),
    )


def find_unsure(items: Sequence[MeasuredItem]) -> tuple[tuple[float, float], float] | None:
    """The bounds of a cascade with this judge first, and the share of the items between them; None with too few of a side.

    Both sides count the same (people say yes, people say no), as in balanced accuracy: where nearly all claims are
    supported, a judge that is never unsure would else be right often enough."""
    sides = Counter(item.is_yes for item in items)
    if min(sides[True], sides[False]) < MIN_SIDE_ITEMS:
        return None
    weights = {side: weigh_side(items, side) for side in sides}
    verdicts = [
        WeighedVerdict(item.prediction, item.is_right, item.weight / weights[item.is_yes])
        for item in items
    ]
    found = find_bounds(verdicts, DEFAULT_AGREE)
    if found is None:
        return None
    low, high = found[0]
    return found[0], weigh(items, lambda item: float(low < item.prediction < high))


def compare_judges(judged: Sequence[tuple[str, Sequence[MeasuredItem]]]) -> list[JudgePair]:
    """Every two judges on the items that both judged: who is right more often, and whether that is more than chance."""
    import numpy as np

    pairs: list[JudgePair] = []
    for (first, items), (second, others) in combinations(judged, 2):
        of_others = {(item.sample, item.item): item for item in others}
        both = [
            (item, of_others[item.sample, item.item])
            for item in items
            if (item.sample, item.item) in of_others
        ]
        if not both:
            continue
        numbers: dict[str, int] = {}
        groups = [numbers.setdefault(item.group or item.sample, len(numbers)) for item, _ in both]
        paired = compare_pairs(
            np.array([float(item.is_right) for item, _ in both]),
            np.array([float(other.is_right) for _, other in both]),
            np.array(groups, np.int64),
            bounds=(0.0, 1.0),
            binary=True,
        )
        interval = paired.interval
        difference = paired.difference or 0.0
        pairs.append(
            JudgePair(first, second, len(both), difference, interval.low, interval.high, paired.p)
        )
    # a pair without p takes none of the corrected ones, so that these stay in step
    tested = [pair.p for pair in pairs if pair.p is not None]
    adjusted = iter(adjust_p_values(tested, "holm"))
    return [
        JudgePair(
            pair.first, pair.second, pair.items, pair.difference, pair.low, pair.high,
            None if pair.p is None else next(adjusted),
        )
        for pair in pairs
    ]  # fmt: skip


def decide_fitness(
    accuracy: ShareEstimate, auroc: ShareEstimate, items: Sequence[MeasuredItem]
) -> tuple[JudgeVerdict, int | None]:
    """What the judge is fit for; when the labels cannot tell, about how many more would."""
    sides = Counter(item.is_yes for item in items)
    least = min(sides[True], sides[False])
    if (
        accuracy.value is None
        or accuracy.low is None
        or accuracy.high is None
        or least < MIN_SIDE_ITEMS
    ):
        rare = max(1, least)
        # so many that the rarer side would have twice the least number, at its share so far
        return "more_labels", _round_up(
            len(items) * (2 * MIN_SIDE_ITEMS / rare - 1) + MIN_SIDE_ITEMS
        )
    if accuracy.low >= MIN_FIT_ACCURACY:
        return "fit", None
    if accuracy.high >= MIN_FIT_ACCURACY:
        # enough to bring the end of the interval to the bar, were the figure what it is now
        # (a figure at the bar itself would ask for endlessly many: the gap is taken to be 0.02 at least)
        gap = max(abs(accuracy.value - MIN_FIT_ACCURACY), 0.02)
        reach = (
            (accuracy.value - accuracy.low)
            if accuracy.value > MIN_FIT_ACCURACY
            else (accuracy.high - accuracy.value)
        )
        return "more_labels", _round_up(len(items) * ((reach / gap) ** 2 - 1))
    ranks = auroc.low is not None and auroc.low >= MIN_RANK_AUROC
    return ("rank_only" if ranks else "unfit"), None


def _measure_kappa(items: Sequence[MeasuredItem]) -> ShareEstimate:
    table: Counter[tuple[float | str, float | str]] = Counter(
        (float(item.is_yes), float(item.decision >= 0.5)) for item in items
    )
    return ShareEstimate(*measure_kappa(table)) if items else NO_ESTIMATE


def _calibrate(items: Sequence[MeasuredItem]) -> tuple[CalibrationBin, ...]:
    """At most ten bins with about as many items each, from the least chance to the largest; equal chances stay together."""
    ordered = sorted(items, key=lambda item: item.prediction)
    size = max(5, math.ceil(len(ordered) / CALIBRATION_BINS))
    bins, start = [], 0
    while start < len(ordered):
        last = ordered[min(start + size, len(ordered)) - 1].prediction
        part = [item for item in ordered[start:] if item.prediction <= last]
        start += len(part)
        observed, effective = weigh(part, lambda item: item.label), count_effective(part)
        low, high = wilson_interval(observed * effective, effective)
        expected = weigh(part, lambda item: item.prediction)
        bins.append(CalibrationBin(expected, observed, low, high, len(part)))
    return tuple(bins)


def _measure_slices(items: Sequence[MeasuredItem]) -> Iterable[SliceMeasure]:
    by_value: dict[tuple[str, str], list[MeasuredItem]] = {}
    for item in items:
        for field_and_value in item.slices:
            by_value.setdefault(field_and_value, []).append(item)
    fields = Counter(name for name, _ in by_value)
    for (name, value), part in sorted(by_value.items()):
        # a field with one value slices nothing
        if len(part) >= MIN_SLICE_ITEMS and fields[name] > 1:
            bias = weigh(part, lambda item: item.decision - item.label)
            yield SliceMeasure(name, value, len(part), measure_accuracy(part), bias)


def _round_up(count: float) -> int:
    whole = max(10, math.ceil(count))
    step = int(10 ** max(1, len(str(whole)) - 2))
    return -(-whole // step) * step
