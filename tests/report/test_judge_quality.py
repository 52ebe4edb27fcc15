"""A run on the embedded judge says in every report how far that judge agrees with people."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone.analysis import summarise
from ragstone.judges.offline import OfflineJudge
from ragstone.report import html, markdown, terminal
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
        assert "docs/judge-offline.md" in plain
        assert "RAGTruth" in plain
        for word in words:
            assert word in plain


def test_another_judge_or_unjudged_metrics_say_nothing_of_it(build: Any) -> None:
    for name, metrics in (("openai:gpt", ("faithfulness",)), (OfflineJudge.name, ("token_f1",))):
        case = ({"id": "1", "question": "q"}, {one: Score(1.0) for one in metrics})
        run = build([case], metrics=_metrics(*metrics), judge=name)
        assert "judge-offline" not in markdown.render(run, summarise(run))
