"""Roll-up tables from rows of interactions and scores, by bucket and field."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragstone.monitor.interactions import to_slice_value
from ragstone.monitor.rollups.byte_columns import FloatArray
from ragstone.monitor.rollups.cells import ALL, COST, FEEDBACK, LATENCY, TOKENS, assign_bins
from ragstone.monitor.rollups.tables import (
    COLUMNS,
    LOW,
    IntArray,
    RollupHistograms,
    RollupTable,
    build_count_cells,
    build_value_cells,
    encode_histograms,
    encode_table,
    sum_bins,
    sum_cells,
)

# Below, columns of the rows of these two queries are taken by their index.
SELECT_ROWS = (
    "SELECT i.number, i.at, i.language, i.latency, i.cost, i.tokens, i.failed, i.meta, f.value"
    " FROM interactions i LEFT JOIN feedback f ON f.interaction = i.id"
    " WHERE i.at >= ? AND i.at < ? ORDER BY i.at, i.number"
)
SELECT_SCORES = (
    "SELECT s.number, s.metric, s.value, s.outcome, s.drawn, s.weight, s.calls, s.usd"
    " FROM interactions i JOIN monitor_scores s ON s.number = i.number"
    " WHERE i.at >= ? AND i.at < ? ORDER BY i.at, i.number, s.metric"
)

Row = Sequence[Any]
BucketBodies = tuple[bytes, bytes]
"""The encoded table and histograms of a bucket and field."""

_MEASURE_COLUMNS = {LATENCY: 3, COST: 4, TOKENS: 5, FEEDBACK: 8}
"""Series that every interaction may have → column of `SELECT_ROWS`."""


@dataclass(frozen=True)
class _Entries:
    """Every counted value as a cell of one value: four arrays of equal length."""

    names: Sequence[str]
    """Names of the series."""
    row: IntArray
    """Index of the interaction among the rows."""
    series: IntArray
    """Indices into `names`."""
    numbers: FloatArray
    """A row of `COLUMNS` for each cell."""
    key: IntArray
    """The histogram bin; meaningless where there is no value."""
    outcomes: Sequence[tuple[int, int, str]]
    """Row, series and outcome where there is no value."""


def build_buckets(
    rows: Sequence[Row], scores: Sequence[Row], span: int, only: Sequence[str] | None = None
) -> dict[int, dict[str, BucketBodies]]:
    """Start of a bucket → field → encoded bodies, of all fields or only of some; the field "" stands for all interactions.

    `rows` and `scores` are rows of SELECT_ROWS and SELECT_SCORES, `span` is the length of a bucket in microseconds."""
    if not rows:
        return {}
    entries = _build_entries(rows, scores)
    first = rows[0][1] - rows[0][1] % span
    bucket = (np.array([row[1] for row in rows], np.int64) - first) // span
    buckets: dict[int, dict[str, BucketBodies]] = defaultdict(dict)
    for field, (values, code) in _encode_fields(rows, only).items():
        for index, bodies in _build_field(entries, bucket, values, code):
            buckets[first + index * span][field] = bodies
    return dict(buckets)


def _build_field(
    entries: _Entries, bucket: IntArray, values: Sequence[str], code: IntArray
) -> Iterator[tuple[int, BucketBodies]]:
    """Bucket and encoded bodies of one field; `code` is the value of each row, below 0 where it has none."""
    selected = np.flatnonzero(code[entries.row] >= 0)
    row = entries.row[selected]
    group, value, series = bucket[row], code[row], entries.series[selected]
    numbers = entries.numbers[selected]
    outcomes: dict[tuple[int, int, int], dict[str, int]] = defaultdict(dict)
    for row_index, series_index, outcome in entries.outcomes:
        if code[row_index] >= 0:
            counts = outcomes[int(bucket[row_index]), int(code[row_index]), series_index]
            counts[outcome] = counts.get(outcome, 0) + 1
    table = sum_cells(RollupTable(values, entries.names, group, value, series, numbers, outcomes))
    valued = ~np.isnan(numbers[:, LOW])
    bins = sum_bins(
        RollupHistograms(
            values, entries.names, group[valued], value[valued], series[valued],
            entries.key[selected][valued], numbers[valued, COLUMNS.index("weights")],
        )
    )  # fmt: skip
    # `sum_cells` and `sum_bins` sort by group, so each bucket is one range of both tables
    for index in sorted({*table.group.tolist()}):
        cell_range = slice(*np.searchsorted(table.group, [index, index + 1]))
        bin_range = slice(*np.searchsorted(bins.group, [index, index + 1]))
        yield (
            index,
            (
                encode_table(
                    RollupTable(
                        values, entries.names, table.group[cell_range], table.value[cell_range],
                        table.series[cell_range], table.numbers[cell_range], outcomes,
                    )
                ),
                encode_histograms(
                    RollupHistograms(
                        values, entries.names, bins.group[bin_range], bins.value[bin_range],
                        bins.series[bin_range], bins.key[bin_range], bins.weight[bin_range],
                    )
                ),
            ),
        )  # fmt: skip


def _encode_fields(
    rows: Sequence[Row], only: Sequence[str] | None
) -> Mapping[str, tuple[list[str], IntArray]]:
    """Field → its values, and for each row the index of its value, -1 where it has none."""
    encoded: dict[str, tuple[list[str], IntArray]] = {}
    if only is None or "" in only:
        encoded[""] = [""], np.zeros(len(rows), np.int64)
    if only is not None and not any(only):  # only the field "", which needs no meta fields
        return encoded
    # most interactions share few combinations of meta fields and language: each is decoded once
    kinds: dict[tuple[str, str | None], int] = {}
    kind = np.array([kinds.setdefault((row[7], row[2]), len(kinds)) for row in rows], np.int64)
    # field → value → code; and field → combinations that have it, and the code of each one's value
    codes: dict[str, dict[str, int]] = defaultdict(dict)
    codes_by_kind: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for number, (meta, language) in enumerate(kinds):
        slices = {name: to_slice_value(value) for name, value in json.loads(meta).items()}
        if language is not None:
            slices["language"] = language
        for field, value in slices.items():
            if only is None or field in only:
                value_codes = codes[field]
                codes_by_kind[field][0].append(number)
                codes_by_kind[field][1].append(value_codes.setdefault(value, len(value_codes)))
    for field, (numbers, values) in codes_by_kind.items():
        code = np.full(len(kinds), -1)
        code[numbers] = values
        encoded[field] = [*codes[field]], code[kind]
    return encoded


_Part = tuple[IntArray, IntArray, FloatArray, IntArray]
"""Rows, the series of each, their cells and their histogram bins."""


def _build_entries(rows: Sequence[Row], scores: Sequence[Row]) -> _Entries:
    # series 0 counts the interactions; its histogram bins, the last of the part, are unused
    names = [ALL]
    all_rows = np.arange(len(rows))
    parts: list[_Part] = [
        (all_rows, np.zeros(len(rows), np.int64), build_count_cells(np.ones(len(rows))), all_rows)
    ]
    outcomes = [(index, 0, "failed") for index, row in enumerate(rows) if row[6]]
    for name, column in _MEASURE_COLUMNS.items():
        values = np.array([row[column] for row in rows], float)
        if not np.isnan(values).all():
            parts.append(_build_measure(values, len(names), is_share=name == FEEDBACK))
            names.append(name)
    row_by_number = {row[0]: index for index, row in enumerate(rows)}
    # Scores of rows added since the query of rows are left out: those rows have marked their bucket as dirty again.
    known = [score for score in scores if score[0] in row_by_number]
    if known:
        score_rows = [row_by_number[score[0]] for score in known]
        codes: dict[str, int] = {}
        series = np.array([codes.setdefault(score[1], len(codes)) for score in known], np.int64)
        series += len(names)
        parts.append(_build_scores(known, np.array(score_rows, np.int64), series))
        outcomes += [
            (index, int(code), score[3])
            for index, code, score in zip(score_rows, series, known, strict=True)
            if score[2] is None
        ]
        names += codes
    row, series, numbers, key = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _Entries(names, row, series, numbers, key, outcomes)


def _build_measure(values: FloatArray, series: int, *, is_share: bool) -> _Part:
    """The cells of a measure where it is present; `is_share` for values from 0 to 1."""
    present = np.flatnonzero(~np.isnan(values))
    x, ones, zeros = values[present], np.ones(len(present)), np.zeros(len(present))
    cells = build_value_cells(x, ones, zeros, zeros, zeros)
    return present, np.full(len(present), series), cells, assign_bins(x, is_share)


def _build_scores(scores: Sequence[Row], row: IntArray, series: IntArray) -> _Part:
    x = np.array([score[2] for score in scores], float)
    drawn, weight, calls, usd = np.array([score[4:8] for score in scores], float).T
    # A score selected for bad feedback has weight 1, a randomly sampled one 1 / its rate.
    with np.errstate(over="ignore", invalid="ignore"):
        cells = build_value_cells(x, weight, 1 - drawn, calls, usd)
    without = np.isnan(x)
    # a failed judgement counts in no sum, but its calls and cost stay; LOW is the first column after
    # the sums
    cells[np.ix_(without, np.arange(LOW))] = 0
    cells[without, COLUMNS.index("extra")] = 0
    return row, series, cells, assign_bins(np.where(without, 0, x), True)
