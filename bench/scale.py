"""Dask: two workers against one process, the engine's overhead with one worker, and memory at 10^6 samples.

python -m bench.scale [--samples 20000] [--many 1000000]

Each figure is of `ragstone eval` in a process of its own. The first three runs judge faithfulness with the embedded judge,
which only works the CPU; starting a cluster is counted. With `--function` a Python function of about a millisecond judges
instead: its replies are worth keeping, so each question asks the driver, which shows what that costs. The last run sends ranking and text metrics through a Dask
scheduler of its own and watches the memory of scheduler and driver."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

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


def seconds(command: list[str]) -> float:
    """Wall time of a command that must succeed."""
    began = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - began


def peak(pid: int) -> float:
    """Largest resident memory of a process so far, in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise ValueError("no VmHWM in /proc")


def compare(folder: Path, count: int, turns: int, *, function: bool) -> None:
    """One process, one worker, two workers, on the same samples."""
    data = folder / "data.jsonl"
    write_samples(data, count)
    wanted = ["-m", "coherence", "--judge", JUDGE] if function else ["-m", "faithfulness"]
    times: dict[str, list[float]] = {"alone": [], "dask:1": [], "dask:2": []}
    for turn in range(turns):  # alternating, so that a neighbour's load falls on all of them
        for name, taken in times.items():
            on = [] if name == "alone" else ["--on", name]
            taken.append(seconds(evaluated(data, folder / f"{name}-{turn}.db", *wanted, *on)))
    alone, one, two = (min(taken) for taken in times.values())
    print(
        f"{count:,} samples, CPU-bound judge: one process {alone:.1f} s, one worker {one:.1f} s, two {two:.1f} s"
    )
    print(f"two workers on two cores: {alone / two:.2f} x faster (bar 1.6)")
    print(f"overhead with one worker: {100 * (one / alone - 1):.1f} % (bar 10 %)")


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
    try:
        while not file.exists():
            time.sleep(0.1)
        began = time.perf_counter()
        driver = subprocess.Popen(
            evaluated(data, folder / "many.db", "-m", METRICS, "--on", str(file))
        )
        peaks = [0.0]

        def watch() -> None:
            while driver.poll() is None:
                try:
                    peaks[0] = max(peaks[0], peak(driver.pid))
                except (OSError, ValueError):
                    return
                time.sleep(0.2)

        watching = threading.Thread(target=watch)
        watching.start()
        if driver.wait():
            raise SystemExit("the run failed")
        watching.join()
        took = time.perf_counter() - began
        print(
            f"{count:,} samples of ranking + text metrics through Dask in {took:.0f} s ({count / took:,.0f} a second)"
        )
        print(
            f"scheduler {peak(scheduler.pid):.0f} MB (bar 1,000), driver {peaks[0]:.0f} MB (bar 500)"
        )
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
    with tempfile.TemporaryDirectory() as folder:
        if asked.samples:
            compare(Path(folder), asked.samples, asked.turns, function=asked.function)
        if asked.many:
            memory(Path(folder), asked.many)


if __name__ == "__main__":
    main()
