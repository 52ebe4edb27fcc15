"""Dask: two workers against one process, the engine's overhead with one worker, and memory at 10^6 samples.

python -m bench.scale [--samples 20000] [--many 1000000]

Each figure is of `ragstone eval` in a process of its own. The first three runs judge faithfulness with the embedded judge,
which only works the CPU; starting a cluster is counted, and each process computes with one thread. Beside the wall time
stands the CPU time of each process, which a neighbour on the machine changes less. With `--function` a Python function of
about a millisecond judges instead: its replies are worth keeping, so each question asks the driver, which shows what that
costs. The last run sends ranking and text metrics through a Dask scheduler of its own and watches the memory of scheduler
and driver."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.processes import Finished, Used, note, run
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


def compare(folder: Path, count: int, turns: int, *, function: bool) -> None:
    """One process, one worker, two workers, on the same samples."""
    data = folder / "data.jsonl"
    write_samples(data, count)
    wanted = ["-m", "coherence", "--judge", JUDGE] if function else ["-m", "faithfulness"]
    runs: dict[str, list[Finished]] = {"alone": [], "dask:1": [], "dask:2": []}
    for turn in range(turns):  # alternating, so that a neighbour's load falls on all of them
        for name, taken in runs.items():
            on = [] if name == "alone" else ["--on", name]
            taken.append(run(evaluated(data, folder / f"{name}-{turn}.db", *wanted, *on)))
    best = {name: min(taken, key=lambda one: one.wall) for name, taken in runs.items()}
    alone, one, two = best.values()
    print(f"{count:,} samples, CPU-bound judge, one thread a process")
    for name, finished in best.items():
        print(
            f"  {name:8} {finished.wall:7.1f} s, CPU {finished.cpu:7.1f} s: {_by_process(finished)}"
        )
    print(f"two workers on two cores: {alone.wall / two.wall:.2f} x faster (bar 1.6)")
    print(f"overhead with one worker: {_more(one.wall, alone.wall)} (bar 10 %)")
    print(f"CPU of all processes: {_more(one.cpu, alone.cpu)} with one worker, {_more(two.cpu, alone.cpu)} with two")  # fmt: skip


def _more(found: float, than: float) -> str:
    return f"{100 * (found / than - 1):+.1f} %"


def _by_process(finished: Finished) -> str:
    """The CPU seconds of each process: the driver with scheduler and nannies in it, and the workers."""
    driver, *others = finished.processes
    workers = [used.cpu for used in others if "spawn_main" in used.words]
    told = [
        f"driver and scheduler {driver.cpu:.1f}" if workers else f"the process {driver.cpu:.1f}"
    ]
    return ", ".join(told + [f"worker {cpu:.1f}" for cpu in workers])


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
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--function", action="store_true")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--many", type=int, default=1_000_000)
    asked = parser.parse_args()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"  # else one process computes on two cores too
    with tempfile.TemporaryDirectory() as folder:
        if asked.samples:
            compare(Path(folder), asked.samples, asked.turns, function=asked.function)
        if asked.many:
            memory(Path(folder), asked.many)


if __name__ == "__main__":
    main()
