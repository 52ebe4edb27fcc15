"""Garbage collection during a run: rarer than Python's default, under which it takes a sixth of the time of judging."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG_OBJECTS = 50_000
"""New objects between two collections while samples are scored; a sample makes some thousand, nearly none in cycles."""


@contextmanager
def relax_garbage_collection() -> Iterator[None]:
    """Collect less often in this block; a process that collects more rarely still, or not at all, is left as it is."""
    thresholds = gc.get_threshold()
    if not 0 < thresholds[0] < YOUNG_OBJECTS:
        yield
        return
    gc.set_threshold(YOUNG_OBJECTS, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
