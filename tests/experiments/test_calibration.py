"""A run's judge fitted to labels: later runs use it and say so, replies stay as the judge gave them."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from ragstone import Run, evaluate
from ragstone.errors import RagstoneError
from ragstone.experiments.calibration import fit_judge
from ragstone.judges.calibration import Calibration
from ragstone.labels import Label, add_labels
from ragstone.report.figures import list_run_facts
from ragstone.report.translator import load_translator
from ragstone.store import Store
from ragstone.store.plans import encode_plan

SAMPLES = [
    {
        "id": f"s{n}",
        "question": "How long is the warranty?",
        "answer": f"The warranty of model {n} lasts {2 + n % 2} years.",
        "contexts": [f"The warranty of model {n} lasts two years."],
    }
    for n in range(60)
]


def score(store: Store, judge: Any = "offline") -> Run:
    return evaluate(SAMPLES, ["faithfulness"], judge=judge, store=store)


def label_at_random(run: Run) -> None:
    """People who find four answers of five right, whatever the judge says: it is much too sure."""
    rng = random.Random(4)
    given = [
        Label(row.id, "support", float(rng.random() < 0.8), run=run.id, sampling_probability=1.0)
        for row in run.rows()
    ]
    add_labels(run.stored.store, given)


def list_chances(run: Run) -> list[float]:
    return [
        finding.get_chance("supported")
        for scores in run.scores().values()
        for finding in scores["faithfulness"].findings
    ]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "runs.db")


def test_runs_after_a_fit_use_it_and_say_so(store: Store) -> None:
    before = score(store)
    label_at_random(before)
    fitted = fit_judge(before.stored)
    assert fitted is not None
    after = score(store)
    assert fmean(list_chances(before)) < 0.6
    assert fmean(list_chances(after)) == pytest.approx(0.8, abs=0.1)
    facts = list_run_facts(after.summary(), load_translator("en"))
    assert any("fitted to 60 labels" in fact for fact in facts)
    assert after.info.facts.identity["calibration"]
    assert after.info.facts.judge_identity == before.info.facts.judge_identity
    with pytest.raises(RagstoneError, match="--no-calibration"):
        fit_judge(after.stored)


def test_a_judge_that_says_calibration_false_is_left_as_it_is(store: Store) -> None:
    before = score(store)
    label_at_random(before)
    fit_judge(before.stored)
    plain = score(store, {"model": "offline", "calibration": False})
    assert list_chances(plain) == list_chances(before)
    assert plain.info.facts.calibration == {}


def test_an_earlier_fit_is_forgotten_where_new_labels_need_none(store: Store) -> None:
    before = score(store)
    label_at_random(before)
    assert fit_judge(before.stored) is not None
    agreeing = [
        Label(row.id, "support", float(row.scores["faithfulness"].probability > 0.5), run=before.id)
        for row in before.rows()
    ]
    add_labels(store, agreeing)
    again = fit_judge(before.stored)
    after = score(store)
    assert (again is None) == (after.info.facts.calibration == {})


def test_a_missed_gate_of_before_is_shown_with_the_bound_it_needs_now(store: Store) -> None:
    yes_or_no = Calibration("two_numbers", ((1.0, 0.9),), 30, 0.1, 0.2)
    before = score(store, {"model": "offline", "calibration": yes_or_no.to_json()})
    was = replace(before.info.plan, gates={"faithfulness": "mean >= 0.99"})
    facts = replace(before.info.facts, value_version=1)
    sql = "UPDATE runs SET plan = ? WHERE id = ?"
    body = json.dumps(encode_plan(was, facts))
    store.write(lambda db: db.execute(sql, (body, before.id))).result()
    now = evaluate(
        SAMPLES,
        ["faithfulness"],
        judge="offline",
        store=store,
        gates={"faithfulness": "mean >= 0.99"},
    )
    (gate,) = now.summary().outdated_gates
    shift = fmean(list_chances(before)) - fmean(list_chances(now))
    assert float(gate.suggested.removeprefix("mean >= ")) == pytest.approx(0.99 - shift, abs=1e-3)
    text = " ".join(str(now).split())
    assert f"the equivalent of mean >= 0.99 is {gate.suggested}" in text
