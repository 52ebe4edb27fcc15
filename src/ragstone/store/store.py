"""The store of runs and replies: every access to the database goes through it."""

from __future__ import annotations

import hashlib
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

from platformdirs import user_cache_path, user_data_path

from ragstone.asks import Reply
from ragstone.errors import RunNotFound, StoreError
from ragstone.store.codec import decode_reply, encode_reply, encode_scores
from ragstone.store.database import Connection, Database
from ragstone.store.plans import decode_plan, encode_plan
from ragstone.store.postgres import PostgresDatabase
from ragstone.store.runs import RunInfo, StoredRun
from ragstone.store.sqlite import SqliteDatabase
from ragstone.store.writer import InlineWriter, Operation, WriterThread
from ragstone.types import Score, Usage


@dataclass(frozen=True, slots=True)
class NewRow:
    """A scored sample that is to be stored."""

    position: int
    id: str
    group: str | None
    row: str
    """The input row, one JSON document."""
    scores: Mapping[str, Score] | str
    """The scores, or their text when `encode_scores` ran in another process."""


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
        # runs at interpreter exit too, so that a script which never closes its store loses no
        # queued write; it must not refer to self, or the store would never be collected
        self._finalizer = weakref.finalize(
            self, _close_all, self._writer, self._inline, self._readers, database
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

    def shard_folder(self, run: str) -> Path:
        """Return the folder of finished shards of a distributed run that wait for earlier ones.

        It is beside the file, or in the user's cache when the store is on a server."""
        if "://" in self.place:
            return user_cache_path("ragstone", appauthor=False) / "shards" / run
        return Path(self._database.display_name + ".shards") / run

    def view_folder(self) -> Path:
        """Return the folder of what the viewer keeps of runs, which can be made again from the store at any time.

        It is beside the file, or in the user's cache when the store is on a server, temporary or read-only."""
        file = Path(self._database.display_name)
        if (
            "://" not in self.place
            and not self._database.is_temporary
            and os.access(file.parent, os.W_OK)
        ):
            return Path(f"{file.absolute()}.view")
        name = hashlib.sha256(self.place.encode()).hexdigest()[:16]
        return user_cache_path("ragstone", appauthor=False) / "view" / name

    def close(self) -> None:
        """Write queued operations and close the database."""
        self._finalizer()

    def reopen(self) -> Store:
        """Open another store on the same database, with separate connections."""
        return Store(self._database)

    def abandon(self) -> None:
        """In a child process: leave the connections to the parent, which still uses them."""
        self._finalizer.detach()

    # ── runs ──────────────────────────────────────────────────────────────────────────────

    def create(self, info: RunInfo) -> StoredRun:
        """Record a new run."""
        values = (
            info.id, info.name, info.created, info.status,
            _dump(encode_plan(info.plan, info.facts)), _dump(info.shape),
            info.source, info.format, _dump(list(info.metrics)), info.judge,
        )  # fmt: skip
        sql = (
            "INSERT INTO runs (id, name, created, status, plan, shape, source, format, metrics, judge)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
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

    def delete(self, run: str) -> None:
        """Delete a run with its samples and scores; its replies stay, as other runs may use them."""
        number = self._find_number(run)

        def remove(db: Connection) -> None:
            for table in ("samples", "scores"):
                db.execute(f"DELETE FROM {table} WHERE run = ?", (number,))  # noqa: S608
            db.execute("DELETE FROM runs WHERE number = ?", (number,))
            db.execute("DELETE FROM run_notes WHERE run = ?", (run,))

        self._writer.submit(remove).result()

    # ── samples and scores ────────────────────────────────────────────────────────────────
    #
    # In the tables, `run` is the number of a run, not its id; the column `place` is a sample's
    # position, `cluster` its group.

    def append(self, run: str, rows: Sequence[NewRow]) -> Future[None]:
        """Add finished samples in input order; the Future is done when they are on disk."""
        number = self._find_number(run)
        samples = [(number, new.position, new.row) for new in rows]
        scores = [
            (number, new.position, new.id, new.group, _to_score_text(new.scores)) for new in rows
        ]

        def write(db: Connection) -> None:
            db.execute_many("INSERT INTO samples VALUES (?, ?, ?)", samples)
            db.execute_many("INSERT INTO scores VALUES (?, ?, ?, ?, ?)", scores)

        return self._writer.submit(write)

    def rescore(
        self, run: str, position: int, scores: Mapping[str, Score] | str, *, row: str | None = None
    ) -> Future[None]:
        """Replace the scores of a sample and, if `row` is given, its input row."""
        row_key = (self._find_number(run), position)
        encoded = _to_score_text(scores)

        def write(db: Connection) -> None:
            _execute(
                db, "UPDATE scores SET scores = ? WHERE run = ? AND place = ?", (encoded, *row_key)
            )
            if row is not None:
                _execute(
                    db, "UPDATE samples SET input = ? WHERE run = ? AND place = ?", (row, *row_key)
                )

        return self._writer.submit(write)

    def count(self, run: str) -> int:
        """Count the stored samples of a run; they are always the first ones of its input."""
        rows = self._read("SELECT COUNT(*) FROM scores WHERE run = ?", (self._find_number(run),))
        return int(rows[0][0])

    def score_rows(self, run: str) -> Iterator[tuple[int, str, str | None, str]]:
        """Position, id, group and encoded scores of each sample in input order."""
        sql = "SELECT place, id, cluster, scores FROM scores WHERE run = ? ORDER BY place"
        yield from self._stream(sql, (self._find_number(run),))

    def full_rows(
        self, run: str, position: int | None = None
    ) -> Iterator[tuple[int, str, str, str]]:
        """Position, id, input row and encoded scores, of one sample or of all in input order."""
        sql = (
            "SELECT place, id, input, scores FROM scores JOIN samples USING (run, place)"
            " WHERE run = ? AND place BETWEEN ? AND ? ORDER BY place"
        )
        # one statement for both cases, so that both use the primary key; 2**62 is beyond any position
        first, last = (1, 2**62) if position is None else (position, position)
        yield from self._stream(sql, (self._find_number(run), first, last))

    def input_rows(self, run: str) -> Iterator[str]:
        """The stored input rows, in order."""
        sql = "SELECT input FROM samples WHERE run = ? ORDER BY place"
        for (row,) in self._stream(sql, (self._find_number(run),)):
            yield row

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
            replies[key] = decode_reply(reply, Usage(calls, *tokens) if paid else _CACHE_HIT)
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
        return self._stream(sql, values)

    def write(self, operation: Operation) -> Future[None]:
        """Run an operation in the next commit; the Future is done when it is on disk.

        All operations of one commit succeed or fail together."""
        return self._writer.submit(operation)

    # ── internals ─────────────────────────────────────────────────────────────────────────

    def _find_number(self, run: str) -> int:
        """The number by which the tables refer to the run with this id."""
        rows = self._read("SELECT number FROM runs WHERE id = ?", (run,))
        if not rows:
            raise RunNotFound(f"no run {run!r} in {self.place}; `ragstone runs` lists them")
        return int(rows[0][0])

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

    def _stream(self, sql: str, values: Sequence[Any]) -> Iterator[Any]:
        # on a separate connection, so that a long read does not block other reads of this store
        try:
            yield from self._database.stream(sql, values)
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


def _to_score_text(scores: Mapping[str, Score] | str) -> str:
    return scores if isinstance(scores, str) else encode_scores(scores)


def _execute(connection: Connection, sql: str, values: Sequence[Any]) -> None:
    """Run a statement without a result, as an Operation must."""
    connection.execute(sql, values)


def _close_all(
    writer: WriterThread, inline: InlineWriter, readers: list[Connection], database: Database
) -> None:
    writer.close()
    inline.close()
    for reader in readers:
        reader.close()
    database.release()


def _escape_like(text: str) -> str:
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def _dump(item: Any) -> str:
    return json.dumps(item, ensure_ascii=True, allow_nan=False)
