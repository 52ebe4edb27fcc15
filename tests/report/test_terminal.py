"""The table on a terminal."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from paged import print_text
from ragstone.analysis import Summary, summarise
from ragstone.report.pages.run import RunPage
from ragstone.report.terminal import Column, Screen, numbers, print_page
from ragstone.report.translator import load_translator
from ragstone.store import StoredRun
from ragstone.types import Score


def shown(
    summary: Summary, width: int = 80, language: str = "en", *, details: bool = True, **options: Any
) -> str:
    page = RunPage(load_translator(language), None, summary, is_opened=False)  # type: ignore[arg-type]
    return print_text(page, width, details=details, **options)


@pytest.mark.parametrize("width", [60, 80, 100, 120])
@pytest.mark.parametrize("language", ["en", "es"])
def test_no_line_is_wider_than_the_terminal(summary: Summary, width: int, language: str) -> None:
    lines = shown(summary, width, language).splitlines()
    # a command is never broken: it must be copied whole
    assert max(len(line) for line in lines if not line.startswith("  $ ")) <= width


def test_heads_of_numbers_give_way_before_what_names_a_row() -> None:
    heads = ["Questions", "Measured", "Winner on the same", "Estimate for all", "latency"]
    out = io.StringIO()
    screen = Screen(Console(file=out, width=80))
    screen.table(
        [Column("Configuration"), *numbers(*heads)],
        [["top_k=3, retriever=bm25", "42", "1.000", "1.000", "–", "0.613"]],
    )
    lines = out.getvalue().splitlines()
    assert any("top_k=3, retriever=bm25" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_name_without_room_loses_its_middle_and_no_number_is_cut() -> None:
    out = io.StringIO()
    names = [
        "a_configuration_with_a_long_name_and_top_k_5",
        "a_configuration_with_a_long_name_and_top_k_8",
    ]
    screen = Screen(Console(file=out, width=60))
    screen.table(
        [Column("run"), *numbers("a", "b", "c")], [[n, *["0.123 – 0.456"] * 3] for n in names]
    )
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    assert sum(line.count("0.123 – 0.456") for line in lines) == 6
    assert any(line.startswith("a_") and "k_5" in line for line in lines)
    assert any(line.startswith("a_") and "k_8" in line for line in lines)


def test_an_incomplete_metric_is_not_shown_like_a_good_number(summary: Summary) -> None:
    text = shown(summary, 120)
    row = next(line for line in text.splitlines() if line.startswith("faithfulness ↑"))
    assert "(incomplete)" in row
    assert re.search(r"\(0\.\d{3}\)", row)
    assert (
        "Incomplete: 102 of 113 applicable samples scored (90.3%), under the floor of 95%." in text
    )
    assert "Incomplete: 2 metrics are under the coverage floor" in text


def test_a_complete_metric_has_mean_interval_and_counts(summary: Summary) -> None:
    row = next(line for line in shown(summary).splitlines() if line.startswith("recall@5 ↑"))
    assert re.fullmatch(r"recall@5 ↑ +0\.496 +0\.4\d\d – 0\.5\d\d +107 / 107 / 120 *", row)


def test_failures_are_counted_with_reason_and_bounds(summary: Summary) -> None:
    text = " ".join(shown(summary, 200).split())
    assert "Not scored: judge error, transport (×11); not applicable (×7)." in text
    assert "the judge did not answer within 60 s (×11)" in text
    assert (
        "If every failure scored 0 the mean would be 0.476; if every failure scored 1, 0.574."
        in text
    )


def test_gates_are_ticked_or_crossed(summary: Summary) -> None:
    text = shown(summary)
    assert "✓ recall@5 >= 0.3" in text
    assert "✗ token_f1 mean >= 0.9" in text


def test_refusals_are_counted_in_a_line(summary: Summary) -> None:
    text = " ".join(shown(summary).split())
    assert (
        "refusals: 20 refused rightly, 10 should have refused, 6 refused wrongly, 84 answered"
        in text
    )


def test_there_is_no_colour_when_it_is_not_a_terminal(summary: Summary) -> None:
    assert "\x1b" not in shown(summary)
    assert "\x1b" in shown(summary, force_terminal=True, color_system="truecolor")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_it_prints_in_poor_encodings(summary: Summary, encoding: str) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict")
    page = RunPage(load_translator("es"), None, summary, is_opened=False)  # type: ignore[arg-type]
    print_page(page, Console(file=out, width=80))
    out.flush()
    text = out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
    assert "recall@5 ^" in text or "recall@5 ↑" in text
    assert "0,496" in text


def test_text_from_outside_controls_nothing(build: Any) -> None:
    evil = "[bold]x[/bold]\x1b[31mred\x07\x9b2J"
    metrics = (
        {
            "name": "m",
            "family": "m",
            "higher_is_better": True,
            "bounds": [0, 1],
            "binary": False,
            "judged": False,
            "labels": [],
            "meaning": evil,
        },
    )
    cases = [({"question": "q", "answer": "a"}, {"m": Score(outcome="metric_error", reason=evil)})]
    run = build(cases, metrics=metrics, name=evil, source=evil, judge=evil, bad=(evil,))
    text = shown(summarise(run), force_terminal=True, color_system=None)
    assert "\x07" not in text
    assert "\x9b" not in text
    assert "\x1b[31m" not in text
    assert "[bold]x[/bold]" in text


def test_the_table_says_where_the_run_is(
    run: StoredRun, summary: Summary, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a long path is broken anywhere, so that white space proves nothing
    command = f"ragstone report {run.id} --store {run.info.place} -o"
    assert "".join(command.split()) in "".join(shown(summary).split())
    monkeypatch.setenv("RAGSTONE_STORE", run.info.place)
    assert f"ragstone report {run.id} -o report.html" in shown(summary)
    assert "judge openai:small" in shown(summary)
    assert "1 row was skipped because it could not be read:" in shown(summary)
