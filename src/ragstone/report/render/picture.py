"""A picture as a file: SVG by itself, PNG by matplotlib."""

from __future__ import annotations

from pathlib import Path

from ragstone.data import open_replacement
from ragstone.report.drawing.raster import to_png
from ragstone.report.drawing.shapes import Drawing
from ragstone.report.drawing.svg import to_svg_file
from ragstone.report.files import write_text


def write_picture(drawing: Drawing, path: Path) -> None:
    """Write the picture; the extension says how."""
    if path.suffix.lower() == ".svg":
        write_text(path, to_svg_file(drawing))
        return
    content = to_png(drawing)
    with open_replacement(path, text=False) as file:
        file.write(content)
