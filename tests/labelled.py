"""Runs whose judge said given things, for tests of labels."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ragstone.config import Plan
from ragstone.metrics import resolve
from ragstone.store import NewRow, RunInfo, Store, StoredRun, to_metric_record
from ragstone.types import Finding, Score

CONTEXT = "The mill was built in 1850 by the river."


def make_claims(*verdicts: str, chances: Sequence[float] | None = None) -> Score:
    """A faithfulness score with a finding for each verdict."""
    findings = tuple(
        Finding(f"claim {number}", verdict, chunk="c1", probability=chances[number] if chances else None)
        for number, verdict in enumerate(verdicts)
    )  # fmt: skip
    value = sum(verdict == "supported" for verdict in verdicts) / len(verdicts)
    return Score(value, findings=findings)


def make_run(
    store: Store,
    scores: Sequence[Score],
    *,
    metric: str = "faithfulness",
    name: str = "r1",
    answer: str = "It was built in 1850.",
    groups: Sequence[str | None] | None = None,
) -> StoredRun:
    """A finished run with one metric; its samples are s0, s1, …"""
    info = RunInfo(
        name, name, "2026-01-01T00:00:00+00:00", "running", Plan(), {"format": "ragstone"}, "x.jsonl",
        "ragstone", (to_metric_record(resolve(metric)),), "offline 1",
    )  # fmt: skip
    store.create(info)
    rows = [
        NewRow(
            number + 1,
            f"s{number}",
            groups[number] if groups else None,
            json.dumps(
                {
                    "id": f"s{number}",
                    "question": f"When was mill {number} built?",
                    "answer": answer,
                    "contexts": [{"id": "c1", "text": CONTEXT}],
                }
            ),
            {metric: score},
        )
        for number, score in enumerate(scores)
    ]
    store.append(name, rows).result()
    store.finish(name, total=len(rows), bad_count=0, bad=())
    return store.run(name)
