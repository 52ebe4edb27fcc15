"""What a picture is made of: boxes, strokes, dots and words at coordinates, each with a role instead of a colour."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Role = Literal[
    "grid",
    "axis",
    "zero",
    "band",
    "bar",
    "good",
    "bad",
    "warn",
    "plain",
    "target",
    "ink",
    "soft",
    "interval",
    "mean",
]
"""What a shape is there for; the page's style or the table of colours says how that looks."""

Anchor = Literal["start", "middle", "end"]

WIDE, NARROW = 720, 340
"""Widths that pictures are laid out for: a page, and a phone."""

FONT_SIZE = 12.0
"""Size of the words in a picture."""


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    role: Role
    title: str = ""
    href: str = ""
    """Where it leads in a page; a picture with such boxes is a group of links."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    role: Role
    thick: float = 1.0
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    role: Role
    size: float = 4.5
    title: str = ""
    href: str = ""
    """Where it leads in a page."""


@dataclass(frozen=True, slots=True)
class Caption:
    """Words; y is their base line."""

    x: float
    y: float
    text: str
    role: Role = "ink"
    anchor: Anchor = "start"
    bold: bool = False


Shape = Box | Stroke | Dot | Caption


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    label: str
    """What it shows, in a sentence, for those who do not see it."""
    times: tuple[int, int, float, float] | None = None
    """Of a picture over time: its ends in microseconds since 1970, and where they lie."""


def cut_to_width(text: str, width: float) -> str:
    """The text cut to about the width it may take."""
    # 0.58 em is about the mean width of a letter; nothing here can measure a font that the reader's
    # machine picks.
    room = max(int(width / (FONT_SIZE * 0.58)), 2)
    return text if len(text) <= room else text[: room - 1].rstrip() + "…"


def text_width(text: str) -> float:
    """About how wide a text is."""
    return len(text) * FONT_SIZE * 0.58


def stack_drawings(drawings: list[Drawing], gap: float = 18.0) -> Drawing:
    """Several pictures one below the other."""
    shapes: list[Shape] = []
    at = 0.0
    for drawing in drawings:
        shapes += [_move_down(shape, at) for shape in drawing.shapes]
        at += drawing.height + gap
    width = max((drawing.width for drawing in drawings), default=NARROW)
    return Drawing(
        width, max(at - gap, 1.0), tuple(shapes), "; ".join(drawing.label for drawing in drawings)
    )


def _move_down(shape: Shape, by: float) -> Shape:
    if isinstance(shape, Stroke):
        return replace(shape, points=tuple((x, y + by) for x, y in shape.points))
    return replace(shape, y=shape.y + by)
