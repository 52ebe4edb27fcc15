"""Facts from tables: what a cell says of its row, where the page says whose rows they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from ragstone.testset.blocks import Block
from ragstone.testset.offline import gate
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.page import Page
from ragstone.testset.offline.subjects import frame_question

MAX_TABLE_FACTS = 4
"""Facts of one table: more of them would ask the same thing again and again."""
MAX_KEY_WORDS = 4
_CELL = re.compile(
    r"(?:[$€£]? ?\d[\d.,]* ?(?:[a-zA-Z%€$£°µ]{1,12}(?: [a-z]+)?)|[$€£] ?\d[\d.,]*|\d{1,2}[:.]\d\d(?: ?(?:-|–|to|a) ?\d{1,2}[:.]\d\d)?|`[^`]+`)"
)
"""A value that tells something by itself: an amount with its unit, a time, code; a bare number lacks its unit."""
_COLUMN = re.compile(r"[^\W\d_][\w()/-]{1,20}(?: [\w()/-]{1,15}){0,2}")
_ODD_KEY = re.compile(
    r":$| (?:o|or|y|and) |\(|^(?:Otr[oa]s?|Others?|Total)\b|[<>^]|^(?!.*[^\W\d_]{3})"
)
"""A key that does not say which row, or stands for several."""


def find_table_facts(page: Page) -> Iterator[Fact]:
    """Cells of tables whose first row names the columns and whose first column names the rows."""
    blocks = [section.block for section in page.sections]
    for is_table, rows in groupby(blocks, key=lambda block: block.kind == "row"):
        if is_table:
            yield from islice(_find_rows_facts(page, list(rows)), MAX_TABLE_FACTS)


def _find_rows_facts(page: Page, rows: Sequence[Block]) -> Iterator[Fact]:
    header, *body = rows
    keys = [row.terms[0] for row in body]
    # a repeated key makes every question about it ambiguous; a first row that is no row of names is data
    if len(body) < 2 or len(set(keys)) < len(keys) or not all(map(_COLUMN.fullmatch, header.terms)):
        return
    for row in body:
        if len(row.terms) == len(header.terms):
            for column, value in list(zip(header.terms, row.terms, strict=True))[1:]:
                group = f"table:{header.start}:{column}"
                yield from _find_cell_facts(page, row, column, value, group)


def _find_cell_facts(page: Page, row: Block, column: str, value: str, group: str) -> Iterator[Fact]:
    grammar, key = page.grammar, row.terms[0]
    is_named = bool(key) and not _ODD_KEY.search(key) and len(key.split()) <= MAX_KEY_WORDS
    if not is_named or not _CELL.fullmatch(value):
        return
    name = re.sub(r"\s*\(.*?\)", "", column).lower()
    asked = key if "`" in key else grammar.templates["quote"].format(key)
    bare = grammar.fix_question(grammar.templates["cell"].format(key=asked, column=name))
    question = frame_question(page, bare, product=True)
    # without the owner, product or setting of its page nobody knows which row is meant
    if question != bare and not gate.explain_doubtful_question(question, grammar):
        yield Fact(question, value, "factual", "table", row.start, row.end, key, key, "", group)
