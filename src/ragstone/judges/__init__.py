"""Judges: whatever answers Asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

from ragstone.asks import Answered, Ask


class Judge(Protocol):
    """Answers Asks: the offline judge, a language model, a jury, a function of the user's."""

    name: str
    """Name in reports: `offline 3`, `openai:gpt-4o-mini`."""
    batch: int
    """Asks per call of `answer` that it handles best."""
    concurrency: int
    """Calls of `answer` that may run at once."""
    local: bool
    """Whether its replies are cheap to make again; they are then not stored."""

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return everything besides the Ask that can change the reply; part of the cache key, so no secrets.

        The same object may be returned again; it is never changed after it was returned."""
        ...

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer the Asks in the same order; a failure is returned, not raised."""
        ...

    async def close(self) -> None:
        """Release connections and models."""
        ...


def sends_jobs(judge: Judge | None) -> bool:
    """Whether a judge, or one that it asks, collects its questions into jobs of a provider's batch API."""
    parts = [getattr(judge, name, None) for name in ("model", "first", "second")]
    members: Sequence[Any] = getattr(judge, "members", ())
    return getattr(judge, "is_batched", False) or any(
        part is not None and not isinstance(part, str) and sends_jobs(part)
        for part in [*parts, *members]
    )


class Reopenable:
    """A judge that can be asked again after `close`: it opens new connections. `async with` closes it."""

    reopens = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self: Judge, *exc: object) -> None:
        await self.close()
