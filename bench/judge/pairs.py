"""True and false claims that somebody wrote about short sources, by the shipped judge and by
counting words."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from bench.judge.measures import accepted_and_caught, auroc
from ragstone.asks import Case, support
from ragstone.judges.offline import OfflineJudge
from ragstone.judges.offline.alignment import align, index_sources
from ragstone.judges.offline.reading import read
from ragstone.judges.offline.rules import find_conflict
from ragstone.types import Chunk

BLIND = Path(__file__).with_name("blind_pairs.jsonl")
"""True claims in other words and claims with one wrong detail, thirty each in both languages, by a
writer who had seen no rule. Measured, never tuned on."""


def measure(path: Path) -> dict[str, dict[str, Any]]:
    """For each language the share of true claims accepted and of false ones caught, and what the
    rules see."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    languages = sorted({row["language"] for row in rows})
    return {name: _measure([r for r in rows if r["language"] == name], name) for name in languages}


def _measure(rows: list[dict[str, Any]], language: str) -> dict[str, Any]:
    asks = [
        support(Case((row["claim"],), (Chunk("k", row["context"]),)), language=language)
        for row in rows
    ]
    replies: list[Any] = asyncio.run(OfflineJudge().answer(asks))
    chances = [reply.value["verdicts"][0]["probability"] for reply in replies]
    labels = [row["label"] for row in rows]
    true, false = accepted_and_caught(labels, chances)
    contained, rules = [], {}
    for row in rows:
        sources = index_sources((read(row["context"], language),))
        laid = align(read(row["claim"], language), sources)
        contained.append(sum(map(bool, laid.places)) / max(len(laid.words), 1))
        conflict = find_conflict(laid) if laid.held else None
        if conflict:
            counts = rules.setdefault(conflict.rule, {"fires": 0, "right": 0})
            counts["fires"] += 1
            counts["right"] += row["label"] == 0
    return {
        "rows": len(rows),
        "true accepted": round(true, 3),
        "false caught": round(false, 3),
        "together": round(true + false, 3),
        "auroc": round(auroc(labels, chances), 3),
        "containment auroc": round(auroc(labels, contained), 3),
        "rules": rules,
    }
