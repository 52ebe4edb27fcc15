"""Checking every row of a store, and copying what is whole into a new one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragstone.errors import StoreError
from ragstone.store.blocks import EncodedScores, ScoreBlock, decode_rows
from ragstone.store.checksums import explain_damage
from ragstone.store.codec import decode_reply, decode_score
from ragstone.store.database import Connection
from ragstone.store.plans import decode_plan
from ragstone.store.store import Store
from ragstone.types import NO_USAGE

Row = Mapping[str, Any]

ROWS_PER_COMMIT = 500


@dataclass(slots=True)
class StoreReport:
    """What a check or salvage saw."""

    rows: dict[str, int] = field(default_factory=dict)
    """Table → whole rows."""
    damages: list[str] = field(default_factory=list)
    """What is damaged, one line each."""
    cut_runs: dict[str, int] = field(default_factory=dict)
    """Id of a run that was copied in part → samples of it."""


def check_store(store: Store) -> StoreReport:
    """Read and decode every row of a store."""
    report = StoreReport()
    tables = _list_tables(store)
    if not store.place.startswith("postgres"):
        report.damages += [
            f"SQLite: {text}" for (text,) in store.read("PRAGMA integrity_check") if text != "ok"
        ]
    for table in tables:
        for _ in _iter_whole_rows(store, table, report):
            report.rows[table] = report.rows.get(table, 0) + 1
    _find_gaps(store, report)
    return report


def salvage_store(store: Store, target: str) -> StoreReport:
    """Copy every whole row to a new store; a run ends before its first damaged block and can be resumed."""
    if "://" in store.place or "://" in target:
        raise StoreError("salvage copies SQLite files; PostgreSQL has pg_dump for this")
    if os.path.exists(target):
        raise StoreError(f"{target!r} exists; name a new file to salvage into")
    report = StoreReport()
    copy = Store.open(target)
    try:
        for table in _list_tables(store):
            rows: list[tuple[Any, ...]] = []
            for row in _iter_whole_rows(store, table, report):
                rows.append(tuple(row.values()))
                report.rows[table] = report.rows.get(table, 0) + 1
                if len(rows) == ROWS_PER_COMMIT:
                    _insert(copy, table, rows)
                    rows = []
            if rows:
                _insert(copy, table, rows)
        _cut_runs(copy, report)
    finally:
        copy.close()
    return report


def _list_tables(store: Store) -> list[str]:
    if store.place.startswith("postgres"):
        sql = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
    else:
        sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    return sorted(name for (name,) in store.read(sql))


def _list_columns(store: Store, table: str) -> list[str]:
    if store.place.startswith("postgres"):
        sql = "SELECT column_name FROM information_schema.columns WHERE table_name = ? ORDER BY ordinal_position"
        return [name for (name,) in store.read(sql, (table,))]
    return [name for (_, name, *_) in store.read(f"PRAGMA table_info({table})")]


def _iter_whole_rows(store: Store, table: str, report: StoreReport) -> Iterator[Row]:
    """Yield the rows of a table that can be decoded; what is wrong with the others goes to the report."""
    columns = _list_columns(store, table)
    check = _CHECKS.get(table, _check_documents)
    number = 0
    try:
        for values in store.stream(f"SELECT * FROM {table}"):  # noqa: S608 (a name of ours)
            number += 1
            row = dict(zip(columns, values, strict=True))
            try:
                with explain_damage(_name_row(table, row, number)):
                    check(row)
            except StoreError as damage:
                report.damages.append(str(damage).partition(" is damaged")[0])
            else:
                yield row
    except StoreError as fault:  # pages that SQLite itself cannot read
        report.damages.append(f"{table}, after row {number}: {fault}")


def _name_row(table: str, row: Row, number: int) -> str:
    known = {
        name: row[name] for name in ("id", "key", "run", "number", "first", "name") if name in row
    }
    described = ", ".join(f"{name} {value!s:.60}" for name, value in known.items())
    return f"{table}, {described or f'row {number}'}"


def _check_run(row: Row) -> None:
    decode_plan(json.loads(row["plan"]))
    for name in ("shape", "metrics", "bad"):
        json.loads(row[name])
    if row["status"] not in ("running", "done"):
        raise ValueError("no such status")


def _check_scores(row: Row) -> None:
    parts = EncodedScores(row["keys"], row["numbers"], row["details"], row["evidence"])
    block = ScoreBlock(int(row["first"]), int(row["last"]), parts)
    if sum(1 for _ in block.iter_scores()) != block.count or len(block.ids) != block.count:
        raise ValueError("too few samples")


def _check_samples(row: Row) -> None:
    for text in decode_rows(row["body"]):
        json.loads(text)


def _check_documents(row: Row) -> None:
    """Check the columns that hold a JSON document in most tables."""
    for name in ("meta", "body", "comment"):
        text = row.get(name)
        if isinstance(text, str) and text and text[0] in '{["':
            json.loads(text)
        elif isinstance(text, str) and name != "comment" and text:
            raise ValueError("no document")


_CHECKS: Mapping[str, Callable[[Row], object]] = {
    "runs": _check_run,
    "score_blocks": _check_scores,
    "sample_blocks": _check_samples,
    "replies": lambda row: decode_reply(row["reply"], NO_USAGE),
    "monitor_scores": lambda row: decode_score(row["score"]),
    "labels": lambda row: None,  # comments of people are no documents
}
"""Table → what decodes a row of it, and raises when it is damaged."""


_SELECT_BLOCKS = (
    "SELECT id, b.run, b.first, last, s.first FROM score_blocks b JOIN runs ON b.run = number"
    " LEFT JOIN sample_blocks s ON s.run = b.run AND s.first = b.first ORDER BY b.run, b.first"
)


def _find_gaps(store: Store, report: StoreReport) -> dict[int, tuple[str, int]]:
    """Run → its id and the last sample before a gap in its blocks; each goes to the report."""
    ends: dict[int, int] = {}
    gaps: dict[int, tuple[str, int]] = {}
    for name, run, first, last, texts in store.read(_SELECT_BLOCKS):
        end = ends.get(run, 0)
        if run not in gaps and (first != end + 1 or texts is None):
            gaps[run] = (name, end)
            report.damages.append(f"run {name}: nothing whole after sample {end}")
        ends[run] = last
    return gaps


def _cut_runs(copy: Store, report: StoreReport) -> None:
    """End each copied run before its first missing block, so that it can be resumed; drop blocks without a run."""
    noted = len(report.damages)
    gaps = _find_gaps(copy, report)
    del report.damages[noted:]  # the rows behind them were reported already
    counts = {
        run: (name, total, last or 0)
        for run, name, total, last in copy.read(
            "SELECT number, id, total, (SELECT MAX(last) FROM score_blocks WHERE run = number) FROM runs"
        )
    }
    for run, (name, total, last) in counts.items():
        if run in gaps or (total is not None and last < total):
            report.cut_runs[name] = gaps[run][1] if run in gaps else last

    def cut(db: Connection) -> None:
        for run, (name, _, _) in counts.items():
            if name not in report.cut_runs:
                continue
            for table in ("score_blocks", "sample_blocks"):
                db.execute(f"DELETE FROM {table} WHERE run = ? AND first > ?", (run, report.cut_runs[name]))  # noqa: S608  # fmt: skip
            db.execute("UPDATE runs SET status = 'running', total = NULL WHERE number = ?", (run,))
        for table in ("score_blocks", "sample_blocks"):
            db.execute(f"DELETE FROM {table} WHERE run NOT IN (SELECT number FROM runs)")  # noqa: S608

    copy.write(cut).result()


def _insert(copy: Store, table: str, rows: list[tuple[Any, ...]]) -> None:
    places = ", ".join("?" * len(rows[0]))
    copy.write(
        lambda db: db.execute_many(f"INSERT INTO {table} VALUES ({places})", rows)  # noqa: S608
    ).result()
