"""Samples in blocks: what goes in comes out, wherever the blocks begin."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.analysis import summarise
from ragstone.config import Plan
from ragstone.locale.messages import compose
from ragstone.store import NewRow, RunInfo, ScoreBlock, Store
from ragstone.store.blocks import MAX_BLOCK_CHARS, cut_blocks, encode_rows, encode_scores_block
from ragstone.types import Finding, Score, Usage

INFO = RunInfo("r1", "demo", "2026-01-01T00:00:00+00:00", "running", Plan(), {}, "", "", ())
METRICS = tuple(
    {"name": name, "family": name, "higher_is_better": True, "bounds": [0.0, 1.0], "judged": False}
    for name in ("a", "b")
)


def make_rows(count: int) -> list[NewRow]:
    """Samples of every kind: bare numbers, evidence, outcomes, labels, and some that lack a metric."""
    dice = random.Random(5)

    def make_score(n: int) -> Score:
        kinds = [
            Score(dice.random()),
            Score(-0.0),
            Score(1 / 3, label="refused"),
            Score(outcome="not_applicable", reason=compose("no_claims", field="answer")),
            Score(outcome="judge_error", kind="refusal", reason=f"no {n}"),
            Score(
                dice.random(),
                findings=(Finding("c\ud800", "supported", compose("quote_absent"), span=(0, 3)),),
                usage=Usage(1, n, 3, 0.5),
                warnings=("odd",),
            ),
        ]
        return kinds[dice.randrange(len(kinds))]

    return [
        NewRow(
            n,
            f"s{n}",
            f"g{n // 3}" if n % 5 else None,
            f'{{"id":"s{n}"}}',
            {"a": make_score(n), **({"b": make_score(n)} if n % 7 else {})},
        )
        for n in range(1, count + 1)
    ]


def test_every_kind_of_score_comes_back() -> None:
    rows = make_rows(200)
    block = ScoreBlock(1, 200, encode_scores_block(rows))
    assert list(block.iter_scores()) == [row.scores for row in rows]
    assert list(block.iter_scores()) == [row.scores for row in rows]  # decoding changes nothing
    assert block.ids == [row.id for row in rows]
    assert block.groups == [row.group for row in rows]
    for values, row in zip(block.iter_values(), rows, strict=True):
        assert isinstance(row.scores, dict)
        assert values == {
            name: score.value
            if score.value is not None
            else f"{score.outcome}: {score.kind}"
            if score.kind
            else score.outcome
            for name, score in row.scores.items()
        }


def test_a_summary_is_the_same_wherever_the_blocks_begin(tmp_path: Path) -> None:
    rows = make_rows(3000)
    dice = random.Random(2)
    summaries = []
    for name in ("whole", "pieces"):
        store = Store.open(tmp_path / f"{name}.db")
        run = store.create(replace(INFO, metrics=METRICS))
        start = 0
        while start < len(rows):
            size = len(rows) if name == "whole" else dice.choice([1, 3, 100, 700])
            store.append("r1", rows[start : start + size]).result()
            start += size
        assert [position for position, *_ in run.scores()] == [row.position for row in rows]
        summaries.append(replace(summarise(run), run=INFO))
    assert summaries[0] == summaries[1]
    assert summaries[0]["b"].outcomes["metric_error"] == 3000 // 7  # what is not stored


def test_one_sample_of_a_block_gets_other_scores_and_another_row(place: str) -> None:
    store = Store.open(place)
    run = store.create(INFO)
    rows = make_rows(600)
    store.append("r1", rows).result()
    new = {"a": Score(0.25), "b": Score(outcome="missing_field", reason="no b")}
    store.rescore("r1", 7, new, row='{"new":1}').result()
    store.rescore("r1", 600, new).result()
    expected = {row.position: new if row.position in (7, 600) else row.scores for row in rows}
    assert {position: scores for position, _, _, scores in run.scores()} == expected
    some = run.rows_at([600, 7, 1])
    assert [some[n].row for n in (1, 7, 600)] == [rows[0].row, '{"new":1}', rows[599].row]
    assert run.row(513).scores == rows[512].scores
    with pytest.raises(IndexError, match="no sample at position 601"):
        run.row(601)


def test_long_rows_make_small_blocks() -> None:
    rows = [NewRow(n, "", None, "x" * (MAX_BLOCK_CHARS // 3), {}) for n in range(1, 8)]
    assert [len(part) for part in cut_blocks(rows)] == [3, 3, 1]
    huge = [NewRow(n, "", None, "x" * 2 * MAX_BLOCK_CHARS, {}) for n in range(1, 3)]
    assert [len(part) for part in cut_blocks(huge)] == [1, 1]
    assert list(cut_blocks([])) == []


def test_a_row_with_a_line_break_is_refused() -> None:
    with pytest.raises(ValueError, match="line break"):
        encode_rows(['{"a":\n1}'])
