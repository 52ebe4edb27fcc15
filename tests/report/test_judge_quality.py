"""A run on the embedded judge says in every report how far that judge agrees with people."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.analysis import summarise
from ragstone.cli.judge import command
from ragstone.judges.offline import OfflineJudge, quality
from ragstone.report.builders.run import RunReport, build_summary
from ragstone.report.document import BulletList, Heading, Paragraph, ReportTable, to_plain_text
from ragstone.report.prose import parse_markdown
from ragstone.report.render import html, markdown, terminal
from ragstone.types import Score

CASES = [
    (
        {"id": "1", "question": "q", "answer": "a"},
        {"faithfulness": Score(1.0), "coherence": Score(1.0)},
    )
]


def _metrics(*names: str) -> tuple[dict[str, object], ...]:
    plain = {
        "higher_is_better": True,
        "bounds": [0.0, 1.0],
        "binary": False,
        "judged": True,
        "labels": [],
        "meaning": "",
    }
    return tuple({**plain, "name": name, "family": name} for name in names)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("measured against people", "balanced accuracy", "heuristic", "An LLM judge")),
        ("es", ("medido frente a personas", "exactitud equilibrada", "heurístico", "Un juez LLM")),
    ],
)
def test_every_report_names_the_judge_and_its_measured_quality(
    build: Any, language: str, words: tuple[str, ...]
) -> None:
    run = build(CASES, metrics=_metrics("faithfulness", "coherence"), judge=OfflineJudge.name)
    summary = summarise(run)
    document = RunReport(run, summary, language).document()
    for text in (
        markdown.render(document),
        " ".join(terminal.render(build_summary(summary, language), 80).split()),
        html.render(document),
    ):
        plain = text.replace("\\_", "_")
        assert OfflineJudge.name in plain
        assert "ragstone judge quality" in plain
        assert "RAGTruth" in plain
        for word in words:
            assert word in plain


def test_another_judge_or_unjudged_metrics_say_nothing_of_it(build: Any) -> None:
    for name, metrics in (("openai:gpt", ("faithfulness",)), (OfflineJudge.name, ("token_f1",))):
        case = ({"id": "1", "question": "q"}, {metric: Score(1.0) for metric in metrics})
        run = build([case], metrics=_metrics(*metrics), judge=name)
        assert "judge quality" not in markdown.render(RunReport(run, summarise(run)).document())
        assert "judge-page" not in html.render(RunReport(run, summarise(run)).document())


def test_the_page_of_figures_unfolds_in_the_html_report(build: Any) -> None:
    run = build(CASES, metrics=_metrics("faithfulness", "coherence"), judge=OfflineJudge.name)
    page = html.render(RunReport(run, summarise(run)).document())
    assert '<html lang="en">' in page
    assert '<a href="#judge-page">' in page
    assert '<div id="judge-page">' in page
    assert '<th scope="col">value shown</th>' in page
    assert "What it is good for" in page
    assert "Para qué sirve" not in page


def test_a_spanish_report_unfolds_the_spanish_page_and_names_its_command(build: Any) -> None:
    run = build(CASES, metrics=_metrics("faithfulness", "coherence"), judge=OfflineJudge.name)
    page = html.render(RunReport(run, summarise(run), "es").document())
    assert '<html lang="es">' in page
    assert '<div id="judge-page">' in page
    assert '<th scope="col">exactitud equilibrada</th>' in page
    assert "Para qué sirve" in page
    assert "What it is good for" not in page
    assert "ragstone judge quality --lang es" in page


@pytest.mark.parametrize(
    ("asked", "row"),
    [
        ([], "| ragtruth_test | 0."),
        (["--lang", "en-GB"], "| ragtruth_test | 0."),
        (["--lang", "es"], "| ragtruth_test | 0,"),
        (["--lang", "es-MX"], "| ragtruth_test | 0,"),
    ],
)
def test_the_command_line_shows_the_page_in_the_language_asked_for(
    asked: list[str], row: str
) -> None:
    shown = CliRunner().invoke(command, ["quality", *asked])
    assert shown.exit_code == 0
    assert row in shown.output


def test_a_language_without_a_page_is_a_mistake_on_the_command_line_and_english_in_python() -> None:
    asked = CliRunner().invoke(command, ["quality", "--lang", "fr"])
    assert asked.exit_code == 2
    assert "'fr'" in asked.output
    assert quality.page("fr") == quality.page("en") != quality.page("es")


def test_blocks_of_a_page() -> None:
    text = "# A\n\nOne **two**\nthree [four](x.md).\n\n1. first\n   more\n2. second\n| a | b |\n| --- | ---: |\n| 1 | `2` |\n<!-- no -->\n"
    heading, paragraph, items, table = parse_markdown(text)
    assert heading == Heading("A", 1)
    assert paragraph == Paragraph("One two three four.")
    assert isinstance(items, BulletList)
    assert [to_plain_text(item.text) for item in items.items] == ["first more", "second"]
    assert isinstance(table, ReportTable)
    assert [column.head for column in table.columns] == ["a", "b"]
    assert [row.cells for row in table.rows] == [("1", "2")]
