"""A document for a terminal, as wide as it is and in the characters it has."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.report import document as doc

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

COLOURS = {"": "", "good": "green", "bad": "bold red", "warn": "yellow", "plain": "dim"}
STYLES = {"strong": "bold", "key": "bold", "soft": "dim", "note": "dim", "accent": "cyan"}
STYLES |= {"incomplete": "dim", "caution": "yellow"}
COLUMN_GAP = 3
"""Blanks between two columns."""
SIGNS = {"good": "✓", "bad": "✗", "warn": "?"}

ASCII_SIGNS = str.maketrans(
    {"↑": "^", "↓": "v", "✓": "+", "✗": "x", "–": "-", "…": ".", "×": "x", "·": "-", "÷": "/"}
    | {
        "━": "=",
        "┿": "|",
        "\u202f": " ",
        "\xa0": " ",
        "“": '"',
        "”": '"',
        "’": "'",
        "°": " ",
        "★": "*",
        "≈": "~",
        "±": "+-",
        "−": "-",
        "→": ">",
    }
)
"""What stands for a sign where the terminal cannot write it."""


def print_document(document: doc.ReportDocument, console: Console) -> None:
    """Print a document."""
    printer = _Printer(Screen(console))
    printer.print_nodes((*document.head, *document.body))


def render(document: doc.ReportDocument, width: int = 100) -> str:
    """The document as plain text."""
    import io

    from rich.console import Console

    out = io.StringIO()
    # in a notebook rich would else display the text below the cell, whatever its file is
    console = Console(
        file=out, width=width, force_terminal=False, force_jupyter=False, color_system=None
    )
    print_document(document, console)
    return out.getvalue()


class Screen:
    """A console that never gets a character it cannot write."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.width = console.width

    def build_cell(self, content: str, style: str = "") -> Text:
        """Styled text; nothing in it is taken for markup or a control sequence."""
        from rich.text import Text

        return Text(fit_encoding(content, self.console.encoding), style=style)

    def print_line(self, content: str, style: str = "") -> None:
        """Print a paragraph."""
        self.console.print(self.build_cell(content, style), highlight=False)

    def print_indented(self, content: str, style: str = "", columns: int = 2) -> None:
        """Print a paragraph set in by some columns."""
        width = max(self.width - columns, 1)
        for part in self.build_cell(content, style).wrap(self.console, width):
            part.rstrip()
            self.console.print(self.build_cell(" " * columns) + part, highlight=False)

    def print_command(self, content: str, style: str = "") -> None:
        """Print a command that can be copied: the terminal wraps it, no line break of ours is in it."""
        self.console.print(self.build_cell(content, style), highlight=False, soft_wrap=True)

    def print_table(self, content: RenderableType) -> None:
        """Print a table."""
        self.console.print(content, highlight=False)

    def build_table(self, *columns: tuple[str, bool]) -> Table:
        """An empty table; a column is a heading and whether it holds numbers."""
        from rich import box
        from rich.table import Table

        grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
        for heading, numeric in columns:
            grid.add_column(
                self.build_cell(heading),
                justify="right" if numeric else "left",
                overflow="fold",
                no_wrap=numeric,
            )
        return grid


def fit_encoding(content: str, encoding: str) -> str:
    """The text without control characters, in characters that the encoding has."""
    # Category C holds escape and format characters: an answer must not move the cursor or change
    # the window's title.
    visible = "".join(c if c == "\n" or unicodedata.category(c)[0] != "C" else " " for c in content)
    try:
        visible.encode(encoding)
    except UnicodeEncodeError:
        # On such a terminal accents are lost rather than shown as question marks.
        plain = unicodedata.normalize("NFKD", visible.translate(ASCII_SIGNS))
        bare = "".join(c for c in plain if not unicodedata.combining(c))
        return bare.encode(encoding, "replace").decode(encoding)
    return visible


def _choose_style(node: doc.Paragraph) -> str:
    # the first word of a style alone: the others are classes of the page
    styles = (STYLES.get(name, "") for name in node.style.split())
    return COLOURS[node.severity] or next(styles, "")


class _Printer:
    """Prints nodes with a free line before each section that shows something."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._has_printed = False
        self._needs_gap = False

    def print_nodes(self, nodes: Sequence[doc.Node]) -> None:
        for node in doc.select_nodes(nodes, "terminal", self._screen.width):
            if isinstance(node, doc.Section):
                # Set, not printed: a section that shows nothing on a terminal must leave no free
                # line.
                self._needs_gap = self._has_printed
                self.print_nodes(node.nodes)
            else:
                self._print_node(node)

    def _print_node(self, node: doc.Node) -> None:
        match node:
            case doc.Heading():
                self._print_line(doc.to_plain_text(node.text), "bold")
            case doc.Paragraph():
                self._print_line(doc.to_plain_text(node.text), _choose_style(node))
            case doc.Byline():
                self._print_line(" · ".join(map(doc.to_plain_text, node.facts)), "dim")
            case doc.Status():
                self._print_line(node.text, COLOURS[node.severity])
            case doc.CodeLine():
                self._print_command(f"  $ {node.text}")
            case doc.Facts():
                for fact in node.facts:
                    self._print_line(f"{fact.label}: {fact.value}")
            case doc.BulletList():
                self._print_items(node, 0 if node.flush else 1)
            case doc.ReportTable():
                self._print_table(node)
            case doc.Details():
                self._print_line(node.summary, "bold")
                self.print_nodes(node.nodes)
            case _:  # pictures and whole samples are for pages
                return

    def _print_line(self, content: str, style: str = "") -> None:
        self._leave_gap()
        if content:  # an empty paragraph only leaves its section's free line
            self._screen.print_line(content, style)

    def _print_indented(self, content: str, style: str = "", columns: int = 2) -> None:
        self._leave_gap()
        self._screen.print_indented(content, style, columns)

    def _print_command(self, content: str) -> None:
        self._leave_gap()
        self._screen.print_command(content, "cyan")

    def _leave_gap(self) -> None:
        if self._needs_gap:
            self._screen.print_line("")
        self._has_printed, self._needs_gap = True, False

    def _print_items(self, node: doc.BulletList, depth: int) -> None:
        for item in node.items:
            text = doc.to_plain_text(item.text)
            if node.style == "gates":
                text = f"{SIGNS[item.severity]} {text}"
            elif node.ordered:
                text = f"– {text}"
            elif item.id or item.label:
                text = f"{item.id}  {text}" if item.id else f"{item.label}: {text}"
            if depth:
                self._print_indented(text, COLOURS[item.severity], 2 * depth)
            else:
                self._print_line(text, COLOURS[item.severity])
            for below in doc.select_nodes(item.nodes, "terminal", self._screen.width):
                self._print_below(below, depth)

    def _print_below(self, node: doc.Node, depth: int) -> None:
        """What hangs on an item of a list, one step further in."""
        columns = 2 * depth + 2
        match node:
            case doc.Paragraph():
                self._print_indented(doc.to_plain_text(node.text), _choose_style(node), columns)
            case doc.CodeLine():
                self._print_command(f"{' ' * columns}$ {node.text}")
            case doc.BulletList():
                self._print_items(node, depth + 1)
            case _:
                self._print_node(node)

    def _print_table(self, node: doc.ReportTable) -> None:
        heads, rows, total = doc.select_columns(node, "terminal", self._screen.width)
        shown = (*rows, *([total] if total else []))
        grid = self._screen.build_table(*self._fit_headings(heads, shown))
        for row in shown:
            cells = [doc.to_cell(cell) for cell in row.cells]
            base = "bold" if row is total else STYLES.get(row.style, "")
            grid.add_row(
                *(
                    self._screen.build_cell(
                        doc.to_plain_text(cell.text),
                        COLOURS[cell.severity] or STYLES.get(cell.style, base),
                    )
                    for cell in cells
                )
            )
        self._leave_gap()
        self._screen.print_table(grid)

    def _fit_headings(
        self, heads: Sequence[doc.TableColumn], rows: Sequence[doc.TableRow]
    ) -> list[tuple[str, bool]]:
        """Headings and whether each is of numbers; in a table too wide for the screen those of numbers get several lines."""
        titles = [head.short or doc.to_plain_text(head.head) for head in heads]
        cells = [[doc.to_plain_text(doc.to_cell(cell).text) for cell in row.cells] for row in rows]
        longest = [
            max((len(line) for cell in column for line in cell.split("\n")), default=0)
            for column in zip(*cells, strict=False)
        ]
        longest += [0] * (len(heads) - len(longest))
        needed = sum(max(len(t), w) + COLUMN_GAP for t, w in zip(titles, longest, strict=True))
        is_wide = needed > self._screen.width
        return [
            (textwrap.fill(title, max(width, *map(len, title.split()))), True)
            if is_wide and head.numeric and title
            else (title, head.numeric)
            for head, title, width in zip(heads, titles, longest, strict=True)
        ]
