"""The store of runs and replies: every access to the database goes through it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from platformdirs import user_cache_path, user_data_path

from ragstone.asks import Reply
from ragstone.errors import RunNotFound, StoreError
from ragstone.store.blocks import (
    EncodedBlock,
    EncodedScores,
    NewRow,
    ScoreBlock,
    cut_blocks,
    decode_rows,
    encode_block,
    encode_rows,
    insert_blocks,
    replace_scores,
)
from ragstone.store.checksums import explain_damage
from ragstone.store.codec import decode_reply, encode_reply
from ragstone.store.database import Connection, Database
from ragstone.store.plans import decode_plan, encode_plan
from ragstone.store.postgres import PostgresDatabase
from ragstone.store.runs import RunInfo, StoredRun
from ragstone.store.server_texts import ServerTexts
from ragstone.store.sqlite import SqliteDatabase
from ragstone.store.writer import InlineWriter, Operation, WriterThread
from ragstone.types import Score, Usage

ROWS_AT_ONCE, BLOCKS_AT_ONCE = 1000, 8
"""Rows that a stream fetches from a server together; blocks are large."""


MAX_FILE_NAME_CHARS = 100
SUMMARY_ENDING, INDEX_ENDING = ".summary.json", ".index"
"""Endings of what the viewer keeps of a run."""


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

    def open_texts(self, run: str) -> ServerTexts | None:
        """Return the search of the database itself for the texts of a run; None for a file, which has none of its own."""
        return ServerTexts(self, run) if "://" in self.place else None

    def view_path(self, run: str, ending: str) -> Path:
        """Return the file or folder in which the viewer keeps something of a run."""
        # people may give ids of their own, with slashes or of any length
        name = quote(run, safe="")
        if len(name) > MAX_FILE_NAME_CHARS:
            name = hashlib.sha256(run.encode()).hexdigest()
        return self.view_folder() / f"{name}{ending}"

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
        number = self._find_number(run)

        def remove(db: Connection) -> None:
            for table in ("sample_blocks", "score_blocks"):
                db.execute(f"DELETE FROM {table} WHERE run = ?", (number,))  # noqa: S608
            db.execute("DELETE FROM runs WHERE number = ?", (number,))
            for table in ("run_notes", "judge_jobs"):
                db.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608

        self._writer.submit(remove).result()
        # texts of a deleted run must not stay behind
        self.view_path(run, SUMMARY_ENDING).unlink(missing_ok=True)
        shutil.rmtree(self.view_path(run, INDEX_ENDING), ignore_errors=True)

    # ── samples and scores ────────────────────────────────────────────────────────────────
    #
    # In the tables, `run` is the number of a run, not its id; `first` and `last` are positions of
    # samples. The blocks of a run follow each other without a gap.

    def append(self, run: str, rows: Sequence[NewRow]) -> Future[None]:
        """Add finished samples in input order; the Future is done when they are on disk."""
        return self.append_blocks(run, [encode_block(part) for part in cut_blocks(rows)])

    def append_blocks(self, run: str, blocks: Sequence[EncodedBlock]) -> Future[None]:
        """Add finished samples that are encoded already."""
        number = self._find_number(run)

        def write(db: Connection) -> None:
            stored = _count_samples(db.execute(_SELECT_LAST, (number,)))
            for block in blocks:
                if block.first != stored + 1:
                    raise self._append_faults.get(run) or StoreError(
                        f"run {run} has {stored} samples and number {block.first} is to follow; does "
                        "another process score it too? stop one, and resume with --resume"
                    )
                stored = block.last
            insert_blocks(db, number, blocks)

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
        self, run: str, position: int, scores: Mapping[str, Score] | str, *, row: str | None = None
    ) -> Future[None]:
        """Replace the scores of a sample and, if `row` is given, its input row."""
        number = self._find_number(run)

        def write(db: Connection) -> None:
            # locks the block, lest another process changes it between reading and writing
            db.execute(
                "UPDATE score_blocks SET last = last WHERE run = ? AND first <= ? AND last >= ?",
                (number, position, position),
            )
            for first, *columns, texts in db.execute(_SELECT_BLOCK, (number, position)):
                block = self._to_block(run, first, *columns)
                encoded = replace_scores(block, position - first, scores)
                db.execute(_UPDATE_SCORES, (*encoded, number, first))
                if row is not None:
                    rows = self._decode_rows(run, texts, block)
                    rows[position - first] = row
                    db.execute(_UPDATE_SAMPLES, (encode_rows(rows), number, first))

        return self._writer.submit(write)

    def count(self, run: str) -> int:
        """Count the stored samples of a run; they are always the first ones of its input."""
        return _count_samples(self._read(_SELECT_LAST, (self._find_number(run),)))

    def score_blocks(self, run: str) -> Iterator[ScoreBlock]:
        """The scores of a run in input order."""
        for columns in self._stream(_SELECT_SCORES, (self._find_number(run),), BLOCKS_AT_ONCE):
            yield self._to_block(run, *columns)

    def full_blocks(self, run: str) -> Iterator[tuple[ScoreBlock, list[str]]]:
        """The scores and the input rows of a run in input order."""
        for *columns, texts in self._stream(
            _SELECT_FULL, (self._find_number(run),), BLOCKS_AT_ONCE
        ):
            block = self._to_block(run, *columns)
            yield block, self._decode_rows(run, texts, block)

    def full_block_at(self, run: str, position: int) -> tuple[ScoreBlock, list[str]] | None:
        """The scores and input rows of the block that has this sample; None without one."""
        for *columns, texts in self._read(_SELECT_BLOCK, (self._find_number(run), position)):
            block = self._to_block(run, *columns)
            rows = self._decode_rows(run, texts, block)
            return (block, rows) if position in block.positions else None
        return None

    def input_rows(self, run: str) -> Iterator[str]:
        """The stored input rows, in order."""
        sql = "SELECT body FROM sample_blocks WHERE run = ? ORDER BY first"
        for (texts,) in self._stream(sql, (self._find_number(run),), BLOCKS_AT_ONCE):
            yield from self._decode_rows(run, texts)

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
        with explain_damage(f"run {fields['id']} in the store {self.place!r}"):
            fields["plan"], facts = decode_plan(json.loads(fields["plan"]))
            fields["shape"] = json.loads(fields["shape"])
            for name in ("metrics", "bad"):
                fields[name] = tuple(json.loads(fields[name]))
        place = "" if self._database.is_temporary else self.place
        return RunInfo(**fields, place=place, usage=usage, facts=facts)

    def _to_block(self, run: str, first: int, last: int, *columns: Any) -> ScoreBlock:
        with explain_damage(f"run {run}, samples {first} to {last}, in the store {self.place!r}"):
            return ScoreBlock(first, last, EncodedScores(*columns))

    def _decode_rows(self, run: str, texts: bytes, block: ScoreBlock | None = None) -> list[str]:
        with explain_damage(f"run {run} in the store {self.place!r}"):
            return decode_rows(texts, block)

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

    def _stream(
        self, sql: str, values: Sequence[Any], rows_at_once: int = ROWS_AT_ONCE
    ) -> Iterator[Any]:
        # on a separate connection, so that a long read does not block other reads of this store
        try:
            yield from self._database.stream(sql, values, rows_at_once)
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


_SCORE_COLUMNS = "first, last, keys, numbers, details, evidence"
_SELECT_LAST = "SELECT last FROM score_blocks WHERE run = ? ORDER BY first DESC LIMIT 1"
_SELECT_SCORES = f"SELECT {_SCORE_COLUMNS} FROM score_blocks WHERE run = ? ORDER BY first"  # noqa: S608
_SELECT_JOINED = (
    f"SELECT {_SCORE_COLUMNS}, body FROM score_blocks JOIN sample_blocks USING (run, first)"  # noqa: S608
)
_SELECT_FULL = f"{_SELECT_JOINED} WHERE run = ? ORDER BY first"
_SELECT_BLOCK = f"{_SELECT_JOINED} WHERE run = ? AND first <= ? ORDER BY first DESC LIMIT 1"
_UPDATE_SCORES = (
    "UPDATE score_blocks SET keys = ?, numbers = ?, details = ?, evidence = ?"
    " WHERE run = ? AND first = ?"
)
_UPDATE_SAMPLES = "UPDATE sample_blocks SET body = ? WHERE run = ? AND first = ?"


def _count_samples(rows: Iterable[tuple[Any, ...]]) -> int:
    """The number of samples of a run from the rows of `_SELECT_LAST`."""
    for (last,) in rows:
        return int(last)
    return 0


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
