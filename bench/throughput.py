"""Throughput: `eval` of ranking and text metrics on one core and on two, exports, the report, and ten rows.

python -m bench.throughput [--samples 1000000] [--exported 100000] [--times 3]

Every figure is of a process of its own, taken several times and all of them printed, with CPU and wall, peak memory of one
process, and how idle the machine was. Five metrics on rows of about 1.8 KB; the summary is part of `eval`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench.machine import Cost, describe_machine, measure, repeat
from bench.streaming import write_samples

METRICS = "recall@5,mrr,ndcg@5,exact_match,token_f1"
ENDINGS = {".csv": 3.0, ".parquet": 3.0, ".html": 3.0}
"""Ending → bar in CPU seconds for 10^5 rows."""


def ragstone(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "ragstone", *arguments]


def evaluate(data: Path, store: Path, workers: int) -> Cost:
    store.unlink(missing_ok=True)
    command = ragstone(
        "eval",
        str(data),
        "-m",
        METRICS,
        "--store",
        str(store),
        "--quiet",
        "--workers",
        str(workers),
    )
    cost = measure(command, cores=workers)
    if cost.code not in (0, 3):
        raise SystemExit(f"{' '.join(command)} ended with {cost.code}")
    return cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--exported", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=3)
    asked = parser.parse_args()
    print(describe_machine())
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        ten, many, some = place / "ten.jsonl", place / "many.jsonl", place / "some.jsonl"
        write_samples(ten, 10)
        evaluate(ten, place / "ten.db", 1)  # compiles the modules, as an installation does
        starts = repeat(asked.times, lambda: evaluate(ten, place / "ten.db", 1))
        for cost in starts:
            print(f"eval of ten rows: {cost} (bar: 0.35 s of CPU)")
        start = min(cost.cpu for cost in starts)
        write_samples(many, asked.samples)
        print(describe_machine(), flush=True)
        for workers, bar in ((1, 20_000), (2, 35_000)):
            for cost in repeat(asked.times, lambda: evaluate(many, place / "many.db", workers)):  # noqa: B023
                # on one core CPU tells what the wall would be without neighbours
                seconds = cost.cpu if workers == 1 else cost.wall
                rate = asked.samples / max(seconds - start, 1e-9)
                print(
                    f"eval of {asked.samples:,} samples, {workers} workers: {rate:,.0f} a second "
                    f"(bar: {bar:,}), {cost} (bar: 150 MB)",
                    flush=True,
                )
        many.unlink()
        print(describe_machine(), flush=True)
        write_samples(some, asked.exported)
        evaluate(some, place / "some.db", 1)
        for ending, bar_seconds in ENDINGS.items():
            command = ragstone(
                "export" if ending != ".html" else "report", "last", "-o", str(place / f"out{ending}"),
                "--store", str(place / "some.db"),
            )  # fmt: skip
            for cost in repeat(asked.times, lambda: measure(command)):  # noqa: B023
                print(
                    f"{ending} of {asked.exported:,} rows: {cost.cpu - start:.2f} s of CPU beyond the "
                    f"start (bar: {bar_seconds:.0f}), {cost}"
                )
    print(describe_machine())


if __name__ == "__main__":
    main()
