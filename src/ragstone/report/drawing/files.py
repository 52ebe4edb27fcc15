"""A picture into a file: SVG by itself, PNG by matplotlib."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.data import replacing
from ragstone.report.drawing.charts import histograms, metric_bars
from ragstone.report.drawing.raster import png
from ragstone.report.drawing.shapes import WIDE, Drawing, stacked
from ragstone.report.drawing.svg import file
from ragstone.report.files import write_text
from ragstone.report.words import words

if TYPE_CHECKING:
    from ragstone.analysis import Summary

__all__ = ["ENDINGS", "WIDE", "run_picture", "write"]

ENDINGS = (".svg", ".png")


def write(drawing: Drawing, path: str | os.PathLike[str]) -> None:
    """Write the picture; the extension says how."""
    if Path(path).suffix.lower() == ".svg":
        write_text(path, file(drawing))
        return
    content = png(drawing)
    with replacing(Path(path), text=False) as out:
        out.write(content)


def run_picture(summary: Summary, language: str = "en", width: float = WIDE) -> Drawing:
    """A run's means with their intervals and targets, and how its scores are spread."""
    say = words(language)
    spread = histograms(summary.metrics, say, width)
    if not any(one.bounds is not None and one.mean is not None for one in summary.metrics):
        return spread
    return stacked([metric_bars(summary, say, width), spread])
