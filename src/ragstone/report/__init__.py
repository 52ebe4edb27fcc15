"""A run as people read it: terminal, Markdown, HTML, JUnit, or its rows with one column per metric."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.errors import RagstoneError

if TYPE_CHECKING:
    from ragstone.analysis import Summary
    from ragstone.store import StoredRun

ROWS = (".jsonl", ".json", ".csv", ".parquet")
"""Extensions that hold the input rows with one column per metric."""

PAGES = (".html", ".md", ".xml", ".svg", ".png")
"""Extensions that hold a report, or its pictures."""


def write(
    run: StoredRun, summary: Summary, path: str | os.PathLike[str], language: str = "en"
) -> None:
    """Write the report or export that the extension of the path asks for."""
    from ragstone.report import export, html, junit, markdown
    from ragstone.report.files import write_text

    ending = Path(path).suffix.lower()
    if ending in ROWS:
        export.write(run, path, summary)
    elif ending == ".html":
        html.write(run, summary, path, language)
    elif ending == ".md":
        write_text(path, markdown.render(run, summary, language))
    elif ending == ".xml":
        write_text(path, junit.render(run, summary))
    elif ending in (".svg", ".png"):
        from ragstone.report.drawing import files

        files.write(files.run_picture(summary, language), path)
    else:
        raise RagstoneError(
            f"{str(path)!r} names no format; end it in one of {' '.join((*PAGES, *ROWS))}"
        )
