"""Scores on their way from a run into its tallies: a few hundred samples at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ragstone.analysis.tally import MetricTally
from ragstone.analysis.values import GroupNumbers
from ragstone.analysis.worst import UNSCORED_BADNESS, WorstSamples
from ragstone.locale.messages import compose
from ragstone.types import NO_USAGE, Score

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH_SAMPLES = 512
"""Samples worked in together: enough for numpy, little enough for memory."""

Row = tuple[int, str, str | None, Mapping[str, Score]]
"""Position, sample id, group and scores."""

UNSTORED = Score(outcome="metric_error", reason=compose("score_not_stored"))


def add_rows(
    rows: Iterable[Row], tallies: list[MetricTally], groups: GroupNumbers, worst: WorstSamples
) -> int:
    """Work every row into the tallies, the groups and the worst; returns how many there were.

    Only plain numbers wait for their batch: the scores themselves, with all their evidence, are let go at once."""
    names = [tally.name for tally in tallies]
    positions: list[int] = []
    group_names: list[str | None] = []
    values: list[list[float | None]] = []
    failures: list[int] = []
    samples = 0
    for position, _, group, scores in rows:
        # a score that is missing in the store counts as a failure: silently fewer samples would
        # look like a better mean
        row = [scores.get(name, UNSTORED) for name in names]
        failed = 0
        for tally, score in zip(tallies, row, strict=True):
            # most scores are a plain number: only others have details to count
            if (
                score.value is None
                or score.label is not None
                or score.warnings
                or score.usage is not NO_USAGE
            ):
                failed += tally.add_details(score)
        positions.append(position)
        group_names.append(group)
        values.append([score.value for score in row])
        failures.append(failed)
        if len(positions) == BATCH_SAMPLES:
            samples += BATCH_SAMPLES
            _add_batch(positions, group_names, values, failures, tallies, groups, worst)
            for waiting in (positions, group_names, values, failures):
                waiting.clear()
    if positions:
        _add_batch(positions, group_names, values, failures, tallies, groups, worst)
    return samples + len(positions)


def _add_batch(
    positions: list[int],
    group_names: list[str | None],
    values: list[list[float | None]],
    failures: list[int],
    tallies: list[MetricTally],
    groups: GroupNumbers,
    worst: WorstSamples,
) -> None:
    import numpy as np

    places = groups.number_groups(group_names)
    table = np.array(values, np.float64).T  # one row per metric; None becomes NaN
    for tally, row in zip(tallies, table, strict=True):
        tally.add(row, places)
    worst.add(positions, _rate_badness(table, tallies), np.array(failures))


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
