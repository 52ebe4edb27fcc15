"""What samples can be filtered by, and their words for searching: written into the store when a run is first opened."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from ragstone.analysis.classes import choose_deciders
from ragstone.analysis.classify import classify, find_language
from ragstone.analysis.scales import find_scales
from ragstone.store import StoredRow, StoredRun
from ragstone.store.database import Connection
from ragstone.store.rows import to_storable
from ragstone.store.texts import begin_texts, write_texts

TRAITS = "traits"
"""The name under which `run_derived` says of which state of the run the traits are."""
MAX_FIELD_VALUES = 200
"""Different values of a field of the data beyond which it is no filter."""
MAX_FIELD_CHARS = 80
BATCH_ROWS = 2000
"""Rows that are written together; progress is reported and a stop is noticed this often."""

_COUNTED = (
    "SELECT run, trait, value, COUNT(*) FROM sample_traits WHERE run = ? GROUP BY run, trait, value",
    "SELECT run, 'outcome.' || metric, outcome, COUNT(*) FROM scores"
    " WHERE run = ? AND outcome <> 'ok' GROUP BY run, metric, outcome",
    "SELECT run, 'label.' || metric, label, COUNT(*) FROM scores"
    " WHERE run = ? AND label IS NOT NULL GROUP BY run, metric, label",
)


_SUMMED = (
    "INSERT INTO trait_scores SELECT t.run, t.trait, t.value, m.metric, COUNT(m.value), SUM(m.value),"
    " SUM(m.value * m.value), SUM(m.value * m.value * m.value), MIN(m.value), MAX(m.value)"
    " FROM sample_traits t JOIN scores m ON m.run = t.run AND m.metric = ? AND m.position = t.position"
    " WHERE t.run = ? GROUP BY t.run, t.trait, t.value, m.metric"
)


class TraitsStopped(Exception):
    """The traits are not wanted any more: the server is stopping."""


def write_traits(run: StoredRun, stamp: int, on_progress: Callable[[int], bool]) -> None:
    """Write the traits and texts of a run, in place of those of an earlier state of it.

    `on_progress` is told how many samples are in and says whether to continue; `stamp` names the state of the run."""
    store, number = run.store, run.store.find_number(run.id)
    deciders = choose_deciders(run.info.metrics, find_scales(run), {})
    values_of: dict[str, Counter[str]] = {}
    batch: list[StoredRow] = []
    traits: list[tuple[str, int, str]] = []
    _forget(run, number)
    begin_texts(store, number)

    def flush() -> None:
        texts = [(row.position, _list_texts(row)) for row in batch]
        rows = [
            (number, trait, position, value)
            for trait, position, value in traits
            if _is_filter(values_of, trait)
        ]
        store.write(
            lambda db: db.execute_many("INSERT INTO sample_traits VALUES (?, ?, ?, ?)", rows)
        ).result()
        write_texts(store, number, texts)

    done = 0
    for row in run.rows():
        for trait, value in _list_traits(row, deciders):
            known = values_of.setdefault(trait, Counter())
            if _is_filter(values_of, trait):
                known[value] += 1
                traits.append((trait, row.position, value))
        batch.append(row)
        done += 1
        if len(batch) == BATCH_ROWS:
            flush()
            batch, traits = [], []
            if not on_progress(done):
                raise TraitsStopped
    flush()
    dropped = [trait for trait in values_of if not _is_filter(values_of, trait)]

    def finish(db: Connection) -> None:
        for trait in dropped:
            db.execute("DELETE FROM sample_traits WHERE run = ? AND trait = ?", (number, trait))
        for counted in _COUNTED:
            db.execute(f"INSERT INTO trait_counts {counted}", (number,))
        for metric in run.info.metrics:
            db.execute(_SUMMED, (str(metric["name"]), number))
        db.execute(
            "INSERT INTO run_derived VALUES (?, ?, ?, ?)",
            (number, TRAITS, stamp, json.dumps({"samples": done})),
        )

    store.write(finish).result()


def find_stamp(run: StoredRun) -> int | None:
    """Of which state of the run the traits are; None where there are none."""
    sql = "SELECT stamp FROM run_derived WHERE run = ? AND name = ?"
    rows = run.store.read(sql, (run.store.find_number(run.id), TRAITS))
    return int(rows[0][0]) if rows else None


def _forget(run: StoredRun, number: int) -> None:
    def forget(db: Connection) -> None:
        for table in ("sample_traits", "trait_counts", "trait_scores"):
            db.execute(f"DELETE FROM {table} WHERE run = ?", (number,))  # noqa: S608
        db.execute("DELETE FROM run_derived WHERE run = ? AND name = ?", (number, TRAITS))

    run.store.write(forget).result()


def _is_filter(values_of: dict[str, Counter[str]], trait: str) -> bool:
    return len(values_of[trait]) <= MAX_FIELD_VALUES


def _list_traits(row: StoredRow, deciders: Any) -> list[tuple[str, str]]:
    sample = row.sample
    kind = classify(sample, row.scores, deciders, position=row.position).kind
    traits = [("class", kind), ("language", find_language(sample))]
    traits += [
        ("verdict", verdict)
        for verdict in {f.verdict for score in row.scores.values() for f in score.findings}
    ]
    traits += [(f"meta.{name}", _to_field_value(value)) for name, value in sample.meta.items()]
    return [(to_storable(trait), to_storable(value)) for trait, value in traits if value]


def _list_texts(row: StoredRow) -> tuple[str, str, str, str]:
    sample = row.sample
    texts = (row.id, sample.question, sample.answer or sample.error, sample.reference)
    id, question, answer, reference = (to_storable(text or "") for text in texts)
    return id, question, answer, reference


def _to_field_value(value: Any) -> str:
    """A value of the data that a filter can offer: a short text, a number that counts, yes or no."""
    if isinstance(value, bool | int):
        return str(value)
    if isinstance(value, str) and len(value) <= MAX_FIELD_CHARS:
        return re.sub(r"\s+", " ", value).strip()
    return ""
