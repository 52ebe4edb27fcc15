"""A store with runs for tests of the viewer: five finished ones of two data sets, and one that is unfinished."""

from __future__ import annotations

import json
import time
from typing import Any

from live import Answer, Server
from ragstone.config import Data, Plan
from ragstone.data import read
from ragstone.store import NewRow, RunFacts, RunInfo, Store, StoredRun
from ragstone.types import Finding, Score

METRICS: tuple[dict[str, Any], ...] = tuple(
    {
        "name": name, "family": name, "higher_is_better": True, "bounds": [0.0, 1.0], "binary": False,
        "judged": judged, "labels": [], "meaning": f"What {name} means.",
    }
    for name, judged in (("faithfulness", True), ("context_relevance", True), ("recall", False))
)  # fmt: skip


def make_row(
    number: int, shift: float, topic: str | None = None
) -> tuple[dict[str, Any], dict[str, Score]]:
    """A sample and its scores; every seventh judgement failed."""
    share = round(min((number * 37 % 101) / 100 + shift, 1.0), 3)
    row = {
        "id": f"q{number:03d}",
        "question": f"What is said of topic {number}?",
        "answer": f"It is said to be {'green' if number % 2 else 'blue'}. Number {number} agrees.",
        "contexts": [
            {"id": f"d{number}", "text": f"A paper says it is said to be green, in part {number}."},
            {"id": "other", "text": "Nothing of interest."},
        ],
        "reference": f"It is green, number {number}.",
        "relevant": {f"d{number}": 1},
        "language": "es" if number % 5 == 0 else "en",
        "meta": {
            "topic": topic or ("billing" if number % 3 else "delivery"),
            "a:b %/&": "x:y/1" if number % 4 == 0 else "z",
        },
    }
    verdict = "supported" if share > 0.5 else "contradicted"
    findings = (
        Finding("It is said to be green.", verdict, "", f"d{number}", "it is said to be green", verified=True, probability=share),
        Finding(f"Number {number} agrees.", "not_found", probability=0.4),
    )  # fmt: skip
    grades = (
        Finding("", "relevant", chunk=f"d{number}"),
        Finding("", "not_relevant", chunk="other"),
    )
    judged = Score(share, findings=findings)
    if number % 7 == 3:
        judged = Score(outcome="judge_error", kind="transport", reason="the judge is away")
    scores = {
        "faithfulness": judged,
        "context_relevance": Score(0.5, findings=grades),
        "recall": Score(float((number * 31 % 100) / 100 + shift > 0.4)),
    }
    return row, scores


WAITING = ("<progress", "Reading the scores", "Leyendo las puntuaciones")
"""What a page says while an index is built or runs are summed up."""


def fetch_whole(server: Server, address: str) -> Answer:
    """A page once nothing on it is still being read."""
    for _ in range(600):
        answer = server.get(address)
        text = answer.body.decode("utf-8", "replace")
        if not any(word in text for word in WAITING):
            return answer
        time.sleep(0.05)
    raise AssertionError(f"{address} was never whole")


def add_run(
    store: Store,
    name: str,
    shift: float = 0.0,
    *,
    samples: int = 30,
    source: str = "shop.jsonl",
    is_done: bool = True,
    rows: Any = None,
    **more: Any,
) -> StoredRun:
    """Store a run of made-up samples."""
    made = rows or [make_row(number, shift) for number in range(1, samples + 1)]
    reading = read([row for row, _ in made])
    run_id = f"run-{len(store.runs())}-{abs(hash((name, source))) % 10**6}"
    info = RunInfo(
        id=run_id, name=name, created=f"2026-05-0{len(store.runs()) + 1}T10:00:00+00:00", status="running",
        plan=Plan(data=Data(path=source)), shape=reading.shape, source=source, format=reading.format,
        facts=RunFacts(source=source), **({"metrics": METRICS, "judge": "offline 8"} | more),
    )  # fmt: skip
    run = store.create(info)
    append_rows(run, made)
    if is_done:
        store.finish(run_id, total=run.count(), bad_count=0, bad=())
        run.refresh()
    return run


def append_rows(run: StoredRun, rows: Any) -> None:
    """Add samples behind those that a run has."""
    first = run.count() + 1
    new = [
        NewRow(first + number, row["id"], None, json.dumps(row), scores)
        for number, (row, scores) in enumerate(rows)
    ]
    run.store.append(run.id, new).result()


def fill_store(store: Store) -> dict[str, StoredRun]:
    """Runs by name."""
    return {
        "first": add_run(store, "first"),
        "better": add_run(store, "better", 0.3),
        "third": add_run(store, "third", 0.31),
        "elsewhere": add_run(store, "elsewhere", source="other.jsonl"),
        "fifth": add_run(store, "fifth", 0.1),
    }
