"""The registry of formats: which endings a report can be written with, and by what.

A new format is one class like those below, entered by `register`. Commands read their help and errors from here, so
nothing heavy is imported before a report is written."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from ragstone.errors import RagstoneError

KINDS = ("run", "comparison", "failures", "effects", "testset", "period", "judges")
"""Every kind of report; each is written as a page."""


class ReportFormat(ABC):
    """A way to write reports. `kinds` are the kinds of report that it can write."""

    endings: ClassVar[tuple[str, ...]]
    description: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]

    @abstractmethod
    def write(self, page: Any, path: Path) -> None:
        """Write a report of one of its kinds to a file, whole or not at all."""


class TemplateFormat(ReportFormat):
    """A format that fills a template with any page."""

    renderer: ClassVar[str]

    def write(self, page: Any, path: Path) -> None:
        """Write the page as text."""
        from ragstone.report.files import write_text

        module = import_module(f"ragstone.report.{self.renderer}")
        write_text(path, module.render(page))


class HtmlFormat(TemplateFormat):
    """A page for people."""

    endings = (".html",)
    description = "one self-contained page"
    kinds = KINDS
    renderer = "html"


class MarkdownFormat(TemplateFormat):
    """A text for pull requests and chats."""

    endings = (".md",)
    description = "GitHub-flavoured Markdown"
    kinds = KINDS
    renderer = "markdown"


class JUnitFormat(ReportFormat):
    """A run's gates and complete metrics as tests, for CI."""

    endings = (".xml",)
    description = "JUnit XML: a test for each gate and each metric's completeness"
    kinds = ("run",)

    def write(self, page: Any, path: Path) -> None:
        """Write the summary of a run as a test suite."""
        from ragstone.report.files import write_text
        from ragstone.report.junit import render
        from ragstone.store.run_notes import measure_run

        seconds = measure_run(page.run.store, page.run.info)
        write_text(path, render(page.summary, seconds))


class JsonFormat(ReportFormat):
    """An analysis as data."""

    endings = (".json",)
    description = "the figures as JSON"
    kinds = ("comparison", "failures", "effects", "testset", "judges")

    def write(self, page: Any, path: Path) -> None:
        """Write the plain data of the analysis."""
        self.write_data(page.data(), path)

    def write_data(self, data: Mapping[str, Any], path: Path) -> None:
        """Write what a result gives as plain data."""
        import json

        from ragstone.report.files import write_text

        text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)
        write_text(path, text + "\n")


class PictureFormat(ReportFormat):
    """The report's chart."""

    endings = (".svg", ".png")
    description = "its chart (PNG needs the extra `plot`)"
    kinds = ("run", "comparison", "failures", "effects")

    def write(self, page: Any, path: Path) -> None:
        """Write the picture of the report."""
        from ragstone.report.files import write_picture

        write_picture(page.picture(), path)


class RowsFormat(ReportFormat):
    """The rows of a run, untouched, with one column per metric."""

    endings = (".jsonl", ".json", ".csv", ".parquet")
    description = "the input rows with one column per metric"
    kinds = ("run",)

    def write(self, page: Any, path: Path) -> None:
        """Write every row of the run with its scores."""
        from ragstone.report.rows import export_rows

        export_rows(
            page.run,
            path,
            page.summary,
            explain=page.explain,
            raw=page.raw,
            language=page.t.language,
        )


# The order is that of the help texts; see `find_format` for which wins where endings are the same.
_FORMATS: list[ReportFormat] = [
    HtmlFormat(), MarkdownFormat(), JUnitFormat(), JsonFormat(), PictureFormat(), RowsFormat(),
]  # fmt: skip


def register(format: ReportFormat) -> None:
    """Add a format; a later one wins where endings are the same."""
    _FORMATS.append(format)


def list_formats(kind: str) -> Iterator[ReportFormat]:
    """The formats that can write a kind of report."""
    return (format for format in _FORMATS if kind in format.kinds)


def list_endings(kind: str) -> tuple[str, ...]:
    """The endings that a kind of report can be written with."""
    return tuple(dict.fromkeys(e for format in list_formats(kind) for e in format.endings))


def find_format(kind: str, path: str | os.PathLike[str]) -> ReportFormat:
    """The format that the ending of a path names; one that names none is an error."""
    ending = Path(path).suffix.lower()
    # From the last, so that a format which a user registers wins over ours.
    for format in reversed([*list_formats(kind)]):
        if ending in format.endings:
            return format
    raise RagstoneError(describe_unknown(kind, path))


def describe_unknown(kind: str, path: str | os.PathLike[str]) -> str:
    """What is wrong with a path whose ending names no format of a kind of report."""
    endings = " ".join(list_endings(kind))
    return f"{str(path)!r} names no format of this report; end it in one of {endings}"


def write_page(page: Any, path: str | os.PathLike[str]) -> None:
    """Write a report in the format that the ending of the path names."""
    find_format(page.kind, path).write(page, Path(path))
