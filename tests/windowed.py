"""Interactions one after the other, for tests of windows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ragstone.monitor.archive import Archive, ScoredInteraction
from ragstone.monitor.interactions import Interaction, to_micros
from ragstone.types import Score

START = to_micros(datetime(2026, 5, 1, tzinfo=UTC))
MINUTE = 60_000_000


def interaction(number: int, at: int, **more: Any) -> Interaction:
    return Interaction(id=f"i{number}", at=at, question="q", answer="a", **more)


def fill(archive: Archive, count: int, step: int = MINUTE, **more: Any) -> None:
    """One interaction a step, with scores 0, 0.5, 1 in turn and models `a` and `b` in turn."""
    some = [
        interaction(n, START + n * step, latency=n % 7 + 1.0, cost=0.01, meta={"model": "ab"[n % 2]}, **more)
        for n in range(count)
    ]  # fmt: skip
    archive.add(some).result()
    archive.save_scores(
        [
            ScoredInteraction(one.id, {"faithfulness": Score(n % 3 / 2)})
            for n, one in enumerate(some)
        ]
    ).result()
