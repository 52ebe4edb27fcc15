"""The embedded judge: RAGTruth samples a CPU second on one core, and how much faster two worker processes are.

python -m bench.embedded [--samples 600] [--times 3]

`ragstone eval` with two metrics in a process of its own, its start taken off by a run of ten rows; every run is printed with
CPU, wall and peak memory of its largest process, one worker and two in turn. The rows are those of `bench/judge/rows.py`
(RAGSTONE_DATA). Only on an idle machine does the wall of two processes say anything."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

from bench.judge.rows import load
from bench.machine import Cost, describe_machine, measure

METRICS = "faithfulness,hallucination_rate"
PASSAGE = re.compile(r"\n*passage \d+:")
MIN_RATE, MIN_SPEEDUP, MAX_PEAK_MB = 150, 1.8, 250


def split_passages(context: str) -> list[str]:
    """The passages of a source, as RAGTruth numbers them."""
    parts = [part.strip() for part in PASSAGE.split(context) if part.strip()]
    return parts or [context]


def write_rows(path: Path, count: int) -> int:
    """Write the first rows as samples; how many there are."""
    rows = load("judge", "ragtruth_test")[:count]
    with path.open("w", encoding="utf-8") as file:
        for number, row in enumerate(rows):
            sample = {
                "id": str(number),
                "question": row.get("question") or None,
                "answer": row["claim"],
                "contexts": split_passages(row["context"]),
            }
            file.write(json.dumps(sample) + "\n")
    return len(rows)


def evaluate(data: Path, store: Path, workers: int) -> Cost:
    store.unlink(missing_ok=True)
    command = [sys.executable, "-m", "ragstone", "eval", str(data), "-m", METRICS, "--judge", "offline",
               "--store", str(store), "--quiet", "--workers", str(workers)]  # fmt: skip
    cost = measure(command, cores=workers)
    if cost.code not in (0, 3):
        raise SystemExit(f"{' '.join(command)} ended with {cost.code}")
    return cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=600)
    parser.add_argument("--times", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        few, many, store = place / "few.jsonl", place / "many.jsonl", place / "s.db"
        ten = write_rows(few, 10)
        count = write_rows(many, asked.samples) - ten
        for turn in range(1, asked.times + 1):
            print(f"turn {turn}: {describe_machine()}", flush=True)
            start, alone, both = (
                evaluate(few, store, 1), evaluate(many, store, 1), evaluate(many, store, 2)
            )  # fmt: skip
            rate = count / (alone.cpu - start.cpu)
            speedup = (alone.wall - start.wall) / (both.wall - start.wall)
            print(f"     {rate:.0f} samples a CPU second (bar: {MIN_RATE}); one process: {alone}")
            print(
                f"     two processes {speedup:.2f} x as fast (bar: {MIN_SPEEDUP}): {both} "
                f"(bar: {MAX_PEAK_MB} MB and 60 a worker)",
                flush=True,
            )


if __name__ == "__main__":
    main()
