"""Scores on their way from a run into its tallies: a few hundred samples at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from ragstone.analysis.tally import MetricTally
from ragstone.analysis.values import GroupNumbers
from ragstone.analysis.worst import UNSCORED_BADNESS, WorstSamples
from ragstone.locale.messages import compose
from ragstone.types import NO_USAGE, Score

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragstone.store import RunInfo, ScoreBatch

BATCH_SAMPLES = 512
"""Samples worked in together: enough for numpy, little enough for memory."""

Row = tuple[int, str, str | None, Mapping[str, Score]]
"""Position, sample id, group and scores."""

UNSTORED = Score(outcome="metric_error", reason=compose("score_not_stored"))


class ScoredRun(Protocol):
    """What a summary reads of a run; a StoredRun is one, and is read metric by metric."""

    @property
    def info(self) -> RunInfo: ...
    def scores(self) -> Iterable[Row]: ...


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive samples: their numbers, and the scores that are more than a number."""

    positions: Sequence[int]
    groups: Sequence[str | None]
    table: NDArray[np.float64]
    """One row per metric, one column per sample; NaN where there is no value."""
    details: Sequence[Sequence[tuple[int, Score]]]
    """Of each metric, the index of a sample and its score, in order."""


def add_scores(
    run: ScoredRun, tallies: list[MetricTally], groups: GroupNumbers, worst: WorstSamples
) -> int:
    """Work the scores of a run into the tallies, the groups and the worst; returns how many samples there were."""
    from ragstone.store import StoredRun

    names = [tally.name for tally in tallies]
    if isinstance(run, StoredRun):
        batches: Iterator[Batch] = (_read_batch(batch, names) for batch in run.batches())
    else:
        batches = _batch_rows(run.scores(), names)
    samples = 0
    for batch in batches:
        samples += len(batch.positions)
        _add_batch(batch, tallies, groups, worst)
    return samples


def _read_batch(batch: ScoreBatch, names: Sequence[str]) -> Batch:
    import numpy as np

    table = np.full((len(names), batch.count), np.nan)
    details = []
    for row, name in enumerate(names):
        found = batch.details.get(name, {})
        if name in batch.values:
            table[row] = batch.values[name]  # None becomes NaN
        # a score that is missing in the store counts as a failure: silently fewer samples would
        # look like a better mean
        missing = dict.fromkeys(np.flatnonzero(np.isnan(table[row])).tolist(), UNSTORED)
        details.append(sorted((missing | found).items()))
    return Batch(batch.positions, batch.groups, table, details)


def _batch_rows(rows: Iterable[Row], names: Sequence[str]) -> Iterator[Batch]:
    """Batches of a run that is not in a store."""
    import numpy as np

    source = iter(rows)
    while part := list(islice(source, BATCH_SAMPLES)):
        scores = [[row[3].get(name, UNSTORED) for name in names] for row in part]
        table = np.array([[score.value for score in row] for row in scores], np.float64)
        details = [
            [(index, row[metric]) for index, row in enumerate(scores) if _has_details(row[metric])]
            for metric in range(len(names))
        ]
        yield Batch([row[0] for row in part], [row[2] for row in part], table.T, details)


def _has_details(score: Score) -> bool:
    return bool(
        score.value is None
        or score.label is not None
        or score.warnings
        or score.usage is not NO_USAGE
    )


def _add_batch(
    batch: Batch, tallies: list[MetricTally], groups: GroupNumbers, worst: WorstSamples
) -> None:
    import numpy as np

    places = groups.number_groups(batch.groups)
    failures = np.zeros(len(batch.positions), np.int64)
    for tally, row, details in zip(tallies, batch.table, batch.details, strict=True):
        for index, score in details:
            failures[index] += tally.add_details(score)
        tally.add(row, places)
    worst.add(batch.positions, _rate_badness(batch.table, tallies), failures)


def _rate_badness(table: NDArray[np.float64], tallies: list[MetricTally]) -> NDArray[np.float64]:
    """Each sample's mean distance from the best value over the metrics that scored it."""
    import numpy as np

    # A metric without bounds has no best value: it ranks samples only where no other metric can.
    bounded = [index for index, tally in enumerate(tallies) if tally.bounds is not None]
    distance = np.zeros(table.shape[1])
    scored = np.zeros(table.shape[1], np.int64)
    for index in bounded or range(len(tallies)):
        present = ~np.isnan(table[index])
        distance += np.where(present, tallies[index].compute_badness(table[index]), 0.0)
        scored += present
    return np.where(scored > 0, distance / np.maximum(scored, 1), UNSCORED_BADNESS)
