"""From rows of interactions and scores to stored tables, by bucket and field."""

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
"""A table and its histograms."""

_MEASURE_COLUMNS = {LATENCY: 3, COST: 4, TOKENS: 5, FEEDBACK: 8}
"""Series that every interaction may have → column of `ROWS`."""


@dataclass(frozen=True)
class _Entries:
    """Everything that is counted, one row a value: of which interaction and series it is, and a cell of its own."""

    names: Sequence[str]
    row: IntArray
    series: IntArray
    numbers: FloatArray
    key: IntArray
    """The bin; without meaning where there is no value."""
    outcomes: Sequence[tuple[int, int, str]]
    """Row, series and outcome where there is no value."""


def build_buckets(
    rows: Sequence[Row], scores: Sequence[Row], span: int, only: Sequence[str] | None = None
) -> dict[int, dict[str, BucketBodies]]:
    """Start of a bucket → field → what is stored of it; of all fields or of these."""
    if not rows:
        return {}
    entries = _build_entries(rows, scores)
    first = rows[0][1] - rows[0][1] % span
    bucket = (np.array([row[1] for row in rows], np.int64) - first) // span
    found: dict[int, dict[str, BucketBodies]] = defaultdict(dict)
    for field, (values, code) in _encode_fields(rows, only).items():
        for place, stored in _build_field(entries, bucket, values, code):
            found[first + place * span][field] = stored
    return dict(found)


def _build_field(
    entries: _Entries, bucket: IntArray, values: Sequence[str], code: IntArray
) -> Iterator[tuple[int, BucketBodies]]:
    """Bucket and what is stored of a field, whose value is given for each row, below 0 where it has none."""
    kept = np.flatnonzero(code[entries.row] >= 0)
    row = entries.row[kept]
    group, value, series = bucket[row], code[row], entries.series[kept]
    numbers = entries.numbers[kept]
    ended: dict[tuple[int, int, int], dict[str, int]] = defaultdict(dict)
    for at, number, outcome in entries.outcomes:
        if code[at] >= 0:
            mine = ended[int(bucket[at]), int(code[at]), number]
            mine[outcome] = mine.get(outcome, 0) + 1
    table = sum_cells(RollupTable(values, entries.names, group, value, series, numbers, ended))
    valued = ~np.isnan(numbers[:, LOW])
    bins = sum_bins(
        RollupHistograms(
            values, entries.names, group[valued], value[valued], series[valued],
            entries.key[kept][valued], numbers[valued, 1],
        )
    )  # fmt: skip
    for place in sorted({*table.group.tolist()}):
        cells = slice(*np.searchsorted(table.group, [place, place + 1]))
        some = slice(*np.searchsorted(bins.group, [place, place + 1]))
        yield (
            place,
            (
                encode_table(
                    RollupTable(
                        values, entries.names, table.group[cells], table.value[cells],
                        table.series[cells], table.numbers[cells], ended,
                    )
                ),
                encode_histograms(
                    RollupHistograms(
                        values, entries.names, bins.group[some], bins.value[some],
                        bins.series[some], bins.key[some], bins.weight[some],
                    )
                ),
            ),
        )  # fmt: skip


def _encode_fields(
    rows: Sequence[Row], only: Sequence[str] | None
) -> Mapping[str, tuple[list[str], IntArray]]:
    """Field → its values, and which of them each row has."""
    found: dict[str, tuple[list[str], IntArray]] = {}
    if only is None or "" in only:
        found[""] = [""], np.zeros(len(rows), np.int64)
    if only is not None and not any(only):
        return found
    kinds: dict[tuple[str, str | None], int] = {}
    kind = np.array([kinds.setdefault((row[7], row[2]), len(kinds)) for row in rows], np.int64)
    codes: dict[str, dict[str, int]] = defaultdict(dict)
    places: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for number, (meta, language) in enumerate(kinds):
        fields = {name: to_slice_value(value) for name, value in json.loads(meta).items()}
        if language is not None:
            fields["language"] = language
        for field, value in fields.items():
            if only is None or field in only:
                known = codes[field]
                places[field][0].append(number)
                places[field][1].append(known.setdefault(value, len(known)))
    for field, (where, what) in places.items():
        code = np.full(len(kinds), -1)
        code[where] = what
        found[field] = [*codes[field]], code[kind]
    return found


def _build_entries(rows: Sequence[Row], scores: Sequence[Row]) -> _Entries:
    names = [ALL]
    every = np.arange(len(rows))
    parts = [(every, np.zeros(len(rows), np.int64), build_count_cells(np.ones(len(rows))), every)]
    ended = [(at, 0, "failed") for at, row in enumerate(rows) if row[6]]
    for name, column in _MEASURE_COLUMNS.items():
        values = np.array([row[column] for row in rows], float)
        have = np.flatnonzero(~np.isnan(values))
        if len(have):
            x, one, none = values[have], np.ones(len(have)), np.zeros(len(have))
            cells = build_value_cells(x, one, none, none, none)
            parts.append(
                (have, np.full(len(have), len(names)), cells, assign_bins(x, name == FEEDBACK))
            )
            names.append(name)
    home = {row[0]: at for at, row in enumerate(rows)}
    known = [score for score in scores if score[0] in home]  # one that came since has its own mark
    if known:
        codes: dict[str, int] = {}
        series = np.array([codes.setdefault(score[1], len(codes)) for score in known], np.int64)
        series += len(names)
        row = np.array([home[score[0]] for score in known], np.int64)
        x = np.array([score[2] for score in known], float)
        drawn, weight, calls, usd = np.array([score[4:8] for score in known], float).T
        # One that is judged in any case (bad feedback) stands for itself, a drawn one for 1 / its share.
        with np.errstate(over="ignore", invalid="ignore"):
            cells = build_value_cells(x, weight, 1 - drawn, calls, usd)
        without = np.isnan(x)
        cells[np.ix_(without, np.arange(LOW))] = 0
        cells[without, COLUMNS.index("extra")] = 0
        parts.append((row, series, cells, assign_bins(np.where(without, 0, x), True)))
        ended += [
            (home[score[0]], int(series[at]), score[3])
            for at, score in enumerate(known)
            if score[2] is None
        ]
        names += codes
    row, series, numbers, key = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _Entries(names, row, series, numbers, key, ended)
