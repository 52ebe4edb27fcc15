"""The mean that people would give all samples, from a judge's values on all of them and labels on some.

Prediction-powered inference (Angelopoulos and others 2023) with the power-tuning weight of PPI++ (2024): the judge's
mean, times a weight, plus what the labels say is left over. The weight makes the variance least; a judge that knows
nothing gets 0, and the labels alone remain. A judge that gives two numbers (a share of claims and a chance) has a weight
for each. Labels may have been drawn with unequal probabilities, which they carry.

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
UNSEEN_ERRORS = 0.9
"""Errors of the judge that the labels may have missed, counted into the variance of a judge that is relied on.

A judge that errs rarely is often seen without a single error: without this the interval of 100 labels would hold the
mean in 0.86 of the cases where 0.95 are promised. Chosen by simulation: `python -m bench.labels`."""
HALF_WIDTH = 0.05
"""Reach of an interval that `needed` counts labels for, as a share of the range."""


@dataclass(frozen=True, slots=True)
class LabelledUnits:
    """A judge's values of all units (samples, claims or chunks) and people's values of some."""

    predictions: Floats
    """The judge's value of each unit; or a row of several values, the one that is shown first."""
    labelled: NDArray[np.int64]
    """Indexes of the units with a label."""
    labels: Floats
    """What people said of those."""
    sampling_probabilities: Floats
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
    """How far the judge is relied on: 0 not at all; of several values, the sum of their weights."""
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
    weights = design.tune_weights()
    corrected, alone = design.estimate(weights), design.estimate(0 * weights)
    # The variance of an estimated weight is not free: where it does not pay, the labels alone are better.
    if corrected.variance >= alone.variance:
        weights, corrected = 0 * weights, alone
    low, high = design.build_interval(corrected.mean, corrected.variance, design.freedom)
    sample_low, sample_high = design.build_interval(
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
        sample_low=sample_low,
        sample_high=sample_high,
        alone=alone.mean,
        alone_low=alone_low,
        alone_high=alone_high,
        weight=float(weights.sum()),
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
    means: Floats
    """Of each value that the judge gives."""
    predictions: Floats
    """Of the labelled units, a row each."""
    shares: Floats
    """Share of each labelled unit in a mean of labels: its share of the units over its chance."""
    judge_parts: Floats
    """By independent group, a row each: what the judge's values add to their means, centred."""
    groups: NDArray[np.int64]
    """Of each labelled unit, from 0."""
    effective: float
    """Labels with equal probabilities that would be worth as much."""
    freedom: float
    unlabelled: float
    """Share of the units without a label."""

    @classmethod
    def of(cls, units: LabelledUnits, bounds: tuple[float, float] | None) -> _Design:
        import numpy as np

        count = len(units.predictions)
        weights = np.full(count, 1 / count) if units.weights is None else units.weights
        groups = _number_groups(units.groups, count)
        predictions = units.predictions.reshape(count, -1)
        means = weights @ predictions
        shares = weights[units.labelled] / units.sampling_probabilities
        shares = shares / shares.sum()
        labelled_groups = groups[units.labelled]
        effective = 1 / float(shares @ shares)
        pieces = len(np.unique(labelled_groups))
        return cls(
            units=units,
            bounds=bounds,
            means=means,
            predictions=predictions[units.labelled],
            shares=shares,
            judge_parts=_sum_by_group(
                groups, weights[:, None] * (predictions - means), int(groups.max()) + 1
            ),
            groups=labelled_groups,
            effective=effective,
            # used up by the mean and by each weight
            freedom=max(1.0, min(pieces, effective) - 1 - len(means)),
            unlabelled=max(0.0, 1 - float(weights[units.labelled].sum())),
        )

    @property
    def width(self) -> float:
        return 1.0 if self.bounds is None else self.bounds[1] - self.bounds[0]

    @property
    def judge_mean(self) -> float:
        """Mean of the value that is shown."""
        return float(self.means[0])

    def sum_groups(self, values: Floats) -> Floats:
        """What centred values of the labelled units, a row each, add to their means, by independent group."""
        off = self.shares[:, None] * (values - self.shares @ values)
        return _sum_by_group(self.groups, off, len(self.judge_parts))

    def tune_weights(self) -> Floats:
        """The weights of the judge's values with the least variance; a value whose weight would be negative is left out."""
        import numpy as np

        labels = self.sum_groups(self.units.labels[:, None])[:, 0]
        judge = self.judge_parts - self.sum_groups(self.predictions)
        used = (judge**2).sum(axis=0) > 1e-15
        weights = np.zeros(len(used))
        while used.any():
            weights[:] = 0
            weights[used] = -np.linalg.lstsq(judge[:, used], labels, rcond=None)[0]
            if (weights >= 0).all():
                return weights
            used[int(np.argmin(weights))] = False
        return np.zeros(len(used))

    def estimate(self, weights: Floats) -> _Estimate:
        shares, count = self.shares, len(self.units.labelled)
        combined = self.predictions @ weights
        residuals = self.units.labels - combined
        left_over = float(shares @ residuals)
        parts = self.sum_groups(residuals[:, None])[:, 0] + self.judge_parts @ weights
        # a residual is measured from a mean and from weights that were fitted to it
        fitted = 1 + int((weights > 0).sum())
        pieces = self.freedom + 1 + len(weights)
        variance = float(parts @ parts) * pieces / max(1.0, pieces - fitted)
        off = (shares * (residuals - left_over)) ** 2 * (1 - self.units.sampling_probabilities)
        sample_variance = float(off.sum()) * count / max(1, count - fitted)
        unseen = self._count_unseen(combined)
        return _Estimate(
            float(self.means @ weights) + left_over,
            variance + unseen,
            sample_variance + unseen * self.unlabelled,
        )

    def _count_unseen(self, predictions: Floats) -> float:
        """The variance of errors that the labels may have missed, as far as the judge explains the labels."""
        labels = self.units.labels
        judge_off = predictions - float(self.shares @ predictions)
        label_off = labels - float(self.shares @ labels)
        spread = float(self.shares @ judge_off**2) * float(self.shares @ label_off**2)
        together = float(self.shares @ (judge_off * label_off))
        explained = together**2 / spread if spread > 0 else 0.0
        return UNSEEN_ERRORS * explained * (self.width / self.effective) ** 2

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


def _sum_by_group(groups: NDArray[np.int64], values: Floats, count: int) -> Floats:
    """The sum of each column of values by group."""
    import numpy as np

    columns = [np.bincount(groups, column, minlength=count) for column in values.T]
    return np.column_stack(columns).astype(np.float64)


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
