"""The Markdown that our own pages are written in, parsed into nodes of a document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from ragstone.report import document as doc
from ragstone.report.builders.parts import build_list, build_table

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_RULE = re.compile(r"^\|[ :|-]+\|$")
_ITEM = re.compile(r"^(?:\d+\.|-) ")


def parse_markdown(markdown: str, level: int = 0) -> Iterator[doc.Node]:
    """The nodes of a page, without emphasis and with the words of its links; headings are set `level` levels lower."""
    lines = _COMMENT.sub("", markdown).splitlines()
    for kind, group in groupby(map(str.rstrip, lines), key=_name_kind):
        rows = list(group)
        if kind == "heading":
            for row in rows:
                depth = len(row) - len(row.lstrip("#"))
                yield doc.Heading(_strip_markup(row.lstrip("# ")), depth + level)
        elif kind == "table":
            head, *cells = (_split_cells(row) for row in rows if not _RULE.match(row))
            yield build_table([*map(doc.TableColumn, head)], cells, row_heads=False)
        elif kind == "text":
            yield from _parse_text(rows)


def _name_kind(line: str) -> str:
    if not line:
        return "gap"
    if line.startswith("#"):
        return "heading"
    return "table" if line.startswith("|") else "text"


def _parse_text(rows: Sequence[str]) -> Iterator[doc.Node]:
    """Lines that belong together: a paragraph, or the items of a list with their continuation lines."""
    parts: list[list[str]] = []
    for row in rows:
        if _ITEM.match(row) or not parts:
            parts.append([row])
        else:
            parts[-1].append(row.strip())
    for is_list, group in groupby(map(" ".join, parts), key=lambda text: bool(_ITEM.match(text))):
        texts = [_strip_markup(_ITEM.sub("", part, count=1)) for part in group]
        # whether a list is numbered is not kept: all of them are
        yield from [build_list(texts, ordered=True)] if is_list else map(doc.Paragraph, texts)


def _split_cells(row: str) -> list[str]:
    return [_strip_markup(cell.strip()) for cell in row.strip("|").split("|")]


def _strip_markup(text: str) -> str:
    return _LINK.sub(r"\1", text).replace("**", "").replace("`", "")
