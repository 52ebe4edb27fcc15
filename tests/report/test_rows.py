"""Exported rows: which columns a metric has, in which order, and how a finding reads in a cell."""

from __future__ import annotations

import csv
import json

import pytest

from ragstone.report.rows import export_rows, write_finding
from ragstone.report.translator import load_translator
from ragstone.types import Finding, Score

METRICS = tuple(
    {
        "name": name, "family": name, "higher_is_better": True, "bounds": [0, 1], "binary": False,
        "judged": name == "faithfulness", "labels": [], "meaning": "",
    }
    for name in ("recall", "faithfulness", "bleu")
)  # fmt: skip
CONTRADICTED = Finding("60 days", "contradicted", "the source says 30", "c1", "30 days")
SUPPORTED = Finding("free", "supported")


@pytest.fixture
def run(build):
    judged = Score(0.5, findings=(CONTRADICTED, SUPPORTED))
    failed = Score(outcome="judge_error", kind="refusal", reason="no")
    cases = [
        ({"id": "a", "question": "Q"}, {"recall": Score(1.0), "faithfulness": judged, "bleu": Score(0.25)}),
        ({"id": "b", "question": "Q"}, {"recall": Score(outcome="missing_field"), "faithfulness": failed, "bleu": Score(0.0)}),
    ]  # fmt: skip
    return build(cases, metrics=METRICS)


def read_csv(path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_columns_stand_in_the_order_of_the_metrics_value_outcome_explanation(run, tmp_path) -> None:
    assert export_rows(run, tmp_path / "r.csv", explain=True) == 2
    header, first, second = read_csv(tmp_path / "r.csv")
    assert header == [
        "id", "question", "recall", "recall.outcome",
        "faithfulness", "faithfulness.outcome", "faithfulness.explanation", "bleu",
    ]  # fmt: skip
    said = "contradicted: “60 days”; the source says 30 [c1: “30 days”]\nsupported: “free”"
    assert first == ["a", "Q", "1.0", "", "0.5", "", said, "0.25"]
    assert second == ["b", "Q", "", "missing_field", "", "judge_error (refusal): no", "", "0.0"]


def test_without_explanations_there_is_no_column_for_them(run, tmp_path) -> None:
    export_rows(run, tmp_path / "r.csv")
    (header, *_) = read_csv(tmp_path / "r.csv")
    assert header == ["id", "question", "recall", "recall.outcome", "faithfulness", "faithfulness.outcome", "bleu"]  # fmt: skip


def test_in_json_findings_are_objects_with_what_they_have(run, tmp_path) -> None:
    export_rows(run, tmp_path / "r.jsonl", explain=True)
    first, second = map(json.loads, (tmp_path / "r.jsonl").read_text("utf-8").splitlines())
    assert first["faithfulness.explanation"] == [
        {"claim": "60 days", "verdict": "contradicted", "reason": "the source says 30", "source": "c1", "quote": "30 days"},
        {"claim": "free", "verdict": "supported"},
    ]  # fmt: skip
    assert second["faithfulness.explanation"] == []
    assert second["faithfulness"] is None


def test_shards_hold_text_as_tables_do_whatever_their_folder_is_called(run, tmp_path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="parquet needs pyarrow")
    assert export_rows(run, tmp_path / "shards.jsonl", rows_per_shard=1, explain=True) == 2
    tables = [parquet.read_table(path).to_pylist() for path in sorted((tmp_path / "shards.jsonl").iterdir())]  # fmt: skip
    assert [len(table) for table in tables] == [1, 1]
    assert tables[0][0]["faithfulness.explanation"].endswith("\nsupported: “free”")


def test_selected_rows_alone_are_written(run, tmp_path) -> None:
    chosen = [row for row in run.rows() if row.id == "b"]
    assert export_rows(run, tmp_path / "r.jsonl", select=lambda: chosen) == 1
    (line,) = (tmp_path / "r.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["faithfulness.outcome"] == "judge_error (refusal): no"


@pytest.mark.parametrize(
    ("language", "finding", "line"),
    [
        ("en", CONTRADICTED, "contradicted: “60 days”; the source says 30 [c1: “30 days”]"),
        ("en", SUPPORTED, "supported: “free”"),
        ("en", Finding("a\n b", "not_found", "no\nchunk"), "not found: “a b”; no chunk"),
        ("es", SUPPORTED, "respaldada: «free»"),
    ],
)
def test_a_finding_is_one_line(language: str, finding: Finding, line: str) -> None:
    assert write_finding(finding, load_translator(language)) == line
