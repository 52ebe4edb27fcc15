"""Nodes that several reports share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ragstone.report import document as doc
from ragstone.report.drawing.shapes import NARROW, WIDE, Drawing
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.types import Usage


def build_panel(
    id: str,
    title: str,
    *nodes: doc.Node,
    where: doc.Where = doc.EVERYWHERE,
    heading: doc.Where = doc.EVERYWHERE,
) -> doc.Section:
    """A framed section; `heading` says where its title is shown."""
    return doc.Section((doc.Heading(title, where=heading), *nodes), "panel", id, where)


def build_chart(draw: Callable[[float], Drawing]) -> doc.Chart:
    """A picture that is drawn once for a page and once for a phone."""
    # SVG scales its letters with it: a wide chart shrunk to a phone could not be read.
    return doc.Chart(draw(WIDE), draw(NARROW))


def choose_arrow(higher_is_better: bool) -> str:
    """The direction that is good."""
    return "↑" if higher_is_better else "↓"


def name_metric(name: str, higher_is_better: bool) -> tuple[str | doc.Styled, ...]:
    """A metric with the direction that is good."""
    return doc.Styled(name, "code"), f" {choose_arrow(higher_is_better)}"


def build_remarks(
    remarks: Sequence[tuple[str, Sequence[doc.Remark]]], where: doc.Where, style: str = ""
) -> list[doc.Node]:
    """Remarks on named things: one list in `where`; on a terminal a heading for all that have the same remarks."""
    alike: dict[tuple[doc.Remark, ...], list[str]] = {}
    for name, lines in remarks:
        if lines:
            alike.setdefault(tuple(lines), []).append(name)
    items = [
        doc.ListItem(doc.Styled(line.text, "sentence"), line.severity, name)
        for name, lines in remarks
        for line in lines
    ]
    return [
        build_list(items, where, style=style),
        *(
            doc.Section((doc.Heading(", ".join(names)), build_list(lines)), where=doc.TERMINAL)
            for lines, names in alike.items()
        ),
    ]


def build_list(
    items: Iterable[str | doc.Remark | doc.ListItem],
    where: doc.Where = doc.EVERYWHERE,
    *,
    ordered: bool = False,
    flush: bool = False,
    style: str = "",
) -> doc.BulletList:
    """Texts, remarks or items below each other."""
    made = (
        item if isinstance(item, doc.ListItem)
        else doc.ListItem(doc.Styled(item, "sentence")) if isinstance(item, str)
        else doc.ListItem(doc.Styled(item.text, "sentence"), item.severity)
        for item in items
    )  # fmt: skip
    return doc.BulletList(tuple(made), ordered, flush, style, where)


def build_table(
    columns: Sequence[doc.TableColumn],
    rows: Iterable[doc.Cells],
    where: doc.Where = doc.EVERYWHERE,
    *,
    row_heads: bool = True,
    id: str = "",
) -> doc.ReportTable:
    """A table of plain rows."""
    made = tuple(doc.TableRow(tuple(row)) for row in rows)
    return doc.ReportTable(tuple(columns), made, row_heads=row_heads, id=id, where=where)


def build_text_columns(
    t: Translator, *keys: str, where: doc.Where = doc.EVERYWHERE
) -> list[doc.TableColumn]:
    """Columns of texts, headed by phrases."""
    return [doc.TableColumn(t(key), where=where) for key in keys]


def build_number_columns(
    t: Translator, *keys: str, where: doc.Where = doc.EVERYWHERE
) -> list[doc.TableColumn]:
    """Columns of numbers, headed by phrases; an interval is called shorter on a terminal."""
    return [
        doc.TableColumn(t(key), True, t("interval_short") if key == "interval" else "", where)
        for key in keys
    ]


def build_usage_cells(usage: Usage, t: Translator) -> list[str]:
    """Tokens and dollars of a table's row."""
    return [t.whole(usage.input_tokens), t.whole(usage.output_tokens), t.money(usage.usd)]
