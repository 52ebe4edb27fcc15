"""Test sets: calls to a perfect judge for each accepted item, and memory with 10^3 and with 10^5 documents.

    python -m bench.testset_llm [--documents 100000] [--items 300]

A judge on loopback that writes and answers as ordered (tests/faults) makes --items items from the built-in corpus; its
calls are counted where they arrive, generation and verification together. Then `ragstone generate` without a judge makes
100 items from 1,000 and from --documents generated documents, each in a process of its own, and the peaks are compared."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

MOST_CALLS = 2.2
MOST_GROWTH = 1.25
"""How much larger the second peak may be: 16 bytes a document and the page cache of the index are not nothing."""

NAMES = [
    "Almere",
    "Corran",
    "Dunmore",
    "Skarholm",
    "Torvik",
    "Westmarch",
    "Ashby",
    "Fernhill",
    "Marlow",
    "Tidewell",
]
THINGS = [
    "tower",
    "bridge",
    "mill",
    "ferry",
    "library",
    "market",
    "harbour",
    "school",
    "garden",
    "theatre",
]


def write_documents(path: Path, count: int) -> None:
    """Documents of about 60 words with facts of their own."""
    dice = random.Random(5)
    with path.open("w", encoding="utf-8") as file:
        for n in range(count):
            name, thing = dice.choice(NAMES), dice.choice(THINGS)
            text = (
                f"The {thing} of {name} {n} was opened in {dice.randrange(1800, 2020)} by Ida {name}. "
                f"It is {dice.randrange(5, 300)} metres long and {dice.randrange(2, 40)} metres high. "
                f"A ticket for the {thing} costs {dice.randrange(2, 60)} euros. "
                f"The {thing} of {name} {n} is closed on Mondays because the keeper rests. "
                f"Members of the {name} society pay {dice.randrange(1, 9)} euros less."
            )
            row = {"id": f"d{n}", "title": f"The {thing} of {name} {n}", "text": text}
            file.write(json.dumps(row) + "\n")


def peak(documents: Path, out: Path) -> tuple[float, float]:
    """Peak memory in MB and CPU seconds of one `ragstone generate`."""
    command = [
        sys.executable, "-m", "ragstone", "generate", str(documents), "-o", str(out), "-n", "100", "-q",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        raise SystemExit(f"ragstone generate ended with {status}")
    return used.ru_maxrss / 1024, used.ru_utime + used.ru_stime


def calls(count: int, folder: Path) -> float:
    """Calls that arrived at a perfect judge for each item it made."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from faults.server import FaultServer
    from ragstone import generate
    from ragstone.data import corpora

    with FaultServer() as server:
        judge = {"model": "openai:perfect", "base_url": server.url}
        made = generate(corpora.documents(), count, judge=judge, store=folder / "s.db")
        each = len(server.calls) / max(1, len(made))
        print(f"perfect judge: {len(server.calls)} calls for {len(made)} items, {each:.2f} an item")
    return each


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--documents", type=int, default=100_000)
    options.add_argument("--items", type=int, default=300)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        each = [calls(given.items, folder), calls(1, folder / "one")]
        peaks = []
        for count in (1_000, given.documents):
            documents = folder / f"{count}.jsonl"
            write_documents(documents, count)
            memory, seconds = peak(documents, folder / "set.jsonl")
            print(f"{count:,} documents: peak {memory:.0f} MB, {seconds:.1f} s of CPU")
            peaks.append(memory)
    growth = peaks[1] / peaks[0]
    print(f"memory grows by {growth:.2f} times (bar {MOST_GROWTH})")
    print(f"calls an item: {max(each):.2f} at worst (bar {MOST_CALLS})")
    if growth > MOST_GROWTH or max(each) > MOST_CALLS:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
