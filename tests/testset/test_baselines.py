"""What a system that knows nothing gets right."""

from __future__ import annotations

from ragstone import Sample
from ragstone.testset.baselines import measure_baselines


def test_an_item_without_a_reference_is_not_answered_by_saying_nothing() -> None:
    samples = [Sample(f"s{n}", question="Why?") for n in range(5)]
    given = [*samples, Sample("a", question="Who?", reference="Ida.")]
    found = measure_baselines(given, None)
    assert (found.constant, found.constant_answer) == (1 / 6, "Ida.")
