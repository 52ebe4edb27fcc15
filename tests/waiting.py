"""Waiting for what another thread or process does, however slow the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

LIMIT_SECONDS = 240.0
"""Only to end a test that would wait for ever: below the time that pytest gives a test."""


def wait_until(is_so: Callable[[], object], what: str, every_seconds: float = 0.01) -> None:
    """Return once it is so; an AssertionError that says what did not happen ends the wait."""
    end = time.monotonic() + LIMIT_SECONDS
    while not is_so():
        assert time.monotonic() < end, f"in vain: {what}"
        time.sleep(every_seconds)
