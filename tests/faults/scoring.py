"""A sample whose true scores are known, and a judge at the other end of a server that can be told to misbehave."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import ragstone
import ragstone.metrics
from faults.server import FaultServer
from ragstone.metrics import resolve
from ragstone.registry import REGISTERED
from ragstone.types import Score

RUBRIC = {
    "rubric": {"name": "tone", "question": "Is it polite?", "levels": ["rude", "plain", "polite"]}
}

JUDGED: dict[str, Any] = {
    resolve(spec).name: spec
    for spec in (
        RUBRIC if name == "rubric" else name for name, one in REGISTERED.items() if one.judged
    )
}
"""Every judged metric: its name in a run → how it is asked for."""

SAMPLE: dict[str, Any] = {
    "id": "tower",
    "question": "Where is the tower and when was it built?",
    "answer": "The tower stands in Paris [1]. It was built in 1700 [2]. Cats like the tower. The tower is green.",
    "contexts": [
        {"id": "d1", "text": "Everybody knows that the tower stands in Paris. The tower is tall."},
        {"id": "d2", "text": "The moon is far away."},
    ],
    "reference": "The tower stands in Paris. It was built in 1889.",
    "language": "en",
    "messages": [
        {"role": "user", "content": "Is there a tower that cats like?"},
        {"role": "assistant", "content": "Yes, there is one."},
    ],
}


HASTY: dict[str, Any] = {"deadline": 2.0, "timeout": 0.5}
"""For servers that never finish a reply: give up soon."""


def settings(server: FaultServer, **more: Any) -> dict[str, Any]:
    """A judge on the server. It is patient, so that a slow machine is no fault; `HASTY` is for faults that take time."""
    embeddings = {"model": "openai:e", "base_url": server.url}
    quick = {"max_retries": 2, "deadline": 120.0, "timeout": 60.0}
    kept = {k: v for k, v in (quick | more).items() if k in ("max_retries", "deadline", "timeout")}
    base = {"model": "openai:m", "base_url": server.url, "embeddings": embeddings | kept}
    return base | quick | more


def scored(server: FaultServer, metrics: list[Any] | None = None, **more: Any) -> dict[str, Score]:
    """The scores of the sample."""
    sample = SAMPLE | more.pop("sample", {})
    with tempfile.TemporaryDirectory() as folder:  # fixtures of a module have no store of their own
        judge = settings(server, **more)
        run = ragstone.evaluate(
            [sample], metrics or list(JUDGED.values()), judge=judge, store=Path(folder) / "s.db"
        )
        (row,) = run.rows()
        return dict(row.scores)
