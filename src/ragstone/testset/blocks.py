"""A document as blocks: headings, paragraphs, list items, code, table rows and entries (terms with their description).

Reads Markdown, plain text and manual pages. Every block knows its offsets in the document's text, so nothing here may
shift a letter: marks become blanks of the same length."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

BlockKind = Literal["heading", "paragraph", "item", "code", "row", "entry"]

_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t#]*$")
_NUMBERED_HEADING = re.compile(r"\d{1,2}((?:\.\d{1,2})+)\.? [A-ZÁÉÍÓÚÑ¿].{2,70}[^.:;,]$")
"""`4.2 Downloading images` on a line of its own, as plain text writes headings."""
_SHOUTED_HEADING = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2})*[.)]?\s+)?(?=.*[A-ZÁÉÍÓÚÑ]{3})[A-ZÁÉÍÓÚÑ][A-ZÁÉÍÓÚÑ\d ,/&()'’–-]{2,70}$"
)
"""`2. THE SCHOOL DAY` on a line of its own."""
_COUNTED_HEADING = re.compile(r"\d{1,2}\.\s+[A-ZÁÉÍÓÚÑ¿][^.:;,!]{2,60}$")
"""`2. The school day`, which may be a step as well."""
_ADMONITION = re.compile(r"[!?]{3}\+? [\w-]+(?: \".*\")?\s*$")
"""`!!! note`: what stands before a box of MkDocs."""
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|(\d{1,2})[.)])[ \t]+(?=\S)")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_RULE = re.compile(r"[ \t|:=+*_-]{3,}$")
_TARGET = re.compile(r"\([\w/.:-]+\)=$|\[[^\]\n]+\]: \S+")
"""The anchor of a heading or the address of a link, on a line of its own."""
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_DESCRIPTION = re.compile(r":(?:[ \t]+|$)")
# what ends a paragraph
_STARTS_BLOCK = (_ITEM, _HEADING, _ROW, _FENCE, _DESCRIPTION, _RULE, _TARGET)
_MANUAL = re.compile(r"^(?:NAME|NOMBRE)\n   ", re.MULTILINE)
_MANUAL_HEADING = re.compile(r"[A-ZÁÉÍÓÚÑ][A-ZÁÉÍÓÚÑ ,/-]{2,40}$")
_MANUAL_OPTION = re.compile(r"(-\S+(?: \S+)*) {2,}(?=\S)")
_LINK = re.compile(
    r"!?\[([^\]\n]{0,300})\]\([^)\s]{0,300}\)|\[([^\]\n]{1,300})\]\[[^\]\n]{0,200}\]"
)
"""Bounded: a page of brackets that never close would be read again from each of them."""
_MARKS = re.compile(
    r"`[^`\n]+`|\*\*|__(?=\S)|(?<=\S)__|(?<![\w*])\*(?=\w)|(?<=[\w.,;:!?)])\*(?![\w*])"
    r"|(?<![\w`/])_(?=[^\W_][^_\n`]{0,80}_(?!\w))|(?<=[^\W_])_(?![\w`(])"
    r"|</?(?:abbr|b|i|u|em|strong|small|code|kbd|tt|br|img|span|sub|sup|div|details|summary|center|font|a|p)\b[^<>\n]{0,300}>"
)
_HYPHEN_BREAK = re.compile(r"(?<=\w)-\n\s*(?=[^\W\d_])")
_LOOSE_SPACE = re.compile(r"(?<=[(«“¿¡]) | (?=[,.;:)»”](?:\s|$))")
MAX_TERM_CHARS = 90
"""A longer line is no term of an entry."""
MAX_TERMS = 5
"""Terms that may share one description."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a document."""

    kind: BlockKind
    text: str
    """As it is read: without marks, white space normalised; code is kept as it is."""
    start: int
    end: int
    """Offsets in the document's text; of an entry, those of its description."""
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
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip(" "))


_Reader = Callable[[Sequence[_Line], int], tuple[Block | None, int]]
"""Lines and the number of one → the block that starts there, if any, and the number of the line after it."""


def plain_inline(text: str) -> str:
    """The text with links and emphasis as blanks, so that every letter keeps its place; code stays."""
    if "](" in text or "][" in text:
        text = _LINK.sub(_blank_link, text)
    if not any(mark in text for mark in ("*", "_", "<")):
        return text
    return _MARKS.sub(lambda mark: mark[0] if mark[0][0] == "`" else " " * len(mark[0]), text)


def _blank_link(link: re.Match[str]) -> str:
    group = 1 if link[1] is not None else 2
    # same length as before: evidence is quoted by its offsets in the document
    return (" " * (link.start(group) - link.start()) + link[group]).ljust(len(link[0]))


def tidy_text(text: str) -> str:
    """The text without marks, white space normalised, none before punctuation; offsets are lost."""
    text = _HYPHEN_BREAK.sub("-", text) if "-\n" in text else text
    even = " ".join(plain_inline(text).split())
    return _LOOSE_SPACE.sub("", even)


@lru_cache(maxsize=64)
def parse_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a document in their order."""
    text = _blank_comments(text)
    lines: list[_Line] = []
    at = 0
    for line in text.split("\n"):
        lines.append(_Line(line.rstrip(), at))
        at += len(line) + 1  # with its line break
    # manual pages show structure by indents, which Markdown would read as code
    read = _read_manual if _MANUAL.search(text) else _read_markdown
    return tuple(_read_all(lines, read))


def _blank_comments(text: str) -> str:
    """The text with comments of HTML as blanks, so that every letter keeps its place; one that never closes is text."""
    parts: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        comment = text[start : end + 3]
        parts += [text[at:start], re.sub(r"[^\n]", " ", comment)]
        at = end + 3
    return "".join([*parts, text[at:]])


def _read_all(lines: Sequence[_Line], read: _Reader) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        if not lines[at].text.strip():
            at += 1
            continue
        block, at = read(lines, at)
        if block is not None and block.end > block.start:
            yield block


def _make_block(kind: BlockKind, lines: Sequence[_Line], *, skip: int = 0, level: int = 0) -> Block:
    """A block of whole lines; the first `skip` characters are its mark."""
    raw = "\n".join([lines[0].text[skip:], *(line.text for line in lines[1:])])
    start = lines[0].start + skip + len(raw) - len(raw.lstrip())
    end = lines[-1].start + len(lines[-1].text)
    return Block(kind, raw if kind == "code" else tidy_text(raw), start, end, level)


def _make_entry(
    terms: Sequence[str], term_start: int, lines: Sequence[_Line], skip: int = 0
) -> Block:
    block = _make_block("entry", lines, skip=skip)
    return Block("entry", block.text, block.start, block.end, 0, tuple(terms), term_start)


def _read_markdown(lines: Sequence[_Line], at: int) -> tuple[Block | None, int]:
    """The block that starts on a line of Markdown or plain text, and the line after it."""
    line = lines[at]
    if _FENCE.match(line.text):
        return _read_fence(lines, at)
    if any(sign.match(line.text) for sign in (_HEADING, _RULE, _TARGET, _ROW)):
        return _read_line(line), at + 1
    end = _paragraph_end(lines, at)
    if _ADMONITION.match(line.text):
        return _make_block("paragraph", lines[min(at + 1, end - 1) : end]), end
    if _DESCRIPTION.match(line.text):  # a description without a term: _read_entry takes the others
        return None, end
    if end == at + 1 and (level := _find_plain_level(lines, at)):
        return _make_block("heading", [line], level=level), end
    if item := _ITEM.match(line.text):
        level = int(item[1] is not None)
        return _make_block("item", lines[at:end], skip=item.end(), level=level), end
    entry, after = _read_entry(lines, at)
    if entry is not None:
        return entry, after
    if line.indent >= 4 or line.text.startswith("\t"):
        return _make_block("code", [line]), at + 1
    if end == at + 1 and (level := _read_underline(lines[end : end + 1])):
        return _make_block("heading", [line], level=level), end + 1
    return _make_block("paragraph", lines[at:end]), end


def _read_line(line: _Line) -> Block | None:
    """The block of a line that stands by itself: a heading with #, a row of a table; None for a rule or an anchor."""
    if heading := _HEADING.match(line.text):
        return _make_block("heading", [line], skip=heading.start(2), level=len(heading[1]))
    is_row = not _RULE.match(line.text) and not _TARGET.match(line.text)
    return _make_row(line) if is_row else None


def _find_plain_level(lines: Sequence[_Line], at: int) -> int:
    """The level of a heading of plain text, a line with a number or between two blank ones in capitals; 0 for another line."""
    if numbered := _NUMBERED_HEADING.match(lines[at].text):
        return 1 + numbered[1].count(".")
    is_alone = all(not line.text.strip() for line in (*lines[max(0, at - 1) : at], *lines[at + 1 : at + 2]))  # fmt: skip
    if not is_alone or lines[at].indent or at + 1 >= len(lines):
        return 0
    if _SHOUTED_HEADING.match(lines[at].text):
        return 2
    # a step has others beside it
    beside = (next((line.text for line in side if line.text.strip()), "") for side in (reversed(lines[max(0, at - 3) : at]), lines[at + 1 : at + 4]))  # fmt: skip
    is_counted = _COUNTED_HEADING.match(lines[at].text) and not any(map(_ITEM.match, beside))
    return 2 if is_counted else 0


def _read_underline(following: Sequence[_Line]) -> int:
    """The level of a heading that the line below underlines, with = or -; 0 when that line is none."""
    if not following or not re.fullmatch(r"=+|-{3,}", following[0].text):
        return 0
    return 1 if following[0].text[0] == "=" else 2


def _read_fence(lines: Sequence[_Line], at: int) -> tuple[Block | None, int]:
    """The code between a fence and the next one."""
    rest = range(at + 1, len(lines))
    end = next((n for n in rest if _FENCE.match(lines[n].text)), len(lines))
    return (_make_block("code", lines[at + 1 : end]) if end > at + 1 else None), end + 1


def _paragraph_end(lines: Sequence[_Line], at: int) -> int:
    """The line after the last one that belongs to the paragraph that starts here."""
    end = at + 1
    while end < len(lines) and lines[end].text.strip():
        if any(start.match(lines[end].text) for start in _STARTS_BLOCK):
            break
        end += 1
    return end


def _read_entry(lines: Sequence[_Line], at: int) -> tuple[Block | None, int]:
    """Terms, each on a line of its own, then a line that begins with a colon (`term` / `: description`)."""
    terms: list[str] = []
    n = at
    while n < len(lines) and not (terms and _DESCRIPTION.match(lines[n].text)):
        text = lines[n].text.strip()
        if len(text) > MAX_TERM_CHARS or len(terms) >= MAX_TERMS:
            return None, at
        if terms and not _may_share_description(terms[-1], lines, n):
            return None, at
        if text:
            term = tidy_text(text)
            if not term:  # a line of marks alone: <br>, **
                return None, at
            terms.append(term)
        n += 1
    if n >= len(lines) or not terms:
        return None, at
    end = _paragraph_end(lines, n)
    skip = len(lines[n].text) - len(lines[n].text.lstrip(": \t"))
    if skip == len(lines[n].text):  # nothing behind the colon
        return None, at
    return _make_entry(terms, lines[at].start, lines[n:end], skip), end


def _may_share_description(term: str, lines: Sequence[_Line], n: int) -> bool:
    """Whether line n may go on with the terms of one description: only options share one, and after a blank line or
    right below, where no other text stands between."""
    if not term.startswith("-"):
        return False
    is_blank = not lines[n].text.strip()
    before = lines[n] if is_blank else lines[n - 1]
    return before.text[:1] in ("", "-")


def _make_row(line: _Line) -> Block:
    cells = re.split(r"(?<!\\)\|", line.text.strip().strip("|"))
    # a bar inside a cell is written with a stroke before it, which is no part of the cell
    terms = tuple(tidy_text(cell.replace(r"\|", "|")) for cell in cells)
    return Block("row", tidy_text(line.text), line.start, line.start + len(line.text), terms=terms)


def _read_manual(lines: Sequence[_Line], at: int) -> tuple[Block | None, int]:
    """The block that starts on a line of a manual page, which shows structure by indents, and the line after it."""
    line = lines[at]
    text = line.text.strip()
    if line.indent <= 3 and _MANUAL_HEADING.match(text):
        return _make_block("heading", [line], level=2 if line.indent else 1), at + 1
    if item := _ITEM.match(line.text):
        end = _indent_end(lines, at + 1, item.end())
        return _make_block(
            "item", lines[at:end], skip=item.end(), level=int(item[1] is not None)
        ), end
    end = at + 1
    while end < len(lines) and lines[end].text.strip() and lines[end].indent == line.indent:
        end += 1
    term_start = line.start + line.indent
    deeper = end < len(lines) and end == at + 1 and lines[end].indent > line.indent + 1
    body_end = _indent_end(lines, end, lines[end].indent) if deeper else end
    if option := _MANUAL_OPTION.match(text):  # its description begins on the same line
        skip = line.indent + option.end()
        return _make_entry([option[1]], term_start, lines[at:body_end], skip), body_end
    # a single line above a deeper indent is a term, what is indented its description
    if deeper and len(text) <= MAX_TERM_CHARS:
        return _make_entry([tidy_text(text)], term_start, lines[end:body_end]), body_end
    return _make_block("paragraph", lines[at:end]), end


def _indent_end(lines: Sequence[_Line], at: int, indent: int) -> int:
    """The line after those that are indented so far or further."""
    while at < len(lines) and lines[at].text.strip() and lines[at].indent >= indent:
        at += 1
    return at
