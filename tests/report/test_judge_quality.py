"""A run on the embedded judge says in every report how far that judge agrees with people."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from paged import print_text, run_page
from ragstone.analysis import summarise
from ragstone.cli.judge import command
from ragstone.judges.offline import OfflineJudge, quality
from ragstone.report import html, markdown
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
    document = run_page(run, summary, language)
    for text in (
        markdown.render(document),
        " ".join(print_text(run_page(run, summary, language), details=True).split()),
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
        assert "judge quality" not in markdown.render(run_page(run, summarise(run)))
        assert "judge quality" not in html.render(run_page(run, summarise(run)))


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
