"""Readers of document files: txt, md, rst, html, notebooks, pdf and docx (extras), jsonl of `{"id", "text"}`, BEIR folders."""

from __future__ import annotations

import json
import logging
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from ragstone.data.chunks import CHUNK_TEXT_KEYS
from ragstone.data.field_values import to_language
from ragstone.data.html import html_to_text
from ragstone.data.limits import ROW_TOO_LONG, check_archive, read_lines
from ragstone.data.rst import rst_to_text
from ragstone.data.strict_json import BadRow
from ragstone.errors import DataError, MissingExtra

MAX_FILE_BYTES = 50 << 20
"""Size limit of one document file. A jsonl file is read line by line and may be larger."""
MAX_BINARY_SHARE = 0.01
"""Share of control characters from which a file is no text."""
_BINARY_SIGNS = tuple(map(chr, (*range(9), *range(14, 27), *range(28, 32), 0xFFFD)))
_CHARSET = re.compile(
    rb"""(?:charset|encoding)\s*=\s*["']?([A-Za-z0-9_.:-]{2,20})""", re.IGNORECASE
)
_TITLE_LINE = re.compile(r"(?=.*[^\W\d_]{3})[^\W_].{2,70}[^\s.:;,]")
_MAX_TITLE_LINES, _MAX_TITLE_WORDS = 4, 14
_TITLE_CHARS = 400
_FIRST_HEADING = re.compile(
    r"(?:[^\S\n]*(?:\n|\([\w/.:-]+\)=\n|-{3,}[^\S\n]*\n|<!--(?:(?!-->)[\s\S]){0,2000}-->|(?:</?[a-zA-Z][^<>\n]{0,300}>[^\S\n]*)+\n|\[?!\[[^\n]{1,500}\n))*"
    r"[^\S\n]*(#[^\n]+|[^\n]{1,200}(?=\n={3,}[^\S\n]*(?:\n|$)))"
)
"""The first heading of Markdown, with # or underlined, behind anchors, rules, comments, tags and badges."""
_HTML_PAGE = re.compile(
    r"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_MATTER_LINE = re.compile(r"[\w-]+:|[#\s-]")
MAX_MATTER_CHARS = 10_000
"""Front matter that is longer is text."""
BEIR_CORPUS_FILE = "corpus.jsonl"
"""A folder with this file is a BEIR collection: only this file holds documents, other files are ignored."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text with the id by which questions refer to it as relevant."""

    id: str
    text: str
    title: str = ""
    language: str | None = None
    source: str = ""
    """The file it came from, as shown to a user."""


def read_documents(source: str | Path) -> list[Document]:
    """Read the documents of a folder, in the order of their paths, or of one file.

    The id is the path inside the folder (`shop/returns.md`), or the id of the jsonl row. Hidden files, jsonl and unknown
    suffixes in a folder are skipped; a folder without documents, an empty text and a duplicate id are errors."""
    documents: dict[str, Document] = {}
    for document in stream_documents(source):
        if document.id in documents:
            raise duplicate_id_error(document.id, documents[document.id].source, document.source)
        documents[document.id] = document
    if not documents:
        raise no_documents_error(source)
    return list(documents.values())


def stream_documents(
    source: str | Path,
    empty: Callable[[str], None] | None = None,
    unreadable: Callable[[str], None] | None = None,
) -> Iterator[Document]:
    """Yield the same documents one at a time, keeping none in memory; duplicate ids are not detected.

    A document without text is an error; with `empty`, it is skipped and its file reported to that callback. So is a
    file of a folder that cannot be read, with `unreadable`, which gets the reason; a file named by itself is an error."""
    root = Path(source)
    if not root.exists():
        raise DataError(f"no folder or file {str(source)!r} to read documents from")
    if root.is_file() and root.suffix.lower() not in READERS:
        raise DataError(
            f"{str(source)!r} is none of {_list_suffixes()}; convert it or name a folder"
        )
    if root.is_dir() and (root / BEIR_CORPUS_FILE).is_file():
        root = root / BEIR_CORPUS_FILE
    base = root if root.is_dir() else root.parent
    # sorted: file systems list folders in any order, and samples are drawn by position
    for path in sorted(_find_files(root)) if root.is_dir() else [root]:
        name = path.relative_to(base).as_posix()
        try:
            yield from _read_file(path, name, empty)
        except (DataError, MissingExtra, OSError) as fault:
            if unreadable is None or root.is_file():
                raise
            unreadable(str(fault) if isinstance(fault, DataError) else f"{name}: {fault}")


def duplicate_id_error(key: str, first: str, second: str) -> DataError:
    """Build the error for an id that two documents have."""
    return DataError(
        f"the document id {key!r} stands in {first} and in {second}; give each its own"
    )


def no_documents_error(source: object) -> DataError:
    """Build the error for a folder or file without documents."""
    endings = " ".join(suffix for suffix in READERS if suffix != ".jsonl")
    return DataError(
        f"{str(source)!r} holds no document; put {endings} files there, or name a jsonl file itself"
    )


def parse_text(text: str) -> tuple[str, str]:
    """What a file with this text would give, text and title, by its contents: HTML as text, any other as it is."""
    if _HTML_PAGE.match(text):
        text, title = html_to_text(text)
        return text, title or _find_heading(text)
    body, title = _split_matter(text)
    return text, title or _find_heading(body) or _find_title_lines(body)


def parse_document(row: object, place: str) -> Document:
    """Parse a jsonl row into a document; its text may be blank, its id may not. `place` (`file:line`) is for errors."""
    if not isinstance(row, dict):
        raise DataError(f"{place}: not an object; write {{id: …, text: …}}")
    key = row.get("id", row.get("_id"))  # BEIR calls it _id
    text = next((row[name] for name in CHUNK_TEXT_KEYS if row.get(name) is not None), None)
    if not isinstance(key, str | int) or isinstance(key, bool) or str(key) == "":
        raise DataError(f"{place}: the id is {key!r}; give each document one")
    if not isinstance(text, str):
        keys = ", ".join(map(str, row))
        raise DataError(
            f"{place}: the text of {key!r} is missing (the keys are {keys}); call it text, or "
            "remove the document"
        )
    try:
        language = to_language(row.get("language"), "language")
    except BadRow as bad:
        raise DataError(f"{place}: {bad}") from None
    title = to_composed(str(row.get("title") or ""))
    return Document(str(key), to_composed(text), title, language, place)


def to_composed(text: str) -> str:
    """The text with each accented letter as one character (NFC): macOS and some editors write it as two."""
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def _find_files(root: Path) -> Iterator[Path]:
    for path in root.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        # a jsonl file in a folder may hold questions instead: it must be named explicitly
        known = path.suffix.lower() in READERS and path.suffix.lower() != ".jsonl"
        if path.is_file() and not hidden and known:
            yield path


def _read_file(path: Path, name: str, empty: Callable[[str], None] | None) -> Iterator[Document]:
    if path.suffix.lower() == ".jsonl":
        for document in _read_jsonl(path, name):
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
    if path.stat().st_size > MAX_FILE_BYTES:
        raise DataError(f"{name} is larger than {MAX_FILE_BYTES >> 20} MB; split it")
    text, title = map(to_composed, READERS[path.suffix.lower()](path, name))
    if text.strip():
        yield Document(
            name,
            text.strip(),
            title or _find_heading(text) or _find_title_lines(text) or path.stem,
            source=name,
        )
    elif empty is not None:
        empty(name)
    else:
        raise DataError(f"{name} holds no text; remove it (a scanned pdf needs OCR first)")


def _read_jsonl(path: Path, name: str) -> Iterator[Document]:
    with path.open("rb") as file:
        for number, line in enumerate(read_lines(file), 1):
            if line is None:
                raise DataError(f"{name}:{number}: {ROW_TOO_LONG}")
            if line.strip():
                yield parse_document(parse_line(line, f"{name}:{number}"), f"{name}:{number}")


def parse_line(line: bytes, place: str) -> object:
    """Parse the JSON value of one line of a file."""
    try:
        return json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as bad:
        raise DataError(f"{place} is not UTF-8 (byte {bad.start}); save it as UTF-8") from None
    except (ValueError, RecursionError):
        raise DataError(f"{place}: not JSON; write one object a line") from None


def _read_text(path: Path, name: str) -> str:
    """Read a text in the encoding that it declares, as UTF-8, or else as the Western one of old Windows files."""
    data = path.read_bytes()
    declared = _find_encoding(data)
    try:
        return data.decode(declared or "utf-8-sig")
    except (UnicodeDecodeError, LookupError):
        text = data.decode("cp1252", errors="replace")
    # a binary file becomes letters in any encoding, and control characters with them
    if sum(text.count(sign) for sign in _BINARY_SIGNS) > len(text) * MAX_BINARY_SHARE:
        raise DataError(f"{name} is not UTF-8 and no other text; save it as UTF-8") from None
    return text


def _find_encoding(data: bytes) -> str:
    """The encoding that a byte order mark or an HTML page declares; empty when none does."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") and len(data) > 3:
        return "utf-16"
    declared = _CHARSET.search(data[:2048])
    return declared[1].decode("ascii") if declared and b"<" in data[:512] else ""


def _read_plain(path: Path, name: str) -> tuple[str, str]:
    """Read a text; front matter (`---`, keys, `---`) gives its title and is left out."""
    return _split_matter(_read_text(path, name))


def _split_matter(text: str) -> tuple[str, str]:
    """The text behind its front matter, and the title that stands there."""
    start = re.match(r"---[ \t]*\r?\n", text)
    end = re.compile(r"^---[ \t]*$", re.MULTILINE).search(text, 4, MAX_MATTER_CHARS)
    if start is None or end is None:
        return text, ""
    matter = text[start.end() : end.start()]
    lines = [line for line in matter.splitlines() if line.strip()]
    if not lines or not all(map(_MATTER_LINE.match, lines)):
        return text, ""  # a rule of dashes
    title = re.search(r"^title:(.+)$", matter, re.MULTILINE)
    return text[end.end() :], title[1].strip(" \t\r\"'") if title else ""


def _read_html(path: Path, name: str) -> tuple[str, str]:
    return html_to_text(_read_text(path, name))


def _read_rst(path: Path, name: str) -> tuple[str, str]:
    return rst_to_text(_read_text(path, name))


def _read_notebook(path: Path, name: str) -> tuple[str, str]:
    """Read a Jupyter notebook: text cells as they are, code cells fenced, outputs left out."""
    try:
        cells = json.loads(_read_text(path, name))["cells"]
        parts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError(f"{name} cannot be read as a notebook; save it anew") from None
    texts = [
        f"```\n{text}\n```" if kind == "code" else text for kind, text in parts if text.strip()
    ]
    return "\n\n".join(texts), ""


def _read_pdf(path: Path, name: str) -> tuple[str, str]:
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError:
        raise MissingExtra("reading pdf documents", "pdf") from None
    # what its reader logs would stand beside our own sentence
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        pages = [page.extract_text() for page in PdfReader(path).pages]
    except (PyPdfError, ValueError, KeyError) as bad:
        raise DataError(f"{name} cannot be read as pdf ({bad}); save it anew") from None
    finally:
        logger.setLevel(level)
    return "\n\n".join(pages), ""


def _read_docx(path: Path, name: str) -> tuple[str, str]:
    """Read paragraphs and tables in order; a heading of level n starts with n `#`."""
    try:
        from docx import Document as open_docx
        from docx.opc.exceptions import PackageNotFoundError
        from docx.table import Table
    except ImportError:
        raise MissingExtra("reading docx documents", "docx") from None
    try:
        with ZipFile(path) as archive:
            check_archive(archive, name)
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
    ".txt": _read_plain,
    ".md": _read_plain,
    ".markdown": _read_plain,
    ".html": _read_html,
    ".htm": _read_html,
    ".rst": _read_rst,
    ".ipynb": _read_notebook,
    ".pdf": _read_pdf,
    ".docx": _read_docx,
    # never called: `_read_file` reads jsonl row by row; the entry makes the suffix known
    ".jsonl": _read_plain,
}
"""Reader of each file type by suffix; it returns text and title."""


def _list_suffixes() -> str:
    return " ".join(READERS)


def _find_title_lines(text: str) -> str:
    """The title of a plain text: the short lines before the first blank one, where no sentence stands in them; else empty."""
    opening = [" ".join(line.split()) for line in text.lstrip()[:_TITLE_CHARS].split("\n\n", 1)[0].split("\n")]  # fmt: skip
    is_title = len(opening) <= _MAX_TITLE_LINES and all(map(_TITLE_LINE.fullmatch, opening))
    told = [line for at, line in enumerate(opening) if len(" ".join(opening[: at + 1]).split()) <= _MAX_TITLE_WORDS]  # fmt: skip
    return " – ".join(told) if is_title else ""


def _find_heading(text: str) -> str:
    """The heading that a text begins with, behind anchors, badges and comments; empty when it begins otherwise."""
    match = _FIRST_HEADING.match(text)
    return re.sub(r"<[^<>]*>", "", match[1]).strip("# ") if match else ""
