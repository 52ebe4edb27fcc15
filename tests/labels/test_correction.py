"""The means of runs and their differences, corrected by labels of the store."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from labelled import make_claims, make_run
from ragstone.analysis.summary import summarise
from ragstone.labels import Label, correct_difference, correct_run, save_labels
from ragstone.store import Store, StoredRun
from ragstone.types import Score


def label_answers(run: StoredRun, values: dict[int, float], **more: object) -> None:
    save_labels(
        run.store,
        [
            replace(Label(f"s{number}", "correctness", value, author="ana", run=run.id), **more)  # type: ignore[arg-type]
            for number, value in values.items()
        ],
    )


def make_correctness(store: Store, shift: float = 0.0, name: str = "r1") -> StoredRun:
    scores = [Score(1.0 if number % 4 else 0.4 + shift) for number in range(200)]
    return make_run(store, scores, metric="answer_correctness", name=name)


def test_without_labels_nothing_is_corrected() -> None:
    assert correct_run(make_correctness(Store.open(":memory:"))) == {}


def test_a_judge_that_is_too_kind_is_corrected_and_the_assumption_is_named() -> None:
    run = make_correctness(Store.open(":memory:"))
    label_answers(run, {number: 1.0 if number % 4 else 0.0 for number in range(120)})
    correction = correct_run(run)["answer_correctness"]
    assert correction.target == "correctness"
    assert correction.estimate is not None
    assert correction.estimate.judge_mean == pytest.approx(0.85)
    assert correction.estimate.mean == pytest.approx(0.75)
    assert [note.code for note in correction.notes] == ["labels_assumed_random"]  # type: ignore[attr-defined]


def test_labels_of_unknown_origin_are_left_out_beside_drawn_ones() -> None:
    run = make_correctness(Store.open(":memory:"))
    label_answers(
        run, {number: 1.0 if number % 4 else 0.0 for number in range(40)}, sampling_probability=0.2
    )
    label_answers(run, dict.fromkeys(range(40, 90), 0.0))
    correction = correct_run(run)["answer_correctness"]
    assert correction.estimate is not None
    assert correction.estimate.labels == 40
    assert correction.estimate.mean == pytest.approx(0.75)
    assert [note.code for note in correction.notes] == ["labels_without_chance"]  # type: ignore[attr-defined]


def test_too_few_labels_are_said_to_be_too_few() -> None:
    run = make_correctness(Store.open(":memory:"))
    label_answers(run, {0: 1.0, 1: 1.0}, sampling_probability=0.01)
    correction = correct_run(run)["answer_correctness"]
    assert correction.estimate is None
    assert correction.notes[-1].startswith("2 labels are too few")


def test_labels_of_claims_correct_the_mean_over_samples() -> None:
    """Samples count the same whatever their number of claims: 1 claim in the first half, 4 in the second."""
    generator = random.Random(3)
    scores, truth = [], {}
    for number in range(300):
        size = 1 if number < 150 else 4
        right = [generator.random() < (0.9 if size == 1 else 0.5) for _ in range(size)]
        truth |= {(f"s{number}", f"claim {index}"): value for index, value in enumerate(right)}
        # the judge misses a third of the unsupported claims
        said = [
            "supported" if value or generator.random() < 1 / 3 else "not_found" for value in right
        ]
        scores.append(make_claims(*said))
    run = make_run(Store.open(":memory:"), scores)
    drawn = generator.sample(sorted(truth), 250)
    save_labels(
        run.store,
        [Label(s, "claim", float(truth[s, c]), "supported" if truth[s, c] else "not_found", item=c,
               author="ana", run="r1", sampling_probability=250 / len(truth)) for s, c in drawn],
    )  # fmt: skip
    correction = correct_run(run)["faithfulness"]
    by_sample = [
        [truth[f"s{number}", f"claim {index}"] for index in range(1 if number < 150 else 4)]
        for number in range(300)
    ]
    mean = sum(sum(row) / len(row) for row in by_sample) / 300
    estimate = correction.estimate
    assert estimate is not None
    assert estimate.sample_low < mean < estimate.sample_high
    assert estimate.judge_mean > estimate.sample_high
    assert estimate.high - estimate.low < estimate.alone_high - estimate.alone_low
    assert (
        correct_run(run)["faithfulness"]
        == summarise(run, corrections=correct_run(run)).metrics[0].corrected
    )


def test_the_difference_of_two_runs_is_corrected_by_what_is_labelled_in_both() -> None:
    store = Store.open(":memory:")
    before = make_correctness(store)
    # the judge sees an improvement of 0.1 that people do not see
    after = make_correctness(store, shift=0.4, name="r2")
    for run in (before, after):
        label_answers(
            run,
            {number: 1.0 if number % 4 else 0.0 for number in range(100)},
            sampling_probability=0.5,
        )
    correction = correct_difference(before, after)["answer_correctness"]
    assert correction.estimate is not None
    assert correction.estimate.judge_mean == pytest.approx(0.1)
    assert correction.estimate.mean == pytest.approx(0.0, abs=1e-9)
    assert correction.estimate.low < 0 < correction.estimate.high


def test_a_gate_on_the_corrected_interval() -> None:
    run = make_correctness(Store.open(":memory:"))
    rules = {"answer_correctness": "corrected >= 0.7"}
    assert summarise(run, gates=rules).gates[0].passed is None
    label_answers(
        run, {number: 1.0 if number % 4 else 0.0 for number in range(120)}, sampling_probability=0.6
    )
    results = [
        summarise(run, gates={"answer_correctness": rule}, corrections=correct_run(run))
        .gates[0]
        .passed
        for rule in ("corrected >= 0.6", "corrected >= 0.74", "mean >= 0.84", "corrected <= 0.8")
    ]
    assert results == [True, False, True, False]
