"""A sample of `python -m bench.labels`: the corrected intervals hold the truth as often as they promise."""

from __future__ import annotations

import pytest
from bench.labels import Design, Judge, simulate

DRAWS = 250
SLACK = 0.042
"""Three standard errors of a share of 0.95 in 250 draws."""


@pytest.mark.parametrize(
    ("judge", "design"),
    [
        ("good", "plain"),
        ("lenient", "grouped"),
        ("noisy", "unequal"),
        ("one language", "unsure"),
        ("useless", "plain"),
    ],
)
def test_intervals_of_a_hundred_labels_hold_the_truth(judge: Judge, design: Design) -> None:
    tally = simulate(judge, design, labels=100, samples=1_000, draws=DRAWS, seed=7)
    for held in (tally.population, tally.samples):
        assert 0.95 - SLACK <= held / DRAWS <= 0.95 + SLACK
    assert tally.width <= 1.01 * tally.alone
    # the judge's own mean does not: that is why labels are needed
    assert tally.uncorrected / DRAWS < 0.85


def test_a_judge_whose_errors_are_rare_is_not_trusted_blindly() -> None:
    tally = simulate("rare errors", "plain", labels=100, samples=1_000, draws=DRAWS, seed=7)
    assert min(tally.population, tally.samples) / DRAWS >= 0.95 - SLACK
    assert tally.width < 0.5 * tally.alone
