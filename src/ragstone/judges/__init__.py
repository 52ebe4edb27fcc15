"""Judges answer Asks; how they do it is nobody else's business."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

from ragstone.asks import Answered, Ask


class Judge(Protocol):
    """Whatever answers Asks: the embedded model, an HTTP API, a local model, a jury, a function."""

    name: str
    """As named in reports: `offline 3`, `openai:gpt-4o-mini`."""
    batch: int
    """How many Asks it likes to be given at once."""
    concurrency: int
    """How many such batches may be in its hands at once."""
    local: bool
    """Whether its replies cost next to nothing to get again: they are then not stored."""

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Everything besides the Ask that can change the reply; part of the cache key, so no secrets.

        The same object may be given again and again; one that was given is not changed afterwards."""
        ...

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """What came of each Ask, in the same order; a failure is returned, not raised."""
        ...

    async def close(self) -> None:
        """Let go of connections and models."""
        ...


class Reopenable:
    """A judge that only lets go of connections when closed, and opens new ones when asked again; `async with` closes it."""

    reopens = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self: Judge, *exc: object) -> None:
        await self.close()
