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
from ragstone.testset.offline.page import Page

MAX_TABLE_FACTS = 3
"""Facts of one table: more of them would ask the same thing again and again."""
MAX_KEY_WORDS = 6
_CELL = re.compile(
    r"[$€£] ?\d[\d.,]*(?: ?[a-zA-Z/]+)?|\d[\d.,]* ?[a-zA-Z%€$£°µ]{1,12}(?: [a-z]+)?|\d{1,2}:\d\d|\d{1,2}[:.]\d\d ?(?:-|–|to|a) ?\d{1,2}[:.]\d\d"
)
"""A value that tells something by itself: an amount with its unit, a time; a bare number lacks its unit."""
_COLUMN = re.compile(
    r"(?!(?:The|El|La|Los|Las) )[^\W\d_][\w()/%€$-]{1,20}(?: [\w()/%€$-]{1,15}){0,2}"
)
_ODD_KEY = re.compile(r":$|^(?:Otr[oa]s?|Others?|Total|Todos|All)\b|[<>^*]|^(?!.*[^\W\d_]{3})")
"""A key that does not say which row, or stands for several."""


def find_table_facts(page: Page) -> Iterator[Fact]:
    """Cells of tables whose first row names the columns and whose first column names the rows."""
    blocks = [section.block for section in page.sections]
    times = Counter(block.terms[0] for block in blocks if block.kind == "row")
    for is_table, rows in groupby(blocks, key=lambda block: block.kind == "row"):
        if is_table:
            yield from islice(_find_rows_facts(page, list(rows), times), MAX_TABLE_FACTS)


def _find_rows_facts(page: Page, rows: Sequence[Block], times: Mapping[str, int]) -> Iterator[Fact]:
    """The facts of a table; `times` says how often each key begins a row of the page."""
    header, *body = rows
    # a first row that is no row of names is data
    if len(body) < 2 or not all(map(_COLUMN.fullmatch, header.terms)):
        return
    for row in body:
        # a repeated key makes every question about it ambiguous
        if len(row.terms) == len(header.terms) and times[row.terms[0]] == 1:
            for column, value in list(zip(header.terms, row.terms, strict=True))[1:]:
                group = f"table:{header.start}:{column}"
                yield from _find_cell_facts(page, row, column, value, group)


def _find_cell_facts(page: Page, row: Block, column: str, value: str, group: str) -> Iterator[Fact]:
    grammar, key, home = page.grammar, row.terms[0], name_home(page)
    is_named = bool(key) and not _ODD_KEY.search(key) and len(key.split()) <= MAX_KEY_WORDS
    # without the title of its page nobody knows which row is meant
    if not is_named or not _CELL.fullmatch(value) or not home:
        return
    # both quoted: a header is often no noun that fits into a sentence
    quote = grammar.templates["quote"]
    asked = key if "`" in key else quote.format(key.strip('“”«»"'))
    question = grammar.templates["cell"].format(key=asked, column=quote.format(column), home=home)
    if not gate.explain_doubtful_question(question, grammar):
        yield Fact(question, value, "factual", "table", row.start, row.end, key, key, "", group)
