"""Judges measured by labels: figures, verdicts, weights, and who is better."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ragstone.experiments.measure import LabelledSet, measure_judges
from ragstone.labels import Label
from ragstone.labels.estimates import MeasuredItem, measure_accuracy, measure_auroc
from ragstone.labels.measure import compare_judges, measure_judge
from ragstone.store import Store
from ragstone.types import Sample, chunks


def make_items(*cells: tuple[int, float, float]) -> list[MeasuredItem]:
    """So many items with this label and this prediction, which is also the decision."""
    return [
        MeasuredItem(f"s{cell}-{number}", "", label, prediction, float(prediction >= 0.5))
        for cell, (count, label, prediction) in enumerate(cells)
        for number in range(count)
    ]


PERFECT = make_items((50, 1, 0.9), (50, 0, 0.1))


@pytest.mark.parametrize("shape", [(50, 50), (90, 10), (10, 90)])
def test_a_perfect_judge_is_fit_when_the_labels_can_tell(shape: tuple[int, int]) -> None:
    measured = measure_judge("j", make_items((shape[0], 1, 0.9), (shape[1], 0, 0.1)))
    assert measured.accuracy.value == 1
    assert measured.kappa.value == 1
    assert measured.bias.value == 0
    assert measured.wrong == ()
    assert measured.verdict == "fit"


def test_worked_figures() -> None:
    items = make_items((40, 1, 0.9), (10, 1, 0.2), (5, 0, 0.8), (45, 0, 0.1))
    measured = measure_judge("j", items)
    assert measured.accuracy.value == pytest.approx((0.8 + 0.9) / 2)
    assert measured.kappa.value == pytest.approx(0.7)
    # of 50 × 50 pairs: 40 × 50 above, 10 × 45 above
    assert measured.auroc.value == pytest.approx((40 * 50 + 10 * 45) / 2500)
    assert measured.bias.value == pytest.approx(-0.05)
    assert [(item.label, item.prediction) for item in measured.wrong[::14]] == [(1, 0.2), (0, 0.8)]


@pytest.mark.parametrize(
    ("cells", "verdict"),
    [
        (((150, 1, 0.9), (50, 1, 0.3), (150, 0, 0.1), (50, 0, 0.8)), "rank_only"),
        (((60, 1, 0.9), (40, 1, 0.1), (50, 0, 0.1), (50, 0, 0.9)), "unfit"),
        (((20, 1, 0.9), (4, 1, 0.1), (20, 0, 0.1), (4, 0, 0.9)), "more_labels"),
        (((100, 1, 0.9),), "more_labels"),
        (((100, 1, 0.9), (2, 0, 0.1)), "more_labels"),
    ],
)
def test_verdicts_are_no_stronger_than_the_labels(
    cells: tuple[tuple[int, float, float], ...], verdict: str
) -> None:
    measured = measure_judge("j", make_items(*cells))
    assert measured.verdict == verdict
    assert (measured.more is not None) == (verdict == "more_labels")


def test_items_chosen_for_doubt_do_not_make_a_judge_look_worse() -> None:
    """Of 1,000 items it gets 50 wrong, all of which were labelled; of the rest every tenth."""
    sure = make_items((45, 1, 0.9), (50, 0, 0.1))
    wrong = make_items((25, 1, 0.45), (25, 0, 0.55))
    items = [replace(item, weight=10.0) for item in sure] + wrong
    assert measure_accuracy(items).value == pytest.approx((450 / 475 + 500 / 525) / 2)
    assert measure_accuracy([*sure, *wrong]).value < 0.7  # type: ignore[operator]


def test_intervals_hold_the_true_figures() -> None:
    generator = random.Random(5)
    held = {"accuracy": 0, "auroc": 0, "bias": 0}
    for _ in range(300):
        items = []
        for number in range(120):
            label = float(generator.random() < 0.6)
            # normal with means 1 apart: AUROC 0.760; the line at 0.5 is right with 0.691 on both sides
            score = generator.gauss(label, 1)
            items.append(MeasuredItem(f"s{number}", "", label, score, float(score >= 0.5)))
        measured = measure_judge("j", items)
        truth = {"accuracy": 0.6915, "auroc": 0.7602, "bias": 0.4 * 0.3085 - 0.6 * 0.3085}
        for name, value in truth.items():
            ends = getattr(measured, name)
            held[name] += ends.low <= value <= ends.high
    assert all(0.91 <= count / 300 <= 0.99 for count in held.values()), held


def test_two_judges_are_compared_on_the_same_items() -> None:
    worse = make_items((30, 1, 0.9), (20, 1, 0.1), (50, 0, 0.1))
    worse = [replace(item, sample=other.sample) for item, other in zip(worse, PERFECT, strict=True)]
    (pair,) = compare_judges([("worse", worse), ("perfect", PERFECT)])
    assert pair.items == 100
    assert pair.difference == pytest.approx(0.2)
    assert pair.p is not None
    assert pair.p < 0.001
    (same,) = compare_judges([("a", PERFECT), ("b", PERFECT)])
    assert same.difference == 0
    assert same.p == 1


def test_slices_and_calibration() -> None:
    spanish = [
        replace(item, slices=(("language", "es"),))
        for item in make_items((15, 1, 0.2), (15, 0, 0.2))
    ]
    english = [
        replace(item, slices=(("language", "en"),), sample=f"e{item.sample}") for item in PERFECT
    ]
    items = [replace(item, has_probability=True) for item in [*spanish, *english]]
    measured = measure_judge("j", items)
    assert {part.value: part.accuracy.value for part in measured.slices} == {"en": 1.0, "es": 0.5}
    assert [part.expected for part in measured.calibration] == sorted(
        part.expected for part in measured.calibration
    )
    assert sum(part.items for part in measured.calibration) == 130
    assert measured.brier is not None


def test_a_judge_of_two_values_has_no_auroc() -> None:
    assert measure_auroc(PERFECT).value is None


def test_labels_of_claims_make_a_scale_and_bounds_of_a_cascade(tmp_path) -> None:
    """The embedded judge on plain copies and plain inventions: answers are good when all their labelled claims are."""
    samples, labels = {}, []
    for n in range(30):
        text = f"Mill number {n} grinds rye by the river Aune."
        wrong = f"The baker of village {n} sells blue horses."
        samples[str(n)] = Sample(
            str(n), None, f"{text} {wrong}", chunks({"id": "k", "text": text}), language="en"
        )
        labels.append(Label(str(n), "claim", 1.0, "supported", item=text))
        if n % 2:
            labels.append(Label(str(n), "claim", 0.0, "not_found", item=wrong))
    labelled = LabelledSet("x", "claim", samples, tuple(labels))
    store = Store.open(str(tmp_path / "s.db"))
    measured = measure_judges(labelled, ["offline"], store=store, with_scales=True)
    (judge,), (scale,) = measured.judges, measured.scales
    assert judge.verdict == "fit"
    assert (scale.good.count, scale.bad.count) == (15, 15)
    assert scale.good.mean == 1.0
    assert scale.bad.mean == 0.5
    assert scale.unsure == judge.unsure == (0.5, 0.5)  # it is right on all of them
    assert judge.unsure_share == 0.0


def test_unsure_chances_weigh_both_sides_the_same() -> None:
    """Wrong on a fifth of the rare side between 0.5 and 0.6: those have to be asked about, though they are few."""
    items = [
        replace(item, has_probability=True)
        for item in make_items((950, 1, 0.8), (40, 0, 0.1), (10, 0, 0.55))
    ]
    measured = measure_judge("j", items)
    assert measured.unsure == (0.5, 0.56)
    assert measured.unsure_share == pytest.approx(0.01)
