"""The rows of a run as they came in, with one column per metric."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.data import write_rows, write_shards
from ragstone.data.strict_json import replace_unstorable
from ragstone.report.words import Words, load_words
from ragstone.types import Finding, Score

if TYPE_CHECKING:
    from ragstone.analysis import Summary
    from ragstone.store import StoredRow, StoredRun

EXPLANATION_SUFFIX = ".explanation"
"""Ending of the column with the findings of a judged metric."""
OUTCOME_SUFFIX = ".outcome"
"""Ending of the column that says why a metric has no value; there only when a sample lacks one."""


def export_rows(
    run: StoredRun,
    path: str | os.PathLike[str],
    summary: Summary | None = None,
    *,
    shards: int | None = None,
    explain: bool = False,
    language: str = "en",
    select: Callable[[], Iterable[StoredRow]] | None = None,
) -> int:
    """Write every row with its scores, in the format of the path's ending, or as parquet files of `shards` rows in a folder; return the number of rows.

    A sample without a score has an empty cell, and `<metric>.outcome` says why. With `explain`, `<metric>.explanation`
    has the findings: a list of objects in JSON, lines of text in a table. A summary, where there is one,
    saves reading the scores once more. `select` yields the rows to write instead of all."""
    names = [str(metric["name"]) for metric in run.info.metrics]
    if summary is None:
        unscored = _find_unscored(run)
    else:
        unscored = {metric.metric for metric in summary.metrics if metric.outcomes}
    explained = {str(m["name"]) for m in run.info.metrics if m["judged"]} if explain else set()
    columns = [
        name + suffix
        for name in names
        for suffix, is_wanted in (
            ("", True),
            (OUTCOME_SUFFIX, name in unscored),
            (EXPLANATION_SUFFIX, name in explained),
        )
        if is_wanted
    ]
    as_text = shards is not None or Path(path).suffix.lower() not in (".jsonl", ".json")
    say = load_words(language)

    # A function, not a list: writers may go over the rows twice (for the columns, then for the
    # rows), and a run can have millions.
    def rows() -> Iterator[tuple[str, Mapping[str, Any]]]:
        for row in run.rows() if select is None else select():
            # The row as it came in, as text: it is not parsed and written anew, so that numbers and
            # key order stay.
            yield row.row, _build_cells(row.scores) | _explain(row.scores, explained, as_text, say)

    if shards is not None:
        return write_shards(path, rows, columns, shards)
    return write_rows(path, rows, columns)


def _explain(
    scores: Mapping[str, Score], names: Collection[str], as_text: bool, say: Words
) -> dict[str, Any]:
    """What was found of each metric, as objects or as lines of text."""
    write = _write_finding if as_text else _finding_to_object
    cells: dict[str, Any] = {}
    for name in names:
        items = [write(finding, say) for finding in scores[name].findings]
        cells[name + EXPLANATION_SUFFIX] = "\n".join(map(str, items)) if as_text else items
    return cells


def _finding_to_object(finding: Finding, say: Words) -> dict[str, str]:
    item = {
        "claim": finding.text,
        "verdict": finding.verdict,
        "reason": say.message(finding.reason),
        "source": finding.chunk,
        "quote": finding.quote,
    }
    return {key: replace_unstorable(value) for key, value in item.items() if value}


def _write_finding(finding: Finding, say: Words) -> str:
    verdict = say.translate("verdict", finding.verdict)
    line = f"{verdict}: {say('quoted', text=finding.text)}"
    if finding.reason:
        line += f"; {say.message(finding.reason)}"
    if finding.quote:
        line += f" [{finding.chunk}: {say('quoted', text=finding.quote)}]"
    return replace_unstorable(" ".join(line.split()))


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
