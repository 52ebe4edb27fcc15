"""Conversion of HTML pages to Markdown: headings, list items, table rows, code and definition lists.

Navigation (`nav`, `footer`, headers and footers of DocBook and Sphinx pages) and captions of pictures are dropped; blocks are separated by blank lines."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_HIDDEN_TAGS = frozenset(
    {"script", "style", "noscript", "template", "svg", "nav", "footer", "figcaption"}
)
_HIDDEN_CLASSES = frozenset({
    "navheader", "navfooter", "navbar", "sphinxsidebar", "related", "headerlink", "toc",
    "toctree-wrapper", "breadcrumbs", "contents_nav", "caption", "screenshot", "mediaobject",
})  # fmt: skip
_BLOCKS = frozenset({
    "p", "div", "section", "article", "header", "main", "aside", "ul", "ol", "table",
    "blockquote", "dl", "dt", "figure", "details",
})  # fmt: skip
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_CODE = frozenset({"code", "tt", "kbd", "samp"})
_ITEM_MARK = re.compile(r"\n(?:-|:|\d+\.) ")
_PRE_START, _PRE_END = "\x02", "\x03"
"""Control characters that mark preformatted text, whose line breaks must survive."""


def html_to_text(page: str) -> tuple[str, str]:
    """Convert a page to its text and its title."""
    parser = _PageParser()
    parser.feed(_escape_unclosed(page))
    parser.close()
    return _tidy_text("".join(parser.parts)), " ".join(parser.title.split())


def _escape_unclosed(page: str) -> str:
    """Escape what opens a tag or comment that nothing closes: html.parser would look to the end of the page for each of them."""
    for opening, closing in (("<!--", "-->"), ("<![", "]>"), ("<", ">")):
        end = page.rfind(closing) + 1
        page = page[:end] + page[end:].replace(opening, "&lt;" + opening[1:])
    return _UNKNOWN_SECTION.sub("&lt;![", page)


_UNKNOWN_SECTION = re.compile(r"<!\[(?!(?:cdata|temp|ignore|include|rcdata|if|else|endif)\b)", re.I)
"""Sections at which html.parser ends with an AssertionError."""


def _tidy_text(text: str) -> str:
    """Normalize white space outside of preformatted text, which becomes a fenced block."""
    parts = re.split(f"{_PRE_START}(.*?)(?:{_PRE_END}|$)", text, flags=re.DOTALL)
    for index in range(0, len(parts), 2):
        lines = (" ".join(line.split()) for line in parts[index].split("\n"))
        parts[index] = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).replace(
            "``", ""
        )  # an empty code element
    for index in range(1, len(parts), 2):
        code = parts[index].strip("\n").rstrip()
        parts[index] = f"\n\n```\n{code}\n```\n\n" if code else ""
    return re.sub(r"\n{3,}", "\n\n", "".join(parts)).strip()


class _PageParser(HTMLParser):
    """A parser that collects the visible text of a page."""

    def __init__(self) -> None:
        # entities arrive as characters, so that `&lt;` in code stays one
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title = ""
        self._hidden: list[str] = []
        """The tag that hides the current text, once for each open element of that name."""
        self._in_title = False
        self._preformatted = False
        self._row: list[str] | None = None
        """Cells of the table row that is open; None outside of a row."""
        self._header_row = False
        """Whether the open row has had only `th` cells so far."""
        self._lists: list[int] = []
        """Items so far of each open list, the innermost last; -1 for one without numbers."""
        self._address = ""
        """Where the link goes that is open; empty outside of a link."""
        self._linked: tuple[int, str] | None = None
        """Of an item that has been a link and nothing else so far: the number of its mark in `parts`, and where it goes."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._hidden:
            if tag == self._hidden[0]:
                self._hidden.append(tag)
        elif tag == "title" and not self.title:
            self._in_title = True
        # a second title is that of a page behind the first
        elif tag in _HIDDEN_TAGS or tag == "title" or _is_navigation(tag, attrs):
            # void elements have no end tag: hidden, they would hide the rest of the page
            if tag not in ("br", "hr", "img", "input", "link", "meta"):
                self._hidden.append(tag)
        elif tag == "a":
            self._address = dict(attrs).get("href") or ""
        elif tag == "pre":
            self._preformatted = True
            self.parts.append(_PRE_START)
        elif not self._preformatted:
            self._open_block(tag)

    def _open_block(self, tag: str) -> None:
        if tag == "tr":
            self._open_row()
        elif self._row is not None:
            self._open_cell(tag)
        elif tag in _HEADINGS:
            self.parts.append(f"\n\n{_HEADINGS[tag]} ")
        elif tag == "li":
            self.parts.append(self._mark_item())
            self._linked = (len(self.parts) - 1, "")
        elif tag == "dd":
            self.parts.append("\n: ")
        elif tag == "br":
            self.parts.append("\n")
        elif tag == "summary":
            self.parts.append("\n\n**")
        elif tag in _BLOCKS and not (tag == "p" and self._starts_item()):
            self.parts.append("\n\n")
            if tag in ("ol", "ul"):
                self._lists.append(0 if tag == "ol" else -1)
        elif tag in _CODE:
            self.parts.append("`")

    def _open_row(self) -> None:
        if self._row and any(cell.strip() for cell in self._row):
            self._close_row(self._row)  # of a table around this one
        self._row, self._header_row = [], True

    def _mark_item(self) -> str:
        if not self._lists or self._lists[-1] < 0:
            return "\n- "
        self._lists[-1] += 1
        return f"\n{self._lists[-1]}. "

    def _open_cell(self, tag: str) -> None:
        assert self._row is not None
        if tag in ("td", "th"):
            self._row.append("")
            self._header_row = self._header_row and tag == "th"
        elif tag in _CODE:
            self._add_text("`")
        elif tag in _BLOCKS or tag in ("li", "br", "dd"):
            self._add_text(" ")

    def _starts_item(self) -> bool:
        """Whether the open list item or description is still empty."""
        last = next((part for part in reversed(self.parts) if part.strip(" \r\t")), "")
        return _ITEM_MARK.fullmatch(last) is not None

    def handle_endtag(self, tag: str) -> None:
        if self._hidden:
            if tag == self._hidden[0]:
                self._hidden.pop()
        elif tag == "title":
            self._in_title = False
        elif tag == "a":
            self._address = ""
        elif tag == "li":
            self._close_item()
        elif tag == "pre" and self._preformatted:
            self._preformatted = False
            self.parts.append(_PRE_END)
        else:
            self._close_block(tag)

    def _close_block(self, tag: str) -> None:
        if tag == "tr" and self._row is not None:
            self._close_row(self._row)
        elif tag in _CODE and not self._preformatted:
            self._add_text("`")
        elif tag == "summary" and self._row is None and not self._preformatted:
            self.parts.append("**\n\n")
        elif self._row is None and tag != "dt" and (tag in _HEADINGS or tag in _BLOCKS):
            self.parts.append("\n\n")
            if tag in ("ol", "ul") and self._lists:
                self._lists.pop()

    def _close_item(self) -> None:
        """Write an item that is nothing but a link as one, so that it can be told from text."""
        if self._linked is not None and self._linked[1] and self._row is None:
            start, address = self._linked
            label = " ".join("".join(self.parts[start + 1 :]).split())
            self.parts[start + 1 :] = [f"[{label}]({address})"]
        self._linked = None

    def _close_row(self, row: list[str]) -> None:
        self._row = None
        # in Markdown a bare | would begin another cell
        cells = [" ".join(cell.replace("|", "\\|").split()) for cell in row]
        if len(cells) < 2:
            self.parts.append(f"\n{''.join(cells)}\n")
            return
        self.parts.append(f"\n| {' | '.join(cells)} |")
        if self._header_row:
            self.parts.append(f"\n|{' --- |' * len(cells)}")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._hidden:
            if self._linked is not None and data.strip():
                is_link = self._address and not re.search(r"[()\s]", self._address) and self._linked[1] in ("", self._address)  # fmt: skip
                self._linked = (self._linked[0], self._address) if is_link else None
            self._add_text(data if self._preformatted else data.replace("\n", " "))

    def _add_text(self, text: str) -> None:
        if self._row:
            self._row[-1] += text.strip(_PRE_START + _PRE_END)
        # text of a row before its first cell is dropped; of blanks in a row one is enough
        elif self._row is None and (self._preformatted or text.strip() or not self._ends_blank()):
            self.parts.append(text)

    def _ends_blank(self) -> bool:
        return bool(self.parts) and not self.parts[-1].strip(" \r\t")


def _is_navigation(tag: str, attrs: list[tuple[str, str | None]]) -> bool:
    """Whether an element is a menu of the page, by its class or role, or the anchor of a heading."""
    for name, value in attrs:
        # only links: a folded answer is hidden too until somebody opens it
        if name == "aria-hidden" and value == "true" and tag == "a":
            return True
        if name == "class" and _HIDDEN_CLASSES.intersection((value or "").split()):
            return True
        if name == "role" and value == "navigation":
            return True
    return False
