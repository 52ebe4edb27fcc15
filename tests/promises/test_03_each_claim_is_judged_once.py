"""Each claim is judged once, however many metrics, samples and processes need the verdict.

Two metrics with one question, a question under way, questions of a whole run and their retries, workers that share a store."""

from __future__ import annotations

from engine.test_engine import (
    test_a_question_under_way_is_not_put_again,
    test_a_second_run_asks_nothing_and_gives_the_same_bytes,
    test_what_two_metrics_ask_is_asked_once_and_the_first_pays,
)
from judges.conftest import serve
from judges.test_faults import (
    impatient,
    test_no_question_is_put_more_than_once_and_its_retries,
)

__all__ = [
    "impatient",
    "serve",
    "test_a_question_under_way_is_not_put_again",
    "test_a_second_run_asks_nothing_and_gives_the_same_bytes",
    "test_no_question_is_put_more_than_once_and_its_retries",
    "test_what_two_metrics_ask_is_asked_once_and_the_first_pays",
]
