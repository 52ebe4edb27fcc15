"""Documents from a folder or file: txt, md, html, pdf (extra), and jsonl of `{"id", "text"}`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from ragstone.errors import DataError, MissingExtra

LARGEST = 50 << 20
"""Bytes of one file; a larger one is hardly a document."""


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
    root = Path(source)
    if not root.exists():
        raise DataError(f"no folder or file {str(source)!r} to read documents from")
    files = sorted(_files(root)) if root.is_dir() else [root]
    if root.is_file() and root.suffix.lower() not in READERS:
        raise DataError(f"{str(source)!r} is none of {_endings()}; convert it or name a folder")
    found: dict[str, Document] = {}
    for path in files:
        base = root if root.is_dir() else root.parent
        for document in _documents(path, path.relative_to(base).as_posix()):
            if document.id in found:
                raise DataError(
                    f"the document id {document.id!r} stands in {found[document.id].source} and in "
                    f"{document.source}; give each its own"
                )
            found[document.id] = document
    if not found:
        raise DataError(f"{str(source)!r} holds no document; put {_endings()} files there")
    return list(found.values())


def _files(root: Path) -> Iterator[Path]:
    for path in root.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        # a jsonl file in a folder is as likely questions as documents: it must be named itself
        known = path.suffix.lower() in READERS and path.suffix.lower() != ".jsonl"
        if path.is_file() and not hidden and known:
            yield path


def _documents(path: Path, name: str) -> Iterator[Document]:
    if path.stat().st_size > LARGEST:
        raise DataError(f"{name} is larger than {LARGEST >> 20} MB; split it")
    if path.suffix.lower() == ".jsonl":
        yield from _lines(path, name)
        return
    text, title = READERS[path.suffix.lower()](path, name)
    if not text.strip():
        raise DataError(f"{name} holds no text; remove it (a scanned pdf needs OCR first)")
    yield Document(name, text.strip(), title or _first_heading(text) or path.stem, source=name)


def _lines(path: Path, name: str) -> Iterator[Document]:
    for number, line in enumerate(_decoded(path, name).splitlines(), 1):
        if not line.strip():
            continue
        place = f"{name}:{number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise DataError(f"{place}: not JSON; write one object a line") from None
        if not isinstance(row, dict):
            raise DataError(f"{place}: not an object; write {{id: …, text: …}}")
        key, text = row.get("id", row.get("_id")), row.get("text")  # BEIR calls it _id
        if not isinstance(key, str | int) or isinstance(key, bool) or str(key) == "":
            raise DataError(f"{place}: the id is {key!r}; give each document one")
        if not isinstance(text, str) or not text.strip():
            raise DataError(f"{place}: the text of {key!r} is missing; give it one or remove it")
        yield Document(
            str(key), text, str(row.get("title") or ""), row.get("language") or None, place
        )


def _decoded(path: Path, name: str) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as bad:
        raise DataError(f"{name} is not UTF-8 (byte {bad.start}); save it as UTF-8") from None


def _plain(path: Path, name: str) -> tuple[str, str]:
    return _decoded(path, name), ""


def _html(path: Path, name: str) -> tuple[str, str]:
    page = _Page()
    page.feed(_decoded(path, name))
    page.close()
    lines = (" ".join(line.split()) for line in "".join(page.parts).split("\n"))
    return "\n".join(line for line in lines if line), " ".join(page.title.split())


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


READERS: dict[str, Callable[[Path, str], tuple[str, str]]] = {
    ".txt": _plain,
    ".md": _plain,
    ".markdown": _plain,
    ".html": _html,
    ".htm": _html,
    ".pdf": _pdf,
    ".jsonl": _plain,
}
"""How a file is read, by its ending."""


def _endings() -> str:
    return " ".join(READERS)


def _first_heading(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return first.lstrip("# ").strip() if first.startswith("#") else ""


_HIDDEN = frozenset({"script", "style", "noscript", "template", "svg", "nav"})
_BLOCK_TAGS = (
    "p div section article header footer main aside ul ol li table tr pre blockquote br dl dt dd"
)
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_HEADINGS = {f"h{n}": "#" * n for n in range(1, 7)}


class _Page(HTMLParser):
    """The text of a page; headings become `#` lines, so that chunks can follow them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title = ""
        self._hidden: list[str] = []
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        if tag == "title":
            self._in_title = True
        elif tag in _HIDDEN:
            self._hidden.append(tag)
        elif tag in _HEADINGS:
            self.parts.append(f"\n{_HEADINGS[tag]} ")
        elif tag in _BLOCKS:
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._hidden:  # also closes what a careless page left open inside
            del self._hidden[self._hidden.index(tag) :]
        elif tag in _HEADINGS or tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._hidden:
            self.parts.append(data.replace("\n", " "))
