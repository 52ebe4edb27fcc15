"""A league of configurations on the same questions: each one's means, the best in each metric, and who may be as good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ragstone.analysis.columns import (
    RESOURCES,
    ComparableRun,
    RunColumns,
    align_values,
    read_columns,
)
from ragstone.analysis.paired import MeanDifference, compare_pairs, find_clusters, to_moments
from ragstone.analysis.significance import ALPHA
from ragstone.analysis.stats import mean_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class LeagueCell:
    """One configuration in one metric."""

    mean: float
    low: float | None
    """Lower end of the 95 % interval of its own mean."""
    high: float | None
    best: bool
    tied: bool
    """Whether it may be as good as the best: the questions do not tell the two apart."""
    gap: float
    """Its mean minus that of the best."""
    gap_low: float | None
    gap_high: float | None


@dataclass(frozen=True, slots=True)
class LeagueColumn:
    """A metric, its cells by the id of the run, and the samples that all of them are scored on."""

    metric: str
    higher_is_better: bool
    resource: bool
    bounds: tuple[float, float] | None
    samples: int
    cells: Mapping[str, LeagueCell]

    @property
    def best(self) -> str:
        """Id of the best run."""
        return next(run for run, cell in self.cells.items() if cell.best)


@dataclass(frozen=True)
class League:
    """Every run in every metric that all of them have."""

    names: Mapping[str, str]
    """Id of each run → its name, the best of the primary metric first."""
    columns: tuple[LeagueColumn, ...]
    primary: str | None
    _values: Mapping[str, AlignedValues] = field(repr=False, default_factory=dict)

    def find(self, metric: str) -> LeagueColumn | None:
        """The column of a metric; None when not every run is scored with it."""
        return next((column for column in self.columns if column.metric == metric), None)

    @property
    def alpha(self) -> float:
        """The level at which configurations are told apart: one of them is the best, and each other is compared with it."""
        return _correct_alpha(len(self.names))

    def to_dict(self) -> dict[str, Any]:
        """The league as plain JSON."""
        columns = [asdict(column) for column in self.columns]
        return {"names": dict(self.names), "columns": columns, "primary": self.primary}

    def compare(self, metric: str, before: str, after: str) -> MeanDifference:
        """One run against another in a metric."""
        return self._values[metric].compare(before, after)


@dataclass(frozen=True)
class AlignedValues:
    """The values of a metric on the samples that every run scored."""

    by_run: Mapping[str, NDArray[np.float64]]
    groups: NDArray[np.int64] | None
    bounds: tuple[float, float] | None
    binary: bool
    resource: bool
    """Whether it is latency, tokens or cost: never negative, without an upper bound."""

    def compare(self, before: str, after: str) -> MeanDifference:
        """One run against another."""
        return compare_pairs(
            self.by_run[before], self.by_run[after], self.groups, bounds=self.bounds,
            binary=self.binary, positive=self.resource,
        )  # fmt: skip


def _correct_alpha(runs: int) -> float:
    """The level for each comparison with the best, so that all of them together err in 5 % of studies at most."""
    return ALPHA / max(1, runs - 1)


def build_league(runs: Sequence[ComparableRun], primary: str | None = None) -> League:
    """The league of runs of the same questions; metrics that some run lacks are left out.

    A configuration is told from the best at a level that allows for the choice of the best: if one of them is truly the
    best, it is taken for worse in 5 % of studies at most."""
    tables = [read_columns(run) for run in runs]
    names = {table.info.id: table.info.name for table in tables}
    alpha = _correct_alpha(len(tables))
    columns: list[LeagueColumn] = []
    values: dict[str, AlignedValues] = {}
    for metric in tables[0].values:
        if not all(metric in table.values for table in tables):
            continue
        described = tables[0].describe_metric(metric)
        aligned = _align(tables, metric)
        if aligned is None:
            continue
        values[metric] = aligned
        higher = bool(described.get("higher_is_better", True))
        columns.append(_build_column(metric, higher, aligned, alpha))
    columns.sort(key=lambda column: (column.metric != primary, column.resource))
    if columns and columns[0].metric == primary:
        sign = -1 if columns[0].higher_is_better else 1
        cells = columns[0].cells
        names = {run: names[run] for run in sorted(names, key=lambda run: sign * cells[run].mean)}
    return League(names, tuple(columns), primary, values)


def _align(tables: Sequence[RunColumns], metric: str) -> AlignedValues | None:
    described = tables[0].describe_metric(metric)
    table, groups = align_values(tables, metric)
    if not table.shape[1]:
        return None
    bounds = described.get("bounds")
    return AlignedValues(
        {side.info.id: row for side, row in zip(tables, table, strict=True)},
        groups,
        (float(bounds[0]), float(bounds[1])) if bounds is not None else None,
        bool(described.get("binary")),
        str(described.get("family", metric)) in RESOURCES,
    )


def _build_column(metric: str, higher: bool, aligned: AlignedValues, alpha: float) -> LeagueColumn:
    means = {run: float(values.mean()) for run, values in aligned.by_run.items()}
    best = max(means, key=lambda run: means[run] if higher else -means[run])
    cells = {}
    for run, values in aligned.by_run.items():
        moments = to_moments(values)
        clusters, _ = find_clusters(values, aligned.groups, moments.mean)
        interval = mean_interval(
            moments, bounds=aligned.bounds, binary=aligned.binary, clusters=clusters,
            positive=aligned.resource,
        )  # fmt: skip
        gap = aligned.compare(best, run)
        gap_interval = gap.interval_at(alpha)
        tied = run != best and (gap.p is None or gap.p > alpha)
        cells[run] = LeagueCell(
            mean=means[run], low=interval.low, high=interval.high, best=run == best, tied=tied,
            gap=gap.difference or 0.0, gap_low=gap_interval.low, gap_high=gap_interval.high,
        )  # fmt: skip
    samples = len(next(iter(aligned.by_run.values())))
    return LeagueColumn(
        metric=metric, higher_is_better=higher, resource=aligned.resource, bounds=aligned.bounds,
        samples=samples, cells=cells,
    )  # fmt: skip
