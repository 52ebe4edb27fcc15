"""The registry of formats, and the recipe for a new one: a class that renders the nodes of a document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

import watched
from ragstone.analysis.advice import load_symptoms
from ragstone.analysis.compare import compare
from ragstone.analysis.diagnose import diagnose
from ragstone.analysis.failures import analyse_failures
from ragstone.cli.monitor.report import command as monitor_report
from ragstone.config.reports import FORMATS as PERIOD_FORMATS
from ragstone.config.reports import PERIODS
from ragstone.errors import RagstoneError
from ragstone.labels.estimates import MeasuredItem
from ragstone.labels.measure import JudgeMeasurement, compare_judges, measure_judge
from ragstone.monitor import Archive
from ragstone.monitor.windows.calendars import parse_local_time
from ragstone.monitor.windows.period_analysis import analyse_period
from ragstone.monitor.windows.period_report import PERIOD_BY_NAME
from ragstone.report import formats
from ragstone.report.builders.comparison import ComparisonReport
from ragstone.report.builders.effects import EffectsReport
from ragstone.report.builders.failures import FailureReport
from ragstone.report.builders.judge_measure import JudgeMeasureReport
from ragstone.report.builders.monitor_period import MonitorReport
from ragstone.report.builders.run import RunReport
from ragstone.report.builders.testset import CheckupReport
from ragstone.report.document import (
    BulletList,
    Byline,
    Details,
    Heading,
    Node,
    Paragraph,
    ReportTable,
    Section,
    Status,
    select_columns,
    select_nodes,
    to_cell,
    to_plain_text,
)
from ragstone.report.files import write_text
from ragstone.report.formats import ReportFormat, list_endings, register, write_report
from ragstone.report.render import html, terminal
from ragstone.store import Store
from ragstone.testset.checkup import check_testset
from ragstone.types import Sample


class WikiFormat(ReportFormat):
    """MediaWiki markup: a whole format in one class."""

    endings = (".wiki",)
    description = "MediaWiki markup"
    kinds = formats.DOCUMENTS

    def write(self, report: Any, path: Path) -> None:
        document = report.document()
        write_text(path, "\n".join(self.lines((*document.head, *document.body))))

    def lines(self, nodes: tuple[Node, ...]) -> Iterator[str]:
        for node in select_nodes(nodes, "text"):
            match node:
                case Heading():
                    yield f"{'=' * node.level} {to_plain_text(node.text)} {'=' * node.level}"
                case Paragraph() | Status():
                    yield to_plain_text(node.text)
                case Byline():
                    yield " · ".join(map(to_plain_text, node.facts))
                case BulletList():
                    for item in node.items:
                        yield f"* {to_plain_text(item.text)}"
                        yield from self.lines(item.nodes)
                case ReportTable():
                    columns, rows, _ = select_columns(node, "text")
                    yield "{|\n! " + " !! ".join(to_plain_text(column.head) for column in columns)
                    for row in rows:
                        cells = (to_plain_text(to_cell(cell).text) for cell in row.cells)
                        yield "|-\n| " + " || ".join(cells)
                    yield "|}"
                case Section() | Details():
                    yield from self.lines(node.nodes)


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
        RunReport(run, summary),
        ComparisonReport(compare(pair), {one.id: one for one in pair}),
        FailureReport(failures, diagnose(run, summary, failures, load_symptoms()), run),
        EffectsReport((effects,), "questions.jsonl"),
        CheckupReport(check_testset(str(tmp_path / "set.jsonl"))),
        MonitorReport(analyse_period(archive, "daily", parse_local_time("2026-05-11"))),
        JudgeMeasureReport(measure_example()),
    ]
    return {report.kind: report for report in found}


def test_a_new_format_is_one_class(
    reports: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "_FORMATS", list(formats._FORMATS))
    register(WikiFormat())
    assert set(reports) == set(formats.DOCUMENTS)
    for kind, report in reports.items():
        assert ".wiki" in list_endings(kind)
        write_report(report, tmp_path / f"{kind}.wiki")
        text = (tmp_path / f"{kind}.wiki").read_text(encoding="utf-8")
        assert text.startswith("= ")
        assert "{|\n! " in text


def test_every_renderer_takes_every_document(reports: dict[str, Any]) -> None:
    for report in reports.values():
        document = report.document()
        assert html.render(document).startswith("<!doctype html>")
        assert terminal.render(document, 80).strip()


def test_every_report_is_written_with_every_ending_of_its_kind(
    reports: dict[str, Any], tmp_path: Path
) -> None:
    for kind, report in reports.items():
        for ending in set(list_endings(kind)) - {".png", ".parquet"}:
            path = tmp_path / f"{kind}{ending}"
            write_report(report, path)
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
