"""Stored runs as exports and reports read them: which keys they have, and how a row becomes a sample again."""

from __future__ import annotations

import json

import pytest

from ragstone.config import Plan
from ragstone.config.plan import Data, SystemPlan
from ragstone.metrics import resolve
from ragstone.store import (
    NewRow,
    RunFacts,
    RunInfo,
    Store,
    StoredRow,
    format_plan,
    to_metric_record,
)
from ragstone.types import Score, Usage

PLAN = Plan(
    data=Data(format="ragas", fields={"answer": "said"}, limit=7, skip_bad_rows=True),
    system=SystemPlan("shop.py:make", {"top_k": 3}),
    language="en",
    gates={"recall": ">= 0.5"},
    floor=0.9,
)
FACTS = RunFacts(
    source="/data/d.jsonl", command=("eval", "d.jsonl"), folder="/data", ragstone="0.2.0",
    system="shop.py:make", parameters={"top_k": 3, "temperature": 0}, system_identity="abc",
)  # fmt: skip


def make_info(plan: Plan = PLAN, facts: RunFacts = FACTS) -> RunInfo:
    return RunInfo(
        id="r1", name="demo", created="2026-01-01T00:00:00+00:00", status="done", plan=plan,
        shape={"format": "ragstone"}, source="d.jsonl", format="ragas columns", metrics=({"name": "recall"},),
        judge="offline 1", facts=facts, usage=Usage(2, 30, 4, 0.5),
    )  # fmt: skip


OF_DATA = {
    "source": "/data/d.jsonl", "metrics": ["recall"], "judge": "offline 1", "language": "en", "limit": 7,
    "format": "ragas", "fields": {"answer": "said"}, "skip_bad_rows": True, "floor": 0.9,
    "gates": {"recall": ">= 0.5"}, "command": ["eval", "d.jsonl"], "folder": "/data", "ragstone": "0.2.0",
}  # fmt: skip
OF_SYSTEM = {
    "system": "shop.py:make", "settings": {"top_k": 3},
    "parameters": {"top_k": 3, "temperature": 0}, "system_identity": "abc",
}  # fmt: skip


def test_an_exported_plan_has_all_its_keys() -> None:
    assert format_plan(make_info()) == OF_DATA | OF_SYSTEM
    without_system = RunFacts(source="/data/d.jsonl", command=("eval", "d.jsonl"), folder="/data", ragstone="0.2.0")  # fmt: skip
    assert format_plan(make_info(facts=without_system)) == OF_DATA


def test_empty_parts_of_a_plan_are_null() -> None:
    plain = format_plan(make_info(Plan(), RunFacts(source="rows")))
    assert (plain["fields"], plain["gates"], plain["command"]) == (None, None, None)


def test_a_window_of_the_monitor_has_no_plan() -> None:
    assert format_plan(make_info(facts=RunFacts())) == {}


def test_an_exported_run_has_its_facts_in_the_plan_alone() -> None:
    plain = make_info().to_json()
    assert list(plain) == [
        "id", "name", "created", "status", "plan", "shape", "source", "format", "metrics", "judge",
        "total", "bad_count", "bad", "place", "usage",
    ]  # fmt: skip
    assert plain["plan"] == OF_DATA | OF_SYSTEM
    assert plain["metrics"] == [{"name": "recall"}]
    assert plain["usage"]["usd"] == 0.5
    json.dumps(plain)


def test_a_metric_is_stored_with_all_that_a_report_needs() -> None:
    record = to_metric_record(resolve("recall@5"))
    meaning = record.pop("meaning")
    assert record == {
        "name": "recall@5", "family": "recall", "higher_is_better": True, "bounds": [0.0, 1.0],
        "binary": False, "judged": False, "labels": [],
    }  # fmt: skip
    assert "relevant" in meaning
    assert to_metric_record(resolve("latency"))["bounds"] is None
    assert to_metric_record(resolve("faithfulness"))["judged"] is True
    assert "answered" in to_metric_record(resolve("abstention_accuracy"))["labels"]


@pytest.mark.parametrize(
    ("of_row", "of_plan", "language"),
    [("es", "en", "es"), (None, "en", "en"), ("es", None, "es"), (None, None, None)],
)
def test_a_sample_keeps_its_own_language(of_row, of_plan, language) -> None:
    fields = {"id": "a", "question": "Q"} | ({"language": of_row} if of_row else {})
    row = StoredRow(1, "a", json.dumps(fields), {}, make_info(Plan(language=of_plan)))
    assert (row.sample.id, row.sample.question, row.sample.language) == ("a", "Q", language)


@pytest.fixture
def run(tmp_path):
    store = Store.open(tmp_path / "s.db")
    run = store.create(make_info())
    rows = [
        NewRow(n, f"s{n}", "g" if n == 2 else None, json.dumps({"id": f"s{n}"}), {"recall": Score(1 / n)})
        for n in range(1, 4)
    ]  # fmt: skip
    failed = NewRow(4, "s4", None, '{"id": "s4"}', {"recall": Score(outcome="missing_field")})
    store.append("r1", [*rows, failed]).result()
    yield run
    store.close()


def test_samples_are_read_by_position_and_one_that_is_not_there_is_an_error(run) -> None:
    assert run.row(2).id == "s2"
    assert {at: row.id for at, row in run.rows_at([3, 1, 3]).items()} == {1: "s1", 3: "s3"}
    for position in (0, 5):
        with pytest.raises(IndexError, match=f"run r1 has no sample at position {position}"):
            run.row(position)


def test_scores_values_and_rows_say_the_same_in_order(run) -> None:
    assert run.count() == 4
    assert [row.position for row in run.rows()] == [1, 2, 3, 4]
    scores = list(run.scores())
    assert [(at, id, group) for at, id, group, _ in scores] == [(1, "s1", None), (2, "s2", "g"), (3, "s3", None), (4, "s4", None)]  # fmt: skip
    assert [row.scores for row in run.rows()] == [by_name for *_, by_name in scores]
    assert [by_name["recall"] for *_, by_name in run.values()] == [1.0, 0.5, 1 / 3, "missing_field"]
