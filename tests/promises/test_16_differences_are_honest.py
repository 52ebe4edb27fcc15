"""Equal systems are called different at most once in twenty comparisons, and the interval of a difference holds the truth.

Simulated pairs of equal systems with binary, lumpy and clustered scores; the tests beside those of SciPy."""

from __future__ import annotations

from analysis.test_significance import (
    test_equal_systems_are_called_different_in_at_most_one_of_twenty,
    test_few_sign_flips_equal_scipys_exact_permutation_test,
    test_mcnemar_equals_scipys_binomial_test,
    test_the_interval_of_a_difference_holds_the_truth,
)

__all__ = [
    "test_equal_systems_are_called_different_in_at_most_one_of_twenty",
    "test_few_sign_flips_equal_scipys_exact_permutation_test",
    "test_mcnemar_equals_scipys_binomial_test",
    "test_the_interval_of_a_difference_holds_the_truth",
]
