"""Names beside the points of a picture, placed so that none is printed over another or over a point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ragstone.report.drawing.shapes import FONT_SIZE, Caption, Shape, Stroke, text_width

Rectangle = tuple[float, float, float, float]
"""Left, top, right and bottom."""

LINE = FONT_SIZE + 3
"""Units from one line of words to the next."""
NEAR = 20.0
"""A name that is farther above or below its point than this gets a line to it."""


class LabelPlacer:
    """Finds a free place for each name within an area; `taken` are the points and lines themselves."""

    def __init__(self, area: Rectangle, taken: Sequence[Rectangle]) -> None:
        self._left, self._top, self._right, self._bottom = area
        self._taken = list(taken)

    def draw_label(self, text: str, at: tuple[float, float]) -> list[Shape]:
        """The name of the point at this place, with a line to it when it stands apart; nothing when there is no room at all."""
        width = text_width(text)
        for x, y in self._list_places(at, width):
            box = (x, y - FONT_SIZE + 1, x + width, y + 3)
            if not self._is_inside(box) or any(_overlap(box, other) for other in self._taken):
                continue
            self._taken.append(box)
            caption = Caption(x, y, text, "ink")
            middle = y - FONT_SIZE / 3
            if abs(middle - at[1]) <= NEAR:
                return [caption]
            end = x if x > at[0] else x + width
            return [Stroke((at, (end, middle)), "grid"), caption]
        return []

    def _list_places(self, at: tuple[float, float], width: float) -> Iterator[tuple[float, float]]:
        """Places from the nearest on: above right, above left, below, then line by line farther away."""
        x, y = at
        for step in range(int((self._bottom - self._top) / LINE) + 1):
            for base in (y - 9 - step * LINE, y + 17 + step * LINE):
                for start in (x + 9, x - 9 - width, x - width / 2):
                    yield start, base

    def _is_inside(self, box: Rectangle) -> bool:
        left, top, right, bottom = box
        return (
            self._left <= left and right <= self._right
            and self._top - FONT_SIZE <= top and bottom <= self._bottom
        )  # fmt: skip


def cover_points(points: Sequence[tuple[float, float]]) -> list[Rectangle]:
    """The places that points take."""
    return [(x - 6, y - 6, x + 6, y + 6) for x, y in points]


def cover_line(points: Sequence[tuple[float, float]]) -> list[Rectangle]:
    """Small places along a line through points, close enough that no letter fits between two."""
    covered = []
    for (x, y), (next_x, next_y) in pairwise(points):
        steps = max(1, int(math.hypot(next_x - x, next_y - y) / 4))
        for step in range(steps + 1):
            share = step / steps
            at = x + share * (next_x - x), y + share * (next_y - y)
            covered.append((at[0] - 1, at[1] - 1, at[0] + 1, at[1] + 1))
    return covered


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
