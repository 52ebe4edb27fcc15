"""Run a judged metric on one sample with the offline judge, without the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from ragstone.errors import Unscored
from ragstone.judges.offline import OfflineJudge
from ragstone.types import Chunk, Ranked, Score

JUDGE = OfflineJudge()


def score(metric: Callable[..., Any], **fields: Any) -> Score | None:
    """The metric's score; None when it does not apply."""
    running = metric(**fields)
    try:
        asks = next(running)
        while True:
            asks = running.send(tuple(asyncio.run(JUDGE.answer(asks))))
    except StopIteration as done:
        found: Score = done.value
        return found
    except Unscored:
        return None


def value(metric: Callable[..., Any], **fields: Any) -> float:
    """The metric's value; an answer that cannot be judged counts as 0."""
    found = score(metric, **fields)
    return 0.0 if found is None or found.value is None else found.value


def chunks(*texts: str) -> Ranked:
    """Texts as retrieved chunks d1, d2, …"""
    return Ranked(Chunk(f"d{n}", text) for n, text in enumerate(texts, 1))
