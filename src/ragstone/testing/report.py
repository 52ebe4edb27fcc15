"""The report of `--ragstone-report`: every check of a test run with its evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragstone.report import html, markdown
from ragstone.report.files import write_text
from ragstone.report.pages.checks import ChecksPage
from ragstone.report.translator import load_translator


def write_checks(records: Sequence[Mapping[str, Any]], path: str | Path, language: str) -> None:
    """Write the checks, as `Checker.records` holds them, as a page, Markdown or JSON, by the suffix of the path."""
    ending = Path(path).suffix.lower()
    if ending == ".json":
        write_text(path, json.dumps(list(records), ensure_ascii=False, indent=2) + "\n")
        return
    page = ChecksPage(load_translator(language), records)
    write_text(path, html.render(page) if ending == ".html" else markdown.render(page))
