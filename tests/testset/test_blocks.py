"""Documents as blocks: each stands where it says."""

from __future__ import annotations

import pytest

from ragstone.testset.blocks import parse_blocks, tidy_text

MARKDOWN = """# Guide

A first *paragraph* with a [link](http://x)
over two lines.

- one
- two
  goes on

1. step

```
code here
```

term
: its description

-a

--all
: Shows all.

| Key | Size |
| --- | --- |
| a | 3 MB |

Underlined
==========
"""


def test_markdown_is_read_as_blocks() -> None:
    found = [(block.kind, block.text, block.terms) for block in parse_blocks(MARKDOWN)]
    assert found == [
        ("heading", "Guide", ()),
        ("paragraph", "A first paragraph with a link over two lines.", ()),
        ("item", "one", ()),
        ("item", "two goes on", ()),
        ("item", "step", ()),
        ("code", "code here", ()),
        ("entry", "its description", ("term",)),
        ("entry", "Shows all.", ("-a", "--all")),
        ("row", "| Key | Size |", ("Key", "Size")),
        ("row", "| a | 3 MB |", ("a", "3 MB")),
        ("heading", "Underlined", ()),
    ]


def test_every_block_stands_where_it_says() -> None:
    for block in parse_blocks(MARKDOWN):
        held = MARKDOWN[block.start : block.end]
        assert held == held.strip()
        assert block.kind == "code" or tidy_text(held) == block.text


def test_a_manual_page_is_read_by_its_indents() -> None:
    text = "NAME\n       ls - list\n\nOPTIONS\n       -a     Show all.\n\n       --long\n              Show more\n              of it.\n"
    found = [(block.kind, block.text, block.terms) for block in parse_blocks(text)]
    assert found == [
        ("heading", "NAME", ()),
        ("paragraph", "ls - list", ()),
        ("heading", "OPTIONS", ()),
        ("entry", "Show all.", ("-a",)),
        ("entry", "Show more of it.", ("--long",)),
    ]


@pytest.mark.parametrize(
    "text", ["", "\n\n", "```\nnever closed", ":\n", "|", "-", "#", "a\n:\n\nb"]
)
def test_odd_texts_do_no_harm(text: str) -> None:
    for block in parse_blocks(text):
        assert text[block.start : block.end]


@pytest.mark.parametrize("marks", ["<br>", "**", '<p align="center">'])
def test_a_line_of_marks_alone_is_no_term(marks: str) -> None:
    assert all(block.kind != "entry" for block in parse_blocks(f"{marks}\nSome text.\n: more\n"))


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("2. THE SCHOOL DAY\n\nText.", ["2. THE SCHOOL DAY"]),
        ("Text.\n\nLOST THINGS\n\nText.", ["LOST THINGS"]),
        ("Text.\n\n3. Lost things\n\nText.", ["3. Lost things"]),
        ("1. Open it\n\n2. Close it\n\n3. Go\n", []),
        ("Text.\n\n3. Lost things are kept.\n\nText.", []),
        ("Text of a line\nLOST THINGS\nand more.", []),
        ("Text.\n\nLOST THINGS", []),
    ],
)
def test_headings_of_plain_text_stand_alone_in_capitals_or_with_a_number(text: str, headings: list[str]) -> None:  # fmt: skip
    assert [block.text for block in parse_blocks(text) if block.kind == "heading"] == headings


def test_the_mark_of_a_box_is_no_part_of_it() -> None:
    (block,) = parse_blocks('!!! note "Careful"\n    The valve is hot\n    after use.\n')
    assert (block.kind, block.text) == ("paragraph", "The valve is hot after use.")
