"""How idle the machine is while something is measured: a figure on the clock means nothing on a busy one."""

from __future__ import annotations

import os


def describe_machine() -> str:
    """Load average of the last minute, processors, and whether that is idle."""
    load, processors = os.getloadavg()[0], os.cpu_count() or 1
    state = "idle" if is_idle() else "busy: believe CPU times and ratios, not the clock"
    return f"load average {load:.2f} on {processors} processors ({state})"


def is_idle() -> bool:
    """Whether less than a quarter of a processor was in use beside one that measures."""
    return os.getloadavg()[0] < 1.25
