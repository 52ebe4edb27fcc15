"""A text cut into excerpts: those that evidence marks, plain ones, and gaps left for size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

WORST_FIRST = ("bad", "warn", "plain", "good", "")
"""Severities in the order in which overlapping marks are coloured."""
CONTEXT_CHARS = 80
"""Characters of context kept around a quote in a shortened text."""


@dataclass(frozen=True, slots=True)
class EvidenceMark:
    """A stretch of a text that one finding points at."""

    start: int
    end: int
    number: int
    severity: str


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of text with the findings that point at it, or a number of characters left out."""

    text: str = ""
    numbers: tuple[int, ...] = ()
    severity: str = ""
    left_out: int = 0


def cut_excerpts(text: str, marks: Sequence[EvidenceMark], limit: int) -> list[Excerpt]:
    """The text in order, split wherever a mark starts or ends, shortened to about the limit around its marks."""
    # A judge's offsets are not trusted: a mark outside the text is dropped, not clipped to
    # something it did not mean.
    inside = [mark for mark in marks if 0 <= mark.start < mark.end <= len(text)]
    out: list[Excerpt] = []
    at = 0
    for start, end in _choose_windows(len(text), inside, limit):
        if start > at:
            out.append(Excerpt(left_out=start - at))
        cuts = {start, end}
        for mark in inside:
            cuts |= {cut for cut in (mark.start, mark.end) if start < cut < end}
        ordered = sorted(cuts)
        for left, right in pairwise(ordered):
            over = [mark for mark in inside if mark.start <= left and right <= mark.end]
            # what one finding supports and another disputes is disputed
            severity = min((mark.severity for mark in over), key=WORST_FIRST.index, default="")
            out.append(Excerpt(text[left:right], tuple(m.number for m in over), severity))
        at = end
    if at < len(text):
        out.append(Excerpt(left_out=len(text) - at))
    return out


def is_cut(parts: Sequence[Excerpt]) -> bool:
    """Whether something was left out."""
    return any(part.left_out for part in parts)


def _choose_windows(
    length: int, marks: Sequence[EvidenceMark], limit: int
) -> list[tuple[int, int]]:
    """The stretches to show: all of a short text; else its beginning and what surrounds the marks."""
    if length <= limit:
        return [(0, length)] if length else []
    # Half for the beginning, half for the evidence.
    head = limit // 2 if marks else limit
    windows, room = [(0, head)], limit - head
    for mark in marks:
        start, end = max(0, mark.start - CONTEXT_CHARS), min(length, mark.end + CONTEXT_CHARS)
        # Windows are granted in the order of the findings until the room is used up.
        end = min(end, start + room)
        if end - start > CONTEXT_CHARS:
            windows.append((start, end))
            room -= end - start
    merged: list[tuple[int, int]] = []
    for start, end in sorted(windows):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
