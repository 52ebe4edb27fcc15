"""How much a metric varies from question to question, measured on stored runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.analysis.columns import ComparableRun, match_samples, read_columns
from ragstone.analysis.paired import MeanDifference, compare_pairs
from ragstone.analysis.power import compute_paired_sd
from ragstone.analysis.stats import Z
from ragstone.errors import RagstoneError, UnknownMetric, suggest_nearest


@dataclass(frozen=True, slots=True)
class MetricSpread:
    """The standard deviation of the paired difference, and what groups cost."""

    sd: float
    design: float
    """The design effect: variance of the mean with groups over that of independent samples, at least 1."""
    binary: bool


def measure_spread(runs: Sequence[ComparableRun], metric: str) -> MetricSpread:
    """Measured between two runs (a third is not read); from one run, its own deviation, for systems that correlate at 0.5."""
    import numpy as np

    for run in runs:
        names = [str(described["name"]) for described in run.info.metrics]
        if metric not in names:
            raise UnknownMetric(
                f"run {run.info.name!r} has no metric {metric!r}{suggest_nearest(metric, names)}"
            )
    first = read_columns(runs[0], [metric])
    binary = bool(first.describe_metric(metric).get("binary"))
    # One run is compared with 0: then the difference is the value itself.
    pair = match_samples(first, read_columns(runs[1], [metric]) if len(runs) > 1 else first)
    new = pair.after.values[metric][pair.right]
    old = pair.before.values[metric][pair.left] if len(runs) > 1 else np.zeros(len(new))
    both = ~(np.isnan(old) | np.isnan(new))
    paired = compare_pairs(old[both], new[both], None if pair.groups is None else pair.groups[both])
    if paired.sd is None or paired.sd == 0:
        raise RagstoneError(
            f"{metric} does not vary in {' and '.join(repr(run.info.name) for run in runs)}; "
            "plan without --run, which assumes the worst"
        )
    sd = paired.sd if len(runs) > 1 else compute_paired_sd(paired.sd)
    return MetricSpread(sd, _design_effect(paired), binary)


def _design_effect(paired: MeanDifference) -> float:
    """How much wider groups make the interval than independent samples would, squared; at least 1."""
    low, high = paired.interval.low, paired.interval.high
    if low is None or high is None or paired.clusters is None or not paired.sd:
        return 1.0
    half_width_alone = Z * paired.sd / math.sqrt(paired.pairs)
    return max(1.0, ((high - low) / 2 / half_width_alone) ** 2)
