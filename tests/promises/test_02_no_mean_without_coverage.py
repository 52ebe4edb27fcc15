"""No mean without its coverage: what could not be scored lowers the coverage, bounds the mean, and below the floor the run is incomplete.

Runs with some, all and no samples failed, with a metric that applies nowhere, and with rows missing in the store."""

from __future__ import annotations

from analysis.conftest import (
    build,
    store,
)
from analysis.test_summary import (
    test_a_metric_whose_field_is_missing_everywhere_is_incomplete,
    test_a_sample_without_a_stored_score_is_a_failure,
    test_all_failed_leaves_the_whole_range,
    test_an_empty_run_is_incomplete,
    test_failures_count_against_coverage_and_bound_the_mean,
    test_the_bounds_of_the_mean_follow_the_bounds_of_the_metric,
    test_the_floor_is_met_exactly,
)

__all__ = [
    "build",
    "store",
    "test_a_metric_whose_field_is_missing_everywhere_is_incomplete",
    "test_a_sample_without_a_stored_score_is_a_failure",
    "test_all_failed_leaves_the_whole_range",
    "test_an_empty_run_is_incomplete",
    "test_failures_count_against_coverage_and_bound_the_mean",
    "test_the_bounds_of_the_mean_follow_the_bounds_of_the_metric",
    "test_the_floor_is_met_exactly",
]
