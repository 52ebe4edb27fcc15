"""A run can be killed at any moment: nothing finished is lost, nothing is counted twice, and at most the calls in flight are paid again.

kill -9 at 100 random moments of runs with 400 samples (6 in `make test`)."""

from __future__ import annotations

from engine.test_kill import test_kill_9_at_random_moments

__all__ = [
    "test_kill_9_at_random_moments",
]
