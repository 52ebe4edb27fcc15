"""Texts into files, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.data import open_replacement

if TYPE_CHECKING:
    from ragstone.report.drawing.shapes import Drawing


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8; the file it replaces stays until the new one is complete."""
    with open_replacement(Path(path), text=False) as file:
        file.write(encode_text(text))


def encode_text(text: str) -> bytes:
    """UTF-8 of any string; lone surrogates, which UTF-8 cannot hold, become U+FFFD."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        # By way of UTF-16, in which a pair of surrogates becomes the character it stands for and
        # only lone ones are lost.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


def write_picture(drawing: Drawing, path: Path) -> None:
    """Write a picture: SVG by itself, PNG by matplotlib."""
    if path.suffix.lower() == ".svg":
        from ragstone.report.drawing.svg import to_svg_file

        write_text(path, to_svg_file(drawing))
        return
    from ragstone.report.drawing.raster import to_png

    content = to_png(drawing)
    with open_replacement(path, text=False) as file:
        file.write(content)
