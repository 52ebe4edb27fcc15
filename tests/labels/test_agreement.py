"""Agreement of people: figures of the literature, intervals, disagreements and decisions."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ragstone.labels import Label, list_disagreements, measure_agreement, resolve_labels
from ragstone.labels.agreement import measure_kappa

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", example C: four observers, nominal, alpha 0.743
OBSERVERS = {
    "a": "1 2 3 3 2 1 4 1 2 . . .",
    "b": "1 2 3 3 2 2 4 1 2 5 . 3",
    "c": ". 3 3 3 2 3 4 2 2 5 1 .",
    "d": "1 2 3 3 2 4 4 1 2 5 1 .",
}


def list_labels(observers: dict[str, str], *, words: bool) -> list[Label]:
    return [
        Label(f"s{number}", "score", float(value), value if words else "", item="m", author=author)
        for author, row in observers.items()
        for number, value in enumerate(row.split())
        if value != "."
    ]


@pytest.mark.parametrize(("words", "alpha"), [(True, 0.743), (False, 0.849)])
def test_alpha_is_that_of_the_literature(words: bool, alpha: float) -> None:
    (found,) = measure_agreement(list_labels(OBSERVERS, words=words))
    assert found.alpha == pytest.approx(alpha, abs=5e-4)
    assert found.people == 4
    assert found.items == 11  # the last unit was seen by one observer


def test_kappa_is_that_of_the_literature() -> None:
    table = {("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15}
    kappa, low, high = measure_kappa(table)
    assert kappa == pytest.approx(0.4)
    assert (low, high) == (pytest.approx(0.151, abs=0.005), pytest.approx(0.649, abs=0.005))


def test_full_agreement_on_one_value_says_nothing_beyond_chance() -> None:
    assert measure_kappa({("y", "y"): 9}) == (None, None, None)


@pytest.mark.parametrize("measure", ["alpha", "kappa"])
def test_intervals_hold_the_true_value(measure: str) -> None:
    generator, held = random.Random(4), 0
    # two people who say the truth with 0.9: agreement 0.82, by chance 0.5
    for _ in range(200):
        labels = []
        for number in range(80):
            truth = generator.random() < 0.5
            for author in ("ana", "luis"):
                said = truth if generator.random() < 0.9 else not truth
                labels.append(Label(f"s{number}", "correctness", float(said), author=author))
        (found,) = measure_agreement(labels)
        ends = (
            (found.low, found.high)
            if measure == "alpha"
            else (found.pairs[0].low, found.pairs[0].high)
        )
        held += ends[0] <= 0.64 <= ends[1]  # type: ignore[operator]
    assert 0.9 <= held / 200 <= 0.99


def test_disagreements_are_listed_until_somebody_decides() -> None:
    first = Label("s1", "correctness", 1.0, author="ana", sampling_probability=0.5)
    second = replace(first, value=0.0, author="luis")
    same = [replace(first, sample="s2"), replace(second, sample="s2", value=1.0)]
    assert list_disagreements([first, second, *same]) == [(first, second)]
    decision = replace(
        first, value=0.0, author="eva", origin="adjudicated", sampling_probability=None
    )
    assert list_disagreements([first, second, decision]) == []
    resolved = {
        label.sample: label.value for label in resolve_labels([first, second, *same, decision])
    }
    assert resolved == {"s1": 0.0, "s2": 1.0}


def test_without_a_decision_the_mean_counts_and_skipped_items_do_not() -> None:
    first = Label("s1", "correctness", 1.0, author="ana", sampling_probability=0.5)
    labels = [
        first,
        replace(first, value=0.0, author="luis"),
        Label("s2", "correctness", None, "skip"),
    ]
    (label,) = resolve_labels(labels)
    assert (label.value, label.sampling_probability) == (0.5, 0.5)


def test_the_word_of_most_people_counts_and_a_draw_has_none() -> None:
    votes = [
        Label("s", "claim", 1.0, word, author=author)
        for word, author in (("supported", "ana"), ("not_found", "luis"), ("supported", "eva"))
    ]
    assert [label.word for label in resolve_labels(votes)] == ["supported"]
    assert [label.word for label in resolve_labels(votes[:2])] == [""]
    decision = replace(votes[1], author="eva", origin="adjudicated")
    assert [label.word for label in resolve_labels([*votes, decision])] == ["not_found"]


def test_decisions_and_skips_are_no_opinion_of_their_own() -> None:
    first = Label("s", "correctness", 1.0, author="ana")
    others = [replace(first, author="eva", origin="adjudicated"), replace(first, author="luis", value=None)]  # fmt: skip
    assert measure_agreement([first, *others]) == []


def test_two_items_make_no_interval_and_the_share_counts_equal_labels() -> None:
    rows = {"a": "1 2", "b": "1 1"}
    (found,) = measure_agreement(list_labels(rows, words=False))
    assert (found.low, found.high) == (None, None)
    assert found.alpha is not None
    assert found.pairs[0].same == 0.5
