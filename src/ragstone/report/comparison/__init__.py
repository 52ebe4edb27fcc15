"""Several runs against one, as people read it: terminal, Markdown, HTML, JSON, a picture, a CI log."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.errors import RagstoneError

if TYPE_CHECKING:
    from ragstone.analysis.compare import Comparison
    from ragstone.report.drawing.shapes import Drawing
    from ragstone.store import StoredRun

ENDINGS = (".html", ".md", ".json", ".svg", ".png")
"""What a comparison can be written as."""


def write(
    comparison: Comparison,
    runs: Mapping[str, StoredRun],
    path: str | os.PathLike[str],
    language: str = "en",
) -> None:
    """Write the comparison in the format of the path's extension; `runs` by id, for the samples."""
    import json

    from ragstone.report.comparison import html, markdown
    from ragstone.report.drawing import files
    from ragstone.report.files import write_text

    ending = Path(path).suffix.lower()
    if ending == ".html":
        write_text(path, html.render(comparison, runs, language))
    elif ending == ".md":
        write_text(path, markdown.render(comparison, runs, language))
    elif ending == ".json":
        text = json.dumps(comparison.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)
        write_text(path, text + "\n")
    elif ending in files.ENDINGS:
        files.write(_picture(comparison, language), path)
    else:
        raise RagstoneError(
            f"{str(path)!r} names no format of a comparison; end it in one of {' '.join(ENDINGS)}"
        )


def _picture(comparison: Comparison, language: str) -> Drawing:
    """The differences, and with several runs quality against cost."""
    from ragstone.analysis.pareto import trade_off
    from ragstone.report.drawing.charts import forest, pareto
    from ragstone.report.drawing.shapes import WIDE, stacked
    from ragstone.report.words import words

    say = words(language)
    found = trade_off(comparison) if len(comparison.versus) > 1 else None
    drawings = [forest(comparison, say, WIDE)]
    return stacked([*drawings, pareto(found, say, WIDE)] if found else drawings)
