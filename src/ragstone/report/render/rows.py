"""The rows of a run as they came in, with one column per metric."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ragstone.data import write_rows, write_shards
from ragstone.data.strict_json import replace_unstorable
from ragstone.types import Score

if TYPE_CHECKING:
    from ragstone.analysis import Summary
    from ragstone.store import StoredRun

OUTCOME_SUFFIX = ".outcome"
"""Ending of the column that says why a metric has no value; there only when a sample lacks one."""


def export_rows(
    run: StoredRun,
    path: str | os.PathLike[str],
    summary: Summary | None = None,
    *,
    shards: int | None = None,
) -> int:
    """Write every row with its scores, in the format of the path's ending, or as parquet files of `shards` rows in a folder; return the number of rows.

    A sample without a score has an empty cell, and `<metric>.outcome` says why. A summary, where there is one,
    saves reading the scores once more."""
    names = [str(metric["name"]) for metric in run.info.metrics]
    if summary is None:
        unscored = _find_unscored(run)
    else:
        unscored = {metric.metric for metric in summary.metrics if metric.outcomes}
    columns = [
        column
        for name in names
        for column in ((name, name + OUTCOME_SUFFIX) if name in unscored else (name,))
    ]

    # A function, not a list: writers may go over the rows twice (for the columns, then for the
    # rows), and a run can have millions.
    def rows() -> Iterator[tuple[str, Mapping[str, Any]]]:
        for row in run.rows():
            # The row as it came in, as text: it is not parsed and written anew, so that numbers and
            # key order stay.
            yield row.row, _build_cells(row.scores)

    if shards is not None:
        return write_shards(path, rows, columns, shards)
    return write_rows(path, rows, columns)


def _find_unscored(run: StoredRun) -> set[str]:
    """The metrics that some sample has no value for."""
    names: set[str] = set()
    for _, _, _, scores in run.scores():
        names.update(name for name, score in scores.items() if score.value is None)
    return names


def _build_cells(scores: Mapping[str, Score]) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    for name, score in scores.items():
        cells[name] = score.value
        if score.value is None:
            kind = f"{score.outcome} ({score.kind})" if score.kind else score.outcome
            cells[name + OUTCOME_SUFFIX] = replace_unstorable(
                f"{kind}: {score.reason}" if score.reason else kind
            )
    return cells
