"""Scores as rows: whole, in order, and the same however they were written."""

from __future__ import annotations

import json
import random
from dataclasses import fields, replace
from pathlib import Path

import pytest

from ragstone.analysis.summary import summarise
from ragstone.config import Plan
from ragstone.locale.messages import code_of, compose
from ragstone.store import NewRow, RunInfo, Store, StoredRun
from ragstone.store.score_json import decode_scores, encode_scores
from ragstone.types import Finding, Score, SecondOpinion, Usage

METRICS = tuple(
    {"name": name, "family": name, "higher_is_better": True, "bounds": [0.0, 1.0], "binary": False,
     "judged": False, "labels": [], "meaning": ""}
    for name in ("a", "b")
)  # fmt: skip
INFO = RunInfo(
    "r1", "demo", "2026-01-01T00:00:00+00:00", "running", Plan(), {}, "d.jsonl", "x", METRICS
)
OPINION = SecondOpinion("a", "b", 0.5, 0.25)
FINDING = Finding("t", "v", "r", "c", "q", 1, 2, True, (3, 4), 0.5, OPINION)
SCORES = [
    Score(0.1 + 0.2),
    Score(0.0),
    Score(0.5, findings=(FINDING, Finding("", "")), usage=Usage(1, 2, 3, 0.5, 4), probability=0.1),
    Score(1.0, label="answered", warnings=("odd", compose("score_not_stored"))),
    Score(outcome="judge_error", kind="refusal", reason="no"),
    Score(outcome="not_applicable", reason=compose("score_not_stored")),
    Score(1.0, usage=Usage(hits=2)),
]


def store_scores(place: str, scores: list[Score]) -> StoredRun:
    store = Store.open(place)
    run = store.create(INFO)
    rows = [NewRow(n, f"s{n}", None, "{}", {"a": s}) for n, s in enumerate(scores, 1)]
    store.append("r1", rows).result()
    return run


def test_every_field_comes_back(place: str) -> None:
    assert all(getattr(FINDING, field.name) is not None for field in fields(Finding))
    run = store_scores(place, SCORES)
    assert [scores["a"] for *_, scores in run.scores()] == SCORES
    assert [row.scores["a"] for row in run.rows()] == SCORES
    assert [run.row(n).scores["a"] for n in range(1, len(SCORES) + 1)] == SCORES
    assert code_of(run.row(6).scores["a"].reason) == "score_not_stored"
    assert code_of(run.row(4).scores["a"].warnings[1]) == "score_not_stored"
    assert decode_scores(encode_scores({"a": SCORES[2]})) == {"a": SCORES[2]}


@pytest.mark.parametrize("text", ["plain", "rank 1 → 2, año", "\ud800", "null", "\0 \x7f"])
def test_any_text_comes_back(place: str, text: str) -> None:
    finding = Finding(text, "supported", reason=text, chunk=text, quote=text)
    score = Score(0.5, label=text, findings=(finding,), warnings=(text,))
    failed = Score(outcome="judge_error", kind="refusal", reason=text)
    run = store_scores(place, [score, failed])
    assert [scores["a"] for *_, scores in run.scores()] == [score, failed]


def test_a_row_with_half_a_surrogate_pair_is_the_same_document(place: str) -> None:
    store = Store.open(place)
    run = store.create(INFO)
    row = '{"answer":"a\ud800é"}'
    store.append("r1", [NewRow(1, "\ud800", "\ud800", row, {})]).result()
    assert json.loads(run.row(1).row) == json.loads(row)


def test_a_person_reads_scores_and_findings_in_sql(place: str) -> None:
    run = store_scores(place, SCORES)
    rows = run.store.read(
        "SELECT sample, value, outcome, reason FROM sample_scores WHERE run = 'r1' AND metric = 'a'"
        " AND outcome <> 'ok' ORDER BY position"
    )
    assert [row[:3] for row in rows] == [
        ("s5", None, "judge_error"),
        ("s6", None, "not_applicable"),
    ]
    assert rows[0][3] == "no"
    assert rows[1][3] == str(compose("score_not_stored"))
    assert run.store.read("SELECT sample, text, verdict, quote FROM sample_findings") == [
        ("s3", "t", "v", "q"), ("s3", "", "", None),
    ]  # fmt: skip
    ((samples, scored, mean, failed),) = run.store.read(
        "SELECT samples, scored, mean, failed FROM run_summary WHERE run = 'r1'"
    )
    assert (samples, scored, failed) == (7, 5, 1)
    assert mean == pytest.approx((0.3 + 0 + 0.5 + 1 + 1) / 5)


def test_a_summary_is_the_same_in_whatever_pieces_the_run_was_stored(tmp_path: Path) -> None:
    dice = random.Random(3)
    rows = [
        NewRow(n, f"s{n}", None, "{}", {"a": Score(dice.random())} | ({"b": Score(1.0)} if n % 7 else {}))
        for n in range(1, 3001)
    ]  # fmt: skip
    summaries = []
    for name in ("whole", "pieces"):
        store = Store.open(tmp_path / f"{name}.db")
        run = store.create(INFO)
        start = 0
        while start < len(rows):
            size = len(rows) if name == "whole" else dice.choice([1, 3, 100, 700])
            store.append("r1", rows[start : start + size]).result()
            start += size
        assert [position for position, *_ in run.scores()] == [row.position for row in rows]
        summaries.append(replace(summarise(run), run=INFO))
    assert summaries[0] == summaries[1]
    assert summaries[0]["b"].outcomes["metric_error"] == 3000 // 7  # what is not stored


def test_one_sample_gets_other_scores_and_another_row(place: str) -> None:
    store = Store.open(place)
    run = store.create(INFO)
    rows = [NewRow(n, f"s{n}", None, f'{{"n":{n}}}', {"a": SCORES[2], "b": Score(1.0)}) for n in range(1, 601)]  # fmt: skip
    store.append("r1", rows).result()
    new = {"a": Score(0.25), "b": Score(outcome="missing_field", reason="no b")}
    store.rescore("r1", 7, new, row='{"new":1}').result()
    store.rescore("r1", 600, new).result()
    expected = {row.position: new if row.position in (7, 600) else row.scores for row in rows}
    assert {position: scores for position, _, _, scores in run.scores()} == expected
    some = run.rows_at([600, 7, 1])
    assert [some[n].row for n in (1, 7, 600)] == [rows[0].row, '{"new":1}', rows[599].row]
    with pytest.raises(IndexError, match="no sample at position 601"):
        run.row(601)


def test_copies_of_another_run_cost_nothing(place: str) -> None:
    run = store_scores(place, SCORES)
    copy = run.store.create(replace(INFO, id="r2"))
    run.store.append_copies("r2", "r1", 1, len(SCORES)).result()
    copied = [scores["a"] for *_, scores in copy.scores()]
    assert [replace(score, usage=Usage()) for score in copied] == [
        replace(score, usage=Usage()) for score in SCORES
    ]
    assert copied[2].usage == Usage(hits=5)
    assert copied[6].usage == Usage(hits=2)
    assert [row.row for row in copy.rows()] == ["{}"] * len(SCORES)
