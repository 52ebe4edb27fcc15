"""A comparison in GitHub Actions: what becomes an error or a warning, and text that cannot end a command."""

from __future__ import annotations

from pathlib import Path

import pytest

from compared import make_comparison, make_difference, make_resource, make_run_comparison
from ragstone.report.comparison import github

WORSE = make_difference("recall", "worse", difference=-0.1, after=0.4)


@pytest.mark.parametrize(("error", "kind"), [(True, "error"), (False, "warning")])
def test_a_regression_is_an_error_where_it_fails_the_job(error: bool, kind: str) -> None:
    comparison = make_comparison(make_run_comparison(WORSE))
    assert github.build_commands(comparison, error=error) == [
        f"::{kind} title=new::recall is worse than in old: 0.500 → 0.400, worse by 0.1"
    ]


def test_a_withheld_verdict_is_a_warning_and_what_counts_not_is_silent() -> None:
    withheld = make_difference("f1", "withheld", coverage=None)
    rows = (withheld, make_difference("mrr"), make_resource())
    assert github.build_commands(make_comparison(make_run_comparison(*rows)), error=True) == [
        "::warning title=new::f1: withheld: too few samples scored in both runs"
    ]
    spanish = github.build_commands(make_comparison(make_run_comparison(withheld)), "es")
    assert "f1: " in spanish[0]
    assert "withheld" not in spanish[0]


def test_a_name_cannot_end_the_command_or_begin_another() -> None:
    run = make_run_comparison(WORSE, run="a:b,c%\r\n::error::x")
    (line,) = github.build_commands(make_comparison(run))
    assert line.startswith("::warning title=a%3Ab%2Cc%25%0D%0A%3A%3Aerror%3A%3Ax::recall is worse")


def test_a_summary_is_added_and_cut_between_characters(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "summary.md"
    github.append_summary(str(path), "first")
    monkeypatch.setattr(github, "SUMMARY_BYTES", 4)
    github.append_summary(str(path), "añé")
    assert path.read_text("utf-8") == "first\nañ\n"
