"""Checking a store: what SQLite sees of the file, whether each run has what it says, and whether every document reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ragstone.errors import StoreError
from ragstone.store.damage import explain_damage
from ragstone.store.plans import decode_plan
from ragstone.store.replies import decode_reply
from ragstone.store.score_json import decode_score
from ragstone.store.store import Store
from ragstone.types import NO_USAGE


@dataclass(slots=True)
class StoreReport:
    """What a check saw."""

    rows: dict[str, int] = field(default_factory=dict)
    """Table → rows that were read."""
    damages: list[str] = field(default_factory=list)
    """What is damaged, one line each."""


_RUNS = (
    "SELECT number, id, status, total, plan, shape, metrics, bad,"
    " (SELECT COUNT(*) FROM samples WHERE run = number),"
    " (SELECT MAX(position) FROM samples WHERE run = number),"
    " (SELECT COUNT(*) FROM sample_inputs WHERE run = number)"
    " FROM runs WHERE layout = 'rows' ORDER BY number"
)
_DOCUMENTS = {
    "sample_inputs": ("run, position", "input"),
    "scores": ("run, metric, position", "details"),
    "findings": ("run, metric, position, number", "details"),
    "interactions": ("id", "meta"),
    "interaction_texts": ("number", "body"),
    "monitor_state": ("name", "body"),
    "monitor_alerts": ("id", "body"),
    "experiments": ("id", "body"),
    "judge_scales": ("judge, language, metric", "body"),
}
"""Table → what names a row, and the column that holds a JSON document or nothing."""


def check_store(store: Store) -> StoreReport:
    """Read every row of a store that holds a document, and count what each run has."""
    report = StoreReport()
    if not store.is_server:
        report.damages += [
            f"SQLite: {text}" for (text,) in store.read("PRAGMA integrity_check") if text != "ok"
        ]
    _check_runs(store, report)
    for table, (key, column) in _DOCUMENTS.items():
        for row in _read(store, table, f"{key}, {column}", report):
            if row[-1] is not None:
                _try(report, f"{table}, {key} {row[:-1]}", json.loads, row[-1])
    for key, text in _read(store, "replies", "key, reply", report):
        _try(report, f"replies, key {key}", decode_reply, text, NO_USAGE)
    for *names, text in _read(store, "monitor_scores", "number, metric, score", report):
        _try(report, f"monitor_scores, number, metric {tuple(names)}", decode_score, text)
    return report


def _check_runs(store: Store, report: StoreReport) -> None:
    try:
        rows = store.read(_RUNS)
    except StoreError as fault:  # pages that SQLite itself cannot read
        report.damages.append(f"runs: {fault}")
        return
    report.rows["runs"] = len(rows)
    for number, id, status, total, plan, shape, metrics, bad, samples, last, inputs in rows:
        for text in (shape, metrics, bad):
            _try(report, f"run {id}", json.loads, text)
        _try(report, f"run {id}", lambda text=plan: decode_plan(json.loads(text)))
        if status not in ("running", "done"):
            report.damages.append(f"run {id}: no such status as {status!r}")
        if samples != (last or 0) or inputs != samples:
            report.damages.append(f"run {id}: {last or 0} samples were stored, {samples} are there with {inputs} rows")  # fmt: skip
        elif status == "done" and total is not None and total != samples:
            report.damages.append(f"run {id}: {total} samples were finished, {samples} are there")
        scored = store.read(
            "SELECT metric, COUNT(*) FROM scores WHERE run = ? GROUP BY metric", (number,)
        )
        for metric, count in scored:
            if count != samples and status == "done":
                report.damages.append(f"run {id}: {count} scores of {metric} for {samples} samples")


def _read(store: Store, table: str, columns: str, report: StoreReport) -> Iterator[tuple[Any, ...]]:
    count = 0
    try:
        for row in store.stream(f"SELECT {columns} FROM {table}"):  # noqa: S608 (names of ours)
            count += 1
            yield row
    except StoreError as fault:
        report.damages.append(f"{table}, after row {count}: {fault}")
    report.rows[table] = count


def _try(report: StoreReport, what: str, decode: Any, *values: Any) -> None:
    try:
        with explain_damage(what):
            decode(*values)
    except StoreError as damage:
        report.damages.append(str(damage).partition(" is damaged")[0])
