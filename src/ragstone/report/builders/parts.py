"""Nodes that several reports share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ragstone.report import document as doc
from ragstone.report.drawing.shapes import NARROW, WIDE, Drawing
from ragstone.report.words import Words

if TYPE_CHECKING:
    from ragstone.types import Usage


def build_chart(draw: Callable[[float], Drawing]) -> doc.Chart:
    """A picture that is drawn once for a page and once for a phone."""
    return doc.Chart(draw(WIDE), draw(NARROW))


def name_metric(name: str, higher_is_better: bool) -> tuple[str | doc.Styled, ...]:
    """A metric with the direction that is good."""
    return doc.Styled(name, "code"), f" {arrow(higher_is_better)}"


def arrow(higher_is_better: bool) -> str:
    """The direction that is good."""
    return "↑" if higher_is_better else "↓"


def build_remarks(
    remarks: Sequence[tuple[str, Sequence[doc.Remark]]], where: doc.Where, style: str = ""
) -> list[doc.Section | doc.BulletList]:
    """Remarks on named things: a heading for each on a terminal, one list elsewhere."""
    listed = [
        doc.ListItem(remark.text, remark.tone, label=name)
        for name, lines in remarks
        for remark in lines
    ]
    sections = [
        doc.Section((doc.Heading(name), build_list(lines)), where=doc.TERMINAL)
        for name, lines in remarks
        if lines
    ]
    return [
        *([doc.BulletList(tuple(listed), style=style, where=where)] if listed else []),
        *sections,
    ]


def build_list(
    remarks: Iterable[doc.Remark], *, flush: bool = False, style: str = ""
) -> doc.BulletList:
    """Remarks below each other."""
    items = tuple(doc.ListItem(remark.text, remark.tone) for remark in remarks)
    return doc.BulletList(items, flush=flush, style=style)


def number_columns(say: Words, *keys: str) -> list[doc.TableColumn]:
    """Columns of numbers, headed by phrases."""
    return [doc.TableColumn(say(key), numeric=True) for key in keys]


def usage_cells(usage: Usage, say: Words) -> list[str]:
    """Tokens and dollars of a table's row."""
    return [say.whole(usage.input_tokens), say.whole(usage.output_tokens), say.money(usage.usd)]


def build_row(*cells: doc.TableCell | str, style: str = "") -> doc.TableRow:
    """A row of a table."""
    return doc.TableRow(cells, style)
