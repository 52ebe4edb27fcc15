"""Every bar of the core, one after the other: `make bench`; `python -m bench NAME… [--times 3]` runs some, several times."""

from __future__ import annotations

import argparse
import sys

from bench.machine import describe_machine, measure

BENCHES = [
    "imports",
    "ranking",
    "text",
    "throughput",
    "compare",
    "judges",
    "judging",
    "embedded",
    "against_ragas",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=BENCHES)
    parser.add_argument("--times", type=int, default=1, help="how often each bench is run")
    asked = parser.parse_args()
    failed = []
    for name in asked.names:
        for turn in range(1, asked.times + 1):
            print(f"── {name} ({turn} of {asked.times}), {describe_machine()}", flush=True)
            cost = measure([sys.executable, "-m", f"bench.{name}"], quiet=False)
            print(f"── {name}: {cost} in all", flush=True)
            if cost.code:
                failed.append(name)
    if failed:
        raise SystemExit(f"did not finish: {', '.join(failed)}")


if __name__ == "__main__":
    main()
