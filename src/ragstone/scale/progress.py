"""The progress of a run in a small file: unlike a store that is being written, another host can read it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from ragstone.engine import Progress, ProgressCallback

PROGRESS_VARIABLE = "RAGSTONE_PROGRESS"
"""The environment variable that names the file; without it, no progress is written."""


def follow_progress(watch: ProgressCallback | None) -> ProgressCallback | None:
    """A callback that also writes the file, if the environment names one."""
    named = os.environ.get(PROGRESS_VARIABLE)
    if not named:
        return watch
    part = Path(f"{named}.part")

    def write(progress: Progress) -> None:
        with suppress(OSError):  # a run must not fail because its progress cannot be written
            part.write_text(json.dumps({"done": progress.done, "total": progress.total}))
            part.replace(named)
        if watch is not None:
            watch(progress)

    return write


def read_progress(path: Path) -> tuple[int, int | None]:
    """Samples done, and of how many if that is known; (0, None) when nothing was written yet."""
    try:
        progress = json.loads(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0, None
    return progress["done"], progress["total"]
