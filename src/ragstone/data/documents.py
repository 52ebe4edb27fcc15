"""Documents from a folder or file: txt, md, html, pdf and docx (extras), jsonl of `{"id", "text"}`, a BEIR folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ragstone.data.html import html_to_text
from ragstone.errors import DataError, MissingExtra

LARGEST = 50 << 20
"""Bytes of one file; a larger one is hardly a document. A jsonl file is read line by line and may be larger."""
BEIR = "corpus.jsonl"
"""A folder with this file is a BEIR collection: the file is its documents, whatever else lies there."""


@dataclass(frozen=True, slots=True)
class Document:
    """One text with the id that questions name as relevant."""

    id: str
    text: str
    title: str = ""
    language: str | None = None
    source: str = ""
    """The file it came from, as shown to a user."""


def read_documents(source: str | Path) -> list[Document]:
    """The documents of a folder, in the order of their paths, or of one file.

    The id is the path inside the folder (`shop/returns.md`), or what a jsonl row says. Hidden files, jsonl
    and unknown endings are passed over in a folder; a folder without any document, an empty text and an id given twice are errors."""
    found: dict[str, Document] = {}
    for document in stream_documents(source):
        if document.id in found:
            raise given_twice(document.id, found[document.id].source, document.source)
        found[document.id] = document
    if not found:
        raise nothing_in(source)
    return list(found.values())


def stream_documents(
    source: str | Path, empty: Callable[[str], None] | None = None
) -> Iterator[Document]:
    """The same documents one at a time, none of them held; ids are not compared.

    A document without text is an error, or, when `empty` is given, told to it and passed over."""
    root = Path(source)
    if not root.exists():
        raise DataError(f"no folder or file {str(source)!r} to read documents from")
    if root.is_file() and root.suffix.lower() not in READERS:
        raise DataError(f"{str(source)!r} is none of {_endings()}; convert it or name a folder")
    if root.is_dir() and (root / BEIR).is_file():
        root = root / BEIR
    base = root if root.is_dir() else root.parent
    for path in sorted(_files(root)) if root.is_dir() else [root]:
        yield from _documents(path, path.relative_to(base).as_posix(), empty)


def given_twice(key: str, first: str, second: str) -> DataError:
    """The complaint about an id that two documents have."""
    return DataError(
        f"the document id {key!r} stands in {first} and in {second}; give each its own"
    )


def nothing_in(source: object) -> DataError:
    """The complaint about a place without documents."""
    return DataError(f"{str(source)!r} holds no document; put {_endings()} files there")


def document_of(row: object, place: str) -> Document:
    """The document of a jsonl row; its text may be blank, its id may not."""
    if not isinstance(row, dict):
        raise DataError(f"{place}: not an object; write {{id: …, text: …}}")
    key, text = row.get("id", row.get("_id")), row.get("text")  # BEIR calls it _id
    if not isinstance(key, str | int) or isinstance(key, bool) or str(key) == "":
        raise DataError(f"{place}: the id is {key!r}; give each document one")
    if not isinstance(text, str):
        raise DataError(f"{place}: the text of {key!r} is missing; give it one or remove it")
    return Document(str(key), text, str(row.get("title") or ""), row.get("language") or None, place)


def _files(root: Path) -> Iterator[Path]:
    for path in root.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        # a jsonl file in a folder is as likely questions as documents: it must be named itself
        known = path.suffix.lower() in READERS and path.suffix.lower() != ".jsonl"
        if path.is_file() and not hidden and known:
            yield path


def _documents(path: Path, name: str, empty: Callable[[str], None] | None) -> Iterator[Document]:
    if path.suffix.lower() == ".jsonl":
        for document in _lines(path, name):
            if document.text.strip():
                yield document
            elif empty is not None:
                empty(document.source)
            else:
                raise DataError(
                    f"{document.source}: the text of {document.id!r} is missing; "
                    "give it one or remove it"
                )
        return
    if path.stat().st_size > LARGEST:
        raise DataError(f"{name} is larger than {LARGEST >> 20} MB; split it")
    text, title = READERS[path.suffix.lower()](path, name)
    if text.strip():
        yield Document(name, text.strip(), title or _first_heading(text) or path.stem, source=name)
    elif empty is not None:
        empty(name)
    else:
        raise DataError(f"{name} holds no text; remove it (a scanned pdf needs OCR first)")


def _lines(path: Path, name: str) -> Iterator[Document]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield document_of(parsed_line(line, f"{name}:{number}"), f"{name}:{number}")


def parsed_line(line: bytes, place: str) -> object:
    """The JSON value of one line of a file."""
    try:
        return json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as bad:
        raise DataError(f"{place} is not UTF-8 (byte {bad.start}); save it as UTF-8") from None
    except (ValueError, RecursionError):
        raise DataError(f"{place}: not JSON; write one object a line") from None


def _decoded(path: Path, name: str) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as bad:
        raise DataError(f"{name} is not UTF-8 (byte {bad.start}); save it as UTF-8") from None


def _plain(path: Path, name: str) -> tuple[str, str]:
    return _decoded(path, name), ""


def _html(path: Path, name: str) -> tuple[str, str]:
    return html_to_text(_decoded(path, name))


def _pdf(path: Path, name: str) -> tuple[str, str]:
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError:
        raise MissingExtra("reading pdf documents", "pdf") from None
    try:
        pages = [page.extract_text() for page in PdfReader(path).pages]
    except (PyPdfError, ValueError, KeyError) as bad:
        raise DataError(f"{name} cannot be read as pdf ({bad}); save it anew") from None
    return "\n\n".join(pages), ""


def _docx(path: Path, name: str) -> tuple[str, str]:
    """Paragraphs and tables in their order; a heading's level becomes its number of `#`."""
    from zipfile import BadZipFile

    try:
        from docx import Document as open_docx
        from docx.opc.exceptions import PackageNotFoundError
        from docx.table import Table
    except ImportError:
        raise MissingExtra("reading docx documents", "docx") from None
    try:
        file = open_docx(str(path))
        lines: list[str] = []
        for block in file.iter_inner_content():
            if isinstance(block, Table):
                lines += [" | ".join(cell.text for cell in row.cells) for row in block.rows]
                continue
            style = block.style.name if block.style is not None else ""
            level = re.fullmatch(r"Heading (\d)", style or "")
            mark = "#" * int(level[1]) + " " if level else "# " if style == "Title" else ""
            lines.append(f"{mark}{block.text}" if block.text.strip() else "")
    except (PackageNotFoundError, BadZipFile, KeyError, ValueError):
        raise DataError(f"{name} cannot be read as docx; save it anew") from None
    return "\n".join(lines), str(file.core_properties.title or "")


READERS: dict[str, Callable[[Path, str], tuple[str, str]]] = {
    ".txt": _plain,
    ".md": _plain,
    ".markdown": _plain,
    ".html": _html,
    ".htm": _html,
    ".pdf": _pdf,
    ".docx": _docx,
    ".jsonl": _plain,
}
"""How a file is read, by its ending."""


def _endings() -> str:
    return " ".join(READERS)


def _first_heading(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return first.lstrip("# ").strip() if first.startswith("#") else ""
