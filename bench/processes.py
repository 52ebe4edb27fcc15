"""What a command and the processes it starts use: seconds of wall and CPU, and peak memory, each by itself.

CPU tells what a run costs even when a neighbour makes it wait; it is read from /proc, so only where there is one."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

EVERY_SECONDS = 0.5
"""Rare enough not to take part in what is measured."""


@dataclass(slots=True)
class Used:
    """What one process has used so far."""

    words: str
    """Its command line."""
    cpu: float = 0.0
    memory: float = 0.0
    """At most, in MB."""


@dataclass(slots=True)
class Finished:
    """A command that is over."""

    wall: float
    processes: list[Used] = field(default_factory=list)
    """The command itself first."""

    @property
    def cpu(self) -> float:
        """Of all its processes."""
        return sum(one.cpu for one in self.processes)


def run(
    command: Sequence[str], look: Callable[[dict[int, Used]], None] = lambda seen: None
) -> Finished:
    """Run a command that must succeed, watching it and its children; `look` may note down others too."""
    began = time.perf_counter()
    process = subprocess.Popen(command)
    seen: dict[int, Used] = {}
    while process.poll() is None:
        for pid in (process.pid, *_under(process.pid)):
            note(pid, seen)
        look(seen)
        time.sleep(EVERY_SECONDS)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Finished(time.perf_counter() - began, list(seen.values()))


def note(pid: int, seen: dict[int, Used]) -> None:
    """Write down what a process has used by now; one that is gone keeps what was seen last."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().replace("\0", " ")
        facts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        status = Path(f"/proc/{pid}/status").read_text()
    except (OSError, UnicodeDecodeError):
        return
    used = seen.setdefault(pid, Used(words))
    used.words = words or used.words
    used.cpu = (int(facts[11]) + int(facts[12])) / os.sysconf("SC_CLK_TCK")
    for line in status.splitlines():
        if line.startswith("VmHWM"):
            used.memory = int(line.split()[1]) / 1024


def _under(pid: int) -> list[int]:
    """The processes below this one."""
    found: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *_under(int(child))]
    except OSError:  # it has ended meanwhile
        return found
    return found
