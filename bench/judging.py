"""Judging through a server as by default, embeddings by the embedded encoder: CPU and wall, against the ideal and Ragas.

python -m bench.judging [--samples 200] [--turns 3] [--python OTHER_VENV/bin/python]

Five judged metrics, 64 calls in flight, a loopback server that waits 50 ms a call. Every turn is printed, with the load of
the machine before it; imports and the loading of the encoder are not counted. `--python` names a Python that has
Ragas, which then runs the same samples with as many calls in flight."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.against_ragas import theirs
from bench.judges import DELAY, FIVE, line, measured, samples, server
from bench.machine import describe_machine

IN_FLIGHT = 64
MAX_CPU_MS, MAX_RATIO, MAX_WARM_SHARE, MAX_PEAK_MB, MIN_TIMES_FASTER = 0.8, 1.35, 0.05, 250, 25


def measure_turn(rows: list[dict[str, Any]]) -> dict[str, float]:
    """A cold and a warm evaluation, each in a process of its own."""
    with server(DELAY) as url, tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "s.db"
        cold = measured(url, rows, FIVE, store, IN_FLIGHT, is_embedded=True)
        warm = measured(url, rows, FIVE, store, IN_FLIGHT, is_embedded=True)
    ideal = cold["calls"] * DELAY / 1000 / IN_FLIGHT
    return cold | {
        "milliseconds": 1000 * (cold["cpu"] - cold["encoder"]) / cold["calls"],
        "ratio": cold["wall"] / ideal,
        "warm": warm["wall"] / cold["wall"],
        "warm calls": warm["calls"],
    }


def print_turn(turn: dict[str, float]) -> None:
    print(
        f"     {turn['calls']:.0f} calls, CPU {turn['cpu']:.2f} s, of which the encoder's thread {turn['encoder']:.2f} s, "
        f"wall {turn['wall']:.2f} s; "
        f"scored {turn['ok']:.0f} of {turn['scores']:.0f}; warm run: {turn['warm calls']:.0f} calls"
    )
    for name, value, bar, text in (
        (
            "CPU a call, the encoder's thread apart",
            turn["milliseconds"],
            MAX_CPU_MS,
            f"{turn['milliseconds']:.2f} ms",
        ),
        (f"wall / ideal, {IN_FLIGHT} at once", turn["ratio"], MAX_RATIO, f"{turn['ratio']:.2f}"),
        ("warm run / cold run, wall", turn["warm"], MAX_WARM_SHARE, f"{turn['warm']:.3f}"),
        ("peak memory", turn["peak"], MAX_PEAK_MB, f"{turn['peak']:.0f} MB"),
    ):
        line(name, text, f"<= {bar}", value <= bar)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--python", help="a Python that has Ragas")
    options = parser.parse_args()
    os.environ |= {"PYTHONHASHSEED": "0"}
    rows = samples(options.samples)
    for number in range(options.turns):
        print(f"turn {number + 1}: {describe_machine()}", flush=True)
        turn = measure_turn(rows)
        print_turn(turn)
        if options.python is None:
            continue
        rival = theirs(options.python, rows, delay_ms=DELAY, workers=IN_FLIGHT)
        if rival is None:
            raise SystemExit(f"{options.python} has no Ragas")
        faster = rival.wall / turn["wall"]
        cpu = rival.cpu / turn["cpu"]
        print(
            f"     {rival.name}: CPU {rival.cpu:.2f} s ({cpu:.1f} x ours), wall {rival.wall:.2f} s"
        )
        line(f"times as fast as {rival.name}", f"{faster:.1f}", f">= {MIN_TIMES_FASTER}", faster >= MIN_TIMES_FASTER)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
