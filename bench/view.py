"""The viewer on large runs: server time of its pages after the first opening, memory, weight of a page.

    python -m bench.view                              a run of 1,000,000 samples, made once in FOLDER
    python -m bench.view --samples 100000 --runs 4    four runs of the same questions, side by side

Each line is a figure with its bar; the baseline is reading the run's scores once, as a page that asked nothing in SQL would."""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path

from ragstone.config import Data, Plan
from ragstone.data import read
from ragstone.report.translator import load_translator
from ragstone.report.view.catalogue import NO_NOTES
from ragstone.report.view.frame import ViewFrame
from ragstone.report.view.traits import find_stamp, write_traits
from ragstone.server.view_pages import show_pane, show_review
from ragstone.server.view_state import ViewState
from ragstone.store import NewRow, RunFacts, RunInfo, Store, StoredRun
from ragstone.store.run_notes import load_run_notes
from ragstone.types import Finding, Score

PAGE_MS, MEMORY_MB, PAGE_KB = 400, 200, 200
"""The bars."""
BATCH = 5000
NAMES = ("faithfulness", "answer_relevance", "recall", "token_f1", "latency")
WORDS = tuple(f"word{number}" for number in range(5000))


def make_row(number: int, version: int = 0) -> tuple[dict[str, object], dict[str, Score]]:
    """A sample of usual shape; what it is like follows from its number, and a little from the version of the system."""
    share = (number * 7919 % 1009) / 1008
    if version:
        share = min(1.0, max(0.0, share + ((number * (31 + version)) % 7 - 2.8) / 30))
    pick = [WORDS[number * step % len(WORDS)] for step in (3, 7, 11, 13, 17, 19)]
    text = " ".join(pick)
    row = {
        "id": f"q{number}", "question": f"What about {text}?", "answer": f"It is {text}. {pick[0]} is {pick[1]}.",
        "contexts": [{"id": f"d{number % 1000}", "text": f"A paper on {text}."}], "reference": text,
        "relevant": {f"d{number % 1000}": 1}, "language": "en", "meta": {"topic": f"t{number % 20}"},
    }  # fmt: skip
    verdict = "supported" if share > 0.4 else "contradicted"
    findings = (Finding(f"It is {text}.", verdict, "", f"d{number % 1000}", text),)
    judged = Score(round(share, 3), findings=findings) if number % 50 else Score(outcome="judge_error", kind="transport", reason="away")  # fmt: skip
    scores = {
        "faithfulness": judged, "answer_relevance": Score(round(1 - share, 3)), "recall": Score(float(share > 0.2)),
        "token_f1": Score(round(share * share, 3)), "latency": Score(0.2 + share),
    }  # fmt: skip
    return row, scores


def make_run(store: Store, samples: int, version: int = 0) -> StoredRun:
    """The run, unless the store has it already."""
    name = f"bench-{samples}" + (f"-v{version}" if version else "")
    for info in store.runs():
        if info.name == name and info.status == "done":
            return store.run(info.id)
    described = tuple(
        {"name": metric, "family": metric, "higher_is_better": metric != "latency", "bounds": None if metric == "latency" else [0.0, 1.0],
         "binary": metric == "recall", "judged": metric in NAMES[:2], "labels": [], "meaning": ""}
        for metric in NAMES
    )  # fmt: skip
    reading = read([make_row(1)[0]])
    info = RunInfo(
        id=name, name=name, created="2026-05-01T10:00:00+00:00", status="running", plan=Plan(data=Data(path="rows")),
        shape=reading.shape, source="rows", format=reading.format, metrics=described, judge="offline 8",
        facts=RunFacts(source="rows"),
    )  # fmt: skip
    store.create(info)
    for start in range(1, samples + 1, BATCH):
        made = (
            (at, *make_row(at, version)) for at in range(start, min(start + BATCH, samples + 1))
        )
        rows = [NewRow(at, str(row["id"]), None, json.dumps(row), scores) for at, row, scores in made]  # fmt: skip
        for first in range(0, BATCH, 500):
            if rows[first : first + 500]:
                store.append(name, rows[first : first + 500]).result()
    store.finish(name, total=samples, bad_count=0, bad=())
    return store.run(name)


def measure(work: Callable[[], str]) -> tuple[float, float, int]:
    """Milliseconds of CPU and on the clock of the second of two calls, and the bytes of the page."""
    work()
    begin, clock = time.process_time(), time.perf_counter()
    page = work()
    spent = (time.process_time() - begin) * 1000
    return spent, (time.perf_counter() - clock) * 1000, len(page.encode())


def main() -> None:
    """Make the run and its traits where they are missing, then measure the pages."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--folder", default="bench-view")
    options = parser.parse_args()
    Path(options.folder).mkdir(exist_ok=True)
    store = Store.open(Path(options.folder) / "runs.db")
    begin = time.process_time()
    runs = [make_run(store, options.samples, version) for version in range(options.runs)]
    print(f"made the runs: {time.process_time() - begin:.1f} s CPU")
    for run in runs:
        notes = load_run_notes(store).get(run.id, NO_NOTES)
        if find_stamp(run) != notes.finished:
            begin = time.process_time()
            write_traits(run, notes.finished, lambda done: True)
            print(
                f"wrote traits and texts: {time.process_time() - begin:.1f} s CPU (once for a run)"
            )
    begin = time.process_time()
    state = ViewState(store)
    for run in runs:
        state.open_entry(run)
    print(
        f"summaries: {time.process_time() - begin:.1f} s CPU; a page that asked nothing in SQL would take more"
    )

    def visit(page: str, /, several: bool = False, **values: str) -> Callable[[], str]:
        chosen = [run.id for run in (runs if several else runs[:1])]
        address = {"run": chosen, **{k: [v] for k, v in values.items()}}
        frame = ViewFrame(load_translator("en"), page, address)
        return lambda: (show_review if page == "review" else show_pane)(state, frame)

    pages = {
        "first page": visit("review"),
        "sort by a metric": visit("review", sort="token_f1", dir="down"),
        "filter by range": visit("review", range="faithfulness:0.2:0.4"),
        "filter by verdict": visit("review", **{"is": "verdict:contradicted"}),
        "page 2,000": visit("review", page="2000"),
        "search a rare word": visit("review", q="word4321"),
        "search a word of every sample": visit("review", q="what"),
        "a sample": visit("pane", at=str(options.samples // 2)),
    }
    if len(runs) > 1:
        pages |= {
            f"{len(runs)} runs, disagreements": visit("review", True),
            f"{len(runs)} runs, sort by a metric": visit("review", True, sort="token_f1"),
            f"{len(runs)} runs, brush": visit("review", True, range="faithfulness:0.2:0.4"),
            f"{len(runs)} runs, what became worse": visit("review", True, **{"is": "change:worse"}),
            f"{len(runs)} runs, search a rare word": visit("review", True, q="word4321"),
            f"{len(runs)} runs, a sample": visit("pane", True, at=str(options.samples // 2)),
        }
    for name, work in pages.items():
        spent, clock, size = measure(work)
        print(f"{name:32} {spent:6.0f} ms CPU, {clock:6.0f} ms on the clock (bar {PAGE_MS})  {size / 1000:5.0f} kB (bar {PAGE_KB})")  # fmt: skip
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"memory at most {memory:.0f} MB (bar {MEMORY_MB}; building included unless both were there)")  # fmt: skip
    state.close()
    store.close()


if __name__ == "__main__":
    main()
