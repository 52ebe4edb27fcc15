"""The prose of a document: wrapped lines joined, code, tables and marks blanked. Every letter keeps its offset,
because
evidence is quoted by offsets in the document."""

from __future__ import annotations

import re
from functools import lru_cache

_FENCE = re.compile(r"^(?:```|~~~)[^\n]*\n.*?(?:^(?:```|~~~)[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_HIDDEN = re.compile(r"<!--.*?-->", re.DOTALL)
_SKIPPED = re.compile(
    r"^[ \t]*(?:\|.*|\#{1,6}[ \t].*|[-=*_]{3,}[ \t]*|\[[^\]\n]+\]:[ \t].*|\$ .*|!!! .*|(?: {4}|\t)(?![-*+\d]).*)$",
    re.MULTILINE,
)
"""Lines that are no sentences: rows of a table, headings, rules, commands, indented code."""
_MARKER = re.compile(r"^[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]\n]{0,400})\]\([^)\s]{0,800}\)")
_EMPHASIS = re.compile(r"`[^`\n]+`|\*\*|__|(?<![\w*])\*(?=\w)|(?<=\w)\*(?![\w*])")
_WRAPPED = re.compile(r"(?<=\S)[ \t]*\n(?=[ \t]*[^\s|#>\-*+])")
_ITEM = "\x00"
"""Stands for a line break that must stay while lines are joined; one character, so that offsets stay."""


@lru_cache(maxsize=64)
def blank_non_prose(text: str) -> str:
    """The text with the same length in which only sentences are left and no line break cuts one."""
    if "\n" not in text.strip():
        return text
    marked = _looks_marked(text)
    if marked:
        for pattern in (_FENCE, _HIDDEN, _SKIPPED):
            text = pattern.sub(lambda match: _ITEM * len(match.group()), text)
        text = _LINK.sub(_blank_link_target, text)
        text = _EMPHASIS.sub(_blank_emphasis, text)
        text = _MARKER.sub(lambda match: _ITEM + " " * (len(match.group()) - 1), text)
    if marked or _is_hard_wrapped(text):
        text = _WRAPPED.sub(lambda match: " " * len(match.group()), text)
    return text.replace(_ITEM, "\n")


def _blank_link_target(match: re.Match[str]) -> str:
    """A link as its text, at its place."""
    words = match.group(1)
    before = match.start(1) - match.start()
    return " " * before + words + " " * (len(match.group()) - before - len(words))


def _blank_emphasis(match: re.Match[str]) -> str:
    """A mark of emphasis as blanks; code is no emphasis, `__init__` stays."""
    marks = match.group()
    return marks if marks.startswith("`") else " " * len(marks)


def _looks_marked(text: str) -> bool:
    """Whether a text is written in Markdown: it has fences, headings, tables, links or lists."""
    return (
        re.search(r"^(?:```|~~~|#{1,6} \S|\|.*\|)|\]\(\S+\)|^[ \t]*[-*+] \S", text, re.MULTILINE)
        is not None
    )


def _is_hard_wrapped(text: str) -> bool:
    """Whether most lines end at a margin and not at the end of a sentence."""
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    cut = sum(line[-1] not in '.!?:;”"»)' and 40 <= len(line) <= 140 for line in lines)
    return len(lines) > 2 and cut > len(lines) // 2
