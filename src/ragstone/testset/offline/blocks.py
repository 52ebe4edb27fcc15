"""A document as blocks: headings, paragraphs, list items, code, tables and entries (a term with its description).

Markdown, plain text and manual pages are understood; every block knows where it stands in the document's text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

BlockKind = Literal["heading", "paragraph", "item", "code", "row", "entry"]

_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t#]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|(\d{1,2})[.)])[ \t]+(?=\S)")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_RULE = re.compile(r"[ \t|:=+*_-]{3,}$")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_DESCRIPTION = re.compile(r":(?:[ \t]+|$)")
_MANUAL_HEADING = re.compile(r"[A-ZÁÉÍÓÚÑ][A-ZÁÉÍÓÚÑ ,/-]{2,40}$")
_MANUAL = re.compile(r"^(?:NAME|NOMBRE)$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)|\[([^\]\n]+)\]\[[^\]\n]*\]")
_MARKS = re.compile(
    r"`[^`\n]+`|\*\*|__(?=\S)|(?<=\S)__|(?<![\w*])\*(?=\w)|(?<=\w)\*(?![\w*])"
    r"|</?(?:b|i|em|strong|code|tt|br|span|a|p)\b[^>\n]*>"
)
_TERM_CHARS = 90
"""Length above which a line is no term of a definition list."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a document."""

    kind: BlockKind
    text: str
    """As it is read: without marks, white space made even."""
    start: int
    end: int
    level: int = 0
    """Of a heading: 1 to 6. Of a list item: 1 when it is numbered."""
    terms: tuple[str, ...] = ()
    """Of an entry: the names that are described. Of a table row: its cells."""
    term_start: int = 0
    """Of an entry: where its first term stands."""


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip(" "))


def plain_inline(text: str) -> str:
    """The text with links and emphasis as blanks, so that every letter keeps its place; code stays."""
    text = _LINK.sub(_blank_link, text)
    return _MARKS.sub(lambda mark: mark[0] if mark[0][0] == "`" else " " * len(mark[0]), text)


def _blank_link(link: re.Match[str]) -> str:
    group = 1 if link[1] is not None else 2
    before = link.start(group) - link.start()
    return (" " * before + link[group]).ljust(len(link[0]))


def tidy(text: str) -> str:
    """White space made even, none before punctuation."""
    even = " ".join(plain_inline(text).split())
    return re.sub(r"(?<=[(«“¿¡]) | (?=[,.;:!?)»”](?:\s|$))", "", even)


def is_manual(text: str) -> bool:
    """Whether a text is a manual page as `man` prints it: headings at the margin, all else indented."""
    found = _MANUAL.search(text)
    return found is not None and text[found.end() : found.end() + 4] == "\n   "


@lru_cache(maxsize=64)
def parse_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a document in their order."""
    lines: list[_Line] = []
    at = 0
    for line in text.split("\n"):
        lines.append(_Line(line.rstrip(), at))
        at += len(line) + 1
    blocks = _manual_blocks(lines) if is_manual(text) else _markdown_blocks(lines)
    return tuple(blocks)


def _block(kind: BlockKind, lines: Sequence[_Line], *, skip: int = 0, level: int = 0) -> Block:
    """A block of whole lines; the first `skip` characters are its mark."""
    start = lines[0].start + skip
    raw = "\n".join([lines[0].text[skip:], *(line.text for line in lines[1:])])
    text = raw if kind == "code" else tidy(raw)
    lead = len(raw) - len(raw.lstrip())
    return Block(kind, text, start + lead, lines[-1].end, level)


def _markdown_blocks(lines: Sequence[_Line]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.text.strip() or (_RULE.match(line.text) and not _ROW.match(line.text)):
            at += 1
        elif _FENCE.match(line.text):
            end = next(
                (n for n in range(at + 1, len(lines)) if _FENCE.match(lines[n].text)), len(lines)
            )
            if end > at + 1:
                yield _block("code", lines[at + 1 : end])
            at = end + 1
        elif heading := _HEADING.match(line.text):
            yield _block("heading", [line], skip=heading.start(2), level=len(heading[1]))
            at += 1
        elif _ROW.match(line.text):
            if not _RULE.match(line.text):
                yield _row(line)
            at += 1
        elif _DESCRIPTION.match(line.text):
            at = _paragraph_end(lines, at)
        else:
            block, at = _text_block(lines, at)
            if block is not None:
                yield block


def _text_block(lines: Sequence[_Line], at: int) -> tuple[Block | None, int]:
    """A list item, an entry, indented code or a paragraph, and the line after it."""
    line = lines[at]
    if item := _ITEM.match(line.text):
        end = _paragraph_end(lines, at)
        return _block("item", lines[at:end], skip=item.end(), level=int(item[1] is not None)), end
    entry, end = _entry(lines, at)
    if entry is not None:
        return entry, end
    if line.indent >= 4 or line.text.startswith("\t"):
        end = at + 1
        return _block("code", [line]), end
    end = _paragraph_end(lines, at)
    underlined = end < len(lines) and re.match(r"(?:=+|-{3,})$", lines[end].text)
    if underlined and end == at + 1:
        return _block("heading", [line], level=1 if lines[end].text[0] == "=" else 2), end + 1
    return _block("paragraph", lines[at:end]), end


def _paragraph_end(lines: Sequence[_Line], at: int) -> int:
    """The line after the last one that belongs to the paragraph that starts here."""
    end = at + 1
    while end < len(lines) and lines[end].text.strip():
        text = lines[end].text
        if _ITEM.match(text) or _HEADING.match(text) or _ROW.match(text) or _FENCE.match(text):
            break
        if _DESCRIPTION.match(text) or _RULE.match(text):
            break
        end += 1
    return end


def _entry(lines: Sequence[_Line], at: int) -> tuple[Block | None, int]:
    """Terms, each on a line of its own, then a line that begins with a colon (`term` / `: description`)."""
    terms: list[str] = []
    n = at
    while n < len(lines) and len(terms) < 5:
        text = lines[n].text.strip()
        if _DESCRIPTION.match(text) and terms:
            break
        if text and (len(text) > _TERM_CHARS or _ROW.match(text) or _HEADING.match(text)):
            return None, at
        if text:
            terms.append(tidy(text))
        elif not (
            n + 1 < len(lines) and terms[-1].startswith("-") and lines[n + 1].text.startswith("-")
        ):
            return None, at  # only options stand several to a description
        n += 1
    else:
        return None, at
    end = _paragraph_end(lines, n)
    body = [lines[n], *lines[n + 1 : end]]
    if not lines[n].text.strip(": \t"):  # the description starts after a blank line
        first = next((k for k in range(end, len(lines)) if lines[k].text.strip()), len(lines))
        end = _paragraph_end(lines, first) if first < len(lines) else first
        body = list(lines[first:end])
        if not body or _ITEM.match(body[0].text) or _FENCE.match(body[0].text):
            return None, at
    skip = len(body[0].text) - len(body[0].text.lstrip(": \t"))
    block = _block("entry", body, skip=skip)
    return Block("entry", block.text, block.start, block.end, 0, tuple(terms), lines[at].start), end


def _row(line: _Line) -> Block:
    cells = re.split(r"(?<!\\)\|", line.text.strip().strip("|"))
    return Block("row", tidy(line.text), line.start, line.end, terms=tuple(map(tidy, cells)))


def _manual_blocks(lines: Sequence[_Line]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        line = lines[at]
        text = line.text.strip()
        if not text:
            at += 1
            continue
        if line.indent <= 3 and _MANUAL_HEADING.match(text):
            yield _block("heading", [line], level=1 if not line.indent else 2)
            at += 1
            continue
        end = at + 1
        while end < len(lines) and lines[end].text.strip() and lines[end].indent == line.indent:
            end += 1
        if item := _ITEM.match(line.text):
            end = _item_end(lines, at, item.end())
            yield _block("item", lines[at:end], skip=item.end(), level=int(item[1] is not None))
            at = end
            continue
        deeper = (
            end < len(lines) and lines[end].indent > line.indent + 1 and lines[end].text.strip()
        )
        if deeper and end == at + 1 and len(text) <= _TERM_CHARS:
            body_end = end + 1
            while (
                body_end < len(lines)
                and lines[body_end].text.strip()
                and lines[body_end].indent == lines[end].indent
            ):
                body_end += 1
            block = _block("entry", lines[end:body_end])
            yield Block(
                "entry",
                block.text,
                block.start,
                block.end,
                0,
                (tidy(text),),
                line.start + line.indent,
            )
            at = body_end
        else:
            inline = re.match(r"(-\S+(?: \S+)*) {2,}(?=\S)", text)
            if inline:
                skip = line.indent + inline.end()
                block = _block("entry", lines[at:end], skip=skip)
                yield Block(
                    "entry",
                    block.text,
                    block.start,
                    block.end,
                    0,
                    (inline[1],),
                    line.start + line.indent,
                )
            else:
                yield _block("paragraph", lines[at:end])
            at = end


def _item_end(lines: Sequence[_Line], at: int, indent: int) -> int:
    """The line after a list item of a manual page: its lines are indented to the text behind the mark."""
    end = at + 1
    while end < len(lines) and lines[end].text.strip() and lines[end].indent >= indent:
        end += 1
    return end
