"""Markdown and wrapped lines read as sentences, every letter at its old place."""

from __future__ import annotations

from ragstone.testset.prose import blank_non_prose
from ragstone.text.sentences import split_sentences

PAGE = """# Harbour station

The Harbour station opened in 1964 and
has **12 platforms**. See [the plan](plan.md).

| line | minutes |
| --- | --- |
| A | 4 |

```python
x = 1  # The code was written in 1990 by Nobody.
```

- Tickets cost 2 euros.
- Bicycles are free
  after 20:00.
"""


def said(text: str) -> list[str]:
    plain = blank_non_prose(text)
    return [" ".join(plain[a:b].split()) for a, b in split_sentences(plain, "en")]


def test_only_sentences_are_left_and_no_line_break_cuts_one() -> None:
    assert said(PAGE) == [
        "The Harbour station opened in 1964 and has 12 platforms .",
        "See the plan .",
        "Tickets cost 2 euros.",
        "Bicycles are free after 20:00.",
    ]


def test_every_letter_stays_at_its_place() -> None:
    plain = blank_non_prose(PAGE)
    assert len(plain) == len(PAGE)
    assert all(new in (old, " ", "\n") for old, new in zip(PAGE, plain, strict=True))


def test_a_plain_text_is_left_as_it_is() -> None:
    text = "One line.\nAnother one.\n\nA third."
    assert blank_non_prose(text) == text
    assert said(text) == ["One line.", "Another one.", "A third."]


def test_lines_cut_at_a_margin_are_joined() -> None:
    text = (
        "The mill beside the old harbour was built by the monks of the\n"
        "abbey and stood there until the great flood of the following\n"
        "century carried it away."
    )
    assert len(said(text)) == 1
