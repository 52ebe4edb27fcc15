"""A figure at a glance, as pages show it: its name, value, picture and what is to be said about it."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.report.drawing.shapes import Drawing
from ragstone.report.remarks import Remark


@dataclass(frozen=True, slots=True)
class Card:
    """A figure at a glance."""

    name: str
    figure: str = ""
    aside: str = ""
    """What stands beside the figure: its interval, or what it counts."""
    aside_label: str = ""
    """What the aside is, for those who do not see the page."""
    badge: Remark | None = None
    direction: str = ""
    direction_below: bool = False
    """Whether the direction stands beside the figure rather than beside the name."""
    meaning: str = ""
    gist: str = ""
    """The meaning up to its first semicolon."""
    drawing: Drawing | None = None
    drawn_as: str = "series"
    """Class of the picture: series, distribution, small."""
    ends: tuple[str, ...] = ()
    """What the ends of the picture's axis are called."""
    coverage: str = ""
    remarks: tuple[Remark, ...] = ()
    style: str = ""
