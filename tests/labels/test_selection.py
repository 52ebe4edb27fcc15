"""What is labelled next: a random part with known chances, and where judges are unsure."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from labelled import make_claims, make_run
from ragstone.errors import RagstoneError
from ragstone.labels import Label, LabelSession, load_labels, load_revisions
from ragstone.labels.selection import LabelDraw
from ragstone.labels.units import JudgedUnit, list_units
from ragstone.store import Store
from ragstone.types import Score


def make_units(predictions: Sequence[float]) -> list[JudgedUnit]:
    return [
        JudgedUnit(f"s{number}", "", number + 1, f"s{number}", value, round(value), 1.0, True)
        for number, value in enumerate(predictions)
    ]


def test_the_unsure_part_takes_what_the_judge_doubts_most() -> None:
    units = make_units(
        [0.5 if number == 7 else 0.55 if number == 3 else 0.99 for number in range(40)]
    )
    choices = LabelDraw.of(units, "support").choose_next(4, [], "ana")
    unsure = [choice.unit.sample for choice in choices if choice.origin == "unsure"]
    assert unsure == ["s7", "s3"]
    assert len(choices) == len({choice.unit.key for choice in choices}) == 4


def test_two_judges_that_disagree_make_doubt() -> None:
    units = make_units([1.0] * 20)
    other = {unit.key: 0.0 if unit.sample == "s5" else 1.0 for unit in units}
    choices = LabelDraw.of(units, "support", other).choose_next(2, [], "ana")
    assert [choice.unit.sample for choice in choices if choice.origin == "unsure"] == ["s5"]


def test_a_judge_without_doubt_leaves_a_random_draw() -> None:
    choices = LabelDraw.of(make_units([1.0, 0.0] * 10), "support").choose_next(6, [], "ana")
    assert {choice.origin for choice in choices} == {"random"}
    assert len(choices) == 6


def test_chances_are_the_shares_in_which_units_are_labelled() -> None:
    """The draw is fixed by the ids: over many sets of ids, each unit is labelled as often as its chance says."""
    generator = random.Random(1)
    labelled, expected = 0.0, 0.0
    for repeat in range(300):
        units = [
            JudgedUnit(f"{repeat}-{n}", "", n + 1, "", generator.random() ** 3, 0, 1.0, True)
            for n in range(30)
        ]
        draw = LabelDraw.of(units, "support")
        labels = [
            Label(choice.unit.sample, "support", 1.0, author="ana", origin=choice.origin)
            for choice in draw.choose_next(10, [], "ana")
        ]
        chances = draw.compute_sampling_probabilities(labels)
        assert len(chances) == 10
        # Horvitz and Thompson: the sum of 1 / chance counts the units, whatever was drawn
        assert sum(1 / chance for chance in chances.values()) == pytest.approx(30)
        value = {unit.sample: unit.prediction for unit in units}
        labelled += sum(value[sample] / chance for (sample, _), chance in chances.items())
        expected += sum(value.values())
    assert labelled / expected == pytest.approx(1, abs=0.03)


def test_a_session_resumes_and_each_label_has_its_chance(place: str) -> None:
    store = Store.open(place)
    run = make_run(store, [make_claims("supported", chances=[0.9]) for _ in range(20)])
    session = LabelSession(run, "claim", "ana")
    first = session.choose_next(6, random_share=1.0)
    for choice in first[:4]:
        session.save(choice, "supported")
    again = LabelSession(store.run("r1"), "claim", "ana")
    assert [choice.unit for choice in again.choose_next(2, 1.0)] == [
        choice.unit for choice in first[4:]
    ]
    again.save(first[4], "skip")
    assert len(again.own_labels) == 5
    assert {
        label.sampling_probability for label in load_labels(store) if label.value is not None
    } == {4 / 20}


def test_two_people_are_given_the_same_units(place: str) -> None:
    store = Store.open(place)
    run = make_run(store, [make_claims("supported", "not_found") for _ in range(10)])
    ana, luis = LabelSession(run, "claim", "ana"), LabelSession(run, "claim", "luis")
    for choice in ana.choose_next(5):
        ana.save(choice, "supported")
    assert luis.choose_next(5) == [*LabelSession(run, "claim", "eva").choose_next(5)]


def test_a_label_can_be_taken_back(place: str) -> None:
    store = Store.open(place)
    run = make_run(store, [make_claims("supported")] * 10)
    session = LabelSession(run, "claim", "ana")
    choice = session.choose_next(1)[0]
    session.save(choice, "not_found")
    session.take_back(choice)
    assert load_labels(store) == []
    assert len(load_revisions(store)) == 2
    assert session.choose_next(1)[0].unit == choice.unit


def test_units_of_a_claim_share_their_sample(place: str) -> None:
    run = make_run(
        Store.open(place), [make_claims("supported", "not_found"), make_claims("supported")]
    )
    units = list_units(run, "claim")
    assert [(unit.sample, unit.item, unit.decision, unit.share) for unit in units] == [
        ("s0", "claim 0", 1.0, 0.5),
        ("s0", "claim 1", 0.0, 0.5),
        ("s1", "claim 0", 1.0, 1.0),
    ]


def test_what_no_metric_judges_cannot_be_labelled_by_doubt() -> None:
    run = make_run(Store.open(":memory:"), [Score(1.0)], metric="recall")
    with pytest.raises(RagstoneError, match="no judgement on claim; score it with -m faithfulness"):
        LabelSession(run, "claim", "ana")
