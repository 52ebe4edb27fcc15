"""The main effect of each setting on a metric, over the runs of a grid of settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ragstone.analysis.columns import (
    RESOURCES,
    ComparableRun,
    align_values,
    read_columns,
)
from ragstone.analysis.paired import MeanDifference, compare_pairs, find_clusters, to_moments
from ragstone.analysis.significance import Correction, adjust_p_values, find_alphas
from ragstone.analysis.stats import mean_interval
from ragstone.errors import RagstoneError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Settings = Mapping[str, Any]
"""Parameter → value."""


@dataclass(frozen=True, slots=True)
class Level:
    """One value of a factor: the mean there, and how far it is from the current value."""

    value: str
    runs: int
    mean: float
    low: float | None
    high: float | None
    base: bool
    """Whether it is the current value, which the others are compared with."""
    best: bool
    difference: float = 0.0
    difference_low: float | None = None
    """Lower end of the interval at the corrected level: those of all levels hold together in 95 % of studies."""
    difference_high: float | None = None
    p: float | None = None
    adjusted: float | None = None
    """p corrected over all levels of all factors."""
    verdict: str = ""
    """better, worse, identical (the same score on every sample) or unclear; empty for the current value."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A parameter and what its values do."""

    name: str
    levels: tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class Effects:
    """The main effects of every factor on one metric."""

    metric: str
    higher_is_better: bool
    samples: int
    """Samples scored in every run that counts."""
    runs: int
    full: bool
    """Whether every combination was run; else each factor was varied alone."""
    factors: tuple[Factor, ...]

    def to_dict(self) -> dict[str, Any]:
        """The effects as plain JSON."""
        return asdict(self)


def compute_effects(
    runs: Sequence[tuple[Settings, ComparableRun]],
    metric: str,
    *,
    correction: Correction = "bonferroni",
) -> Effects:
    """What each factor does to a metric, on the samples that every run scored; the first run has the current settings."""
    import numpy as np

    if len(runs) < 2:
        raise RagstoneError("effects need at least two runs with different settings")
    settings = [dict(run_settings) for run_settings, _ in runs]
    tables = [read_columns(run, [metric]) for _, run in runs]
    if any(metric not in table.values for table in tables):
        raise RagstoneError(f"not every run of the grid was scored with {metric!r}")
    described = tables[0].describe_metric(metric)
    table, groups = align_values(tables, metric)
    if not table.shape[1]:
        raise RagstoneError(f"no sample is scored with {metric!r} in every run of the grid")
    higher = bool(described.get("higher_is_better", True))
    positive = described.get("family") in RESOURCES
    bounds = described.get("bounds")
    limits = (float(bounds[0]), float(bounds[1])) if bounds is not None else None
    # settings are compared by repr throughout, because values may be lists
    full = _is_full(settings)
    names = [
        name
        for name in settings[0]
        if len({repr(run_settings.get(name)) for run_settings in settings}) > 1
    ]
    factors, changes = [], []
    for name in names:
        rows = _rows_by_level(settings, name, full)
        # a mean for each sample, not one number: levels are compared sample by sample
        means = {value: np.mean(table[at], axis=0) for value, at in rows.items()}
        factor, against = _build_factor(name, means, rows, groups, limits, higher, positive)
        factors.append(factor)
        changes += against
    return Effects(
        metric,
        higher,
        table.shape[1],
        len(runs),
        full,
        _decide_levels(factors, changes, higher, correction),
    )


def format_settings(settings: Settings) -> str:
    """`top_k=5, rerank=true`; `current settings` for no change."""
    shown = [f"{k}={str(v).lower() if isinstance(v, bool) else v}" for k, v in settings.items()]
    return ", ".join(shown) or "current settings"


def _is_full(settings: Sequence[Settings]) -> bool:
    """Whether the settings are every combination of their values, once each."""
    names = list(settings[0])
    values = [{repr(run_settings[name]) for run_settings in settings} for name in names]
    size = 1
    for some in values:
        size *= len(some)
    distinct = {tuple(repr(run_settings[name]) for name in names) for run_settings in settings}
    return len(settings) == len(distinct) == size


def _rows_by_level(settings: Sequence[Settings], name: str, full: bool) -> dict[str, list[int]]:
    """For each value of a factor the runs that count: all of them in a full grid, else those that vary it alone."""
    base = settings[0]
    runs_by_value: dict[str, list[int]] = {}
    for at, run_settings in enumerate(settings):
        varies_alone = all(run_settings[key] == base[key] for key in base if key != name)
        if full or varies_alone:
            runs_by_value.setdefault(format_value(run_settings[name]), []).append(at)
    return runs_by_value


def _build_factor(
    name: str,
    means: Mapping[str, NDArray[np.float64]],
    rows: Mapping[str, list[int]],
    groups: NDArray[np.int64] | None,
    bounds: tuple[float, float] | None,
    higher: bool,
    positive: bool,
) -> tuple[Factor, list[MeanDifference]]:
    """The factor without verdicts, and the difference of each of its levels but the first to that."""
    import numpy as np

    # the first run has the current settings, so the first level is the current value
    base = next(iter(means.values()))
    centre = {value: float(some.mean()) for value, some in means.items()}
    best = max(centre, key=lambda value: centre[value] if higher else -centre[value])
    levels, changes = [], []
    for value, some in means.items():
        moments = to_moments(some)
        clusters, _ = find_clusters(some, groups, moments.mean)
        interval = mean_interval(moments, bounds=bounds, clusters=clusters, positive=positive)
        level = Level(
            value=value,
            runs=len(rows[value]),
            mean=centre[value],
            low=interval.low,
            high=interval.high,
            base=some is base,
            best=value == best,
            verdict="identical" if some is not base and np.array_equal(base, some) else "",
        )
        levels.append(level)
        if some is not base:
            changes.append(compare_pairs(base, some, groups, bounds=bounds, positive=positive))
    return Factor(name, tuple(levels)), changes


def _decide_levels(
    factors: Sequence[Factor],
    changes: Sequence[MeanDifference],
    higher: bool,
    correction: Correction,
) -> tuple[Factor, ...]:
    """The factors with the differences, intervals and verdicts of their levels.

    `changes` are those of all levels but the current ones, in the order of the factors."""
    ps = [change.p for change in changes if change.p is not None]
    corrected = iter(zip(adjust_p_values(ps, correction), find_alphas(ps, correction), strict=True))
    rest = iter(changes)
    decided = []
    for factor in factors:
        levels = [
            level if level.base else _decide_level(level, next(rest), corrected, higher)
            for level in factor.levels
        ]
        decided.append(replace(factor, levels=tuple(levels)))
    return tuple(decided)


def _decide_level(
    level: Level, change: MeanDifference, corrected: Iterator[tuple[float, float]], higher: bool
) -> Level:
    level = replace(level, difference=change.difference or 0.0, p=change.p)
    if change.p is None:  # then `corrected` has nothing for it
        return level
    adjusted, alpha = next(corrected)
    interval = change.interval_at(alpha)
    verdict = level.verdict or "unclear"
    if change.p <= alpha:
        verdict = "better" if (level.difference > 0) == higher else "worse"
    return replace(
        level,
        difference_low=interval.low,
        difference_high=interval.high,
        adjusted=adjusted,
        verdict=verdict,
    )


def format_value(value: Any) -> str:
    """A setting's value as it is written on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
