"""The Markdown that our own pages are written in, as blocks that a template can show."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_RULE = re.compile(r"^\|[ :|-]+\|$")
_ITEM = re.compile(r"^(?:\d+\.|-) ")


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, paragraph, list or table; its rows are lines, items or cells."""

    kind: str
    rows: tuple[tuple[str, ...], ...]
    level: int = 0


def blocks(markdown: str) -> list[Block]:
    """The blocks of a page, without emphasis and with the words of its links."""
    found: list[Block] = []
    lines = _COMMENT.sub("", markdown).splitlines()
    for kind, group in groupby(map(str.rstrip, lines), key=_kind):
        rows = list(group)
        if kind == "heading":
            found += [
                Block(kind, ((_plain(row.lstrip("# ")),),), len(row) - len(row.lstrip("#")))
                for row in rows
            ]
        elif kind == "table":
            cells = [_cells(row) for row in rows if not _RULE.match(row)]
            found.append(Block(kind, tuple(cells)))
        elif kind == "text":
            found += _texts(rows)
    return found


def _kind(line: str) -> str:
    if not line:
        return "gap"
    if line.startswith("#"):
        return "heading"
    return "table" if line.startswith("|") else "text"


def _texts(rows: list[str]) -> list[Block]:
    """Lines that belong together: a paragraph, or the items of a list with what hangs on them."""
    found: list[list[str]] = []
    for row in rows:
        if _ITEM.match(row) or not found:
            found.append([row])
        else:
            found[-1].append(row.strip())
    made = []
    for is_list, parts in groupby((" ".join(part) for part in found), key=_is_item):
        texts = [(_plain(_ITEM.sub("", part, count=1)),) for part in parts]
        made += (
            [Block("list", tuple(texts))]
            if is_list
            else [Block("paragraph", (text,)) for text in texts]
        )
    return made


def _is_item(text: str) -> bool:
    return _ITEM.match(text) is not None


def _cells(row: str) -> tuple[str, ...]:
    return tuple(_plain(cell.strip()) for cell in row.strip("|").split("|"))


def _plain(text: str) -> str:
    return _LINK.sub(r"\1", text).replace("**", "").replace("`", "")
