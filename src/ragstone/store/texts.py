"""Search of the texts of a run by the database itself: FTS5 in a SQLite file, a GIN index in PostgreSQL."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragstone.store.database import Connection

if TYPE_CHECKING:
    from ragstone.store.store import Store

TEXT_FIELDS = ("id", "question", "answer", "reference")
"""What is searched of a sample."""
MAX_TEXT_CHARS = 200_000
"""Of one field: what PostgreSQL takes as one tsvector is at most 1 MB."""
LOCK_ID = 7_246_784
"""Key of the advisory lock under which the table is made; any number will do that is not the one of migrations."""
_WORD = re.compile(r"[^\W_]+")

_CREATE_FTS = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS sample_texts USING"
    f" fts5({', '.join(TEXT_FIELDS)}, tokenize='unicode61 remove_diacritics 2')"
)
# the position of a sample in the low half of the row's number, its run in the high one: a search of one run reads no other
_SHIFT = 32
_INSERT_FTS = f"INSERT INTO sample_texts (rowid, {', '.join(TEXT_FIELDS)}) VALUES (?, ?, ?, ?, ?)"  # noqa: S608
_CREATE_GIN = (
    "CREATE TABLE IF NOT EXISTS sample_texts (run BIGINT NOT NULL, position BIGINT NOT NULL,"
    " words TSVECTOR NOT NULL, PRIMARY KEY (run, position))",
    "CREATE INDEX IF NOT EXISTS sample_texts_by_word ON sample_texts USING GIN (words)",
)
# a sign that is no word stands between two fields, so that no phrase reaches from one into the next
_JOINED = " || '''|'':1'::tsvector || ".join("to_tsvector('simple', ?)" for _ in TEXT_FIELDS)
_INSERT_GIN = f"INSERT INTO sample_texts (run, position, words) VALUES (?, ?, {_JOINED})"  # noqa: S608


def begin_texts(store: Store, run: int) -> None:
    """Make the table where it is missing, and forget what it has of the run with this number."""
    is_server = store.is_server

    def begin(db: Connection) -> None:
        if is_server:
            db.execute("SELECT pg_advisory_xact_lock(?)", (LOCK_ID,))
        for statement in _CREATE_GIN if is_server else (_CREATE_FTS,):
            db.execute(statement)
        delete_texts(db, run, is_server=is_server)

    store.write(begin).result()


def delete_texts(db: Connection, run: int, *, is_server: bool) -> None:
    """Forget the texts of a run, where any were ever written."""
    if not is_server:
        exists = "SELECT 1 FROM sqlite_master WHERE name = 'sample_texts'"
        sql = "DELETE FROM sample_texts WHERE rowid BETWEEN ? AND ?"
        values = list(_rows_of(run))
    else:
        exists = "SELECT 1 WHERE to_regclass('sample_texts') IS NOT NULL"
        sql, values = "DELETE FROM sample_texts WHERE run = ?", [run]
    if list(db.execute(exists)):
        db.execute(sql, values)


def write_texts(store: Store, run: int, texts: Sequence[tuple[int, Sequence[str]]]) -> None:
    """Write samples: the position of each, and its TEXT_FIELDS."""
    if store.is_server:
        sql = _INSERT_GIN
        rows = [(run, position, *map(_to_words, fields)) for position, fields in texts]
    else:
        sql = _INSERT_FTS
        rows = [((run << _SHIFT) + position, *fields) for position, fields in texts]
    store.write(lambda db: db.execute_many(sql, rows)).result()


def search_condition(store: Store, run: int, text: str) -> tuple[str, list[Any]]:
    """Return a query for the positions of the samples in which every word of a text occurs, and its values.

    A part in quotes is a phrase, a word with * at its end stands for all that begin like it."""
    terms = _split_terms(text)
    if not terms:
        return "SELECT 0 WHERE 1 = 0", []
    if store.is_server:
        query = " & ".join(
            filter(None, (_to_tsquery(term, is_start=start) for term, start in terms))
        )
        sql = "SELECT position FROM sample_texts WHERE run = ? AND words @@ to_tsquery('simple', ?)"
        return sql, [run, query]
    # in quotes nothing is an operator
    query = " ".join(f'"{term}"' + ("*" if start else "") for term, start in terms)
    sql = f"SELECT rowid & {(1 << _SHIFT) - 1} FROM sample_texts WHERE sample_texts MATCH ? AND rowid BETWEEN ? AND ?"  # noqa: S608  # fmt: skip
    return sql, [query, *_rows_of(run)]


def _rows_of(run: int) -> tuple[int, int]:
    return run << _SHIFT, ((run + 1) << _SHIFT) - 1


def _split_terms(text: str) -> list[tuple[str, bool]]:
    """What a search asks for, and whether by its start."""
    terms = []
    for phrase, word in re.findall(r'"([^"]*)"|(\S+)', text.replace("\0", " ")):
        cleaned = (phrase or word).replace('"', " ").strip()
        is_start = not phrase and cleaned.endswith("*")
        cleaned = cleaned.rstrip("*")
        if _WORD.search(cleaned):
            terms.append((cleaned, is_start))
    return terms


def _to_words(text: str) -> str:
    """The words of a text in small letters without accents, as FTS5 has them."""
    folded = text[:MAX_TEXT_CHARS].casefold()
    if not folded.isascii():
        parts = unicodedata.normalize("NFKD", folded)
        folded = "".join(char for char in parts if not unicodedata.combining(char))
    return " ".join(_WORD.findall(folded))


def _to_tsquery(text: str, *, is_start: bool) -> str:
    """A term as PostgreSQL takes it: words one after the other, the last one by its start if asked for."""
    words = [f"'{word}'" for word in _to_words(text).split()]
    return f"({' <-> '.join(words)}{':*' if is_start else ''})" if words else ""
