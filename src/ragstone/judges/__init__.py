"""Judges answer Asks; how they do it is nobody else's business."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ragstone.asks import Answered, Ask


class Judge(Protocol):
    """Whatever answers Asks: the embedded model, an HTTP API, a local model, a jury, a function."""

    name: str
    """As named in reports: `offline 2`, `openai:gpt-4o-mini`."""
    batch: int
    """How many Asks it likes to be given at once."""
    concurrency: int
    """How many such batches may be in its hands at once."""
    local: bool
    """Whether its replies cost next to nothing to get again: they are then not stored."""

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Everything besides the Ask that can change the reply; part of the cache key, so no secrets."""
        ...

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """What came of each Ask, in the same order; a failure is returned, not raised."""
        ...

    async def close(self) -> None:
        """Let go of connections and models."""
        ...
