"""How idle the machine is, and what a command costs: a figure that was taken beside other work says little."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

LOOK_SECONDS = 1.0
"""How long the machine is watched before a bench."""


def describe_machine() -> str:
    """The cores, the load average, and how much of all cores was idle during the last second."""
    cores = os.cpu_count() or 1
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    first, before = _read_ticks(), time.perf_counter()
    time.sleep(LOOK_SECONDS)
    idle, total = (b - a for a, b in zip(first, _read_ticks(), strict=True))
    share = f"{100 * idle / total:.0f} % idle" if total else "idleness unknown"
    seconds = time.perf_counter() - before
    return f"machine: {cores} cores, {share} during {seconds:.0f} s, load average {load}"


def _read_ticks() -> tuple[int, int]:
    """Idle ticks and all ticks of all cores since the start; zeros where there is no /proc."""
    try:
        fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    except OSError:
        return 0, 0
    ticks = [int(field) for field in fields[:8]]
    return ticks[3] + ticks[4], sum(ticks)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command used, its children included."""

    cpu: float
    wall: float
    peak: float
    """The largest memory of one of its processes, in MB."""
    code: int

    def __str__(self) -> str:
        return f"CPU {self.cpu:.2f} s, wall {self.wall:.2f} s, peak {self.peak:.0f} MB"


def measure(command: Sequence[str], *, cores: int | None = None, quiet: bool = True) -> Cost:
    """Run a command, bound to some cores, and return what it used."""
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        _become(command, cores, quiet)
    _, status, used = os.wait4(pid, 0)
    return Cost(
        used.ru_utime + used.ru_stime,
        time.perf_counter() - began,
        used.ru_maxrss / 1024,
        os.waitstatus_to_exitcode(status),
    )


def _become(command: Sequence[str], cores: int | None, quiet: bool) -> None:
    if cores is not None:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    # as after an installation: without it every module is compiled anew each time
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if quiet:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
    try:
        os.execvp(command[0], list(command))
    finally:  # only where the command cannot be started
        os._exit(127)


def repeat(times: int, run: Callable[[], Cost]) -> list[Cost]:
    """Run something several times; each is printed by the caller, because one alone may be luck."""
    return [run() for _ in range(times)]
