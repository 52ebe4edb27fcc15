"""Streaming: samples a second on one core through read + ranking + text metrics + store, and peak memory.

python -m bench.streaming [--samples 1000000]

Scores two generated files, of 10,000 rows and of --samples rows (about 1.7 KB each), with `ragstone eval`
in a process of its own that is bound to one core, and prints the rate and the two peaks."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

METRICS = (
    "precision@5,recall@5,f1@5,hit_rate@5,mrr,map,ndcg@5,exact_match,token_f1,abstention_accuracy"
)


def write_samples(path: Path, count: int) -> None:
    """Rows like those of a RAG system: a question, five chunks of about 45 words, answer, reference."""
    dice = random.Random(7)
    words = [f"w{dice.randrange(10**6):x}" for _ in range(5000)]
    text = " ".join(dice.choices(words, k=200_000))
    with path.open("w", encoding="utf-8") as file:
        for n in range(count):
            at = [dice.randrange(len(text) - 400) for _ in range(8)]
            ids = [f"d{dice.randrange(50_000)}" for _ in range(5)]
            row = {
                "id": f"q{n}",
                "question": text[at[0] : at[0] + 90],
                "answer": text[at[1] : at[1] + 180],
                "contexts": [
                    {"id": name, "text": text[at[2 + k] : at[2 + k] + 235]}
                    for k, name in enumerate(ids)
                ],
                "reference": text[at[1] + 30 : at[1] + 150],
                "relevant": {ids[dice.randrange(5)]: 2, f"d{dice.randrange(50_000)}": 1},
            }
            file.write(json.dumps(row) + "\n")


def measure(path: Path, store: Path) -> tuple[float, float]:
    """CPU seconds and peak memory in MB of one `ragstone eval`."""
    command = [
        sys.executable, "-m", "ragstone", "eval", str(path), "-m", METRICS, "--store", str(store), "--quiet",
    ]  # fmt: skip
    one_core = {min(os.sched_getaffinity(0))} if hasattr(os, "sched_getaffinity") else None
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        preexec_fn=(lambda: os.sched_setaffinity(0, one_core)) if one_core else None,
    )
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        raise SystemExit(f"ragstone eval ended with {status}")
    del wall
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--samples", type=int, default=1_000_000)
    count = options.parse_args().samples
    with tempfile.TemporaryDirectory() as folder:
        few, many = Path(folder) / "few.jsonl", Path(folder) / "many.jsonl"
        write_samples(few, 10_000)
        write_samples(many, count)
        size = many.stat().st_size / 1e9
        few_seconds, few_peak = measure(few, Path(folder) / "few.db")
        seconds, peak = measure(many, Path(folder) / "many.db")
    rate = (count - 10_000) / (seconds - few_seconds) if count > 10_000 else count / seconds
    print(f"streaming: {count:,} samples ({size:.2f} GB) in {seconds:.1f} s of one core")
    print(f"streaming rate: {rate:,.0f} samples a second (bar: at least 10,000)")
    print(f"streaming peak memory: {peak:.0f} MB (bar: at most 300)")
    print(
        f"streaming memory growth: {peak / few_peak:.2f} x that at 10,000 samples (bar: at most 1.20)"
    )


if __name__ == "__main__":
    main()
