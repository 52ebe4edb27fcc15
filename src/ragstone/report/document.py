"""The tree that every report is built as; each format renders its nodes. Texts in it are plain: renderers escape them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ragstone.report.drawing.shapes import Drawing
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.report.comparison.samples import SamplePair
    from ragstone.report.monitor.alerts import AlertView
    from ragstone.report.samples import Limits, OpenSample

Medium = Literal["page", "text", "terminal"]
"""How much room a format has: a page with pictures and all samples, a text for a pull request, a terminal."""

Severity = Literal["", "good", "bad", "warn", "plain"]
"""How something is to be taken; `plain` stands back behind the text around it."""


@dataclass(frozen=True, slots=True)
class Where:
    """The media that show a node, and from and up to how many columns of a terminal."""

    media: tuple[Medium, ...] = ("page", "text", "terminal")
    min_columns: int = 0
    max_columns: int = 1_000_000

    def admits(self, medium: Medium, columns: int) -> bool:
        """Whether a node is shown in a medium; only a terminal has a width."""
        # A page scrolls and a text wraps: widths are no matter there.
        fits = medium != "terminal" or self.min_columns <= columns <= self.max_columns
        return medium in self.media and fits


EVERYWHERE = Where()
PAGE = Where(("page",))
TEXT = Where(("text",))
TERMINAL = Where(("terminal",))
WRITTEN = Where(("page", "text"))
"""Files, as opposed to a terminal."""
COMPACT = Where(("text", "terminal"))


def wide_terminal(columns: int) -> Where:
    """Terminals of at least so many columns."""
    return Where(("terminal",), min_columns=columns)


def narrow_terminal(columns: int) -> Where:
    """Terminals of fewer columns."""
    return Where(("terminal",), max_columns=columns - 1)


# ── inline ────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Styled:
    """A stretch of text with a look: strong, emphasis, code, soft, mono, unseen, badge, link, or a line break.

    A sentence is one of ours, in which backticks mark code; samples are never shown as one."""

    text: str
    style: Literal[
        "strong", "emphasis", "code", "soft", "mono", "unseen", "badge", "link", "break", "sentence"
    ]
    severity: Severity = ""
    href: str = ""


Inline = str | Styled | tuple[str | Styled, ...]
"""A text, or several stretches of it."""

BREAK = Styled("", "break")


@dataclass(frozen=True, slots=True)
class Remark:
    """One sentence with how it is to be taken."""

    text: str
    severity: Severity = "plain"


# A new node needs a case in render/markdown.py and render/terminal.py and a block in
# templates/nodes.html.j2, which pick nodes by their class names.
# ── blocks ────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, with a note in smaller letters beside it."""

    text: Inline
    level: int = 2
    note: str = ""
    style: str = ""
    where: Where = EVERYWHERE


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph. Pages take `style` as the class of the element; `note`, `soft` and `strong` count everywhere."""

    text: Inline
    severity: Severity = ""
    style: str = ""
    where: Where = EVERYWHERE


@dataclass(frozen=True, slots=True)
class Byline:
    """Short facts in one line under the title."""

    facts: tuple[Inline, ...]
    where: Where = EVERYWHERE


@dataclass(frozen=True, slots=True)
class Status:
    """How everything stands, in a sentence."""

    text: str
    severity: Severity
    where: Where = EVERYWHERE


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A command to copy, and what it does for those who do not see the page."""

    text: str
    label: str = ""
    where: Where = EVERYWHERE


@dataclass(frozen=True, slots=True)
class ListItem:
    """An item: a text, and what belongs under it."""

    text: Inline = ""
    severity: Severity = ""
    label: str = ""
    """The metric that it is about; in a checklist, its state in a word."""
    id: str = ""
    """The sample that it is about."""
    nodes: tuple[Node, ...] = ()
    """Paragraphs, commands and lists below the text."""


@dataclass(frozen=True, slots=True)
class BulletList:
    """Items below each other; a terminal indents them, unless they are `flush`. Those of style `gates` are ticked or crossed by their tone."""

    items: tuple[ListItem, ...]
    ordered: bool = False
    flush: bool = False
    style: str = ""
    where: Where = EVERYWHERE


@dataclass(frozen=True, slots=True)
class LabelledValue:
    """A name and its value."""

    label: str
    value: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values."""

    facts: tuple[LabelledValue, ...]
    where: Where = EVERYWHERE


@dataclass(frozen=True, slots=True)
class TableColumn:
    """The head of a column; `short` is the same for a terminal."""

    head: Inline
    numeric: bool = False
    short: str = ""
    where: Where = EVERYWHERE


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell with a look; a plain one is just its text. A sparkline stands after the text."""

    text: Inline
    severity: Severity = ""
    style: str = ""
    spark: Drawing | None = None
    href: str = ""


Cells = Sequence[TableCell | str]


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table."""

    cells: Cells
    style: str = ""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table; its first cells are the heads of the rows where `row_heads` says so."""

    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    total: TableRow | None = None
    row_heads: bool = True
    style: str = ""
    id: str = ""
    """Id of the section whose heading names the table, when it is wide enough to be scrolled."""
    where: Where = EVERYWHERE


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture, laid out for a page and perhaps once more for a phone; `ends` label its axis."""

    drawing: Drawing
    narrow: Drawing | None = None
    style: str = "wide"
    ends: tuple[str, ...] = ()
    where: Where = PAGE


@dataclass(frozen=True, slots=True)
class Card:
    """A figure at a glance: its name, value, picture and what is to be said about it."""

    name: str
    figure: str = ""
    aside: Inline = ""
    """What stands beside the figure: its interval, or what it counts."""
    badge: Styled | None = None
    direction: str = ""
    direction_below: bool = False
    """Whether the direction stands beside the figure rather than beside the name."""
    meaning: str = ""
    gist: str = ""
    """The meaning up to its first semicolon."""
    chart: Chart | None = None
    coverage: str = ""
    remarks: tuple[Remark, ...] = ()
    style: str = ""


@dataclass(frozen=True, slots=True)
class CardGrid:
    """Cards side by side."""

    cards: tuple[Card, ...]
    where: Where = PAGE


@dataclass(frozen=True, slots=True)
class SampleFilter:
    """What a reader can filter and sort the samples of a page by."""

    title: str
    total: int
    """Samples there are, shown or not."""
    metrics: tuple[tuple[str, bool], ...]
    """Each metric, and whether higher is better."""
    outcomes: tuple[tuple[str, str], ...]
    """Values and texts of the choice of outcomes."""


@dataclass(frozen=True, slots=True)
class SampleList:
    """Samples with their scores, claims and evidence; each is read when it is rendered, for a run may have a million."""

    positions: Sequence[int]
    open: Callable[[int], OpenSample]
    limits: Limits
    filter: SampleFilter | None = None
    where: Where = PAGE


@dataclass(frozen=True, slots=True)
class SamplePairList:
    """Samples in two runs, side by side."""

    pairs: tuple[SamplePair, ...]
    severity: Severity
    runs: tuple[str, str] = ("", "")
    """Ids of the run before and after, for a page that can lead to the samples."""
    where: Where = PAGE


@dataclass(frozen=True, slots=True)
class AlertList:
    """Alerts with their slices, examples and advice."""

    alerts: tuple[AlertView, ...]
    form: str = ""
    """Where the forms to acknowledge, mute and annotate are sent; empty in a report, which has none."""
    where: Where = PAGE


@dataclass(frozen=True, slots=True)
class Details:
    """Nodes that unfold under a summary."""

    summary: str
    nodes: tuple[Node, ...]
    id: str = ""
    where: Where = EVERYWHERE


@dataclass(frozen=True, slots=True)
class Section:
    """Nodes that belong together. A terminal leaves a line free before it; a page takes `style` as its class."""

    nodes: tuple[Node, ...]
    style: str = ""
    id: str = ""
    where: Where = EVERYWHERE


Node = (
    Heading | Paragraph | Byline | Status | CodeLine | BulletList | Facts | ReportTable | Chart
    | CardGrid | SampleList | SamplePairList | AlertList | Details | Section
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """A report: its head, its body, and what a page needs around them."""

    kind: str
    """Which analysis it shows: run, comparison, …"""
    t: Translator
    title: str
    """The name of the browser's window or of the file."""
    brand: str
    """What sort of report it is, in a word or two."""
    head: tuple[Node, ...]
    body: tuple[Node, ...]
    footer: str = ""
    skip_link: str = ""
    """Id of the element that keyboard users may go to at once."""


def select_nodes(nodes: Sequence[Node], medium: Medium, columns: int = 0) -> list[Node]:
    """The nodes that a medium shows."""
    return [node for node in nodes if node.where.admits(medium, columns)]


def select_columns(
    table: ReportTable, medium: Medium, columns: int = 0
) -> tuple[list[TableColumn], list[TableRow], TableRow | None]:
    """The columns of a table that a medium shows, with the cells under them."""
    # `strict=True` below is the check that every row has a cell for every column, shown or not.
    shown = [column.where.admits(medium, columns) for column in table.columns]

    def keep_shown(row: TableRow) -> TableRow:
        pairs = zip(row.cells, shown, strict=True)
        return TableRow(tuple(cell for cell, is_shown in pairs if is_shown), row.style)

    heads = [column for column, is_shown in zip(table.columns, shown, strict=True) if is_shown]
    return heads, [keep_shown(row) for row in table.rows], table.total and keep_shown(table.total)


def to_cell(cell: TableCell | str) -> TableCell:
    """A cell with a look, whatever it was given as."""
    return TableCell(cell) if isinstance(cell, str) else cell


def to_spans(text: Inline) -> tuple[str | Styled, ...]:
    """The stretches of a text."""
    return text if isinstance(text, tuple) else (text,)


def split_code(sentence: str) -> tuple[str | Styled, ...]:
    """The stretches of a sentence, with what stands between backticks as code."""
    parts: list[str | Styled] = []
    for n, part in enumerate(re.split("`([^`]*)`", sentence)):
        if n % 2 == 0:
            parts.append(part)
        else:
            parts.append(Styled(part, "code") if _CODE.fullmatch(part) else f"`{part}`")
    return tuple(part for part in parts if part)


_CODE = re.compile(r"""[\w .,:/=+"'(){}…-]+""")
"""Commands, options and names; anything else between backticks stays as it is, whoever wrote it."""


def to_plain_text(text: Inline) -> str:
    """The text without its looks; a badge stands in parentheses."""
    return "".join(
        part if isinstance(part, str)
        else f"({part.text})" if part.style == "badge"
        else "" if part.style == "unseen"
        else "\n" if part.style == "break"
        else part.text
        for part in to_spans(text)
    )  # fmt: skip
