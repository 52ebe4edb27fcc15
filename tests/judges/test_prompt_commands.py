"""`ragstone judge prompts`: listed, exported, adapted."""

from __future__ import annotations

from typing import Any

from click.testing import CliRunner

from ragstone.cli.judge import command


def test_prompts_are_listed_exported_and_never_overwritten(tmp_path: Any) -> None:
    run = CliRunner()
    assert "support" in run.invoke(command, ["prompts"]).output
    first = run.invoke(command, ["prompts", "--export", str(tmp_path / "p")])
    assert first.exit_code == 0
    assert (tmp_path / "p" / "es" / "support.md").is_file()
    second = run.invoke(command, ["prompts", "--export", str(tmp_path / "p")])
    assert "exists already" in str(second.exception)


def test_adapt_needs_a_judge() -> None:
    result = CliRunner().invoke(command, ["prompts", "--adapt", "fr"])
    assert result.exit_code == 2
    assert "--adapt needs a judge" in result.output
