"""The mean that people would give all samples, from a judge's values on all of them and labels on some.

Prediction-powered inference (Angelopoulos and others 2023) with the power-tuning weight of PPI++ (2024): the judge's
mean, times a weight, plus what the labels say is left over. The weight makes the variance least; a judge that knows
nothing gets 0, and the labels alone remain. Labels may have been drawn with unequal chances, which they carry.

Two intervals, of two means: `low`..`high` of the population that the samples come from (grouped samples are not
independent there), `sample_low`..`sample_high` of these samples themselves (only the draw of the labels is random).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.analysis.stats import equal_values_interval, score_interval, t_quantile
from ragstone.locale.messages import compose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MIN_LABELS = 10
"""Labels under which no corrected mean is given."""
ENOUGH_LABELS = 30
"""Labels under which a corrected mean comes with a warning."""
UNSEEN_ERRORS = 0.8
"""Errors of the judge that the labels may have missed, counted into the variance of a judge that is relied on.

A judge that errs rarely is often seen without a single error: without this the interval of 100 labels would hold the
mean in 0.86 of the cases where 0.95 are promised. Chosen by simulation: `python -m bench.labels`."""
HALF_WIDTH = 0.05
"""Reach of an interval that `needed` counts labels for, as a share of the range."""


@dataclass(frozen=True, slots=True)
class LabelledUnits:
    """A judge's values of all units (samples, claims or chunks) and people's values of some."""

    predictions: Floats
    """The judge's value of each unit."""
    labelled: NDArray[np.int64]
    """Indexes of the units with a label."""
    labels: Floats
    """What people said of those."""
    chances: Floats
    """Chance of each of those to be labelled; equal ones mean a plain random draw."""
    weights: Floats | None = None
    """Share of each unit in the mean, together 1; None: all the same."""
    groups: NDArray[np.int64] | None = None
    """Number of each unit's group, −1 for none; only groups are independent of each other."""


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """The mean corrected by labels, beside the judge's own and that of the labels alone."""

    labels: int
    units: int
    judge_mean: float
    """Mean of the judge's values, uncorrected."""
    mean: float
    low: float
    """Lower end of the 95 % interval of the population's mean."""
    high: float
    sample_low: float
    """Lower end of the 95 % interval of the mean of these units."""
    sample_high: float
    alone: float
    """Mean of the labels alone, each counted by its chance."""
    alone_low: float
    alone_high: float
    weight: float
    """How far the judge is relied on: 0 not at all."""
    needed: int | None
    """About how many labels bring the interval to ± 5 % of the range; None when it is there."""
    warnings: tuple[str, ...] = ()

    @property
    def bias(self) -> float:
        """How much too high the judge's mean is."""
        return self.judge_mean - self.mean


def correct_mean(
    units: LabelledUnits, *, bounds: tuple[float, float] | None = (0.0, 1.0)
) -> CorrectedMean | None:
    """Correct the judge's mean by the labels; None with fewer than 10 of them."""
    count = len(units.labelled)
    if count < MIN_LABELS:
        return None
    design = _Design.of(units, bounds)
    weight = design.tune_weight()
    corrected, alone = design.estimate(weight), design.estimate(0.0)
    # The variance of an estimated weight is not free: where it does not pay, the labels alone are better.
    if corrected.variance >= alone.variance:
        weight, corrected = 0.0, alone
    low, high = design.build_interval(corrected.mean, corrected.variance, design.freedom)
    ends = design.build_interval(
        corrected.mean, corrected.sample_variance, max(1.0, count - 2.0), design.unlabelled
    )
    alone_low, alone_high = design.build_interval(alone.mean, alone.variance, design.freedom)
    return CorrectedMean(
        labels=count,
        units=len(units.predictions),
        judge_mean=design.judge_mean,
        mean=min(max(corrected.mean, low), high),
        low=low,
        high=high,
        sample_low=ends[0],
        sample_high=ends[1],
        alone=alone.mean,
        alone_low=alone_low,
        alone_high=alone_high,
        weight=weight,
        needed=_count_needed(design, high - low),
        warnings=_collect_warnings(design),
    )


@dataclass(frozen=True, slots=True)
class MetricCorrection:
    """What labels say of a metric of a run."""

    target: str
    """What was labelled: `claim`, `support`, `correctness` and so on."""
    estimate: CorrectedMean | None
    """None when there are too few labels."""
    notes: tuple[str, ...] = ()
    """What to know of it: labels that were left out, what is assumed of how they were drawn."""


@dataclass(frozen=True, slots=True)
class _Estimate:
    mean: float
    variance: float
    """Of the mean as an estimate of the population's."""
    sample_variance: float
    """Of the mean as an estimate of that of the units."""


@dataclass(frozen=True, slots=True)
class _Design:
    """The units with what every estimate from them needs."""

    units: LabelledUnits
    bounds: tuple[float, float] | None
    judge_mean: float
    shares: Floats
    """Share of each labelled unit in a mean of labels: its share of the units over its chance."""
    judge_parts: Floats
    """By independent group: what the judge's values add to their mean, centred."""
    groups: NDArray[np.int64]
    """Of each labelled unit, from 0."""
    effective: float
    """Labels with equal chances that would be worth as much."""
    freedom: float
    unlabelled: float
    """Share of the units without a label."""

    @classmethod
    def of(cls, units: LabelledUnits, bounds: tuple[float, float] | None) -> _Design:
        import numpy as np

        count = len(units.predictions)
        weights = np.full(count, 1 / count) if units.weights is None else units.weights
        groups = _number_groups(units.groups, count)
        judge_mean = float(weights @ units.predictions)
        shares = weights[units.labelled] / units.chances
        shares = shares / shares.sum()
        labelled_groups = groups[units.labelled]
        effective = 1 / float(shares @ shares)
        pieces = len(np.unique(labelled_groups))
        return cls(
            units=units,
            bounds=bounds,
            judge_mean=judge_mean,
            shares=shares,
            judge_parts=np.bincount(groups, weights * (units.predictions - judge_mean)).astype(
                float
            ),
            groups=labelled_groups,
            effective=effective,
            # two are used up: by the mean and by the weight
            freedom=max(1.0, min(pieces, effective) - 2),
            unlabelled=max(0.0, 1 - float(weights[units.labelled].sum())),
        )

    @property
    def width(self) -> float:
        return 1.0 if self.bounds is None else self.bounds[1] - self.bounds[0]

    def sum_groups(self, values: Floats) -> Floats:
        """What centred values of the labelled units add to their mean, by independent group."""
        import numpy as np

        off = self.shares * (values - float(self.shares @ values))
        return np.bincount(self.groups, off, minlength=len(self.judge_parts)).astype(np.float64)

    def tune_weight(self) -> float:
        """The weight of the judge with the least variance; never below 0."""
        labels = self.sum_groups(self.units.labels)
        judge = self.judge_parts - self.sum_groups(self.units.predictions[self.units.labelled])
        spread = float(judge @ judge)
        return max(0.0, -float(judge @ labels) / spread) if spread > 1e-15 else 0.0

    def estimate(self, weight: float) -> _Estimate:
        units, shares, count = self.units, self.shares, len(self.units.labelled)
        predictions = units.predictions[units.labelled]
        residuals = units.labels - weight * predictions
        left_over = float(shares @ residuals)
        parts = self.sum_groups(residuals) + weight * self.judge_parts
        # a residual is measured from a mean and a weight that were fitted to it
        fitted = 2 if weight else 1
        pieces = self.freedom + 2
        variance = float(parts @ parts) * pieces / max(1.0, pieces - fitted)
        off = (shares * (residuals - left_over)) ** 2 * (1 - units.chances)
        sample_variance = float(off.sum()) * count / max(1, count - fitted)
        unseen = self._count_unseen(predictions) if weight else 0.0
        return _Estimate(
            weight * self.judge_mean + left_over,
            variance + unseen,
            sample_variance + unseen * self.unlabelled,
        )

    def _count_unseen(self, predictions: Floats) -> float:
        """The variance of errors that the labels may have missed, as far as judge and labels go together."""
        centre, labels = float(self.shares @ predictions), self.units.labels
        judge_off, label_off = predictions - centre, labels - float(self.shares @ labels)
        spread = float(self.shares @ judge_off**2) * float(self.shares @ label_off**2)
        together = float(self.shares @ (judge_off * label_off))
        correlation = max(0.0, together / math.sqrt(spread)) if spread > 0 else 0.0
        return UNSEEN_ERRORS * correlation * (self.width / self.effective) ** 2

    def build_interval(
        self, mean: float, variance: float, freedom: float, unknown: float = 1.0
    ) -> tuple[float, float]:
        """The 95 % interval; `unknown` is the share of the units that it is uncertain of."""
        if self.bounds is None:
            reach = t_quantile(0.975, freedom) * math.sqrt(variance)
            return mean - reach, mean + reach
        inside = min(max(mean, self.bounds[0]), self.bounds[1])
        if inside in self.bounds or variance <= 0:
            low, high = equal_values_interval(inside, max(1, round(self.effective)), self.bounds)
            return inside - (inside - low) * unknown, inside + (high - inside) * unknown
        return score_interval(inside, variance, freedom, self.bounds)


def _number_groups(groups: NDArray[np.int64] | None, count: int) -> NDArray[np.int64]:
    """A number for each unit's group; a unit without one is a group of its own."""
    import numpy as np

    if groups is None:
        return np.arange(count)
    alone = groups < 0
    apart = groups.copy()
    apart[alone] = groups.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    return np.unique(apart, return_inverse=True)[1].astype(np.int64)


def _count_needed(design: _Design, width: float) -> int | None:
    wanted = 2 * HALF_WIDTH * design.width
    if width <= wanted:
        return None
    count = len(design.units.labelled)
    estimate = math.ceil(count * (width / wanted) ** 2)
    step = int(10 ** max(0, len(str(estimate)) - 2))
    # more labels than units cannot be had
    return min(-(-estimate // step) * step, len(design.units.predictions))


def _collect_warnings(design: _Design) -> tuple[str, ...]:
    count, effective = len(design.units.labelled), round(design.effective)
    if count < ENOUGH_LABELS:
        return (compose("labels_few", n=count, enough=ENOUGH_LABELS),)
    if effective < ENOUGH_LABELS:
        return (compose("labels_unequal", n=count, effective=effective),)
    return ()
