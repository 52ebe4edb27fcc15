"""Splitting of documents into chunks: by sentences, by headings, or by a fixed number of words. Versioned by REPLY_VERSION in systems/pipeline/pipeline.py."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ragstone.data.documents import Document
from ragstone.text.language import detect_language
from ragstone.text.sentences import split_sentences

ChunkUnit = Literal["sentence", "heading", "words"]
"""Whole sentences; whole sentences of one section; or words, wherever sentences end."""
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")


@dataclass(frozen=True, slots=True)
class DocumentChunk:
    """A part of a document that is retrieved as a unit."""

    document: str
    """Id of the document."""
    text: str
    title: str
    """The document's title, and the section's heading if chunks are split by heading."""
    language: str

    @property
    def titled_text(self) -> str:
        """The text under its title, as it is indexed and as a generator reads it."""
        return f"{self.title}\n{self.text}" if self.title else self.text


def chunk_documents(
    documents: Sequence[Document], *, size: int, overlap: int, by: ChunkUnit, titles: bool
) -> list[DocumentChunk]:
    """Split all documents into chunks, in order; `size` and `overlap` are numbers of words.

    `titles`: whether each chunk has the document's title, and with `by="heading"` its section's heading."""
    chunks: list[DocumentChunk] = []
    for document in documents:
        language = detect_language(document.text, document.language)
        for heading, body in (
            _split_sections(document.text) if by == "heading" else [("", document.text)]
        ):
            title = ". ".join(part for part in (document.title, heading) if part)
            units = body.split() if by == "words" else _split_plain_sentences(body, language)
            chunks.extend(
                DocumentChunk(document.id, text, title if titles else "", language)
                for text in _pack_units(units, size, overlap)
            )
    return chunks


def _split_sections(text: str) -> Iterator[tuple[str, str]]:
    """Iterate heading and body of each Markdown section that has a body; the first heading may be empty."""
    heading, body = "", list[str]()
    for line in text.splitlines():
        match = _HEADING.match(line)
        if match is None:
            body.append(line)
            continue
        if any(map(str.strip, body)):
            yield heading, "\n".join(body)
        heading, body = match[1], []
    if any(map(str.strip, body)):
        yield heading, "\n".join(body)


def _split_plain_sentences(text: str, language: str) -> list[str]:
    """Split a text into sentences; a heading, without its marks, is a separate sentence."""
    lines = [_HEADING.sub(r"\1.", line) for line in text.splitlines()]
    plain = "\n".join(lines)
    return [plain[start:end] for start, end in split_sentences(plain, language)]


def _pack_units(units: Sequence[str], size: int, overlap: int) -> Iterator[str]:
    """Join units up to `size` words; each chunk repeats up to `overlap` last words of the previous one."""
    counts = [len(unit.split()) for unit in units]
    start = 0
    while start < len(units):
        end, total = start, 0
        # a unit longer than `size` is a chunk of its own: no text is dropped
        while end < len(units) and (end == start or total + counts[end] <= size):
            total += counts[end]
            end += 1
        yield " ".join(units[start:end])
        if end == len(units):
            return
        next_start, shared = end, 0
        # at least one unit further than before, or the loop would not end
        while next_start - 1 > start and shared + counts[next_start - 1] <= overlap:
            next_start -= 1
            shared += counts[next_start]
        start = next_start
