"""The rows of a run as they came in, with one column per metric."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.data import write_rows, write_shards
from ragstone.data.strict_json import replace_unstorable
from ragstone.report.translator import Translator, load_translator
from ragstone.types import Finding, Score

if TYPE_CHECKING:
    from ragstone.analysis import Summary
    from ragstone.store import ScoreBatch, StoredRow, StoredRun

EXPLANATION_SUFFIX = ".explanation"
"""Ending of the column with the findings of a judged metric."""
OUTCOME_SUFFIX = ".outcome"
"""Ending of the column that says why a metric has no value; there only when a sample lacks one."""


def export_rows(
    run: StoredRun,
    path: str | os.PathLike[str],
    summary: Summary | None = None,
    *,
    rows_per_shard: int | None = None,
    explain: bool = False,
    raw: bool = False,
    language: str = "en",
    select: Callable[[], Iterable[StoredRow]] | None = None,
) -> int:
    """Write every row with its scores, in the format of the path's ending, or as parquet files of `rows_per_shard` rows in a folder; return the number of rows.

    A sample without a score has an empty cell, and `<metric>.outcome` says why. With `explain`, `<metric>.explanation`
    has the findings: a list of objects in JSON, lines of text in a table. A summary, where there is one,
    saves reading the scores once more. `select` yields the rows to write instead of all.
    `raw` is that of `write_rows`."""
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
    as_text = rows_per_shard is not None or Path(path).suffix.lower() not in (".jsonl", ".json")
    t = load_translator(language)

    # A function, not a list: writers may go over the rows twice (for the columns, then for the
    # rows), and a run can have millions.
    def rows() -> Iterator[tuple[str, Mapping[str, Any]]]:
        batches = (
            run.batches(with_findings=explain, with_inputs=True)
            if select is None
            else _batch_rows(select(), names)
        )
        for batch in batches:
            cells = _build_cells(batch, unscored)
            if explained:
                cells |= _build_explanations(list(batch.iter_scores()), explained, as_text, t)
            # The row as it came in, as text: it is not parsed and written anew, so that numbers and
            # key order stay.
            for text, *values in zip(batch.inputs, *cells.values(), strict=True):
                yield text, dict(zip(cells, values, strict=True))

    if rows_per_shard is not None:
        return write_shards(path, rows, columns, rows_per_shard)
    return write_rows(path, rows, columns, raw=raw)


def _build_explanations(
    scored: Sequence[Mapping[str, Score]], names: Collection[str], as_text: bool, t: Translator
) -> dict[str, list[Any]]:
    """What was found of each metric, by column: objects or lines of text."""
    write = write_finding if as_text else _finding_to_object
    columns: dict[str, list[Any]] = {}
    for name in names:
        items = [[write(finding, t) for finding in scores[name].findings] for scores in scored]
        columns[name + EXPLANATION_SUFFIX] = (
            ["\n".join(map(str, lines)) for lines in items] if as_text else items
        )
    return columns


def _finding_to_object(finding: Finding, t: Translator) -> dict[str, str]:
    item = {
        "claim": finding.text,
        "verdict": finding.verdict,
        "reason": t.message(finding.reason),
        "source": finding.chunk,
        "quote": finding.quote,
    }
    return {key: replace_unstorable(value) for key, value in item.items() if value}


def write_finding(finding: Finding, t: Translator) -> str:
    """A finding as a line of text: verdict, claim, reason and quote."""
    verdict = t.translate("verdict", finding.shown_verdict)
    line = f"{verdict}: {t('quoted', text=finding.text)}"
    if finding.reason:
        line += f"; {t.message(finding.reason)}"
    if finding.quote:
        line += f" [{finding.chunk}: {t('quoted', text=finding.quote)}]"
    return replace_unstorable(" ".join(line.split()))


def _batch_rows(rows: Iterable[StoredRow], names: Sequence[str]) -> Iterator[ScoreBatch]:
    """Selected rows as a whole run is read."""
    from ragstone.store.rows import BATCH_SAMPLES, ScoreBatch

    source = iter(rows)
    while part := list(islice(source, BATCH_SAMPLES)):
        scores = {name: [row.scores.get(name) for row in part] for name in names}
        yield ScoreBatch(
            part[0].position,
            [row.id for row in part],
            [None] * len(part),
            {
                name: [None if score is None else score.value for score in column]
                for name, column in scores.items()
            },
            {
                name: {index: score for index, score in enumerate(column) if score is not None}
                for name, column in scores.items()
            },
            [row.row for row in part],
        )


def _find_unscored(run: StoredRun) -> set[str]:
    """The metrics that some sample has no value for."""
    return {
        name
        for batch in run.batches()
        for name, details in batch.details.items()
        if any(score.value is None for score in details.values())
    }


def _build_cells(batch: ScoreBatch, unscored: Collection[str]) -> dict[str, list[Any]]:
    """The values of each metric, and why there is none, by column."""
    columns: dict[str, list[Any]] = {}
    for name, values in batch.values.items():
        columns[name] = values
        if name in unscored:
            outcomes = columns[name + OUTCOME_SUFFIX] = [None] * batch.count
            for index, score in batch.details[name].items():
                if score.value is None:
                    outcomes[index] = _describe_outcome(score)
    return columns


def _describe_outcome(score: Score) -> str:
    kind = f"{score.outcome} ({score.kind})" if score.kind else score.outcome
    return replace_unstorable(f"{kind}: {score.reason}" if score.reason else kind)
