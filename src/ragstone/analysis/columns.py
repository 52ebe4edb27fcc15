"""Runs side by side: each one's values as columns of numbers, and the samples that two of them share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from ragstone.types import FAILURES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragstone.store import RunInfo, StoredRow

BLOCK_SAMPLES = 4096
"""Samples turned into numbers together."""

RESOURCES = frozenset({"latency", "first_token", "tokens", "cost", "tool_calls", "turns_needed"})
"""Families that say what an answer took, not how good it is."""

NOT_STORED = "metric_error"
"""Outcome of a sample for which the store has nothing of a metric."""


class ComparableRun(Protocol):
    """What a comparison reads of a run; a StoredRun is one."""

    @property
    def info(self) -> RunInfo: ...
    def values(self) -> Iterable[tuple[int, str, str | None, Mapping[str, float | str]]]: ...
    def row(self, position: int) -> StoredRow: ...


@dataclass(frozen=True)
class RunColumns:
    """The values of one run, one column per metric; where there is none the number is NaN and
    its outcome stands in `missing_outcomes`."""

    info: RunInfo
    ids: tuple[str, ...]
    positions: NDArray[np.int64]
    groups: tuple[str | None, ...]
    values: Mapping[str, NDArray[np.float64]]
    missing_outcomes: Mapping[str, Mapping[int, str]]
    """Metric → index → outcome (`judge_error: refusal`), for the samples without a value."""

    @cached_property
    def places(self) -> dict[str, int]:
        """Sample id → index."""
        return {name: index for index, name in enumerate(self.ids)}

    def describe_metric(self, metric: str) -> Mapping[str, Any]:
        """What the run says of a metric."""
        return next(described for described in self.info.metrics if described["name"] == metric)


def read_columns(run: ComparableRun, metrics: Sequence[str] | None = None) -> RunColumns:
    """Read a run's values once; 80 bytes a sample for ten metrics, besides its id."""
    import numpy as np

    names = [str(metric["name"]) for metric in run.info.metrics]
    if metrics is not None:
        names = [name for name in names if name in metrics]
    ids: list[str] = []
    positions: list[int] = []
    groups: list[str | None] = []
    blocks: list[NDArray[np.float64]] = []
    waiting: list[list[float]] = []
    missing_outcomes: dict[str, dict[int, str]] = {name: {} for name in names}
    for position, sample_id, group, values in run.values():
        row = []
        for name in names:
            value = values.get(name, NOT_STORED)
            # `StoredRun.values` gives a float or the outcome as text; faster than isinstance, for each value of a run
            if value.__class__ is not float:
                missing_outcomes[name][len(ids)] = str(value)
                value = math.nan
            row.append(value)
        ids.append(sample_id)
        positions.append(position)
        groups.append(group)
        waiting.append(row)
        if len(waiting) == BLOCK_SAMPLES:
            blocks.append(np.array(waiting, np.float64))
            waiting.clear()
    blocks.append(np.array(waiting, np.float64).reshape(len(waiting), len(names)))
    table = np.concatenate(blocks)
    return RunColumns(
        run.info,
        tuple(ids),
        np.array(positions, np.int64),
        tuple(groups),
        {name: np.ascontiguousarray(table[:, at]) for at, name in enumerate(names)},
        missing_outcomes,
    )


@dataclass(frozen=True)
class SamplePairs:
    """The samples that two runs share, in the order of the first."""

    before: RunColumns
    after: RunColumns
    left: NDArray[np.int64]
    """Index of each shared sample in `before`."""
    right: NDArray[np.int64]
    """Index of the same sample in `after`."""
    groups: NDArray[np.int64] | None
    """Number of each one's group, −1 for none; None when no sample has one."""

    @property
    def pairs(self) -> int:
        """How many samples are shared."""
        return len(self.left)

    @property
    def only_before(self) -> int:
        """Samples that only the first run has."""
        return len(self.before.ids) - self.pairs

    @property
    def only_after(self) -> int:
        """Samples that only the second run has."""
        return len(self.after.ids) - self.pairs


def match_samples(before: RunColumns, after: RunColumns) -> SamplePairs:
    """Pair the samples of two runs by id; the group is the first run's, else the second's."""
    import numpy as np

    # the usual case, two runs of one data set, needs no dictionary
    if before.ids == after.ids:
        left = right = np.arange(len(before.ids), dtype=np.int64)
    else:
        places = after.places
        both = [(i, places[name]) for i, name in enumerate(before.ids) if name in places]
        pairs = np.array(both, np.int64).reshape(-1, 2)
        left, right = pairs[:, 0], pairs[:, 1]
    return SamplePairs(before, after, left, right, _pair_groups(before, after, left, right))


def _pair_groups(
    before: RunColumns, after: RunColumns, left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    return number_groups(
        [
            before.groups[i] if before.groups[i] is not None else after.groups[j]
            for i, j in zip(left.tolist(), right.tolist(), strict=True)
        ]
    )


def number_groups(groups: Sequence[str | None]) -> NDArray[np.int64] | None:
    """The number of each sample's group, −1 for none; None when no sample has one."""
    import numpy as np

    if all(group is None for group in groups):
        return None
    numbers: dict[str, int] = {}
    return np.array(
        [-1 if group is None else numbers.setdefault(group, len(numbers)) for group in groups],
        np.int64,
    )


def align_values(
    tables: Sequence[RunColumns], metric: str
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """One row per run, one column per sample that all of them scored; and the samples' groups."""
    import numpy as np

    first = tables[0]
    shared = [name for name in first.ids if all(name in table.places for table in tables[1:])]
    values = np.array(
        [[table.values[metric][table.places[name]] for name in shared] for table in tables]
    ).reshape(len(tables), len(shared))
    scored = ~np.isnan(values).any(axis=0)
    groups = number_groups(first.groups)
    if groups is not None:
        groups = groups[[first.places[name] for name in shared]][scored]
    return values[:, scored], groups


def is_failure(outcome: str) -> bool:
    """Whether a sample that ended so should have been scored."""
    return outcome.partition(":")[0] in FAILURES
