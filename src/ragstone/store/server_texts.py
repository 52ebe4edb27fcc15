"""Search of the texts of a run by PostgreSQL itself: the words of each sample as a tsvector, under a GIN index.

The samples are stored in compressed blocks, which no database can search; so the viewer writes their words once."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.store.database import Connection

if TYPE_CHECKING:
    from ragstone.store.store import Store

MAX_TEXT_CHARS = 200_000
"""Of one field: what PostgreSQL takes as one tsvector is at most 1 MB."""
TEXT_FIELDS = ("id", "question", "answer", "reference")
"""What is searched of a sample."""
LOCK_ID = 7_246_784
"""Key of the advisory lock under which the table is made; any number will do that is not the one of migrations."""
_WORD = re.compile(r"[^\W_]+")

_CREATE = (
    "CREATE TABLE IF NOT EXISTS sample_texts (run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
    " position BIGINT NOT NULL, words TSVECTOR NOT NULL, PRIMARY KEY (run, position))",
    "CREATE INDEX IF NOT EXISTS sample_texts_by_word ON sample_texts USING GIN (words)",
)
# a sign that is no word stands between two fields, so that no phrase reaches from one into the next
_JOINED = " || '''|'':1'::tsvector || ".join("to_tsvector('simple', ?)" for _ in TEXT_FIELDS)
# the condition: a run that grows is read again as a whole, and most of it is there already
_SAVE = f"""INSERT INTO sample_texts (run, position, words) VALUES (?, ?, {_JOINED})
ON CONFLICT (run, position) DO UPDATE SET words = excluded.words
WHERE sample_texts.words IS DISTINCT FROM excluded.words"""  # noqa: S608
# joined by the server: a million rows as Python objects would take longer than the search
_SEARCH = (
    "SELECT string_agg(position::text, ',') FROM sample_texts"
    " WHERE run = ? AND position <= ? AND words @@ to_tsquery('simple', ?)"
)


class ServerTexts:
    """The texts of one run in a PostgreSQL store."""

    def __init__(self, store: Store, run: str) -> None:
        self._store = store
        self._run = run

    def prepare(self) -> None:
        """Make the table where it is missing; several viewers may try at once."""
        self._store.write(_create_table).result()

    def save(self, texts: Sequence[tuple[int, Sequence[str]]]) -> None:
        """Write samples: the position of each, and its TEXT_FIELDS."""
        rows = [(self._run, position, *map(_to_words, fields)) for position, fields in texts]
        self._store.write(lambda db: db.execute_many(_SAVE, rows)).result()

    def search(self, terms: Sequence[tuple[str, bool]], last: int) -> str:
        """The positions up to the last one where every term occurs, joined by commas; a term is a phrase, or a start."""
        query = " & ".join(filter(None, (_to_query(text, is_start=is_start) for text, is_start in terms)))  # fmt: skip
        if not query:
            return ""
        ((joined,),) = self._store.read(_SEARCH, (self._run, last, query))
        return joined or ""


def _create_table(db: Connection) -> None:
    db.execute("SELECT pg_advisory_xact_lock(?)", (LOCK_ID,))
    for statement in _CREATE:
        db.execute(statement)


def _to_words(text: str) -> str:
    """The words of a text in small letters without accents, as the search of SQLite has them."""
    folded = text[:MAX_TEXT_CHARS].casefold()
    if not folded.isascii():
        folded = "".join(char for char in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(char))  # fmt: skip
    return " ".join(_WORD.findall(folded))


def _to_query(text: str, *, is_start: bool) -> str:
    """A term as PostgreSQL takes it: words one after the other, the last one by its start if asked for."""
    words = [f"'{word}'" for word in _to_words(text).split()]
    return f"({' <-> '.join(words)}{':*' if is_start else ''})" if words else ""
