"""What users expect of a judge, on the examples handed over beside the checkout; they are not part of the project."""

from __future__ import annotations

import pytest
from bench.judge import acceptance

MAX_UNMET = 1
"""A half-right answer: its value lies between when metrics count probabilities, and not when they count verdicts."""


def test_the_acceptance_examples_are_met() -> None:
    if not acceptance.EXAMPLES.is_file():
        pytest.skip("shared/acceptance/examples.jsonl is not beside the checkout")
    unmet = [expectation for expectation in acceptance.check() if not expectation.met]
    assert len(unmet) <= MAX_UNMET, unmet
