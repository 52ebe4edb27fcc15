"""Where an inconsistent summary departs from its nearest consistent sibling: labels that SummEdits implies."""

from __future__ import annotations

import re
from collections import defaultdict
from difflib import SequenceMatcher
from typing import Any

_WORD = re.compile(r"\w+(?:['’.,]\w+)*|%|\$")


def mark_edits(rows: list[dict[str, Any]]) -> None:
    """Give every inconsistent SummEdits row the spans by which it differs from a consistent one."""
    consistent: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["set"] == "summedits" and row["label"] == 1:
            consistent[row["context"]].append(row["claim"])
    for row in rows:
        if row["set"] == "summedits" and row["label"] == 0 and consistent[row["context"]]:
            row["spans"] = _differences(row["claim"], consistent[row["context"]])


def _differences(text: str, others: list[str]) -> list[dict[str, int]]:
    mine = [(match.group().lower(), *match.span()) for match in _WORD.finditer(text)]
    words = [word for word, _, _ in mine]
    best, best_cost = None, 1e9
    for other in others:
        theirs = [word.lower() for word in _WORD.findall(other)]
        matcher = SequenceMatcher(None, theirs, words, autojunk=False)
        blocks = [code for code in matcher.get_opcodes() if code[0] != "equal"]
        cost = sum(max(b2 - b1, a2 - a1) for _, a1, a2, b1, b2 in blocks)
        if cost < best_cost:
            best, best_cost = blocks, cost
    spans = []
    for _, _, _, low, high in best or []:
        if low == high:  # words were left out: the word after the gap stands for it
            low = min(low, len(mine) - 1)
            high = low + 1
        spans.append({"start": mine[low][1], "end": mine[high - 1][2]})
    return spans
