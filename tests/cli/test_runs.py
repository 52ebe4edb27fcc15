"""What is done with stored runs: list, show, delete, report, export."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def two_runs(call, rows):
    """Two stored runs, `first` and `second`."""
    call("eval", "data.jsonl", "-m", "recall@5", "--name", "first", "-q")
    call("eval", "data.jsonl", "-m", "token_f1", "--name", "second", "-q", "--limit", "3")


def test_an_empty_store_says_how_to_start(call):
    result = call("runs")
    assert (result.code, result.out) == (0, "")
    assert "ragstone demo" in result.err


def test_runs_are_listed_newest_first(call, two_runs):
    listed = json.loads(call("runs", "list", "--json").out)
    assert [(run["name"], run["samples"]) for run in listed] == [("second", 3), ("first", 10)]
    shown = call("runs").out
    assert shown.index("second") < shown.index("first")


def test_the_store_may_be_named_before_or_after_the_subcommand(call, two_runs, tmp_path):
    call("eval", "data.jsonl", "-m", "recall@5", "-q", "--name", "elsewhere", "--store", "o.db")
    for arguments in (["runs", "--store", "o.db"], ["runs", "--store", "o.db", "list"],
                      ["runs", "list", "--store", "o.db"]):  # fmt: skip
        shown = call(*arguments).out
        assert "elsewhere" in shown
        assert "first" not in shown


def test_a_run_is_shown_by_name_by_id_or_as_the_last(call, two_runs):
    facts = json.loads(call("runs", "show", "first", "--json").out)
    assert facts["plan"]["metrics"] == ["recall@5"]
    assert "recall@5" in call("runs", "show", facts["id"]).out
    assert "token_f1" in call("runs", "show").out


def test_a_run_that_is_not_there(call, two_runs):
    result = call("runs", "show", "nobody")
    assert result.code == 2
    assert "no run 'nobody'" in result.err


def test_deleting_asks_first(call, two_runs, monkeypatch):
    monkeypatch.setattr("click.confirm", lambda *_, **__: False)
    assert "kept" in call("runs", "delete", "first").err
    assert len(json.loads(call("runs", "list", "--json").out)) == 2
    assert "deleted" in call("runs", "delete", "first", "second", "--yes").err
    assert json.loads(call("runs", "list", "--json").out) == []


def test_report_without_output_is_the_table(call, two_runs):
    assert "token_f1" in call("report").out
    assert "recall@5" in call("report", "first").out
    assert "Media" in call("report", "first", "--lang", "es").out


def test_report_writes_what_the_extension_says(call, two_runs, tmp_path):
    result = call("report", "first", "-o", "r.html", "-o", "r.md", "-o", "r.xml", "-o", "r.csv")
    assert result.code == 0
    assert "<html" in (tmp_path / "r.html").read_text()
    assert "recall@5" in (tmp_path / "r.md").read_text()
    assert "<testsuite" in (tmp_path / "r.xml").read_text()
    assert (tmp_path / "r.csv").read_text().splitlines()[0].endswith("recall@5")
    assert call("report", "first", "-o", "r.docx").code == 2


def test_export_keeps_the_rows_and_adds_a_column(call, two_runs, rows, tmp_path):
    assert call("export", "first", "-o", "e.jsonl").code == 0
    exported = [json.loads(line) for line in (tmp_path / "e.jsonl").read_text().splitlines()]
    given = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [{k: v for k, v in row.items() if k != "recall@5"} for row in exported] == given
    assert [row["recall@5"] for row in exported].count(1.0) == 8


def test_an_exported_run_can_be_evaluated_again(call, two_runs, tmp_path):
    call("export", "first", "-o", "e.jsonl")
    result = call("eval", "e.jsonl", "-m", "recall@5")
    assert result.code == 0
    assert "0.800" in result.out


def test_the_trend_of_a_metric_over_runs(call, two_runs):
    call("eval", "data.jsonl", "-m", "recall@5", "--name", "again", "-q")
    shown = call("runs", "--trend", "recall@5").out
    assert "recall@5 over the runs of data.jsonl" in shown
    assert "identical" in shown
    assert shown.index("again") < shown.index("first")
    assert (
        "las ejecuciones de data.jsonl" in call("runs", "--trend", "recall@5", "--lang", "es").out
    )
    missing = call("runs", "--trend", "recal@5")
    assert (missing.code, "did you mean 'recall@5'" in missing.err) == (2, True)
    assert "did you mean 'data.jsonl'" in call("runs", "--data", "data.json").err
