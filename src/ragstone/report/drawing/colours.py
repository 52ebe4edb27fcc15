"""The colours of pictures outside a page: those of the report by day."""

from __future__ import annotations

from ragstone.report.drawing.shapes import Role

# Only pictures in files need colours; pages take theirs from drawing.css, where they also change by
# night. `interval` and `mean` occur on the cards of a page alone.
COLOURS: dict[Role, str] = {
    "grid": "#e3ded8",
    "axis": "#c9c1b8",
    "zero": "#57534e",
    "band": "#f2efeb",
    "bar": "#7fb8b0",
    "good": "#166534",
    "bad": "#a31b1b",
    "warn": "#874a06",
    "plain": "#78716c",
    "target": "#1c1917",
    "ink": "#1c1917",
    "soft": "#57534e",
}
