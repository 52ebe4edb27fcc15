"""Documents into pieces: by sentences, by headings, or by a fixed number of words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ragstone.data.documents import Document
from ragstone.text.language import detect_language
from ragstone.text.sentences import split_sentences

By = Literal["sentence", "heading", "words"]
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a document as it is retrieved."""

    document: str
    """Id of the document."""
    text: str
    title: str
    """What stands above it: the document's title, and its heading if it was cut there."""
    language: str

    @property
    def shown(self) -> str:
        """The text with its title, as a generator reads it."""
        return f"{self.title}\n{self.text}" if self.title else self.text


def pieces(
    documents: Sequence[Document], *, size: int, overlap: int, by: By, titles: bool
) -> list[Piece]:
    """All pieces of all documents, in order; `size` and `overlap` are numbers of words."""
    out: list[Piece] = []
    for document in documents:
        language = detect_language(document.text, document.language)
        for heading, body in _sections(document.text) if by == "heading" else [("", document.text)]:
            title = ". ".join(part for part in (document.title, heading) if part)
            units = body.split() if by == "words" else _sentences(body, language)
            out.extend(
                Piece(document.id, text, title if titles else "", language)
                for text in _packed(units, size, overlap)
            )
    return out


def _sections(text: str) -> Iterator[tuple[str, str]]:
    heading, body = "", list[str]()
    for line in text.splitlines():
        found = _HEADING.match(line)
        if found is None:
            body.append(line)
            continue
        if any(map(str.strip, body)):
            yield heading, "\n".join(body)
        heading, body = found[1], []
    if any(map(str.strip, body)):
        yield heading, "\n".join(body)


def _sentences(text: str, language: str) -> list[str]:
    """Sentences without the marks of headings; a heading is a sentence of its own."""
    lines = [_HEADING.sub(r"\1.", line) for line in text.splitlines()]
    plain = "\n".join(lines)
    return [plain[start:end] for start, end in split_sentences(plain, language)]


def _packed(units: Sequence[str], size: int, overlap: int) -> Iterator[str]:
    """Units joined up to `size` words; each piece begins again with up to `overlap` words of the one before."""
    counts = [len(unit.split()) for unit in units]
    start = 0
    while start < len(units):
        end, total = start, 0
        while end < len(units) and (end == start or total + counts[end] <= size):
            total += counts[end]
            end += 1
        yield " ".join(units[start:end])
        if end == len(units):
            return
        back, shared = end, 0
        while back - 1 > start and shared + counts[back - 1] <= overlap:
            back -= 1
            shared += counts[back]
        start = back
