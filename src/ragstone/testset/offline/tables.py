"""Facts from tables: what a cell says of its row, where the page says whose rows they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice

from ragstone.testset.blocks import Block
from ragstone.testset.offline import gate
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.frames import name_home
from ragstone.testset.offline.headings import quote_label
from ragstone.testset.offline.page import Page
from ragstone.testset.outline import DocumentSection

MAX_TABLE_FACTS = 3
"""Facts of one table: more of them would ask the same thing again and again."""
MAX_KEY_WORDS = 6
MAX_CELL_WORDS, MAX_COLUMN_WORDS = 8, 6
_CELL = re.compile(r"(?=.*\d)[^{}<>|=\\\[\]*_#`]{1,60}")
"""An amount, a number, a time or a date."""
_COLUMN = re.compile(r"(?=.*[^\W\d_]{2})[^\d{}<>|=\\\[\]*_#“”«».:?!]{2,50}")
MIN_FILLED = 2 / 3
"""Share of the cells of a column that must be such values: else its first row is no header, but data."""
_ODD_KEY = re.compile(r":$|^(?:Otr[oa]s?|Others?|Total|Todos|All)\b|[<>^*]|^(?!.*[^\W\d_]{3})")
"""A key that does not say which row, or stands for several."""


def find_table_facts(page: Page) -> Iterator[Fact]:
    """Cells of tables whose first row names the columns and whose first column names the rows."""
    rows = [section for section in page.sections if section.block.kind == "row"]
    times = Counter(row.block.terms[0] for row in rows)
    for is_table, parts in groupby(page.sections, key=lambda section: section.block.kind == "row"):
        if is_table:
            yield from islice(_find_rows_facts(page, list(parts), times), MAX_TABLE_FACTS)


def _find_rows_facts(
    page: Page, rows: Sequence[DocumentSection], times: Mapping[str, int]
) -> Iterator[Fact]:
    """The facts of a table; `times` says how often each key begins a row of the page."""
    header, *body = (row.block for row in rows)
    # a first row that is no row of names is data; a row of another length has cells that stand for several rows
    is_even = all(len(row.terms) == len(header.terms) and row.terms[0] for row in body)
    is_even = is_even and len(set(header.terms)) == len(header.terms)
    if len(body) < 2 or not is_even or not all(map(_is_header, header.terms)):
        return
    place = _name_place(page, rows[0])
    columns = [at for at in range(1, len(header.terms)) if sum(_is_value(row.terms[at]) for row in body) >= MIN_FILLED * len(body)]  # fmt: skip
    for row in body:
        # a repeated key makes every question about it ambiguous
        if times[row.terms[0]] == 1:
            for at in columns:
                column, group = header.terms[at], f"table:{header.start}:{at}"
                yield from _find_cell_facts(page, row, column, row.terms[at], group, place)


def _is_header(text: str) -> bool:
    return bool(_COLUMN.fullmatch(text)) and len(text.split()) <= MAX_COLUMN_WORDS


def _is_value(text: str) -> bool:
    return bool(_CELL.fullmatch(text)) and len(text.split()) <= MAX_CELL_WORDS


def _name_place(page: Page, section: DocumentSection) -> str:
    """Where a table stands, as a question says it: under which heading of which document; empty where the document has no name."""
    home, templates = name_home(page), page.grammar.templates
    heading = next((text for text in section.headings[:1] if text != page.title), "")
    if not home or not heading:
        return home and templates["of"].format(home)
    return templates["under"].format(label=quote_label(heading, page.grammar), home=home)


def _find_cell_facts(
    page: Page, row: Block, column: str, value: str, group: str, place: str
) -> Iterator[Fact]:
    grammar, key = page.grammar, row.terms[0]
    is_named = bool(key) and not _ODD_KEY.search(key) and len(key.split()) <= MAX_KEY_WORDS
    # without the name of its page nobody knows which row is meant
    if not is_named or not _is_value(value) or not place:
        return
    # both quoted: a header is often no noun that fits into a sentence
    quote = grammar.templates["quote"]
    asked = key if "`" in key else quote.format(key.strip('“”«»"'))
    question = grammar.templates["cell"].format(key=asked, column=quote.format(column), place=place)
    if not gate.explain_doubtful_question(question, grammar):
        yield Fact(question, value, "factual", "table", row.start, row.end, asked, asked, "", group)
