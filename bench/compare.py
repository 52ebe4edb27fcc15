"""Comparing: CPU seconds and peak memory of `ragstone compare` on two stored runs of 100,000 samples × 10 metrics.

python -m bench.compare [--samples 100000]

Eight metrics are bare numbers, two carry evidence (a claim with its quote) and the judge's usage, and every fifth
sample belongs to a group with others, as in a real run."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from ragstone.config import Plan
from ragstone.store import NewRow, RunInfo, Store
from ragstone.types import Finding, Score, Usage

METRICS = [f"metric{number}" for number in range(8)] + ["faithfulness", "answer_correctness"]
PLAIN = {"family": "bench", "higher_is_better": True, "bounds": [0.0, 1.0], "binary": False,
         "judged": False, "labels": [], "meaning": ""}  # fmt: skip


def store_run(store: Store, name: str, count: int, better: float) -> None:
    """A finished run whose scores are a little better."""
    metrics = tuple({**PLAIN, "name": one, "binary": one == "metric0"} for one in METRICS)
    info = RunInfo(
        id=name, name=name, created="2026-01-01T00:00:00+00:00", status="running", plan=Plan(),
        shape={"format": "ragstone"}, source="bench", format="ragstone columns", metrics=metrics,
    )  # fmt: skip
    run = store.create(info)
    dice, noise = random.Random(5), random.Random(name)
    for start in range(0, count, 1000):
        rows = [row(position, dice, noise, better) for position in range(start + 1, start + 1001)]
        store.append(run.id, rows).result()
    store.finish(run.id, total=count, bad_count=0, bad=())


def row(position: int, dice: random.Random, noise: random.Random, better: float) -> NewRow:
    """One sample: how hard it is, both runs share; the rest is their own."""
    ease = dice.random()
    scores = {}
    for name in METRICS:
        value = min(1.0, max(0.0, ease + noise.gauss(better, 0.2)))
        if name == "metric0":
            scores[name] = Score(float(value > 0.5))
        elif name in METRICS[-2:]:
            quote = "the warranty covers parts and labour for two years"
            found = Finding(
                "The warranty lasts two years.", "supported", "", "d1", quote, 0, 50, True
            )
            scores[name] = Score(value, findings=(found,), usage=Usage(2, 900, 120, 0.0004))
        else:
            scores[name] = Score(value)
    text = json.dumps(
        {
            "id": f"q{position}",
            "question": f"How long is warranty {position}?",
            "answer": "Two years.",
        }
    )
    return NewRow(
        position, f"q{position}", f"g{position // 8}" if position % 5 == 0 else None, text, scores
    )


def measure(store: Path) -> tuple[float, float]:
    """CPU seconds and peak memory in MB of one comparison."""
    command = [sys.executable, "-m", "ragstone", "compare", "base", "next", "--store", str(store)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"ragstone compare ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--samples", type=int, default=100_000)
    count = options.parse_args().samples
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "runs.db"
        store = Store.open(place)
        store_run(store, "base", count, 0.0)
        store_run(store, "next", count, 0.01)
        store.close()
        seconds, peak = measure(place)
    print(f"compare: 2 runs of {count:,} samples x {len(METRICS)} metrics")
    print(f"compare CPU: {seconds:.1f} s (bar: at most 10)")
    print(f"compare peak memory: {peak:.0f} MB (bar: at most 500)")


if __name__ == "__main__":
    main()
