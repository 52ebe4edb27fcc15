"""Kept summaries: the same as made ones, made anew when their form is another, and the metric that tells most first."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

import ragstone
from ragstone.report.view.summaries import SummaryShelf, choose_headline
from ragstone.store import Store
from ragstone.store.run_notes import load_run_notes

ROWS = [
    {"id": "a", "answer": "red", "reference": "red"},
    {"id": "b", "answer": "red", "reference": "blue"},
]


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "store.db"
    ragstone.evaluate(ROWS, ["exact_match"], store=str(path))
    with closing(Store.open(path)) as store:
        yield store


def test_a_kept_summary_is_the_one_that_was_made(store) -> None:
    (info,) = store.runs()
    run = store.run(info.id)
    notes = load_run_notes(store)[run.id]
    made = SummaryShelf(store).make(run, notes)
    store.write(lambda db: None).result()  # what was queued before is written
    kept = SummaryShelf(store).find(run, notes)
    assert kept == made
    assert made.metrics[0].mean == 0.5


@pytest.mark.parametrize("lost", ["mean", "outcomes"])
def test_a_summary_of_another_form_is_made_anew(store, lost) -> None:
    (info,) = store.runs()
    run = store.run(info.id)
    notes = load_run_notes(store)[run.id]
    made = SummaryShelf(store).make(run, notes)
    store.write(lambda db: None).result()
    ((text,),) = store.read("SELECT body FROM run_derived WHERE name = 'summary'")
    body = json.loads(text)
    body["form"].remove(lost)
    for metric in body["metrics"]:
        del metric[lost]
    changed = [(json.dumps(body),)]
    store.write(lambda db: db.execute_many("UPDATE run_derived SET body = ?", changed)).result()
    assert SummaryShelf(store).find(run, notes) is None
    assert SummaryShelf(store).make(run, notes) == made


def test_the_metric_that_tells_most_stands_first() -> None:
    metrics = [{"name": name, "family": name} for name in ("latency", "token_f1", "faithfulness")]
    assert choose_headline(metrics) == ["faithfulness", "token_f1", "latency"]
