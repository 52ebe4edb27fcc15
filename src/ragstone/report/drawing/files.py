"""A picture into a file: SVG by itself, PNG by matplotlib."""

from __future__ import annotations

import os
from pathlib import Path

from ragstone.data import replacing
from ragstone.report.drawing.raster import png
from ragstone.report.drawing.shapes import WIDE, Drawing
from ragstone.report.drawing.svg import file
from ragstone.report.files import write_text

__all__ = ["ENDINGS", "WIDE", "write"]

ENDINGS = (".svg", ".png")


def write(drawing: Drawing, path: str | os.PathLike[str]) -> None:
    """Write the picture; the extension says how."""
    if Path(path).suffix.lower() == ".svg":
        write_text(path, file(drawing))
        return
    content = png(drawing)
    with replacing(Path(path), text=False) as out:
        out.write(content)
