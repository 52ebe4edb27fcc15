"""Reading sheets of test sets that a small language model writes, with what they cost.

    python -m bench.testset_small FOLDER --model qwen.gguf -o sheet.csv --lang en -n 60 [--seed 1] [--threads 1]
    python -m bench.testset_small FOLDER --base-url http://127.0.0.1:8080/v1 -o sheet.csv --lang es -n 40

FOLDER holds one folder of documents for each source, as for bench.testset_reading, whose columns the sheet has and whose
`--count SHEET` adds the verdicts up. What was refused and why stands beside it, in sheet.rejected.jsonl. Printed are calls,
tokens sent, evaluated (not taken from the server's prompt cache) and written, seconds, and the share of written questions
that were taken. Stopped, it goes on with the same command: replies are kept in sheet.db."""

from __future__ import annotations

import argparse
import csv
import json
import os
import sqlite3
import time
from collections import Counter
from contextlib import closing, nullcontext
from pathlib import Path

from bench.models.meter import TokenMeter
from bench.real_models import serve
from bench.testset_reading import COLUMNS, build_row, read_sources
from ragstone import generate
from ragstone.testset.sets import TestSet


def write_sheet(given: argparse.Namespace, url: str) -> None:
    """Make the items, write the sheet, and print what they cost."""
    documents = list(read_sources(given.folder, given.lang))
    given.output.parent.mkdir(parents=True, exist_ok=True)
    with TokenMeter(url) as meter:
        judge = {
            "model": f"openai:{given.name}", "base_url": meter.url, "identity": given.name,
            "small": True, "temperature": 0, "concurrency": 1, "timeout": 3600.0, "deadline": 3600.0,
        }  # fmt: skip
        started = time.perf_counter()
        made = generate(
            documents, given.n, judge=judge, seed=given.seed, max_calls=given.max_calls,
            kinds=given.kinds, store=given.output.with_suffix(".db"),
        )  # fmt: skip
        seconds = time.perf_counter() - started
        counts = meter.read()
    with given.output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(build_row(item) for item in made.items)
    with given.output.with_suffix(".rejected.jsonl").open("w", encoding="utf-8") as file:
        for rejection in made.rejected:
            file.write(json.dumps(rejection.to_row(), ensure_ascii=False) + "\n")
    print(made)
    report_cost(made, counts, seconds, count_written(given.output.with_suffix(".db")))


def count_written(store: Path) -> int:
    """Questions that the model wrote: those ordered twice were paid for once."""
    with closing(sqlite3.connect(store)) as replies:
        query = "SELECT count(*) FROM replies WHERE kind = 'write_one'"
        return int(replies.execute(query).fetchone()[0])


def report_cost(made: TestSet, counts: dict[str, int], seconds: float, written: int) -> None:
    """Print yield and cost; counts and seconds leave out what the store knew already."""
    each = max(1, len(made.items))
    worded = sum("worded_by" in item.proof for item in made.items)
    print(f"{len(made.items)} items, {worded} of {written} written questions taken ({worded / max(1, written):.0%}), {made.kinds}")  # fmt: skip
    print(f"{made.usage.calls} calls, {made.usage.calls / each:.1f} an item; in this process {counts['calls']} calls")  # fmt: skip
    for name in ("sent", "evaluated", "written"):
        print(f"{name}: {counts[name]} tokens, {counts[name] / each:.0f} an item")
    print(f"{seconds:.0f} s, {seconds / each:.1f} an item")
    print(dict(Counter(f"{rejection.reason}: {rejection.detail[:40]}" for rejection in made.rejected).most_common(25)))  # fmt: skip


def main() -> None:
    """Serve the model where none is, and write the sheet."""
    asks = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    asks.add_argument("folder", type=Path)
    asks.add_argument("-o", "--output", type=Path, default=Path("sheet.csv"))
    asks.add_argument("--lang", default="en")
    asks.add_argument("-n", type=int, default=60)
    asks.add_argument("--seed", type=int, default=1)
    asks.add_argument("--kinds", help="as of ragstone generate")
    asks.add_argument("--max-calls", type=int)
    asks.add_argument("--model", help="a GGUF file to serve")
    asks.add_argument("--base-url", help="a llama.cpp server that runs already")
    asks.add_argument("--name", default="small", help="of the model, in the store")
    asks.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    given = asks.parse_args()
    if not given.model and not given.base_url:
        raise SystemExit("give --model FILE.gguf or --base-url URL")
    with nullcontext(given.base_url) if given.base_url else serve(given.model, given.threads) as url:  # fmt: skip
        write_sheet(given, url)


if __name__ == "__main__":
    main()
