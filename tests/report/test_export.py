"""Exports: the input rows, untouched, plus one column per metric."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from paged import run_page
from ragstone.analysis import Summary, summarise
from ragstone.errors import RagstoneError
from ragstone.report.formats import write_page
from ragstone.report.rows import export_rows
from ragstone.store import StoredRun
from ragstone.types import Score


def test_rows_keep_their_text_and_gain_their_scores(run: StoredRun, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    assert export_rows(run, path) == 120
    for line, row in zip(path.read_text(encoding="utf-8").splitlines(), run.rows(), strict=True):
        assert line.startswith(row.row[:-1])
        written = json.loads(line)
        for name, score in row.scores.items():
            assert written[name] == score.value


def test_a_summary_changes_nothing_but_the_time(
    run: StoredRun, summary: Summary, tmp_path: Path
) -> None:
    export_rows(run, tmp_path / "with.csv", summary)
    export_rows(run, tmp_path / "without.csv")
    assert (tmp_path / "with.csv").read_bytes() == (tmp_path / "without.csv").read_bytes()


def test_an_unscored_cell_is_empty_and_says_why_beside_it(run: StoredRun, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    export_rows(run, path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    third, fourth = rows[2], rows[3]
    assert third["faithfulness"] == ""
    assert (
        third["faithfulness.outcome"]
        == "judge_error (transport): the judge did not answer within 60 s"
    )
    assert float(fourth["faithfulness"]) == 0.47
    assert fourth["faithfulness.outcome"] == ""


def test_a_metric_that_scored_everything_has_no_outcome_column(
    run: StoredRun, tmp_path: Path
) -> None:
    path = tmp_path / "out.json"
    export_rows(run, path)
    first = json.loads(path.read_text(encoding="utf-8"))[0]
    assert "token_f1.outcome" not in first
    assert "faithfulness.outcome" in first


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "parquet", "md", "html", "xml"])
def test_the_same_run_gives_the_same_bytes(
    run: StoredRun, summary: Summary, tmp_path: Path, ending: str
) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
    first, second = tmp_path / f"1.{ending}", tmp_path / f"2.{ending}"
    write_page(run_page(run, summary), first)
    write_page(
        run_page(run, summarise(run, gates={g.metric: g.rule for g in summary.gates})), second
    )
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size > 1000


def test_lone_surrogates_do_not_stop_an_export(build: Any, tmp_path: Path) -> None:
    metric = {"name": "m", "family": "m", "higher_is_better": True, "bounds": [0, 1], "binary": False,
              "judged": False, "labels": [], "meaning": ""}  # fmt: skip
    scores = {"m": Score(outcome="metric_error", reason="half of a pair: \ud83d")}
    run = build([({"question": "q"}, scores)], metrics=(metric,))
    summary = summarise(run)
    for ending in ("jsonl", "json", "csv", "md", "html", "xml"):
        path = tmp_path / f"out.{ending}"
        write_page(run_page(run, summary), path)
        assert "half of a pair" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["out.docx", "out", "html"])
def test_an_unknown_ending_is_one_sentence(
    run: StoredRun, summary: Summary, tmp_path: Path, name: str
) -> None:
    with pytest.raises(
        RagstoneError, match=r"names no format of this report; end it in one of \.html \.md \.xml"
    ):
        write_page(run_page(run, summary), tmp_path / name)


@pytest.mark.parametrize("ending", ["jsonl", "csv", "md", "html", "xml"])
def test_a_place_that_cannot_be_written_is_one_sentence_and_leaves_nothing(
    run: StoredRun, summary: Summary, tmp_path: Path, ending: str
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(RagstoneError, match="cannot write") as caught:
        write_page(run_page(run, summary), tmp_path / "file" / "folder" / f"out.{ending}")
    assert "\n" not in str(caught.value)


def test_a_full_disk_leaves_the_old_file_whole(
    run: StoredRun, summary: Summary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(RagstoneError, match="No space left on device"):
        write_page(run_page(run, summary), path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [found.name for found in tmp_path.iterdir() if found.suffix == ".part"] == []
