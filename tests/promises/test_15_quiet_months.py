"""A quiet month brings no alarm: at most 0.15 false alarms a metric and month.

Simulated months without a change, of several shapes of traffic; `python -m bench.alarms` measures more of them."""

from __future__ import annotations

from monitor.drift import test_sequential_test as home

globals().update(
    {
        name: test
        for name, test in vars(home).items()
        if name.startswith("test_") and "quiet" in name
    }
)
