"""A full-text index of a corpus: which documents have these words.

A full-text table of SQLite in a temporary file, without the texts: 10^5 documents are searched and none is held in
memory."""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from ragstone.data.documents import Document
from ragstone.text.terms import strip_accents

# content='': FTS5 keeps the index alone; rows are numbers, and the texts are read from the corpus.
_TABLE = "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2')"
# No journal, no sync: the file is gone with the process. 4 MB of cache, whatever the size of the
# corpus.
_SETTINGS = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-4000; PRAGMA temp_store=FILE;"
_WORD_PART = re.compile(r"[^\W_]+")


class Documents(Protocol):
    """Documents that can be read by position (from 0) and by id, such as a Corpus."""

    def __iter__(self) -> Iterator[Document]: ...
    def __getitem__(self, position: int, /) -> Document: ...
    def find(self, key: str, /) -> Document: ...


class CorpusIndex:
    """The words of a corpus on disk; its documents are read again where they came from."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._folder = tempfile.TemporaryDirectory(prefix="ragstone-")
        self._database = sqlite3.connect(Path(self._folder.name) / "words.sqlite")
        self._database.executescript(_SETTINGS)
        self._database.execute(_TABLE)
        self.count = 0
        self._document_counts: dict[str, int] = {}
        for document in documents:
            self.count += 1
            # as bytes: a string would be copied once more, and a large document takes memory enough
            words = b"\n".join(
                part.encode("utf-8", "replace") for part in (document.title, document.text)
            )
            self._database.execute(
                "INSERT INTO words(rowid, text) VALUES (?, CAST(? AS TEXT))", (self.count, words)
            )
        self._database.commit()

    def get_document(self, key: str) -> Document:
        """The document with this id; KeyError when there is none."""
        return self._documents.find(key)

    def find_with_all(
        self, stems: Sequence[str], *, but: Sequence[str] = (), most: int = 6
    ) -> list[Document]:
        """Documents that have every one of the stems, best first, at most `most`, without the ids in `but`."""
        return self._find_documents(" AND ".join(filter(None, map(_to_query, stems))), but, most)

    def find_with_any(
        self, stems: Sequence[str], *, but: Sequence[str] = (), most: int = 4
    ) -> list[Document]:
        """Documents that have some of the stems, best first, at most `most`, without the ids in `but`."""
        return self._find_documents(" OR ".join(filter(None, map(_to_query, stems))), but, most)

    def _find_documents(self, query: str, but: Sequence[str], most: int) -> list[Document]:
        if not query:
            return []
        rows = self._database.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
            # as many more as may be dropped below
            (query, most + len(but)),
        ).fetchall()
        # rows are numbered from 1
        documents = (self._documents[row - 1] for (row,) in rows)
        return [document for document in documents if document.id not in but][:most]

    def sort_rarest(self, stems: Sequence[str], most: int) -> list[str]:
        """The stems that the fewest documents have, rarest first."""
        return sorted(dict.fromkeys(stems), key=lambda stem: (self.count_documents(stem), stem))[
            :most
        ]

    def count_documents(self, stem: str) -> int:
        """In how many documents a stem stands, counted up to five hundred."""
        if stem not in self._document_counts:
            if len(self._document_counts) > 50_000:  # a cache, kept small
                self._document_counts.clear()
            query = _to_query(stem)
            row = (0,)
            if query:
                row = self._database.execute(
                    "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT 500)",
                    (query,),
                ).fetchone()
            self._document_counts[stem] = int(row[0])
        return self._document_counts[stem]

    def close(self) -> None:
        """Close and remove the temporary file."""
        self._database.close()
        self._folder.cleanup()

    def __enter__(self) -> CorpusIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _to_query(stem: str) -> str:
    """A stem as an FTS5 query: words that begin with it; of a number or compound all pieces; empty when it has no
    letter."""
    plain = strip_accents(stem).replace("ñ", "n")
    pieces = _WORD_PART.findall(plain)
    if len(pieces) != 1:
        return f"({' AND '.join(map(_quote_term, pieces))})" if pieces else ""
    (piece,) = pieces
    # a stem in -i stands for words in -y (`deliveri`), so a prefix search for it would find none of
    # them
    cut = piece[:-1] if len(piece) > 4 and piece[-1] in "iy" else piece
    return f"{_quote_term(cut)}*" if cut.isalpha() and len(cut) > 3 else _quote_term(cut)


def _quote_term(piece: str) -> str:
    return f'"{piece}"'
