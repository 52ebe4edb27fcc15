"""A real small model as the second judge of a cascade, and as a judge of pairs of answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import Sample, evaluate
from ragstone.experiments.preferences import compare_answers
from ragstone.judges.factory import make_judge
from ragstone.store import Store
from ragstone.types import chunks
from small_model import find_judge_weights

pytestmark = pytest.mark.slow

TEXT = (
    "The ferry to Orlen Island leaves from pier four every day at 7:30 and 16:00. The crossing takes fifty "
    "minutes. Bicycles travel free of charge, but dogs must stay on the lower deck."
)
ANSWERS = (
    ("How long is the crossing?", "The crossing takes fifty minutes.", "Nobody knows, ask at the bank."),
    ("Where must dogs stay?", "Dogs must stay on the lower deck.", "Dogs steer the ship at night."),
    ("What do bicycles cost?", "Bicycles travel free of charge.", "Bicycles cost ninety euros each."),
    ("Which pier is it?", "The ferry leaves from pier four.", "The ferry leaves from the airport."),
)  # fmt: skip


def make_samples(column: int) -> list[Sample]:
    return [
        Sample(str(n), row[0], row[column], chunks({"id": "k", "text": TEXT}), language="en")
        for n, row in enumerate(ANSWERS)
    ]


def test_a_small_model_decides_what_the_embedded_judge_is_unsure_of(tmp_path: Path) -> None:
    judge = {
        "first": "offline",
        "then": f"gguf:{find_judge_weights()}",
        "unsure": "0.1..0.7",
        "check": 0,
    }
    samples = [*make_samples(1), *(replace_id(sample) for sample in make_samples(2))]
    run = evaluate(samples, ["faithfulness"], judge=judge, store=str(tmp_path / "s.db"))
    summary = run.summary()["faithfulness"]
    cascade = summary.cascade
    assert cascade is not None
    assert 0 < cascade.asked < cascade.items
    opinions = [
        finding.opinion for row in run.rows() for finding in row.scores["faithfulness"].findings
    ]
    assert all(opinion is not None for opinion in opinions)
    decided = [opinion for opinion in opinions if opinion is not None and opinion.second]
    assert len(decided) == cascade.asked
    assert {opinion.second for opinion in decided} <= {"supported", "contradicted", "not_found"}
    right = [row.scores["faithfulness"].value for row in run.rows()]
    assert sum(value or 0 for value in right[:4]) > sum(value or 0 for value in right[4:])


def replace_id(sample: Sample) -> Sample:
    return Sample(
        f"{sample.id} wrong", sample.question, sample.answer, sample.contexts, language="en"
    )


def test_a_small_model_prefers_right_answers_or_says_nothing(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "s.db"))
    right, wrong = (
        evaluate(
            make_samples(column), ["token_f1", "answer_language"], store=store, name=name
        ).stored
        for column, name in ((1, "right"), (2, "wrong"))
    )
    judge = make_judge(f"gguf:{find_judge_weights()}")
    (pair,) = compare_answers([wrong, right], judge).pairs
    assert not pair.failed
    assert pair.counts["first"] == 0  # never the wrong one in both orders
