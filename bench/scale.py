"""Two worker processes, forked and of Dask, against one process; and memory of scheduler and driver at 10^6 samples.

python -m bench.scale [--samples 6000] [--data rows.jsonl] [--metrics faithfulness] [--judge offline] [--many 1000000]

Each figure is of `ragstone eval` in processes of their own with one thread each, less what the same command takes for the
first 40 rows (its start). Beside the wall stands the CPU of all processes, which a neighbour on the machine changes less;
"on two idle cores" is one process's CPU divided by half of that of all, or by that of the busiest process if it is more.
With `--function` a Python function of about a millisecond judges: its replies are kept, so the workers are asked question by
question. The last run sends ranking and text metrics through a Dask scheduler of its own."""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.processes import Used, note, run
from bench.streaming import METRICS, write_samples

JUDGE = f"python:{Path(__file__).parent / 'scale_judge.py'}:judge"


def evaluated(data: Path, store: Path, *more: str) -> list[str]:
    """The command of one run."""
    return [
        sys.executable,
        "-m",
        "ragstone",
        "eval",
        str(data),
        "--store",
        str(store),
        "--quiet",
        *more,
    ]


@dataclass(frozen=True)
class Cost:
    """Seconds of a command: wall, CPU of all its processes, and CPU of the busiest one."""

    wall: float
    cpu: float
    busiest: float

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.wall - other.wall, self.cpu - other.cpu, self.busiest - other.busiest)


def measure(command: list[str]) -> Cost:
    """What a command and the processes that it starts take."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    finished = run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(finished.wall, cpu, max(used.cpu for used in finished.processes))


def compare(data: Path, folder: Path, wanted: list[str], turns: int) -> None:
    """One process, two forked ones, two workers of Dask, on the same samples."""
    few = folder / "few.jsonl"
    rows = data.read_text().splitlines(keepends=True)
    few.write_text("".join(rows[:40]))
    ways = {"one process": ["--workers", "1"], "--workers 2": ["--workers", "2"], "--on dask:2": ["--on", "dask:2"]}  # fmt: skip
    if JUDGE in wanted:
        del ways["--workers 2"]  # it works in one process, or in Dask workers
    runs: dict[str, list[Cost]] = {name: [] for name in ways}
    for turn in range(turns):  # alternating, so that a neighbour's load falls on all of them
        for number, (name, more) in enumerate(ways.items()):
            start, whole = (
                measure(evaluated(path, folder / f"{number}-{turn}-{path.stem}.db", *wanted, *more))
                for path in (few, data)
            )
            runs[name].append(whole - start)
            print(f"  {name:12} start {start.wall:5.1f} s (CPU {start.cpu:.1f}), then {runs[name][-1]}", flush=True)  # fmt: skip
    best = {name: min(costs, key=lambda cost: cost.cpu) for name, costs in runs.items()}
    alone = best.pop("one process")
    print(f"{len(rows):,} samples: {len(rows) / alone.cpu:,.0f} a CPU second in one process")
    for name, cost in best.items():
        idle = alone.cpu / max(cost.busiest, cost.cpu / 2)
        print(f"{name}: {alone.wall / cost.wall:.2f} x on the clock, {idle:.2f} x on two idle cores (bar 1.8)")  # fmt: skip


def memory(folder: Path, count: int) -> None:
    """Peak memory of scheduler and driver while many samples pass."""
    data = folder / "many.jsonl"
    write_samples(data, count)
    file = folder / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0",
         "--no-dashboard", "--scheduler-file", str(file)], **quiet,  # type: ignore[call-overload]
    )  # fmt: skip
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--host",
             "127.0.0.1", "--nthreads", "1", "--no-dashboard", "--memory-limit", "0"], **quiet,  # type: ignore[call-overload]
        )
        for _ in range(2)
    ]  # fmt: skip
    grown: list[str] = []
    began = time.perf_counter()

    def look(seen: dict[int, Used]) -> None:
        note(scheduler.pid, seen)
        if time.perf_counter() - began > 20 * (len(grown) + 1):
            driver, central = seen.values()
            grown.append(f"{central.memory:.0f}/{driver.memory:.0f}")

    try:
        while not file.exists():
            time.sleep(0.1)
        finished = run(evaluated(data, folder / "many.db", "-m", METRICS, "--on", str(file)), look)
        driver, central = finished.processes
        rate = count / finished.wall
        print(
            f"{count:,} samples of ranking + text metrics through Dask in {finished.wall:.0f} s ({rate:,.0f} a second)"
        )
        print(
            f"scheduler {central.memory:.0f} MB (bar 1,000), driver {driver.memory:.0f} MB (bar 500)"
        )
        print(f"the same every 20 s: {' '.join(grown)}")
        print(f"CPU: driver {driver.cpu:.0f} s, scheduler {central.cpu:.0f} s")
    finally:
        for process in (*workers, scheduler):
            process.terminate()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=6_000)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--metrics", default="faithfulness")
    parser.add_argument("--judge", default="offline")
    parser.add_argument("--function", action="store_true")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--many", type=int, default=1_000_000)
    asked = parser.parse_args()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"  # else one process computes on two cores too
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.samples:
            data = asked.data or folder / "data.jsonl"
            if asked.data is None:
                write_samples(data, asked.samples)
            wanted = ["-m", asked.metrics, "--judge", asked.judge]
            if asked.function:
                wanted = ["-m", "coherence", "--judge", JUDGE]
            compare(data, folder, wanted, asked.turns)
        if asked.many:
            memory(folder, asked.many)


if __name__ == "__main__":
    main()
