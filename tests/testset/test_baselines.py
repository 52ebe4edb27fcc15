"""What a system that knows nothing gets right."""

from __future__ import annotations

import pytest

from ragstone import Sample
from ragstone.testset.baselines import is_abstention, measure_baselines


def test_an_item_without_a_reference_is_not_answered_by_saying_nothing() -> None:
    samples = [Sample(f"s{n}", question="Why?") for n in range(5)]
    given = [*samples, Sample("a", question="Who?", reference="Ida.")]
    found = measure_baselines(given, None)
    assert (found.constant, found.constant_answer) == (1 / 6, "Ida.")


@pytest.mark.parametrize(
    ("reference", "relevant", "abstains"),
    [
        ("It is not mentioned in the document.", {}, True),
        ("It is not mentioned in the document.", {"d": 1.0}, True),
        ("I don't know.", {}, True),
        ("No lo sé.", {}, True),
        ("The documents do not say.", {"d": 1.0}, False),
        ("No, dogs are not allowed.", {}, False),
        ("The museum does not say when it opens on Mondays.", {}, False),
        ("", {}, False),
    ],
)
def test_an_abstention_in_other_words_counts_where_no_document_is_relevant(
    reference: str, relevant: dict[str, float], abstains: bool
) -> None:
    sample = Sample("s", question="When?", reference=reference, relevant=relevant)
    assert is_abstention(sample) is abstains
