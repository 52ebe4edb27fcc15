"""What every report says of a run."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from ragstone.analysis import Summary
from ragstone.config import Data, Plan
from ragstone.config.gates import GateResult
from ragstone.report import figures
from ragstone.report.translator import load_translator
from ragstone.store import RunFacts


def test_the_command_does_the_run_again(summary: Summary) -> None:
    data = Data(limit=20, fields={"answer": "output.text"}, skip_bad_rows=True)
    plan = Plan(data=data, language="es", gates={"recall@5": ">= 0.3"})
    info = replace(summary.run, source="my data.jsonl", plan=plan)
    assert shlex.split(figures.build_command(info)) == [
        "ragstone", "eval", "my data.jsonl", "-m",
        "recall@5,token_f1,faithfulness,hallucination_rate,abstention_accuracy,latency",
        "--judge", "openai:small", "--lang", "es", "--limit", "20", "--field", "answer=output.text",
        "--gate", "recall@5 >= 0.3", "--skip-bad-rows",
    ]  # fmt: skip


def test_a_run_is_done_again_by_the_command_that_was_typed(summary: Summary) -> None:
    facts = RunFacts(command=("eval", "-c", "my plan.yaml", "--limit", "3"))
    info = replace(summary.run, facts=facts)
    assert figures.build_command(info) == "ragstone eval -c 'my plan.yaml' --limit 3"


def test_the_version_of_the_embedded_judge_is_no_part_of_its_name(summary: Summary) -> None:
    words = shlex.split(figures.build_command(replace(summary.run, judge="offline 1")))
    assert words[words.index("--judge") + 1] == "offline"


def test_samples_that_came_from_no_file_have_no_command(summary: Summary) -> None:
    assert figures.build_command(replace(summary.run, source="3 samples")) == ""
    facts = RunFacts(source="-")
    assert figures.build_command(replace(summary.run, source="-", facts=facts)) == ""


def test_the_heading_says_nothing_twice(summary: Summary) -> None:
    info = replace(summary.run, source="120 samples", judge=None)
    heading = figures.list_run_facts(replace(summary, run=info), load_translator("en"))
    assert heading == ["120 samples", "ragstone columns", "no judge"]


def gate(passed: bool | None) -> GateResult:
    return GateResult("recall@5", ">= 0.5", passed, "a sentence")


@pytest.mark.parametrize(
    ("gates", "text", "severity"),
    [
        ((), "Complete", "good"),
        ((gate(True),), "All gates passed", "good"),
        ((gate(True), gate(False), gate(False)), "2 gates missed", "bad"),
        ((gate(False), gate(None)), "A gate cannot be decided", "warn"),
    ],
)
def test_the_state_names_the_worst_first(
    summary: Summary, gates: tuple[GateResult, ...], text: str, severity: str
) -> None:
    complete = tuple(replace(metric, complete=True) for metric in summary.metrics)
    said = figures.describe_run(
        replace(summary, metrics=complete, gates=gates), load_translator("en")
    )
    assert (said.text, said.severity) == (text, severity)


def test_incompleteness_comes_before_gates(summary: Summary) -> None:
    said = figures.describe_run(replace(summary, gates=(gate(False),)), load_translator("es"))
    assert said.text == "Incompleta: 2 métricas no alcanzan la cobertura mínima"


def test_a_line_is_cut_with_an_ellipsis() -> None:
    assert figures.shorten(" a \n b ", 10) == "a b"
    assert figures.shorten("word " * 10, 12) == "word word w…"
    assert figures.shorten("x" * 1_000_000, 5) == "xxxx…"
    assert figures.shorten(" " * 1_000 + "x", 5).endswith("…")
