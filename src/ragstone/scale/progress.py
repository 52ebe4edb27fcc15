"""How far a run is, in a small file: another host can read that, but not a store that is being written."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

PROGRESS_VARIABLE = "RAGSTONE_PROGRESS"
"""The environment variable that names the file."""


def write_progress(done: int, total: int | None) -> None:
    """Write how many samples are merged, atomically."""
    named = os.environ.get(PROGRESS_VARIABLE)
    if not named:
        return
    part = Path(f"{named}.part")
    with suppress(OSError):  # a run does not fail because nobody can watch it
        part.write_text(json.dumps({"done": done, "total": total}), encoding="ascii")
        part.replace(named)


def read_progress(path: Path) -> tuple[int, int | None]:
    """Samples done, and of how many if that is known; none when nothing was written yet."""
    try:
        progress = json.loads(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0, None
    return progress["done"], progress["total"]
