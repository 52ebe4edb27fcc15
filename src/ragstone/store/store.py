"""The store of runs and replies: every access to the database goes through it."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from ragstone.asks import Reply
from ragstone.errors import RunNotFound, StoreError
from ragstone.store.damage import explain_damage
from ragstone.store.database import Connection, Database
from ragstone.store.old_runs import move_run
from ragstone.store.plans import decode_plan, encode_plan
from ragstone.store.postgres import PostgresDatabase
from ragstone.store.replies import decode_reply, encode_reply
from ragstone.store.rows import (
    BATCH_SAMPLES,
    FINDING_COLUMNS,
    SCORE_COLUMNS,
    NewRow,
    PreparedRows,
    ScoreBatch,
    build_finding,
    build_score,
    insert_rows,
    prepare_rows,
    to_storable_json,
)
from ragstone.store.runs import RunInfo, StoredRun
from ragstone.store.sqlite import SqliteDatabase
from ragstone.store.texts import delete_texts
from ragstone.store.writer import InlineWriter, Operation, WriterThread
from ragstone.types import FAILURES, Finding, Score, Usage

MAX_NAMED = 500
"""Values that one statement names."""

STREAMED_ROWS = 1000
"""Rows that a stream fetches from a server together."""

RUN_TABLES = (
    "samples", "sample_inputs", "scores", "findings", "sample_traits", "trait_counts",
    "trait_scores", "run_derived",
)  # fmt: skip
"""Tables that hold the rows of a run by its number."""


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A reply with what the store knows of it."""

    reply: Reply
    run: str
    """The run that paid for it."""
    judge: str
    created: str
    """ISO 8601, UTC."""
    usage: Usage


def default_place() -> str:
    """Return `$RAGSTONE_STORE`, or the file in the user's data folder."""
    configured = os.environ.get("RAGSTONE_STORE")
    return configured or str(user_data_path("ragstone", appauthor=False) / "ragstone.db")


class Store:
    """Runs and replies in one database; any thread may read, one thread writes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # one reader connection serves all threads, one at a time
        self._lock = threading.RLock()
        # a list of one, so that the finalizer below, which may not refer to self, closes whichever
        # connection has replaced a lost one
        try:
            self._readers: list[Connection] = [database.connect()]
        except database.driver_errors as fault:
            raise database.explain(fault) from None
        self._writer = WriterThread(database)
        self._inline = InlineWriter(database)
        self._append_faults: dict[str, BaseException] = {}
        """Run → why its last samples were not stored, such as a full disk: those after them cannot be either."""
        # runs at interpreter exit too, so that a script which never closes its store loses no
        # queued write; it must not refer to self, or the store would never be collected
        self._finalizer = weakref.finalize(
            self, _close_all, self._writer, self._inline, self._readers, self._lock, database
        )

    @classmethod
    def open(cls, place: str | Path | Store | None = None, *, must_exist: bool = False) -> Store:
        """Open the store at a path or PostgreSQL URL; None is the default store, `:memory:` a temporary one.

        With `must_exist`, a missing file is an error and is not created."""
        if isinstance(place, Store):
            return place
        address = default_place() if place is None else str(place)
        if address == ":memory:":
            folder = Path(tempfile.mkdtemp(prefix="ragstone-"))
            return cls(SqliteDatabase(folder / "ragstone.db", temporary=True))
        scheme, separator, _ = address.partition("://")
        if not separator:
            file = SqliteDatabase(Path(address).expanduser())
            # the default store is made when it is first used, whoever asks for it
            if must_exist and place is not None and not file.path.exists():
                raise file.missing_error()
            return cls(file)
        if scheme in ("postgresql", "postgres"):
            return cls(PostgresDatabase(address))
        raise StoreError(
            f"no store speaks {scheme!r}; give the path of a SQLite file or a postgresql:// URL"
        )

    @property
    def place(self) -> str:
        """Path or URL of the store, for display: without a password."""
        return self._database.display_name

    @property
    def is_server(self) -> bool:
        """Whether the store is a PostgreSQL server and not a file."""
        return "://" in self.place

    def close(self) -> None:
        """Write queued operations and close the database."""
        self._finalizer()

    def reopen(self) -> Store:
        """Open another store on the same database, with separate connections."""
        return Store(self._database)

    def wait_for_server(self, seconds: float) -> None:
        """From now on wait so long for a server that goes away, in reads and writes, instead of failing at once."""
        self._database.outage_seconds = seconds

    def abandon(self) -> None:
        """In a child process: leave the connections to the parent, which still uses them."""
        self._finalizer.detach()

    # ── runs ──────────────────────────────────────────────────────────────────────────────

    def create(self, info: RunInfo) -> StoredRun:
        """Record a new run."""
        values = (
            info.id, info.name, info.created, info.status,
            _dump(encode_plan(info.plan, info.facts)), _dump(info.shape),
            info.source, info.format, _dump(list(info.metrics)), info.judge, "rows",
        )  # fmt: skip
        sql = (
            "INSERT INTO runs (id, name, created, status, plan, shape, source, format, metrics, judge, layout)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        self._writer.submit(lambda db: _execute(db, sql, values)).result()
        return self.run(info.id)

    def finish(self, run: str, *, total: int, bad_count: int, bad: Sequence[str]) -> None:
        """Mark a run as done."""
        values = (total, bad_count, _dump(list(bad)), run)
        sql = "UPDATE runs SET status = 'done', total = ?, bad_count = ?, bad = ? WHERE id = ?"
        # figures that were kept of the run are out of date from here on, also when only failed samples were judged again
        stamp = (run, time.time_ns() // 1000)

        def write(db: Connection) -> None:
            db.execute(sql, values)
            db.execute(_SAVE_FINISHED, stamp)

        self._writer.submit(write).result()

    def runs(self) -> list[RunInfo]:
        """Every run that is not in the bin, newest first."""
        rows = self._read(f"{SELECT_RUNS} WHERE {_NOT_IN_BIN} ORDER BY number DESC")
        return [self._to_info(row) for row in rows]

    def run(self, name: str) -> StoredRun:
        """Find a run by its id, the start of its id, its name (the newest of that name), or `last`."""
        if name == "last":
            rows = self._read(f"{SELECT_RUNS} WHERE {_NOT_IN_BIN} ORDER BY number DESC LIMIT 1")
        else:
            # a run in the bin is found by its whole id alone, which is how it is taken out again
            rows = self._read(
                f"{SELECT_RUNS} WHERE id = ? OR ((name = ? OR id LIKE ? ESCAPE '!') AND {_NOT_IN_BIN})"
                " ORDER BY CASE WHEN id = ? THEN 0 WHEN name = ? THEN 1 ELSE 2 END, number DESC",
                (name, name, _escape_like(name) + "%", name, name),
            )
        if not rows:
            raise RunNotFound(f"no run {name!r} in {self.place}; `ragstone runs` lists them")
        first = rows[0]
        # several runs may have the same name: the newest is meant; several ids with the same start
        # are ambiguous
        exact = name in (first[0], first[1], "last")
        if len(rows) > 1 and not exact:
            raise RunNotFound(f"{len(rows)} runs start with {name!r}; give more of the id")
        return StoredRun(self, self._to_info(first))

    def find_scored(self, identity: str, *, besides: str) -> StoredRun | None:
        """Find the newest finished run whose scores have this identity (`RunFacts.scores_identity`)."""
        rows = self._read(
            f"{SELECT_RUNS} WHERE status = 'done' AND id <> ? AND plan LIKE ? AND {_NOT_IN_BIN}"
            " ORDER BY number DESC LIMIT 1",
            (besides, f'%"{identity}"%'),
        )
        return StoredRun(self, self._to_info(rows[0])) if rows else None

    def delete(self, run: str) -> None:
        """Delete a run with its samples and scores; its replies stay, as other runs may use them."""
        number, is_server = self.find_number(run), self.is_server

        def remove(db: Connection) -> None:
            for table in RUN_TABLES:
                db.execute(f"DELETE FROM {table} WHERE run = ?", (number,))  # noqa: S608
            delete_texts(db, number, is_server=is_server)
            db.execute("DELETE FROM runs WHERE number = ?", (number,))
            for table in ("run_notes", "judge_jobs"):
                db.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608

        self._writer.submit(remove).result()

    # ── samples and scores ────────────────────────────────────────────────────────────────
    #
    # In the tables, `run` is the number of a run, not its id. The positions of a run's samples follow each other
    # from 1 without a gap.

    def append(self, run: str, rows: Sequence[NewRow]) -> Future[None]:
        """Add finished samples in input order; the Future is done when they are on disk."""
        return self.append_prepared(run, prepare_rows(rows))

    def append_prepared(self, run: str, rows: PreparedRows) -> Future[None]:
        """Add finished samples that are rows of the tables already."""
        number = self.find_number(run)

        def write(db: Connection) -> None:
            self._check_next(db, run, number, rows.first)
            insert_rows(db, number, rows)

        return self._submit_append(run, write)

    def append_copies(self, run: str, other: str, first: int, last: int) -> Future[None]:
        """Add samples as another run has them; what it paid a judge for counts as found in the store."""
        number, source = self.find_number(run), self.find_number(other)
        metrics = self._list_metrics(source)
        marks = ", ".join("?" * len(metrics))
        where = f"run = ? AND metric IN ({marks}) AND position BETWEEN ? AND ?"

        def write(db: Connection) -> None:
            self._check_next(db, run, number, first)
            for table, columns in (("samples", "id, cluster"), ("sample_inputs", "input")):
                db.execute(
                    f"INSERT INTO {table} SELECT {number:d}, position, {columns} FROM {table}"  # noqa: S608
                    " WHERE run = ? AND position BETWEEN ? AND ?",
                    (source, first, last),
                )
            found = "NULLIF(COALESCE(calls, 0) + COALESCE(hits, 0), 0)"
            db.execute(
                f"INSERT INTO scores SELECT {number:d}, metric, position, value, outcome, reason, kind, label,"  # noqa: S608
                f" probability, NULL, {found}, NULL, NULL, NULL, details FROM scores WHERE {where}",
                (source, *metrics, first, last),
            )
            db.execute(
                f"INSERT INTO findings SELECT {number:d}, metric, position, number, {FINDING_COLUMNS}"  # noqa: S608
                f" FROM findings WHERE {where}",
                (source, *metrics, first, last),
            )

        return self._submit_append(run, write)

    def _check_next(self, db: Connection, run: str, number: int, first: int) -> None:
        ((stored,),) = db.execute(_COUNT_SAMPLES, (number,))
        if first != stored + 1:
            raise self._append_faults.get(run) or StoreError(
                f"run {run} has {stored} samples and number {first} is to follow; does "
                "another process score it too? stop one, and resume with --resume"
            )

    def _submit_append(self, run: str, write: Operation) -> Future[None]:
        future = self._writer.submit(write)
        future.add_done_callback(lambda done: self._note_append(run, done))
        return future

    def _note_append(self, run: str, done: Future[None]) -> None:
        fault = None if done.cancelled() else done.exception()
        if fault is None:
            self._append_faults.pop(run, None)
        else:
            self._append_faults[run] = fault

    def rescore(
        self, run: str, position: int, scores: Mapping[str, Score], *, row: str | None = None
    ) -> Future[None]:
        """Replace the scores of a sample and, if `row` is given, its input row."""
        number = self.find_number(run)
        metrics = sorted({*self._list_metrics(number), *scores})
        prepared = prepare_rows([NewRow(position, "", None, row or "", scores)])
        marks = ", ".join("?" * len(metrics))

        def write(db: Connection) -> None:
            for table in ("scores", "findings"):
                db.execute(
                    f"DELETE FROM {table} WHERE run = ? AND metric IN ({marks}) AND position = ?",  # noqa: S608
                    (number, *metrics, position),
                )
            insert_rows(db, number, prepared._replace(samples=[], inputs=[]))
            if row is not None:
                db.execute(
                    "UPDATE sample_inputs SET input = ? WHERE run = ? AND position = ?",
                    (to_storable_json(row), number, position),
                )

        return self._writer.submit(write)

    def count(self, run: str) -> int:
        """Count the stored samples of a run; they are always the first ones of its input."""
        ((count,),) = self._read(_COUNT_SAMPLES, (self.find_number(run),))
        return int(count)

    def batches(
        self, run: str, *, with_findings: bool = False, with_inputs: bool = False
    ) -> Iterator[ScoreBatch]:
        """Yield the scores of a run in input order, BATCH_SAMPLES at a time, with no more than what is asked for."""
        number = self.find_number(run)
        metrics = self._list_metrics(number)
        first = 1
        while True:
            batch = self._read_batch(number, metrics, first, with_findings, with_inputs)
            if not batch.count:
                return
            yield batch
            first += batch.count

    def _read_batch(
        self, run: int, metrics: Sequence[str], first: int, with_findings: bool, with_inputs: bool
    ) -> ScoreBatch:
        last = first + BATCH_SAMPLES - 1
        where = "WHERE run = ? AND position BETWEEN ? AND ? ORDER BY position"
        samples = self._read(f"SELECT id, cluster FROM samples {where}", (run, first, last))  # noqa: S608
        batch = ScoreBatch(first, [row[0] for row in samples], [row[1] for row in samples], {}, {})
        last = first + batch.count - 1  # those behind it were added meanwhile
        for name in metrics:
            values: list[float | None] = [None] * batch.count
            details: dict[int, Score] = {}
            findings = self._read_findings(run, name, first, last) if with_findings else {}
            with explain_damage(f"a score in the store {self.place!r}"):
                for position, value in self._read(_SELECT_VALUES, (run, name, first, last)):
                    values[position - first] = value
                for position, *columns in self._read(_SELECT_DETAILS, (run, name, first, last)):
                    index = position - first
                    details[index] = build_score(tuple(columns), findings.get(index, ()))
            for index, found in findings.items():
                if index not in details and values[index] is not None:
                    details[index] = Score(values[index], findings=tuple(found))
            batch.values[name], batch.details[name] = values, details
        if with_inputs:
            rows = self._read(f"SELECT input FROM sample_inputs {where}", (run, first, last))  # noqa: S608
            if len(rows) < batch.count:
                raise StoreError(f"texts of samples from {first} on are missing in the store {self.place!r}; `ragstone store check` lists what is")  # fmt: skip
            batch.inputs += [row for (row,) in rows[: batch.count]]
        return batch

    def _read_findings(
        self, run: int, metric: str, first: int, last: int
    ) -> dict[int, list[Finding]]:
        findings: dict[int, list[Finding]] = {}
        with explain_damage(f"a finding in the store {self.place!r}"):
            for position, *columns in self._read(_SELECT_FINDINGS, (run, metric, first, last)):
                findings.setdefault(position - first, []).append(build_finding(tuple(columns)))
        return findings

    def find_failed(self, run: str) -> list[int]:
        """Return the positions of the samples with a failed score."""
        marks = ", ".join("?" * len(FAILURES))
        rows = self._read(
            f"SELECT DISTINCT position FROM scores WHERE run = ? AND outcome IN ({marks})"  # noqa: S608
            " ORDER BY position",
            (self.find_number(run), *sorted(FAILURES)),
        )
        return [position for (position,) in rows]

    def find_positions(self, run: str, ids: Sequence[str]) -> dict[str, int]:
        """Return where samples of these ids stand; of an id that repeats, the first."""
        number, found = self.find_number(run), dict[str, int]()
        for first in range(0, len(ids), MAX_NAMED):
            some = ids[first : first + MAX_NAMED]
            rows = self._read(
                "SELECT id, MIN(position) FROM samples WHERE run = ?"  # noqa: S608
                f" AND id IN ({', '.join('?' * len(some))}) GROUP BY id",
                (number, *some),
            )
            found.update((id, int(position)) for id, position in rows)
        return found

    def input_rows(self, run: str) -> Iterator[str]:
        """Yield the stored input rows, in order."""
        sql = "SELECT input FROM sample_inputs WHERE run = ? ORDER BY position"
        for (row,) in self.stream(sql, (self.find_number(run),)):
            yield row

    def sample_at(self, run: str, position: int) -> tuple[str, str, dict[str, Score]] | None:
        """Return id, input row and scores of the sample at a position; None without one."""
        number = self.find_number(run)
        rows = self._read(
            "SELECT id, input FROM samples JOIN sample_inputs USING (run, position)"
            " WHERE run = ? AND position = ?",
            (number, position),
        )
        if not rows:
            return None
        scores = {}
        for name in self._list_metrics(number):
            findings = self._read_findings(number, name, position, position).get(0, ())
            with explain_damage(f"a score in the store {self.place!r}"):
                for _, *columns in self._read(_SELECT_SCORES, (number, name, position, position)):
                    scores[name] = build_score(tuple(columns), findings)
        return rows[0][0], rows[0][1], scores

    # ── replies ───────────────────────────────────────────────────────────────────────────

    def reply(self, key: str, run: str | None = None) -> Reply | None:
        """Return the stored reply of a key; its usage is zero for a run that did not pay for it."""
        return self.replies([key], run).get(key)

    def replies(self, keys: Sequence[str], run: str | None = None) -> dict[str, Reply]:
        """Return the stored replies of these keys; the usage of one is zero for a run that did not pay for it."""
        placeholders = ", ".join("?" * len(keys))
        sql = f"{_SELECT_REPLIES} WHERE key IN ({placeholders})"
        rows = self._inline.read(sql, keys)
        if rows is None:
            rows = self._read(sql, keys)
        replies = {}
        for key, payer, reply, calls, *tokens in rows:
            # a reply that took no call has saved none either, so it is no cache hit
            paid = run is None or run == payer or not calls
            with explain_damage(f"a reply in the store {self.place!r}"):
                replies[key] = decode_reply(reply, Usage(calls, *tokens) if paid else _CACHE_HIT)
        return replies

    def stored_replies(self, keys: Sequence[str]) -> dict[str, StoredReply]:
        """Return the stored replies of these keys with who paid for them, and when."""
        placeholders = ", ".join("?" * len(keys))
        rows = self._read(
            "SELECT key, run, judge, created, reply, calls, input_tokens, output_tokens, usd"  # noqa: S608
            f" FROM replies WHERE key IN ({placeholders})",
            keys,
        )
        replies = {}
        for key, run, judge, created, text, *counts in rows:
            usage = Usage(*counts)
            replies[key] = StoredReply(decode_reply(text, usage), run, judge, created, usage)
        return replies

    def save_reply(
        self, key: str, reply: Reply, *, run: str, kind: str, judge: str
    ) -> Future[None]:
        """Store a reply; the Future is done when it survives the death of this process."""
        rows = _to_reply_rows([(key, kind, reply)], run, judge)
        return self._writer.submit(lambda db: db.execute_many(_INSERT_REPLY, rows), fast=True)

    def save_replies(
        self, replies: Sequence[tuple[str, str, Reply]], *, run: str, judge: str
    ) -> Future[None] | None:
        """Store replies, each with its key and the kind of its question; None when they are already written.

        They are written in this thread when the database is free, which takes 0.1 ms, less than a queue would.
        Otherwise the Future is done when they survive the death of this process."""
        rows = _to_reply_rows(replies, run, judge)
        if self._inline.write(_INSERT_REPLY, rows):
            return None
        return self._writer.submit(lambda db: db.execute_many(_INSERT_REPLY, rows), fast=True)

    # ── for packages that have further tables, such as the monitor ────────────────────────

    def read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query, which uses `?` for values, and return its rows."""
        return self._read(sql, values)

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one, on a separate connection."""
        # on a separate connection, so that a long read does not block other reads of this store
        try:
            yield from self._database.stream(sql, values, STREAMED_ROWS)
        except self._database.driver_errors as fault:
            raise self._database.explain(fault) from None

    def write(self, operation: Operation) -> Future[None]:
        """Run an operation in the next commit; the Future is done when it is on disk.

        All operations of one commit succeed or fail together."""
        return self._writer.submit(operation)

    # ── internals ─────────────────────────────────────────────────────────────────────────

    def find_number(self, run: str) -> int:
        """Return the number by which the tables refer to the run with this id; a run of an earlier version is moved there first."""
        rows = self._read("SELECT number, layout FROM runs WHERE id = ?", (run,))
        if not rows:
            raise RunNotFound(f"no run {run!r} in {self.place}; `ragstone runs` lists them")
        number, layout = int(rows[0][0]), rows[0][1]
        if layout != "rows":
            self._move_old_run(run, number)
        return number

    def _move_old_run(self, run: str, number: int) -> None:
        def move(db: Connection) -> None:
            with explain_damage(f"run {run} in the store {self.place!r}"):
                move_run(db, number)

        self._writer.submit(move).result()

    def _list_metrics(self, number: int) -> list[str]:
        """The metrics of a run, in the order in which it names them."""
        ((text,),) = self._read("SELECT metrics FROM runs WHERE number = ?", (number,))
        with explain_damage(f"a run in the store {self.place!r}"):
            return [str(metric["name"]) for metric in json.loads(text)]

    def _to_info(self, row: tuple[Any, ...]) -> RunInfo:
        """The run in a row of `SELECT_RUNS`."""
        fields = dict(zip(RUN_COLUMNS, row, strict=True))
        sums = self._read(
            "SELECT COALESCE(SUM(calls), 0), COALESCE(SUM(input_tokens), 0),"
            " COALESCE(SUM(output_tokens), 0), COALESCE(SUM(usd), 0.0)"
            " FROM replies WHERE run = ?",
            (fields["id"],),
        )[0]
        usage = Usage(int(sums[0]), int(sums[1]), int(sums[2]), float(sums[3]))
        with explain_damage(f"run {fields['id']} in the store {self.place!r}"):
            fields["plan"], facts = decode_plan(json.loads(fields["plan"]))
            fields["shape"] = json.loads(fields["shape"])
            for name in ("metrics", "bad"):
                fields[name] = tuple(json.loads(fields[name]))
        place = "" if self._database.is_temporary else self.place
        return RunInfo(**fields, place=place, usage=usage, facts=facts)

    def _read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            if not self._readers[0].is_lost:
                try:
                    return list(self._readers[0].execute(sql, values))
                except self._database.driver_errors as fault:
                    if not self._readers[0].is_lost:
                        raise self._database.explain(fault) from None
            try:  # the server may be back, or the file restored
                lost, self._readers[0] = self._readers[0], self._database.reconnect()
                lost.close()
                return list(self._readers[0].execute(sql, values))
            except self._database.driver_errors as fault:
                raise self._database.explain(fault) from None


_CACHE_HIT = Usage(hits=1)

# the last four columns in the order of Usage; the row of `_to_reply_rows` in the order of the table
_SELECT_REPLIES = "SELECT key, run, reply, calls, input_tokens, output_tokens, usd FROM replies"
_INSERT_REPLY = "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"


def _to_reply_rows(
    replies: Sequence[tuple[str, str, Reply]], run: str, judge: str
) -> list[tuple[Any, ...]]:
    """Rows of `_INSERT_REPLY` from (key, kind of question, reply)."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return [
        (
            key, run, kind, judge, encode_reply(reply), reply.usage.calls,
            reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.usd, now,
        )
        for key, kind, reply in replies
    ]  # fmt: skip


RUN_COLUMNS = (
    "id", "name", "created", "status", "plan", "shape", "source", "format", "metrics", "judge",
    "total", "bad_count", "bad",
)  # fmt: skip
"""Columns of a run, named as the fields of RunInfo."""

# without `number`: it orders the runs of one store and means nothing outside it
SELECT_RUNS = f"SELECT {', '.join(RUN_COLUMNS)} FROM runs"  # noqa: S608
_NOT_IN_BIN = "id NOT IN (SELECT run FROM run_notes WHERE deleted > 0)"
_SAVE_FINISHED = (
    "INSERT INTO run_notes (run, finished) VALUES (?, ?)"
    " ON CONFLICT (run) DO UPDATE SET finished = excluded.finished"
)


# as long as nothing but whole commits is stored, the last position is their number
_COUNT_SAMPLES = "SELECT COALESCE(MAX(position), 0) FROM samples WHERE run = ?"
_RANGE = "WHERE run = ? AND metric = ? AND position BETWEEN ? AND ? ORDER BY position"
_SELECT_SCORES = f"SELECT position, {SCORE_COLUMNS} FROM scores {_RANGE}"  # noqa: S608
_SELECT_VALUES = f"SELECT position, value FROM scores {_RANGE}"  # noqa: S608
_MORE_THAN_A_NUMBER = " OR ".join(
    f"{column} IS NOT NULL"
    for column in SCORE_COLUMNS.split(", ")
    if column not in ("value", "outcome")
)
_SELECT_DETAILS = _SELECT_SCORES.replace(
    "ORDER BY", f"AND (outcome <> 'ok' OR {_MORE_THAN_A_NUMBER}) ORDER BY"
)
_SELECT_FINDINGS = f"SELECT position, {FINDING_COLUMNS} FROM findings {_RANGE}, number"  # noqa: S608


def _execute(connection: Connection, sql: str, values: Sequence[Any]) -> None:
    """Run a statement without a result, as an Operation must."""
    connection.execute(sql, values)


def _close_all(
    writer: WriterThread,
    inline: InlineWriter,
    readers: list[Connection],
    lock: threading.RLock,
    database: Database,
) -> None:
    writer.close()
    inline.close()
    with (
        lock
    ):  # closed under the hands of a thread that reads, SQLite would take the process with it
        for reader in readers:
            reader.close()
    database.release()


def _escape_like(text: str) -> str:
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def _dump(item: Any) -> str:
    return json.dumps(item, ensure_ascii=True, allow_nan=False)
