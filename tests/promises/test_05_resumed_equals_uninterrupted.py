"""A resumed run equals the uninterrupted one, byte for byte; on other data, or with another plan, it is refused.

Runs stopped in the middle and killed while a judge answers."""

from __future__ import annotations

from engine.test_engine import (
    test_a_run_resumes_where_it_stopped,
    test_resuming_on_other_data_is_refused,
    test_resuming_with_another_plan_is_refused,
)
from judges.conftest import serve
from judges.test_whole_run import (
    key,
    test_kill_and_resume_pay_only_for_what_was_in_flight,
)

__all__ = [
    "key",
    "serve",
    "test_a_run_resumes_where_it_stopped",
    "test_kill_and_resume_pay_only_for_what_was_in_flight",
    "test_resuming_on_other_data_is_refused",
    "test_resuming_with_another_plan_is_refused",
]
