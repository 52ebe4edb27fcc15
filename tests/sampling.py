"""What `make test` runs of an exhaustive test; `make test-all` runs all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def sample_every(step: int, cases: Sequence[Any]) -> list[Any]:
    """Return the cases as parameters of a test: every `step`-th is always run, the others are `slow`."""
    return [
        case
        if number % step == 0
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for number, case in enumerate(cases)
    ]
