"""The registry of formats, and the recipe for a new one: a class that writes a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

import watched
from paged import compare_page, failure_page, measure_example, print_text, run_page
from ragstone.analysis.advice import load_symptoms
from ragstone.analysis.compare import compare
from ragstone.analysis.diagnose import diagnose
from ragstone.analysis.failures import analyse_failures
from ragstone.cli.monitor.report import command as monitor_report
from ragstone.config.reports import FORMATS as PERIOD_FORMATS
from ragstone.config.reports import PERIODS
from ragstone.errors import RagstoneError
from ragstone.monitor import Archive
from ragstone.monitor.windows.calendars import parse_local_time
from ragstone.monitor.windows.period_analysis import analyse_period
from ragstone.monitor.windows.period_report import PERIOD_BY_NAME
from ragstone.report import formats, html, markdown, open_page
from ragstone.report.files import write_text
from ragstone.report.formats import ReportFormat, list_endings, register, write_page
from ragstone.report.pages.effects import EffectsPage
from ragstone.report.terminal import PRINTERS
from ragstone.report.translator import load_translator
from ragstone.store import Store
from ragstone.testset.checkup import check_testset


class WikiFormat(ReportFormat):
    """MediaWiki markup: a whole format in one class."""

    endings = (".wiki",)
    description = "MediaWiki markup"
    kinds = formats.KINDS

    def write(self, page: Any, path: Path) -> None:
        write_text(path, f"= {page.title} =\n")


@pytest.fixture
def reports(build: Any, run: Any, summary: Any, a_case: Any, tmp_path: Path) -> dict[str, Any]:
    """A report of each kind."""
    from ragstone.analysis.effects import Effects, Factor, Level

    pair = [build([a_case(n) for n in range(40)], name=name) for name in ("old", "new")]
    failures = analyse_failures(run)
    (tmp_path / "set.jsonl").write_text(
        json.dumps({"id": "a", "question": "Who?", "reference": "She"}) + "\n", encoding="utf-8"
    )
    archive = Archive(Store.open(tmp_path / "live.db"))
    watched.fill(archive, 60, parse_local_time("2026-05-11"))
    levels = (Level("5", 1, 0.5, 0.4, 0.6, True, True), Level("3", 1, 0.4, 0.3, 0.5, False, False))
    effects = Effects("recall@5", True, 40, 2, False, (Factor("top_k", levels),))
    found = [
        run_page(run, summary),
        compare_page(compare(pair), pair),
        failure_page(failures, diagnose(run, summary, failures, load_symptoms()), run),
        EffectsPage(load_translator("en"), (effects,), "questions.jsonl"),
        open_page(check_testset(str(tmp_path / "set.jsonl"))),
        open_page(analyse_period(archive, "daily", parse_local_time("2026-05-11"))),
        open_page(measure_example()),
    ]
    return {page.kind: page for page in found}


def test_a_new_format_is_one_class(
    reports: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "_FORMATS", list(formats._FORMATS))
    register(WikiFormat())
    assert set(reports) == set(formats.KINDS)
    for kind, report in reports.items():
        assert ".wiki" in list_endings(kind)
        write_page(report, tmp_path / f"{kind}.wiki")
        text = (tmp_path / f"{kind}.wiki").read_text(encoding="utf-8")
        assert text.startswith("= ")


def test_every_renderer_takes_every_page(reports: dict[str, Any]) -> None:
    for page in reports.values():
        assert html.render(page).startswith("<!doctype html>")
        assert markdown.render(page).startswith("# ")
        if page.template in PRINTERS:  # a period is printed as Markdown
            assert print_text(page).strip()


def test_every_report_is_written_with_every_ending_of_its_kind(
    reports: dict[str, Any], tmp_path: Path
) -> None:
    for kind, report in reports.items():
        for ending in set(list_endings(kind)) - {".png", ".parquet"}:
            path = tmp_path / f"{kind}{ending}"
            write_page(report, path)
            assert path.stat().st_size > 0


def test_an_unknown_ending_is_one_sentence_with_those_that_are_known() -> None:
    with pytest.raises(RagstoneError) as raised:
        formats.find_format("comparison", "c.pdf")
    assert str(raised.value) == (
        "'c.pdf' names no format of this report; end it in one of .html .md .json .svg .png"
    )


def test_config_and_command_line_know_the_periods_of_the_monitor() -> None:
    (option,) = [param for param in monitor_report.params if param.name == "period"]
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == PERIODS == tuple(PERIOD_BY_NAME)


def test_the_config_of_the_server_knows_the_formats_of_its_reports() -> None:
    assert tuple(f".{name}" for name in PERIOD_FORMATS) == list_endings("period")
