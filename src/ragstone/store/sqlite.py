"""The SQLite store: WAL, full synchronisation, group commits, numbered migrations."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from ragstone.asks import Reply
from ragstone.errors import RunNotFound, StoreError
from ragstone.store.codec import decode_reply, encode_reply, encode_scores
from ragstone.store.runs import RunInfo, StoredRun
from ragstone.store.writer import Writer
from ragstone.types import Score, Usage

WAIT_SECONDS = 120
"""How long one process waits for another's commit."""


@dataclass(frozen=True, slots=True)
class NewRow:
    """One finished sample on its way into the store."""

    position: int
    id: str
    group: str | None
    row: str
    scores: Mapping[str, Score]


def default_path() -> Path:
    """`$RAGSTONE_STORE`, or a file in the user's data folder."""
    named = os.environ.get("RAGSTONE_STORE")
    if named:
        return Path(named)
    from platformdirs import user_data_path

    return user_data_path("ragstone", appauthor=False) / "ragstone.db"


class Store:
    """Runs and replies in one file; reads from any thread, writes through one."""

    def __init__(self, path: Path, *, temporary: bool = False) -> None:
        self.path = path
        self._temporary = temporary
        self._lock = threading.RLock()
        self._address = str(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._reader = self._connect()
            _migrate(self._reader, path)
        except sqlite3.Error as broken:
            self._reader = self._read_only(broken)
        except OSError as broken:
            raise StoreError(
                f"cannot make a folder for the store {str(path)!r} ({broken.strerror}); "
                "name another place with --store or RAGSTONE_STORE"
            ) from None
        level = "OFF" if temporary else "FULL"
        self._writer = Writer(self._connect_to_write, self._explain, level)
        self._finalizer = weakref.finalize(
            self, _release, self._writer, self._reader, temporary, path
        )

    @classmethod
    def open(cls, place: str | Path | Store | None = None) -> Store:
        """The store at a path; None is the default one, `:memory:` one that vanishes when it is closed."""
        if isinstance(place, Store):
            return place
        if place is None:
            return cls(default_path())
        if str(place) == ":memory:":
            folder = Path(tempfile.mkdtemp(prefix="ragstone-"))
            return cls(folder / "ragstone.db", temporary=True)
        if "://" in str(place):
            scheme = str(place).split("://")[0]
            raise StoreError(f"no store speaks {scheme!r}; give the path of a SQLite file")
        return cls(Path(place).expanduser())

    def close(self) -> None:
        """Write what is queued and let go of the file."""
        self._finalizer()

    # ── runs ──────────────────────────────────────────────────────────────────────────────

    def create(self, info: RunInfo) -> StoredRun:
        """Record a new run."""
        values = (
            info.id, info.name, info.created, info.status, _dump(info.plan), _dump(info.shape),
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
        self._writer.submit(lambda db: _execute(db, sql, values)).result()

    def runs(self) -> list[RunInfo]:
        """Every run, newest first."""
        rows = self._read("SELECT * FROM runs ORDER BY number DESC")
        return [self._info(row) for row in rows]

    def run(self, name: str) -> StoredRun:
        """The run with this id, the start of its id, its name (the newest such), or `last`."""
        if name == "last":
            rows = self._read("SELECT * FROM runs ORDER BY number DESC LIMIT 1")
        else:
            rows = self._read(
                "SELECT * FROM runs WHERE id = ? OR name = ? OR id LIKE ? || '%' ESCAPE '\\'"
                " ORDER BY (id = ?) DESC, (name = ?) DESC, number DESC",
                (name, name, _like(name), name, name),
            )
        if not rows:
            raise RunNotFound(f"no run {name!r} in {self.path}; `ragstone runs` lists them")
        first = rows[0]
        exact = first["id"] == name or first["name"] == name or name == "last"
        if len(rows) > 1 and not exact:
            raise RunNotFound(f"{len(rows)} runs start with {name!r}; give more of the id")
        return StoredRun(self, self._info(first))

    def delete(self, run: str) -> None:
        """Remove a run with its samples and scores; replies stay, they may serve other runs."""
        number = self._number(run)

        def remove(db: sqlite3.Connection) -> None:
            for table in ("samples", "scores"):
                db.execute(f"DELETE FROM {table} WHERE run = ?", (number,))  # noqa: S608
            db.execute("DELETE FROM runs WHERE number = ?", (number,))

        self._writer.submit(remove).result()

    # ── samples and scores ────────────────────────────────────────────────────────────────

    def append(self, run: str, rows: Sequence[NewRow]) -> Future[None]:
        """Add finished samples in input order; the Future is done when they are on disk."""
        number = self._number(run)
        samples = [(number, new.position, new.row) for new in rows]
        scores = [
            (number, new.position, new.id, new.group, encode_scores(new.scores)) for new in rows
        ]

        def write(db: sqlite3.Connection) -> None:
            db.executemany("INSERT INTO samples VALUES (?, ?, ?)", samples)
            db.executemany("INSERT INTO scores VALUES (?, ?, ?, ?, ?)", scores)

        return self._writer.submit(write)

    def rescore(self, run: str, position: int, scores: Mapping[str, Score]) -> Future[None]:
        """Put new scores in the place of a sample's old ones."""
        values = (encode_scores(scores), self._number(run), position)
        sql = "UPDATE scores SET scores = ? WHERE run = ? AND position = ?"
        return self._writer.submit(lambda db: _execute(db, sql, values))

    def count(self, run: str) -> int:
        """How many samples of a run are stored; they are always the first ones of its input."""
        rows = self._read("SELECT COUNT(*) FROM scores WHERE run = ?", (self._number(run),))
        return int(rows[0][0])

    def score_rows(self, run: str) -> Iterator[tuple[int, str, str | None, str]]:
        """Position, id, group and encoded scores of each sample in input order."""
        sql = "SELECT position, id, cluster, scores FROM scores WHERE run = ? ORDER BY position"
        yield from self._stream(sql, (self._number(run),))

    def full_rows(
        self, run: str, position: int | None = None
    ) -> Iterator[tuple[int, str, str, str]]:
        """Position, id, input row and encoded scores, of one sample or of all in input order."""
        sql = (
            "SELECT position, id, row, scores FROM scores JOIN samples USING (run, position)"
            " WHERE run = ? AND position BETWEEN ? AND ? ORDER BY position"
        )
        first, last = (1, 2**62) if position is None else (position, position)
        yield from self._stream(sql, (self._number(run), first, last))

    def input_rows(self, run: str) -> Iterator[str]:
        """The stored input rows, in order."""
        sql = "SELECT row FROM samples WHERE run = ? ORDER BY position"
        for (row,) in self._stream(sql, (self._number(run),)):
            yield row

    # ── replies ───────────────────────────────────────────────────────────────────────────

    def reply(self, key: str) -> Reply | None:
        """The stored reply under a key."""
        rows = self._read(
            "SELECT reply, calls, input_tokens, output_tokens, usd FROM replies WHERE key = ?",
            (key,),
        )
        return decode_reply(rows[0][0], Usage(*rows[0][1:])) if rows else None

    def save_reply(
        self, key: str, reply: Reply, *, run: str, kind: str, judge: str
    ) -> Future[None]:
        """Keep a reply; the Future is done when the death of this process can no longer lose it."""
        used = reply.usage
        values = (
            key, run, kind, judge, encode_reply(reply), used.calls, used.input_tokens,
            used.output_tokens, used.usd, datetime.now(UTC).isoformat(timespec="seconds"),
        )  # fmt: skip
        sql = "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        return self._writer.submit(lambda db: _execute(db, sql, values), fast=True)

    # ── underneath ────────────────────────────────────────────────────────────────────────

    def _number(self, run: str) -> int:
        rows = self._read("SELECT number FROM runs WHERE id = ?", (run,))
        if not rows:
            raise RunNotFound(f"no run {run!r} in {self.path}; `ragstone runs` lists them")
        return int(rows[0][0])

    def _info(self, row: sqlite3.Row) -> RunInfo:
        paid = self._read(
            "SELECT COALESCE(SUM(calls), 0), COALESCE(SUM(input_tokens), 0),"
            " COALESCE(SUM(output_tokens), 0), COALESCE(SUM(usd), 0.0)"
            " FROM replies WHERE run = ?",
            (row["id"],),
        )[0]
        return RunInfo(
            id=row["id"], name=row["name"], created=row["created"], status=row["status"],
            plan=json.loads(row["plan"]), shape=json.loads(row["shape"]), source=row["source"],
            format=row["format"], metrics=tuple(json.loads(row["metrics"])), judge=row["judge"],
            total=row["total"], bad_count=row["bad_count"], bad=tuple(json.loads(row["bad"])),
            usage=Usage(*paid),
        )  # fmt: skip

    def _read(self, sql: str, values: Iterable[Any] = ()) -> list[sqlite3.Row]:
        with self._lock:
            try:
                return self._reader.execute(sql, tuple(values)).fetchall()
            except sqlite3.Error as broken:
                raise self._explain(broken) from None

    def _stream(self, sql: str, values: Iterable[Any]) -> Iterator[Any]:
        # a connection of its own: a long read neither blocks nor sees other reads of this store
        connection = self._connect()
        try:
            connection.row_factory = None
            yield from connection.execute(sql, tuple(values))
        except sqlite3.Error as broken:
            raise self._explain(broken) from None
        finally:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._address,
            timeout=WAIT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            uri=self._address.startswith("file:"),
        )
        connection.row_factory = sqlite3.Row
        if self._address.startswith("file:"):
            return connection
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _connect_to_write(self) -> sqlite3.Connection:
        if self._address.startswith("file:"):
            raise self._explain(sqlite3.OperationalError("readonly"))
        return self._connect()

    def _read_only(self, broken: sqlite3.Error) -> sqlite3.Connection:
        """A store whose folder or disk takes no more writes can still be read."""
        if not self.path.is_file() or self.path.stat().st_size == 0:
            raise self._explain(broken) from None
        # with a write-ahead log beside it the file is read through it, else as it stands
        for mode in ("mode=ro", "mode=ro&immutable=1"):
            self._address = f"{self.path.resolve().as_uri()}?{mode}"
            try:
                connection = self._connect()
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                connection.execute("SELECT COUNT(*) FROM runs").fetchone()
            except sqlite3.Error:
                continue
            if version == len(_migrations()):
                return connection
            connection.close()
        raise self._explain(broken) from None

    def _explain(self, broken: sqlite3.Error) -> StoreError:
        text = str(broken)
        place = str(self.path)
        if "disk is full" in text or "disk I/O" in text:
            return StoreError(
                f"the disk is full or failing under the store {place!r}; make room and resume with"
                " `ragstone eval --resume`: what was finished is kept"
            )
        if "readonly" in text or "unable to open" in text:
            return StoreError(
                f"cannot write to the store {place!r}; name another place with --store or"
                " RAGSTONE_STORE"
            )
        if "locked" in text:
            return StoreError(
                f"another process held the store {place!r} for over {WAIT_SECONDS} s; try again"
                " with --resume"
            )
        if "not a database" in text or "malformed" in text:
            return StoreError(
                f"{place!r} is not a ragstone store or is damaged; name another file with --store"
            )
        return StoreError(f"the store {place!r} failed: {text}")


def _release(writer: Writer, reader: sqlite3.Connection, temporary: bool, path: Path) -> None:
    writer.close()
    reader.close()
    if temporary:
        for file in path.parent.glob("*"):
            file.unlink(missing_ok=True)
        path.parent.rmdir()


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the file to the newest numbered migration; several processes may try at once."""
    steps = _migrations()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(steps):
        raise StoreError(
            f"the store {str(path)!r} was written by a newer ragstone; update with"
            " `pip install -U ragstone` or name another file with --store"
        )
    if version == len(steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        for number in range(version, len(steps)):
            for statement in _statements(steps[number]):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


@lru_cache(maxsize=1)
def _migrations() -> list[str]:
    folder = resources.files("ragstone.store") / "migrations"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [file.read_text(encoding="utf-8") for file in files]


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _execute(connection: sqlite3.Connection, sql: str, values: Sequence[Any]) -> None:
    connection.execute(sql, values)


def _like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _dump(item: Any) -> str:
    return json.dumps(item, ensure_ascii=True, allow_nan=False)
