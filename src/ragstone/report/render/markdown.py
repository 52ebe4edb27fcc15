"""A document as GitHub-flavoured Markdown, fit for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ragstone.report import document as doc

NO_BREAK_SPACES = "\xa0\u202f"
"""Part the digits and units of numbers in Spanish."""
SIGNS = {"good": "✅", "bad": "❌", "warn": "❓"}


def render(document: doc.ReportDocument) -> str:
    """The document as text."""
    return "\n\n".join(_render_blocks((*document.head, *document.body))) + "\n"


def escape(text: str) -> str:
    """Text on one line in which nothing is Markdown, HTML, a mention or the end of a cell."""
    visible = "".join(c if c.isprintable() or c in NO_BREAK_SPACES else " " for c in text)
    line = re.sub(" +", " ", visible).strip(" ")
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # `$` too: GitHub sets mathematics between two of them. After the entities, whose `&` and `;`
    # need no backslash.
    line = re.sub(r"([\\`*_\[\]|~$])", r"\\\1", line)
    # a pull request calls nobody and links no issue because a sample says so
    return re.sub(r"(?<!\w)@(?=\w)|#(?=\d)", r"\g<0>&#8203;", line)


def _render_blocks(nodes: Sequence[doc.Node]) -> list[str]:
    blocks = []
    for node in doc.select_nodes(nodes, "text"):
        if isinstance(node, doc.Section):
            blocks += _render_blocks(node.nodes)
        else:
            blocks.append(_render_block(node))
    return [block for block in blocks if block]


def _render_block(node: doc.Node) -> str:
    match node:
        case doc.Heading():
            return _render_heading(node)
        case doc.Paragraph():
            text = _render_paragraph(node.text)
            return f"**{text}**" if node.style == "strong" else text
        case doc.Byline():
            return " · ".join(_render_inline(fact) for fact in node.facts)
        case doc.Status():
            return f"**{escape(node.text)}**"
        case doc.CodeLine():
            return _render_code_line(node.text)
        case doc.Facts():
            return "\n".join(f"- {escape(f.label)}: {escape(f.value)}" for f in node.facts)
        case doc.BulletList():
            return "\n".join(_render_items(node))
        case doc.ReportTable():
            return "\n".join(_render_table(node))
        case doc.Details():
            summary = f"<details><summary>{escape(node.summary)}</summary>"
            return "\n\n".join([summary, *_render_blocks(node.nodes), "</details>"])
        case _:  # pictures and whole samples are for pages
            return ""


def _render_heading(node: doc.Heading) -> str:
    note = f" ({escape(node.note)})" if node.note else ""
    return f"{'#' * node.level} {_render_paragraph(node.text)}{note}"


def _render_code_line(text: str) -> str:
    return f"`{text}`" if text and text.isprintable() and "`" not in text else ""


def _render_paragraph(text: doc.Inline) -> str:
    """A text at the start of a line, where nothing in it may begin a heading, a list or a rule."""
    return re.sub(r"^(\d+(?=[.)])|(?=[#+=.)-]))(.)", r"\1\\\2", _render_inline(text))


def _render_inline(text: doc.Inline) -> str:
    return "".join(_render_span(part) for part in doc.to_spans(text))


def _render_span(part: str | doc.Styled) -> str:
    if isinstance(part, str):
        # the spaces that part it from its neighbours stay
        start, end = part[:1] == " ", part.strip() and part[-1:] == " "
        return f"{' ' if start else ''}{escape(part)}{' ' if end else ''}"
    match part.style:
        case "strong":
            return f"**{escape(part.text)}**"
        case "emphasis":
            return f"*{escape(part.text)}*"
        case "code":
            is_plain = part.text.isprintable() and not set(part.text) & set("`|")
            return f"`{part.text}`" if is_plain else escape(part.text)
        case "badge":
            return f"⚠ {escape(part.text)}" if part.severity == "warn" else f"({escape(part.text)})"
        case "sentence":
            return _render_inline(doc.split_code(part.text))
        case "unseen":
            return ""
        case "break":  # a cell of a table is one line
            return " "
        case _:
            return escape(part.text)


def _render_items(node: doc.BulletList, indent: str = "") -> list[str]:
    mark = "1." if node.ordered else "-"
    lines = []
    for item in node.items:
        start = ""
        if node.style == "gates":
            start = f"{SIGNS[item.severity]} "
        elif item.id:
            start = f"**{escape(item.id)}** "
        elif item.label:
            start = f"{_render_span(doc.Styled(item.label, 'code'))}: "
        lines.append(f"{indent}{mark} {start}{_render_paragraph(item.text)}".rstrip())
        for below in doc.select_nodes(item.nodes, "text"):
            if isinstance(below, doc.BulletList):
                lines += _render_items(below, f"{indent}    ")
            elif isinstance(below, doc.CodeLine):
                # A fence inside a list item needs its indent and free lines around it, or GitHub
                # ends the list.
                lines += ["", "    ```sh", f"    {below.text}", "    ```", ""]
            else:
                lines[-1] += "  "  # a line break
                lines.append(f"{indent}  {_render_block(below)}")
    return lines


def _render_table(node: doc.ReportTable) -> Iterable[str]:
    heads, rows, total = doc.select_columns(node, "text")
    yield _join_cells(_render_inline(column.head) for column in heads)
    yield _join_cells("---:" if column.numeric else "---" for column in heads)
    for row in (*rows, *([total] if total else [])):
        cells = [doc.to_cell(cell) for cell in row.cells]
        yield _join_cells(
            f"**{_render_inline(cell.text)}**"
            if cell.style == "strong"
            else _render_inline(cell.text)
            for cell in cells
        )


def _join_cells(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
