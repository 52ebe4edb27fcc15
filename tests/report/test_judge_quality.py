"""A run on the embedded judge says in every report how far that judge agrees with people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.analysis import summarise
from ragstone.cli.judge import command
from ragstone.judges.offline import OfflineJudge, quality
from ragstone.report import html, markdown, terminal
from ragstone.report.prose import blocks
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
    for text in (
        markdown.render(run, summary, language),
        " ".join(terminal.text(summary, language, 80).split()),
        html.render(run, summary, language),
    ):
        plain = text.replace("\\_", "_")
        assert OfflineJudge.name in plain
        assert "ragstone judge quality" in plain
        assert "RAGTruth" in plain
        for word in words:
            assert word in plain


def test_another_judge_or_unjudged_metrics_say_nothing_of_it(build: Any) -> None:
    for name, metrics in (("openai:gpt", ("faithfulness",)), (OfflineJudge.name, ("token_f1",))):
        case = ({"id": "1", "question": "q"}, {one: Score(1.0) for one in metrics})
        run = build([case], metrics=_metrics(*metrics), judge=name)
        assert "judge quality" not in markdown.render(run, summarise(run))
        assert "judge-page" not in html.render(run, summarise(run))


def test_the_page_of_figures_unfolds_in_the_html_report(build: Any) -> None:
    run = build(CASES, metrics=_metrics("faithfulness", "coherence"), judge=OfflineJudge.name)
    page = html.render(run, summarise(run))
    assert '<a href="#judge-page">' in page
    assert '<div id="judge-page" lang="en">' in page
    assert '<th scope="col">AUROC</th>' in page
    assert "Where it fails" in page


def test_the_command_line_shows_the_page_that_is_shipped() -> None:
    shown = CliRunner().invoke(command, ["quality"])
    assert shown.exit_code == 0
    assert "| ragtruth_test | en | response | 1626 |" in shown.output


def test_the_shipped_page_is_the_one_of_the_docs() -> None:
    docs = Path(__file__).parents[2] / "docs" / "judge-offline.md"
    assert quality.page() == docs.read_text("utf-8")


def test_blocks_of_a_page() -> None:
    text = "# A\n\nOne **two**\nthree [four](x.md).\n\n1. first\n   more\n2. second\n| a | b |\n| --- | ---: |\n| 1 | `2` |\n<!-- no -->\n"
    assert [(b.kind, b.level, b.rows) for b in blocks(text)] == [
        ("heading", 1, (("A",),)),
        ("paragraph", 0, (("One two three four.",),)),
        ("list", 0, (("first more",), ("second",))),
        ("table", 0, (("a", "b"), ("1", "2"))),
    ]
