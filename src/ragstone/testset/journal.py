"""The journal of a generation: each step that it made as one line on disk, so that it can be resumed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from ragstone.errors import DataError

SYNC_SECONDS = 0.2
"""What is written survives the death of the process at once, that of the machine after this long."""

Step = dict[str, Any]


class Journal:
    """Steps by number: those of an earlier process can be taken once, new ones are appended."""

    def __init__(self, file: IO[bytes] | None, steps: dict[int, Step]) -> None:
        self._file = file
        self._steps = steps
        self._synced_at = time.monotonic()

    @classmethod
    def open(
        cls,
        path: Path | None,
        plan: Mapping[str, Any],
        *,
        resume: bool,
        request: Mapping[str, Any] | None = None,
    ) -> Journal:
        """The journal at a path, begun anew or resumed; None keeps nothing.

        `plan` is what must be the same to resume (sets._build_identity, not a TestsetPlan); `request` is the
        TestsetPlan as JSON, from which `--resume` alone can start again."""
        if path is None:
            return cls(None, {})
        head = _encode_line({"plan": dict(plan), **({"request": dict(request)} if request else {})})
        steps: dict[int, Step] = {}
        file: IO[bytes]
        try:
            if resume and path.exists():
                steps, good = _read_steps(path, plan)
                file = path.open("r+b")
                file.truncate(good)  # drops a line that was cut short when the process died
                file.seek(good)
                if not good:  # not even the first line was whole
                    file.write(head)
            else:
                file = path.open("wb")
                file.write(head)
            file.flush()
        except OSError as bad:
            raise DataError(f"cannot write {str(path)!r}: {bad.strerror or bad}") from None
        return cls(file, steps)

    def take_step(self, number: int) -> Step | None:
        """What an earlier process made in this step; given once, so that it is not held twice."""
        return self._steps.pop(number, None)

    def add(self, number: int, step: Mapping[str, Any]) -> None:
        """Keep a step; when this returns the death of the process does not lose it."""
        if self._file is None:
            return
        self._file.write(_encode_line({"step": number, **step}))
        self._file.flush()
        now = time.monotonic()
        # an fsync for each step would take longer than many steps do
        if now - self._synced_at > SYNC_SECONDS:
            os.fsync(self._file.fileno())
            self._synced_at = now

    def close(self) -> None:
        """Write everything to the disk; the file stays, to be resumed."""
        if self._file is not None and not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()


def read_head(path: Path) -> dict[str, Any]:
    """The first line of an unfinished generation; empty when there is none."""
    try:
        with path.open("rb") as file:
            head = json.loads(file.readline())
    except (OSError, ValueError):
        return {}
    return head if isinstance(head, dict) else {}


def _read_steps(path: Path, plan: Mapping[str, Any]) -> tuple[dict[int, Step], int]:
    """The whole steps of a file of the same plan, and the byte where the last of them ends; DataError for another plan."""
    steps: dict[int, Step] = {}
    good = 0
    with path.open("rb") as file:
        for number, line in enumerate(file):
            try:
                # a line without its end was being written when the process died; JSON alone would
                # take `12` for a whole number
                row = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                row = None
            if not isinstance(row, dict):
                break
            if number == 0:  # the plan through JSON and back, so that tuples equal lists
                _check_same_plan(path, row.get("plan", {}), json.loads(json.dumps(plan)))
            else:
                steps[row["step"]] = row
            good += len(line)
    return steps, good


def _check_same_plan(path: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    for name in now:
        if before.get(name) != now[name]:
            raise DataError(
                f"{str(path)!r} was begun with another {name} ({before.get(name)!r}, now "
                f"{now[name]!r}); start again without --resume"
            )


def _encode_line(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"
