"""A corpus of any size: documents on disk as lines, read again by position (from 0) or id, a few bytes each in
memory."""

from __future__ import annotations

import hashlib
import json
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import IO, Any

import numpy as np

from ragstone.data.chunks import (
    find_document_id,
    find_text,
    get_first,
    get_metadata,
    is_framework_document,
    unwrap_node,
)
from ragstone.data.documents import (
    BEIR_CORPUS_FILE,
    READERS,
    Document,
    duplicate_id_error,
    no_documents_error,
    parse_document,
    parse_line,
    parse_text,
    stream_documents,
)
from ragstone.data.limits import ROW_TOO_LONG, read_lines
from ragstone.errors import DataError

Source = str | Path | Sequence[str | Path] | Iterable[Any]
"""A folder, a file, several of them; or texts, dicts, Documents, also those of LangChain, LlamaIndex and Haystack."""

MAX_FOLDERS = 256
"""Folders that get a number of their own when documents are sampled; further ones share these numbers."""

MIN_TEXT_WORDS = 3
"""A string of fewer words is the path of a file."""

MAX_PATH_CHARS = 1000
"""A longer string is no path."""

GIVEN = "the documents given"
"""The source of documents that come from Python objects, not from files."""

RECENT_DOCUMENTS = 64
"""Documents that stay in memory for another look."""


class Corpus:
    """Documents in a file of lines, read again from there whenever one is wanted."""

    def __init__(self, file: IO[bytes], shown: str) -> None:
        self.shown = shown
        """What messages call the source of the documents."""
        self.empty = 0
        """Documents without text, which were passed over."""
        self.unreadable: list[str] = []
        """Why each file was passed over that could not be read."""
        self._file = file
        self._recent: dict[int, Document] = {}
        self._starts = array("Q")
        """Byte at which each document's line starts."""
        self._digest = hashlib.sha256()
        self._ids = array("Q")
        """Hashes of the ids in the order of the documents; emptied by `index_ids`."""
        self._hashes = np.zeros(0, np.uint64)
        """The same hashes sorted; empty until `index_ids`."""
        self._positions = np.zeros(0, np.uint32)
        """Positions of documents in the order of `_hashes`, so that an id finds its document."""
        self._folders: dict[str, int] = {}
        self.folder = array("H")
        """The folder of each document as a number: what stands before the last `/` of its id."""

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, position: int) -> Document:
        if position not in self._recent:
            self._recent[position] = self._read_document(position)
            while len(self._recent) > RECENT_DOCUMENTS:
                self._recent.pop(next(iter(self._recent)))
        return self._recent[position]

    def _read_document(self, position: int) -> Document:
        self._file.seek(self._starts[position])
        row = parse_line(self._file.readline(), f"{self.shown}, document {position + 1}")
        source = row.get("source") if isinstance(row, dict) else None
        return parse_document(row, str(source or self.shown))

    def __iter__(self) -> Iterator[Document]:
        return (self[position] for position in range(len(self)))

    def __enter__(self) -> Corpus:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def digest(self) -> str:
        """Digest of the documents in their order: ids, titles and texts."""
        return self._digest.hexdigest()

    def add_document(self, document: Document, start: int) -> None:
        """Take up a document that stands at this byte of the file."""
        self._starts.append(start)
        self._ids.append(_hash_id(document.id))
        # an unpaired surrogate can stand in a JSON text; it must not stop the reading
        for part in (document.id, document.title, document.text):
            self._digest.update(part.encode("utf-8", "surrogatepass"))
            self._digest.update(b"\0")
        folder = document.id.rpartition("/")[0]
        number = self._folders.setdefault(folder, len(self._folders) % MAX_FOLDERS)
        self.folder.append(number)

    def index_ids(self) -> Corpus:
        """Call once after the last `add_document`: makes `find` work; DataError when an id is given twice or there
        are none."""
        if not self._starts:
            raise no_documents_error(self.shown)
        # ids as 8-byte hashes: a dictionary of them would take about ten times the memory
        hashes = np.frombuffer(self._ids, np.uint64)
        order = np.argsort(hashes, kind="stable").astype(np.uint32)
        for at in np.flatnonzero(np.diff(hashes[order]) == 0):
            first, second = self[int(order[at])], self[int(order[at + 1])]
            if first.id == second.id:  # and not merely the same hash
                raise duplicate_id_error(first.id, first.source, second.source)
        self._hashes, self._positions = hashes[order], order
        self._ids = array("Q")
        return self

    def find(self, key: str) -> Document:
        """The document with this id; KeyError when there is none."""
        wanted = np.uint64(_hash_id(key))
        at = int(np.searchsorted(self._hashes, wanted))
        while at < len(self) and self._hashes[at] == wanted:
            document = self[int(self._positions[at])]
            if document.id == key:
                return document
            at += 1
        raise KeyError(key)


def open_corpus(source: Source) -> Corpus:
    """The documents of a source, looked through once; close it (or use `with`) when done.

    A jsonl file is read where it is; anything else is written to a temporary file first, so that a pdf is
    taken apart once and a folder that changes meanwhile does no harm."""
    paths = _list_paths(source)
    shown = ", ".join(map(str, paths)) if paths is not None else GIVEN
    if paths is not None and len(paths) == 1:
        only = paths[0] / BEIR_CORPUS_FILE if (paths[0] / BEIR_CORPUS_FILE).is_file() else paths[0]
        if only.is_file() and only.suffix.lower() == ".jsonl":
            return _open_in_place(only, shown)
    spool = tempfile.TemporaryFile(prefix="ragstone-")  # noqa: SIM115  the corpus closes it
    corpus = Corpus(spool, shown)
    for document in _iter_documents(source, paths, corpus):
        start = corpus._file.tell()
        corpus._file.write(_encode_line(document))
        corpus._file.write(b"\n")
        corpus.add_document(document, start)
    return corpus.index_ids()


def _list_paths(source: Any) -> list[Path] | None:
    """The paths of a source; None when it holds documents as Python objects (texts, dicts, Documents …)."""
    if isinstance(source, str | Path):
        return [Path(source)]
    if (
        isinstance(source, Sequence)
        and source
        and all(isinstance(path, str | Path) for path in source)
        and not all(is_document_text(path) for path in source)
    ):
        return [Path(path) for path in source]
    return None


def is_document_text(item: Any) -> bool:
    """Whether a string is a document itself: it has lines, or several words and is no file."""
    if not isinstance(item, str):
        return False
    has_words = len(item.split()) >= MIN_TEXT_WORDS and Path(item[-8:]).suffix not in READERS
    return "\n" in item or (has_words and (len(item) > MAX_PATH_CHARS or not Path(item).exists()))


def _iter_documents(source: Any, paths: list[Path] | None, corpus: Corpus) -> Iterator[Document]:
    if paths is None:
        if not isinstance(source, Iterable):
            raise DataError(f"{source!r} holds no documents; give a path, or Documents")
        for document in _convert_items(source):
            if document.text and not document.text.isspace():
                yield document
            else:
                corpus.empty += 1
        return

    def count_empty(_location: str) -> None:
        corpus.empty += 1

    for path in paths:
        yield from stream_documents(path, count_empty, corpus.unreadable.append)


def _convert_items(source: Iterable[Any]) -> Iterator[Document]:
    """Documents from Python objects; successive chunks with one id are joined into one document."""
    if hasattr(source, "iloc") and hasattr(source, "to_dict"):  # a DataFrame
        source = source.to_dict("records")
    items = (to_document(item, number) for number, item in enumerate(source, 1))
    for _, (first, *others) in groupby(items, key=lambda document: document.id):
        if others and not any(document.source == GIVEN for document in (first, *others)):
            # our Documents with one id are an error, which index_ids raises, not chunks
            yield from (first, *others)
            continue
        text = "\n\n".join(document.text for document in (first, *others))
        yield replace(first, text=text)


def to_document(item: Any, number: int) -> Document:
    """A document from a text, a mapping, or an object of a framework; without an id it is known by its number."""
    if isinstance(item, Document):
        return item
    if isinstance(item, str):
        return _to_read_document(f"text-{number}", item, "")
    if hasattr(item, "model_dump") and not is_framework_document(item):
        item = item.model_dump()
    node = unwrap_node(item)
    text = find_text(node)
    if not text and not is_framework_document(item):
        keys = ", ".join(map(str, item)) if isinstance(item, Mapping) else type(item).__name__
        raise DataError(
            f"document {number} has no text ({keys}); give texts, {{id, text}}, Documents or a path"
        )
    key = find_document_id(node)
    name = f"text-{number}" if key is None else str(key)
    title = get_first(node, ("title",))
    named = title if isinstance(title, str) else str(get_metadata(node).get("title") or "")
    return _to_read_document(name, text, named)


def _to_read_document(name: str, text: str, title: str) -> Document:
    """The document that a file with this text would be: HTML read as such, the title from its first heading."""
    text, found = parse_text(text)
    return Document(name, text, title or found, source=GIVEN)


def _open_in_place(path: Path, shown: str) -> Corpus:
    corpus = Corpus(path.open("rb"), shown)
    start = 0
    with path.open("rb") as lines:
        for number, line in enumerate(read_lines(lines), 1):
            location = f"{path.name}:{number}"
            if line is None:
                raise DataError(f"{location}: {ROW_TOO_LONG}")
            if line.strip():
                document = parse_document(parse_line(line, location), location)
                if document.text and not document.text.isspace():
                    corpus.add_document(document, start)
                else:
                    corpus.empty += 1
            start += len(line)
    return corpus.index_ids()


def _encode_line(document: Document) -> bytes:
    row = {
        "id": document.id,
        "title": document.title,
        "text": document.text,
        "language": document.language,
        "source": document.source,
    }
    return json.dumps(row).encode("ascii")


def _hash_id(key: str) -> int:
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")
