"""Sentences with how each is to be taken, and texts cut to the room there is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Severity = Literal["", "good", "bad", "warn", "plain"]
"""How something is to be taken; `plain` stands back behind the text around it."""

_CODE = re.compile(r"""[\w .,:/=+"'(){}…-]+""")
"""Commands, options and names; anything else between backticks stays as it is, whoever wrote it."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One sentence with how it is to be taken."""

    text: str
    severity: Severity = "plain"


def shorten(text: str, limit: int) -> str:
    """The text on one line, cut with an ellipsis when it is longer than the limit."""
    head = text[: 4 * limit + 100]  # a reply of a megabyte is not split for a line of it
    line = " ".join(head.split())
    if len(line) <= limit and len(head) == len(text):
        return line
    return line[: limit - 1].rstrip() + "…"


def shorten_middle(name: str, limit: int) -> str:
    """A name on one line, cut in its middle: names that differ often begin alike."""
    line = shorten(name, 1_000)
    if len(line) <= limit:
        return line
    end = max((limit - 1) // 2, 1)
    return f"{line[: max(limit - 1 - end, 1)]}…{line[-end:]}"


def split_code(sentence: str) -> list[tuple[str, bool]]:
    """The stretches of a sentence of ours, and whether each stood between backticks and is code."""
    parts: list[tuple[str, bool]] = []
    for n, part in enumerate(re.split("`([^`]*)`", sentence)):
        is_code = n % 2 == 1 and _CODE.fullmatch(part) is not None
        text = part if n % 2 == 0 or is_code else f"`{part}`"
        if text:
            parts.append((text, is_code))
    return parts


def choose_arrow(higher_is_better: bool) -> str:
    """The direction that is good."""
    return "↑" if higher_is_better else "↓"
