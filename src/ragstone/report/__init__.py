"""Results as files, on a terminal and in a notebook: `write`, `show`, and what each kind of result has to say.

Results are plain data that know nothing of this. What each shows is in `pages`, how it looks in `templates` and
`terminal`."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.errors import RagstoneError

if TYPE_CHECKING:
    from rich.console import Console

    from ragstone.report.pages import Page

PAGES = {
    "Ablation": "effects",
    "Bench": "comparison",
    "Checkup": "checkup",
    "ComparisonResult": "comparison",
    "DiagnosisResult": "failures",
    "JudgeAttack": "judge_attack",
    "JudgeMeasurement": "judge_measure",
    "PeriodAnalysis": "period",
    "Run": "run",
    "DatasetCard": "card",
    "TuningResult": "tuning",
    "VersionDifference": "card",
}
"""Class of a result → the module of `pages` whose `open_page` gives its page."""


def write(
    result: Any, path: str | os.PathLike[str], *, language: str | None = None, **options: Any
) -> Path:
    """Write a result to a file by its ending: .html .md .json .svg .png, of a run also .xml .csv .jsonl .parquet.

    Of a run, `explain` puts the claims, verdicts and quotes behind each score into exported rows, and `raw` leaves
    cells of .csv as they are that a spreadsheet would execute."""
    from ragstone.report.formats import JsonFormat, find_format

    page = open_page(result, language, **options)
    format = find_format(page.kind, path)
    if isinstance(format, JsonFormat) and hasattr(result, "to_dict"):
        format.write_data(result.to_dict(), Path(path))
    else:
        format.write(page, Path(path))
    return Path(path)


def show(
    result: Any,
    *,
    language: str | None = None,
    details: bool = False,
    console: Console | None = None,
    **options: Any,
) -> None:
    """Print a result on the terminal: a screenful, or with `details` all that fits one."""
    from rich.console import Console as RichConsole

    from ragstone.report.terminal import print_page

    print_page(open_page(result, language, **options), console or RichConsole(), details=details)


def to_text(result: Any) -> str:
    """What `print` shows of a result."""
    from ragstone.report.terminal import render

    return render(open_page(result))


def to_cell(result: Any) -> str:
    """What a notebook shows of a result, as HTML."""
    from ragstone.report.html import render_fragment

    return render_fragment(open_page(result))


def open_page(result: Any, language: str | None = None, **options: Any) -> Page:
    """What a result has to say in a language; by itself in its own, else in English."""
    from ragstone.report.translator import load_translator

    for kind in type(result).__mro__:
        if kind.__name__ in PAGES and kind.__module__.startswith("ragstone."):
            module = import_module(f"ragstone.report.pages.{PAGES[kind.__name__]}")
            t = load_translator(language or getattr(result, "language", None) or "en")
            page: Page = module.open_page(result, t, **options)
            return page
    raise RagstoneError(
        f"no report of {type(result).__name__!r}; reports are of {', '.join(sorted(PAGES))}"
    )
