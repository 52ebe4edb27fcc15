"""A failed judgement is never a score.

32 faults of a judge (wrong JSON, missing ids, refusals, cut replies, time-outs, bad transport …) × every judged metric, over several HTTP dialects."""

from __future__ import annotations

from judges.conftest import serve
from judges.test_faults import (
    honest,
    impatient,
    test_a_fault_that_passes_leaves_the_score_as_it_is,
    test_a_lasting_fault_never_makes_a_number,
    test_each_metric_alone_survives_each_bad_reply,
    test_five_percent_of_faults_cost_nothing_but_patience,
    test_the_honest_scores_are_the_true_ones,
    test_the_other_dialects_are_as_strict,
    test_there_are_32_faults,
)

__all__ = [
    "honest",
    "impatient",
    "serve",
    "test_a_fault_that_passes_leaves_the_score_as_it_is",
    "test_a_lasting_fault_never_makes_a_number",
    "test_each_metric_alone_survives_each_bad_reply",
    "test_five_percent_of_faults_cost_nothing_but_patience",
    "test_the_honest_scores_are_the_true_ones",
    "test_the_other_dialects_are_as_strict",
    "test_there_are_32_faults",
]
