"""Pages of results for tests of reports."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from rich.console import Console

from ragstone.analysis import Summary
from ragstone.analysis.comparison import Comparison
from ragstone.analysis.failures import Failures
from ragstone.labels.estimates import MeasuredItem
from ragstone.labels.measure import JudgeMeasurement, compare_judges, measure_judge
from ragstone.report.pages import Page
from ragstone.report.pages.comparison import ComparisonPage
from ragstone.report.pages.failures import FailurePage
from ragstone.report.pages.run import RunPage
from ragstone.report.terminal import print_page
from ragstone.report.translator import load_translator
from ragstone.store import StoredRun
from ragstone.types import Sample


def run_page(run: StoredRun, summary: Summary, language: str = "en", **options: Any) -> RunPage:
    """The page of a run with a summary of its own."""
    return RunPage(load_translator(language), run, summary, **options)


def compare_page(
    found: Comparison, runs: Iterable[Any], language: str = "en", **options: Any
) -> ComparisonPage:
    """The page of a comparison of these runs."""
    return ComparisonPage(
        load_translator(language), found, {run.info.id: run for run in runs}, **options
    )


def failure_page(
    found: Failures, diagnoses: Any, run: Any = None, language: str = "en"
) -> FailurePage:
    """The page of failures, with or without a diagnosis."""
    return FailurePage(load_translator(language), found, diagnoses, run)


def print_text(page: Page, width: int = 80, *, details: bool = False, **options: Any) -> str:
    """What a terminal shows of a page."""
    out = io.StringIO()
    print_page(page, Console(file=out, width=width, **options), details=details)
    return out.getvalue()


def measure_example() -> JudgeMeasurement:
    """Two judges on twenty labelled answers, one of which the second gets wrong."""
    samples = {f"s{n}": Sample(f"s{n}", "Who?", "She") for n in range(20)}
    right = [
        MeasuredItem(f"s{n}", "", n % 2, n % 2, n % 2, has_probability=True) for n in range(20)
    ]
    judged = [("a", right), ("b", [replace(right[0], decision=1.0), *right[1:]])]
    measures = tuple(measure_judge(name, items) for name, items in judged)
    pairs = tuple(compare_judges(judged))
    return JudgeMeasurement("people", "support", 20, True, measures, pairs, samples)
